"""What lint does: read the files and the recorded devices, check, print the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kubectl_dra.api.kinds import RESOURCE_SLICE
from kubectl_dra.api.planned import Planned, read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import features_of, gates_of
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import Answer, console, print_answer, print_pages
from kubectl_dra.model.evidence import LACKING
from kubectl_dra.model.names import DEFAULT_NAMESPACE
from kubectl_dra.output.console import write_data
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.lint.page import github_lines, lint_page, lint_summary, sarif
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.unread import unread_sentence
from kubectl_dra.reports.lint import LintReport, Rule, lint_report
from kubectl_dra.reports.lint.report import BrokenDocument, Locate, Place
from kubectl_dra.source import load
from kubectl_dra.source.errors import ManifestError, SourceError
from kubectl_dra.source.manifests import Origin
from kubectl_dra.source.positions import Positions
from kubectl_dra.source.reading import FoundObjects, complain_about_nothing, read_texts, without_patches
from kubectl_dra.source.spec import SourceSpec


def answer(options: Options, devices: Sequence[str], fail_on: str) -> int:
    """Run the command; returns the exit code."""
    found = read_texts(options.manifests)
    named = without_patches(found).items()
    if not (named or found.problems):
        complain_about_nothing(found)
    patches = [BrokenDocument(Rule.PATCH, f"is a patch of {path}", Place(name, 1, 1)) for name, path in named]
    for note in found.notes:
        console(options).note(Safe("note: ") + safe(note))
    objects = read_all([Source(each.data, each.api_version, each.kind) for each in found.objects], DEFAULT_NAMESPACE)
    report = lint_report(
        objects,
        _locate(objects, found),
        (*map(_broken, found.problems), *patches),
        files=found.files + sum(not isinstance(each, ManifestError) for each in found.problems),
        devices=_devices(options, (*devices, *options.sources)) if devices or options.sources else None,
    )
    # Where there is no device at all that has been said already.
    unread = [each for each in report.missing if report.devices or each.kind != RESOURCE_SLICE.name]
    if unread:
        console(options).note(fmt("warning: there may be more to find: {}", unread_sentence(unread)))
    _print(report, options)
    bad = report.errors or (report.warnings and fail_on == "warning")
    return ExitCode.ERROR if bad and fail_on != "never" else ExitCode.OK


def _print(report: LintReport, options: Options) -> None:
    if options.output == "sarif":
        write_data(sarif(report).decode() + "\n")
        return
    if options.output == "github":
        print_pages([github_lines(report)], options)
        return
    summary = partial(lint_summary, report)
    print_answer(Answer("LintReport", report, summary, lambda: list(lint_page(report))), options)


def _locate(objects: Sequence[Planned], found: FoundObjects) -> Locate:
    positions, origins = Positions(found.texts), list(_origins(objects, found))

    def locate(number: int, path: str) -> Place:
        origin = origins[number]
        return Place(origin.file, *positions.of(origin, path))

    return locate


def _origins(objects: Sequence[Planned], found: FoundObjects) -> Iterator[Origin]:
    """Where each object stands; one that a controller makes, where that stands which it is made of."""
    written, origin = iter(found.objects), Origin()
    for each in objects:
        if not each.made_by:
            origin = next(written).origin
        yield origin


def _broken(problem: SourceError) -> BrokenDocument:
    if not isinstance(problem, ManifestError):
        file, _, text = problem.what.partition(": ")
        return BrokenDocument(Rule.UNREADABLE, text or problem.what, Place(file))
    rule = Rule.NOT_KUBERNETES if problem.foreign else Rule.UNREADABLE
    return BrokenDocument(rule, problem.problem, Place(problem.file, problem.line, 1))


def _devices(options: Options, files: Sequence[str]) -> ClusterState:
    first, *more = dict.fromkeys(files)
    inventory, evidence = load(SourceSpec(first, more_files=tuple(more), max_bytes=options.max_bytes))
    if not any(each.spec.devices for each in inventory.slices.values()):
        unread = evidence.coverage(RESOURCE_SLICE.name) in LACKING
        why = Safe("its ResourceSlices could not be read") if unread else Safe("it has no devices")
        console(options).note(fmt("warning: selectors were not tried on {}: {}", " ".join(dict.fromkeys(files)), why))
    return ClusterState(inventory, evidence, features_of(inventory, evidence, gates_of(options)), options.clock)
