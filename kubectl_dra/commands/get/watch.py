"""``get -w``: everything once, then every line that is new, different, or of what is gone."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from kubectl_dra.commands.get import listing
from kubectl_dra.commands.get.query import GetQuery, TypeArgs
from kubectl_dra.commands.get.sections import GetCall, Item, Section
from kubectl_dra.commands.shared.cluster import Scoped, goes_on, read_cluster
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.following import check_watch, follow
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console, is_document, note_evidence, write
from kubectl_dra.commands.shared.unread import nothing_read
from kubectl_dra.model.evidence import Fields
from kubectl_dra.output.console import flush, write_data
from kubectl_dra.output.documents import to_bytes
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.safe import fmt
from kubectl_dra.reports.unread import ListGaps

# What makes a line another one, by what it is about.
Lines = dict[Hashable, tuple[bytes, Item]]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the last answer showed: its sections, and the lines of each."""

    sections: Sequence[Section]
    lines: Sequence[Lines]


def watch(
    options: Options,
    query: GetQuery,
    wanted: Sequence[TypeArgs],
    needs: Sequence[str],
    *,
    slices: Iterable[Fields],
    local: bool,
    demanded: Iterable[str] = (),
) -> int:
    """Everything once, then what is new or different, and once more what is gone, as kubectl; never ends by itself."""
    check_watch(options)
    shown: _Shown | None = None
    said = ""
    for cluster in follow(options, needs, slices=slices, local=local, demanded=demanded):
        call = listing.new_call(options, query, cluster)
        try:
            sections = _first(call, wanted, needs) if shown is None else listing.sections_of(call, wanted)
        except CommandError as problem:
            if shown is None:
                raise
            if not _names_one(wanted):
                if problem.what != said:
                    console(options).note(fmt("note: {}; waiting for it", problem.what))
                said = problem.what
                continue
            sections = [dataclasses.replace(section, items=()) for section in shown.sections]
        shown = _print_changes(call, wanted, sections, shown)
        query = dataclasses.replace(query, no_headers=True)
        flush()
    return ExitCode.OK


def _names_one(wanted: Sequence[TypeArgs]) -> bool:
    """Whether not to find a name means that the only object is gone."""
    return sum(len(each.names) for each in wanted) == 1


def _first(call: GetCall, wanted: Sequence[TypeArgs], needs: Sequence[str]) -> Sequence[Section]:
    """The sections of the first answer; where a name is not found, what comes near is read for the error."""
    if listing.lacks_names(wanted, call.cluster):
        whole: Scoped = read_cluster(call.options, needs)
        goes_on()
        return listing.sections_of(listing.new_call(call.options, call.query, whole), wanted)
    return listing.sections_of(call, wanted)


def _print_changes(
    call: GetCall, wanted: Sequence[TypeArgs], sections: Sequence[Section], before: _Shown | None
) -> _Shown:
    """Print the lines that were not there ``before`` (None: nothing was), and the last ones of what is gone."""
    documents = is_document(call.options)
    found = listing.what_is_unread(call, wanted, sections)
    now = _Shown(sections, [_lines(section.items, documents) for section in sections])
    if before is None:
        note_evidence(call.cluster.state, call.options)
        if not found.answered:
            raise nothing_read(found, call.options, call.state.evidence.address)
        news = list(sections)
    else:
        pairs = zip(before.lines, now.lines, strict=True)
        news = [
            dataclasses.replace(section, items=_changed(*pair)) for section, pair in zip(sections, pairs, strict=True)
        ]
    with listing.around_lists(call, found if before is None else ListGaps()):
        if documents:
            _print_one_by_one(call, news)
        elif before is None or any(section.items for section in news):
            listing.print_sections(call, wanted, news, found)
    return now


def _changed(before: Lines, now: Lines) -> list[Item]:
    gone = [item for name, (_, item) in before.items() if name not in now]
    return gone + [item for name, (line, item) in now.items() if name not in before or before[name][0] != line]


def _lines(items: Iterable[Item], documents: bool) -> Lines:
    """By name; rows that have none, taints of drivers, are about themselves."""
    found: Lines = {}
    for item in items:
        line = item.document() if documents else to_bytes(item.row)
        name = (getattr(item.row, "namespace", ""), item.name)
        found[line if item.name.endswith("/") else name] = (line, item)
    return found


def _print_one_by_one(call: GetCall, sections: Sequence[Section]) -> None:
    for section in sections:
        for item in section.items:
            if call.options.output == "yaml":
                write_data("---")
            write(item.document(), call.options)
