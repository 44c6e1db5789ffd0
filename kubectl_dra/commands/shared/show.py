"""Print helpers that commands share: documents by ``-o``, notes about evidence, the console of the options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Final, Generic, TypeVar

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.address import completed
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.options import DOCUMENTS, Options
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.evidence import TAKEN_AS_NONE
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.api_there import no_api_text
from kubectl_dra.output.console import ColorMode, Console
from kubectl_dra.output.documents import API_VERSION, document, list_bytes, report_bytes, write_document
from kubectl_dra.output.generations import server_note
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.templates import is_template
from kubectl_dra.output.unread import incomplete_lines, rights_lines
from kubectl_dra.output.words import counted, duration
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.unread import together

ReportT = TypeVar("ReportT", bound=ReportRecord)
NameT = TypeVar("NameT")
FoundT = TypeVar("FoundT")
# While long lists are read objects are created; clocks that are kept agree better than this.
_TOLERANCE: Final = timedelta(seconds=30)


def console(options: Options) -> Console:
    return Console(ColorMode(options.color))


def tell(problem: CommandError, options: Options) -> None:
    """Say on stderr what could not be answered, and go on."""
    console(options).error(problem.what, completed(problem.hint, options), problem.details)


def each_found(
    names: Sequence[NameT],
    find: Callable[[NameT], FoundT | None],
    not_found: Callable[[NameT], CommandError],
    options: Options,
) -> list[FoundT]:
    """What the names stand for. One that is not found does not hide the others; the only one is raised."""
    found = []
    for name in names:
        each = find(name)
        if each is not None:
            found.append(each)
        elif len(names) == 1:
            raise not_found(name)
        else:
            tell(not_found(name), options)
    return found


def is_document(options: Options) -> bool:
    return options.output in DOCUMENTS or is_template(options.output)


def write(data: bytes, options: Options) -> None:
    write_document(data, options.output)


def print_pages(pages: Iterable[Iterable[Safe]], options: Options) -> None:
    """Print pages with an empty line between them, line by line as they come."""
    terminal = console(options)
    for index, page in enumerate(pages):
        for line in chain([Safe("")], page) if index else page:
            terminal.out(line)


@dataclass(frozen=True, slots=True)
class Answer(Generic[ReportT]):
    """One object's report, its kind as a document, and how to make its sentence and its page."""

    kind: str
    report: ReportT
    summary: Callable[[], Safe]
    page: Callable[[], Sequence[Safe]]

    def document(self, options: Options) -> dict[str, object]:
        """Its fields as JSON."""
        # The main reason, where templates and people look for it first; all reasons are in causes.
        main = {"code": self.report.code} if hasattr(self.report, "code") and hasattr(self.report, "causes") else {}
        return document(self.report, self.summary(), self.page() if options.text else None, **main)


def print_answer(answer: Answer[ReportT], options: Options) -> None:
    """The page of the one report that a command gives, or with ``-o`` its document."""
    print_answers((answer,), options, "", "", single=True)


def print_answers(
    answers: Sequence[Answer[ReportT]],
    options: Options,
    kind: str,
    noun: str,
    *,
    single: bool,
    summary: Safe | None = None,
    missing: Sequence[Missing] | None = None,
) -> None:
    """Pages, or with ``-o`` a document: the only one by itself if ``single``, else a list ``kind`` of so many ``noun``.

    ``summary`` is the sentence of the list where it says more than their number, ``missing`` what it lacks, where that
    is more than its answers do.
    """
    if not is_document(options):
        print_pages((each.page() for each in answers), options)
        return
    items = [(each.kind, each.document(options)) for each in answers]
    if single:
        write(report_bytes(*items[0]), options)
    else:
        if missing is None:
            missing = together((), (lack for each in answers for lack in getattr(each.report, "missing", ()))).missing
        whole = [{"apiVersion": API_VERSION, "kind": name, **item} for name, item in items]
        if summary is None:
            summary = answers[0].summary() if len(answers) == 1 else fmt("{}.", counted(len(answers), noun))
        write(list_bytes(kind, summary, whole, missing=missing), options)


def print_described(
    kind: str,
    noun: str,
    reports: Sequence[ReportT],
    summary: Callable[[ReportT], Safe],
    page: Callable[..., Sequence[Safe]],
    options: Options,
    address: Address,
    *,
    asked: int,
    single: bool | None = None,
) -> None:
    """Of ``asked`` names of ``noun``, what was found: reports of a ``kind``, each with its sentence and its page.

    Several pages say once what could not be read, around all of them.
    """
    several = len(reports) > 1 and not is_document(options)
    pages = partial(page, rights=False) if several else page
    answers = [Answer(kind, each, partial(summary, each), partial(pages, each)) for each in reports]
    if not several:
        print_answers(answers, options, f"{kind}List", noun, single=asked == 1 if single is None else single)
        return
    missing = together((), (lack for each in reports for lack in getattr(each, "missing", ()))).missing
    around = chain(
        [list(incomplete_lines(missing))],
        (each.page() for each in answers),
        [list(rights_lines(missing, address))],
    )
    print_pages(filter(None, around), options)


def note_evidence(state: ClusterState, options: Options) -> None:
    """Say on stderr what the answer can't know: notes of the source, objects that could not be read, wrong clocks."""
    terminal, evidence = console(options), state.evidence
    limits = no_api_text(evidence) if evidence.lacks_api else server_note(evidence.server_version)
    if limits:
        terminal.note(Safe("note: ") + limits)
    for note in evidence.notes:
        # What a file does not have is no answer: that comes first.
        say = terminal.note_last if note.endswith(TAKEN_AS_NONE) else terminal.note
        say(Safe("note: ") + safe(note))
    for bad in evidence.bad_objects:
        name = f"{bad.namespace}/{bad.name}" if bad.namespace else bad.name
        what = fmt("{} {}", bad.kind, name or "without a name") if bad.kind else Safe("something")
        terminal.note(fmt("warning: {} is left out: {} ({})", what, bad.error, bad.origin))
    ahead = state.ahead
    if ahead > _TOLERANCE:
        terminal.note(_clocks_disagree(ahead, live=options.from_ is None))


def _clocks_disagree(ahead: timedelta, *, live: bool) -> Safe:
    by = duration(ahead.total_seconds())
    text = Safe(
        "note: the newest object was created {} in the future: this computer's clock is behind the cluster's, so ages "
        "are too low; set the clock (timedatectl shows it)"
        if live
        else "note: the newest object was created {} after the file was read from its cluster: the clock there was "
        "behind the cluster's, so ages are too low"
    )
    return fmt(text, by)
