"""Pods of one workload that wait for the same, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubectl_dra.commands.why_pending.groups import Pending
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.remedies import remedy_lines
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, shortened, without_names
from kubectl_dra.reports.pending.pending import PendingReport

_NAMES = 5


def one_of_each(answers: Sequence[Pending]) -> list[Pending]:
    """The first of those that differ only in the names of the pod and its claims, with the names of the others."""
    groups: dict[object, list[Pending]] = {}
    for each in answers:
        alike = _told(each.report) if isinstance(each.report, PendingReport) else id(each)
        groups.setdefault(alike, []).append(each)
    return [_with_others(group) for group in groups.values()]


def _told(report: PendingReport) -> tuple[object, ...]:
    """What the page says, without the names of this pod and its claims."""
    names = [*(ask.name for ask in report.asks), report.pod.name]
    ways = without_names(names, remedy_lines(report.remedies, report.verdict))
    return (
        report.pod.namespace,
        report.code,
        report.verdict,
        report.agreement,
        without_names(names, [pending_summary(report)]),
        ways,
    )


def _with_others(group: Sequence[Pending]) -> Pending:
    first, others = group[0], [each.report.pod.name for each in group[1:] if isinstance(each.report, PendingReport)]
    if not others:
        return first
    text = fmt("The same holds for {}: {}.", counted(len(others), "other pod"), shortened(others, _NAMES))
    return replace(first, page=lambda: [*first.page(), Safe(""), *wrapped(text)])
