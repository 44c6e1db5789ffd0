"""What a simulation says of files that kubectl apply does not take, or not all of it, as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kubectl_dra.api.lint import Mistake
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import counted, first_of, object_name
from kubectl_dra.reports.simulation import ManifestReport, SimulationReport
from kubectl_dra.reports.simulation.stops import Repeated

_NAMED: Final = 3
_ONE_MEANT: Final = (
    "Not as written: {} is not valid YAML (quotes inside of quotes), so that kubectl apply refuses it. It was tried as "
    "it is meant."
)
_SEVERAL_MEANT: Final = (
    "Not as written: {} are not valid YAML (quotes inside of quotes), so that kubectl apply refuses them. They were "
    "tried as they are meant."
)


def head_lines(manifests: Sequence[ManifestReport], read_as_meant: Sequence[str] = ()) -> Iterator[Safe]:
    """Whether the server reads the files as they are written, and kubectl reads them at all."""
    yield from _meant_lines(read_as_meant)
    findings = [finding for each in manifests for finding in each.findings]
    unserved = sum(finding.code is Mistake.UNSERVED_FIELD for finding in findings)
    wrong = sum(not finding.corrected for finding in findings) - unserved
    if wrong:
        text = "Not as written: {}, which kubectl apply refuses and other clients drop."
        yield from wrapped(styled(fmt(text, counted(wrong, "unknown field")), Style.BAD))
    if unserved:
        text = "Not as written: {} of features that this server does not have, which it drops silently."
        yield from wrapped(styled(fmt(text, counted(unserved, "field")), Style.BAD))
    for corrected in _corrected(manifests):
        yield from wrapped(fmt("{} kubectl dra convert prints the result.", corrected))


def _meant_lines(files: Sequence[str]) -> Iterator[Safe]:
    if files:
        text = _ONE_MEANT if len(files) == 1 else _SEVERAL_MEANT
        yield from wrapped(styled(fmt(text, first_of(files, _NAMED)), Style.BAD))


def other_lines(report: SimulationReport) -> Iterator[Safe]:
    """Objects of which the files have several that differ, or the cluster another; of slices it is said first."""
    for each in report.repeated:
        if each.object.kind != "ResourceSlice":
            yield from wrapped(styled(_repeated(each), Style.BAD if each.first else Style.BOLD))
    for text in _differing(report.manifests):
        yield from wrapped(styled(text, Style.BAD))


def refused_texts(report: SimulationReport) -> Iterator[Safe]:
    """Why kubectl apply fails on the files although all that was tried may fit."""
    yield from _corrected(report.manifests)
    yield from (_repeated(each) for each in report.repeated if each.first)
    yield from _differing(report.manifests)


def _corrected(manifests: Iterable[ManifestReport]) -> Iterator[Safe]:
    corrected = sum(finding.corrected for each in manifests for finding in each.findings)
    if corrected:
        text = "Not as written: {}, which kubectl apply refuses, {} corrected before anything was tried."
        yield fmt(text, counted(corrected, "mistake"), Safe("was" if corrected == 1 else "were"))


def _repeated(each: Repeated) -> Safe:
    text = "The files have different versions of {}{}. kubectl apply leaves the last one, which was tried."
    if each.first:
        text = (
            "The files have different versions of {}{}. kubectl apply creates the first one, which was tried, "
            "and the server refuses to change its spec to the next: rename or remove one of them."
        )
    at = fmt(" ({})", Safe("; ").join(map(safe, each.at))) if each.at else Safe("")
    return fmt(text, object_name(each.object), at)


def _differing(manifests: Iterable[ManifestReport]) -> Iterator[Safe]:
    """Claims and templates that are others in the cluster than in the files."""
    text = "{} differs between the cluster and the files. Its spec can't be changed, so the cluster's was tried."
    for ref in dict.fromkeys(each.object for each in manifests if each.differs):
        yield fmt(text, object_name(ref))
