"""Where the nodes fall away: the tables of a page, of each request in the way, and the nodes that no table has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.codes import Code, Family
from kubectl_dra.diagnosis.records import Funnel, NodeOutcome, PoolProblem, Verdict
from kubectl_dra.diagnosis.remedies.records import AddDevices
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.asks import extended_title
from kubectl_dra.output.pending.device_plugins import plugin_shortage
from kubectl_dra.output.pending.funnel import (
    MAX_FUNNELS,
    FunnelView,
    funnel_lines,
    funnel_views,
    has_devices,
    is_said,
    is_served,
)
from kubectl_dra.output.pending.node_names import names_of
from kubectl_dra.output.pending.obstacles import is_unready, short_obstacle
from kubectl_dra.output.pending.taints import with_ages
from kubectl_dra.output.pending.together import constraint_tells_all
from kubectl_dra.output.safe import Safe, fmt, plain, safe
from kubectl_dra.output.words import listed
from kubectl_dra.reports.pending.nodes import NodeGroupRecord
from kubectl_dra.reports.pending.pending import PendingReport

#: Their sentence says what rejects the nodes.
_TELLS_NODES: Final = (Code.CLAIM_ELSEWHERE, Code.EXTENDED_RESOURCE_UNSERVED)
#: Their first line tells all of the claim.
_OF_A_CLAIM: Final = (
    Code.CLAIM_ELSEWHERE,
    Code.ALLOCATION_IN_FLIGHT,
    Code.BINDING_FAILED,
    Code.EXTENDED_CLAIM_LEFT_OVER,
)
#: So many groups of nodes are told in the first line.
_TOLD_FIRST: Final = 3


def tables(
    report: PendingReport, first: Sequence[Safe], others: Safe, now: datetime, *, full: bool = False
) -> list[list[Safe]]:
    """Where the nodes fall away, unless the ``first`` lines tell all that matters; ``others`` shows those left out.

    ``full``: whatever they tell, of every request.
    """
    if told_by_nodes(report) and not constraint_tells_all(report.causes, report.nodes):
        return _funnels(report, others, first, now, full=full)
    return []


def joined(lines: Sequence[Safe]) -> str:
    """The text of lines that were wrapped."""
    return " ".join(" ".join(map(plain, lines)).split())


def told_by_nodes(report: PendingReport) -> bool:
    """Whether the nodes prove something: of a pod that fits now those that it does not fit on are no matter."""
    return report.code is not Code.FITS_NOW


def _funnels(
    report: PendingReport, others: Safe, first: Sequence[Safe], now: datetime, *, full: bool
) -> list[list[Safe]]:
    said = joined(first)
    views = funnel_views(report.nodes)
    several = len(views) > 1
    tables: dict[tuple[Safe, ...], list[Safe]] = {}
    views = [view for view in views[:MAX_FUNNELS] if full or not (several and _is_no_cause(report, view))]
    untold = [view for view in views if full or not _is_said(report, view, said, several=several)]
    # Beside a table of another request that of the one in the way is missed, whatever the first line says.
    for view in views if untold else ():
        if view not in untold and not _is_about(report, view):
            continue
        lines = tuple(funnel_lines(with_ages(view, now), report.certainty, others, said))
        titles = tables.setdefault(lines, [])
        title = fmt("{} {} (claim {})", Safe("request" if titles else "Request"), view.request, view.claim.name)
        titles.append(extended_title(view.request, report.extended) or title)
    # Requests of the same devices have the same table.
    return [
        [*wrapped(listed(titles)), *lines] if lines and several else list(lines) for lines, titles in tables.items()
    ]


def _is_said(report: PendingReport, view: FunnelView, said: str, *, several: bool) -> bool:
    alone = not several or "/" in view.request or _is_about(report, view)
    return alone and is_said(view, report.certainty, said, about=_is_about(report, view))


def _is_no_cause(report: PendingReport, view: FunnelView) -> bool:
    """Whether another request alone is in the way: this one is met on its closest node, or wherever it has devices."""
    cause = report.causes[0] if report.causes else None
    if cause is None or not cause.request or (cause.claim, cause.request) == (view.claim, view.request):
        return False
    closest = cause.detail.node if isinstance(cause.detail, Funnel) else ""
    return cause.code is not Code.REQUESTS_COMPETE and is_served(view, closest)


def _is_about(report: PendingReport, view: FunnelView) -> bool:
    """Whether the first sentence is about that request, be it behind the words of another scheduler."""
    foreign = report.code is Code.OTHER_SCHEDULER
    cause = next(iter(report.causes[foreign:]), None)
    if cause is None or not isinstance(cause.detail, Funnel):
        return False
    return (cause.claim, cause.request) == (view.claim, view.request)


def other_nodes_lines(report: PendingReport, said: str = "", *, full: bool = False) -> Iterator[Safe]:
    """Nodes with devices that have no column: ruled out before devices were tried, or without those of one request.

    Those whose obstacle the first line has ``said`` are left out. ``full``: also those that have no device that is
    requested, which no change of the pod or of them would make fit.
    """
    ruled_out = list(_ruled_out(report, said, full=full))
    without = list(_without_devices(report, full=full))
    sentences = [*ruled_out, *without, *_claim_elsewhere(report)]
    yield from wrapped(Safe(" ").join(sentences), indent=2, first=0) if sentences else ()


def devices_elsewhere(report: PendingReport) -> list[Safe]:
    """Where the nodes with devices are ruled out: the others, which lack nothing but devices."""
    classes = {request.device_class for ask in report.asks for request in ask.requests}
    classes |= {each.device_class for each in report.extended}
    lacking = [
        group
        for group in report.nodes
        if group.outcome == NodeOutcome.CANNOT_ALLOCATE
        and group.requests
        and all(each.funnel is not None and not each.funnel.total for each in group.requests)
        and not _pool_unused(group)
    ]
    nodes = {name for group in lacking for name in group.names}
    if any(
        each.verified and any(isinstance(a, AddDevices) and a.node in nodes for a in each.actions)
        for each in report.additions
    ):
        return []
    if not lacking or len(classes) != 1 or report.code is None or report.code.family is not Family.NODES:
        return []
    text = "Or publish {} devices on {} (not checked here)."
    return wrapped(fmt(text, classes.pop(), names_of(lacking)), indent=2, first=0)


def _ruled_out(report: PendingReport, said: str, *, full: bool) -> Iterator[Safe]:
    ruled_out: dict[Safe, list[NodeGroupRecord]] = {}
    if report.verdict is Verdict.SCHEDULER_ERROR and not full:
        # It ends the attempt, whatever the other nodes are like.
        return
    for group in report.nodes:
        if group.no_devices and not full and not any(map(is_unready, group.causes)):
            continue
        text = _why_out(group)
        if not full and plain(text) in said and all(name in said for name in group.names):
            continue
        by_plugin = plugin_shortage(group, report.extended) is not None
        if text and not (by_plugin and report.code is not None and report.code.family is Family.DEVICES):
            ruled_out.setdefault(text, []).append(group)
    told = report.code is not None and (report.code.family is Family.NODES or report.code in _TELLS_NODES)
    if ruled_out and not (told and len(ruled_out) <= _TOLD_FIRST):
        parts = [fmt("{} ({})", names_of(groups), text) for text, groups in ruled_out.items()]
        yield fmt("Ruled out earlier: {}.", Safe("; ").join(parts))


def _without_devices(report: PendingReport, *, full: bool) -> Iterator[Safe]:
    views = funnel_views(report.nodes)[:MAX_FUNNELS]
    serving = {track.group.names[0] for view in views for track in view.tracks if has_devices(track)}
    without: dict[Safe, list[str]] = {}
    for view in views:
        empty = [
            track.group
            for track in view.tracks
            if not (has_devices(track) or _pool_unused(track.group)) and (full or track.group.names[0] in serving)
        ]
        if empty and len(empty) < len(view.tracks):
            without.setdefault(names_of(empty), []).append(view.request)
    for names, requests in without.items():
        whose = fmt(" for {}", listed(requests)) if len(requests) < len(views) else Safe("")
        yield fmt("No device of the class{}: {}.", whose, names)


def _claim_elsewhere(report: PendingReport) -> Iterator[Safe]:
    """The nodes that the devices of a claim can't be reached from, unless the first line has the one that they can."""
    for group in report.nodes:
        if group.outcome == NodeOutcome.CLAIM_UNAVAILABLE and report.code not in _OF_A_CLAIM:
            claims = listed([str(claim.key) for claim in group.claims])
            yield fmt("{}: the devices of claim {} cannot be used there.", names_of([group]), claims)


def _pool_unused(group: NodeGroupRecord) -> bool:
    """Whether the node has devices that may match, in a pool that is not used."""
    return any(isinstance(cause.detail, PoolProblem) for cause in group.causes)


def _why_out(group: NodeGroupRecord) -> Safe:
    if group.outcome != NodeOutcome.REJECTED:
        return Safe("")
    several = group.count > 1
    parts = [short_obstacle(cause, several=several) for cause in group.causes] or [safe(group.message)]
    return Safe("; ").join(list(dict.fromkeys(parts)))
