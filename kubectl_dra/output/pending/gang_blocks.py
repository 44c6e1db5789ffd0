"""What the page of a pod says of the group that it is placed with, and the page of the group in its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from kubectl_dra.output.pending.gangs import needs_of_group
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.reports.pending.pending import PendingReport


@dataclass(frozen=True, slots=True)
class WholeGroup:
    """Blocks of a page about a whole group, which stand where its pods have their own."""

    about: list[list[Safe]]
    other_assignment: list[Safe]
    words: list[Safe]


def with_blocking(report: PendingReport) -> PendingReport:
    """The report as of the pod that keeps its group waiting, whose nodes and further causes it has."""
    group = report.group
    if group is None or group.blocking is None or len(report.causes) < 2:
        return report
    return msgspec.structs.replace(report, asks=group.asks, extended=group.extended, causes=report.causes[1:])


def about_group(report: PendingReport) -> Iterator[list[Safe]]:
    """What the group of a pod needs beyond the number of pods, which the first line has."""
    group = report.group
    if group is not None:
        yield list(needs_of_group(group, whole=False))


def whose_requests(report: PendingReport, *, of_group: bool) -> Iterator[Safe]:
    """Whose requests follow, where that is not the pod of the page."""
    blocking = report.group.blocking if report.group is not None else None
    if blocking is not None and (of_group or blocking != report.pod):
        yield fmt("{}:", blocking.name)
