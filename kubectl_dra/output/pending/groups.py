"""Everything that hangs, on one screen: pods grouped by their main reason."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.output.layout import Column, table
from kubectl_dra.output.pending.titles import title
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted
from kubectl_dra.reports.pending import PendingReport, ReasonGroup

_RETRY = (
    "            the scheduler retries within 5 minutes, sooner when a claim, class,",
    "            node or slice is added or changed",
)


def groups_page(reports: Sequence[PendingReport], groups: Sequence[ReasonGroup], scope: str) -> list[Safe]:
    """The overview; ``scope`` is a namespace, or empty for the whole cluster."""
    where = fmt(" in namespace {}", scope) if scope else Safe("")
    if not reports:
        line = fmt("No pod with device claims is pending{}.", where)
        return [line, Safe("In all namespaces: kubectl dra why-pending -A")] if scope else [line]
    verb = Safe("is" if len(reports) == 1 else "are")
    head = fmt(
        "{} with device claims {} pending{}, for {}:",
        counted(len(reports), "pod"),
        verb,
        where,
        counted(len(groups), "reason"),
    )
    rows = [
        [safe(group.code or "-"), title(group.code), Safe(str(len(group.pods))), _pods(group.pods, scope)]
        for group in groups
    ]
    columns = [Column(), Column(flexible=True), Column(right=True), Column(flexible=True)]
    lines = [head, Safe(""), *table(columns, rows, indent=2, header=False)]
    if any(group.code is Code.FITS_NOW for group in groups):
        lines += [Safe(line) for line in _RETRY]
    one = next((ref for group in groups for ref in group.pods), None)
    if one is not None:
        lines += [Safe(""), fmt("more: kubectl dra why-pending {} -n {}", one.name, one.namespace)]
    return lines


def _pods(pods: Sequence[ObjectRef], scope: str) -> Safe:
    names = [ref.name if scope else str(ref.key) for ref in pods]
    if len(names) <= 2:
        return Safe(", ").join(names)
    return fmt("{} … {}", names[0], names[-1])
