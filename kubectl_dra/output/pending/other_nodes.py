"""The nodes that no table has: ruled out before devices were tried, without a device of the class, out of reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import NodeOutcome, PoolProblem
from kubectl_dra.diagnosis.remedies.records import AddDevices
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.device_plugins import plugin_shortage
from kubectl_dra.output.pending.funnel import MAX_FUNNELS, funnel_views, has_devices
from kubectl_dra.output.pending.node_names import names_of
from kubectl_dra.output.pending.obstacles import short_obstacle
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import listed
from kubectl_dra.reports.pending.nodes import NodeGroupRecord
from kubectl_dra.reports.pending.pending import PendingReport

#: Their sentence says what rejects the nodes.
_TELLS_NODES: Final = (Code.CLAIM_ELSEWHERE, Code.EXTENDED_RESOURCE_UNSERVED)
#: Their first line tells all of the claim.
_OF_A_CLAIM: Final = (Code.CLAIM_ELSEWHERE, Code.ALLOCATION_IN_FLIGHT, Code.BINDING_FAILED)
#: So many groups of nodes are told in the first line.
_TOLD_FIRST: Final = 3


def other_nodes_lines(report: PendingReport, *, tables: bool) -> Iterator[Safe]:
    """Nodes that have no column: ruled out before devices were tried, or without any device of the class.

    Where there are no ``tables`` the first line names the nodes with devices: the others complete a list at most.
    """
    ruled_out = list(_ruled_out(report))
    without = list(_without_devices(report)) if tables or ruled_out else []
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
    if not lacking or len(classes) != 1 or not (report.code or "").startswith("DRA-4"):
        return []
    text = "Or publish {} devices on {} (not checked here)."
    return wrapped(fmt(text, classes.pop(), names_of(lacking)), indent=2, first=0)


def _ruled_out(report: PendingReport) -> Iterator[Safe]:
    ruled_out: dict[Safe, list[NodeGroupRecord]] = {}
    for group in report.nodes:
        text = _why_out(group)
        by_plugin = plugin_shortage(group, report.extended) is not None
        if text and not (by_plugin and (report.code or "").startswith("DRA-2")):
            ruled_out.setdefault(text, []).append(group)
    first = report.code or ""
    told = first.startswith("DRA-4") or first in _TELLS_NODES
    if ruled_out and not (told and len(ruled_out) <= _TOLD_FIRST):
        parts = [fmt("{} ({})", names_of(groups), text) for text, groups in ruled_out.items()]
        yield fmt("Ruled out earlier: {}.", Safe("; ").join(parts))


def _without_devices(report: PendingReport) -> Iterator[Safe]:
    views = funnel_views(report.nodes)[:MAX_FUNNELS]
    without: dict[Safe, list[str]] = {}
    for view in views:
        empty = [track.group for track in view.tracks if not has_devices(track) and not _pool_unused(track.group)]
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
