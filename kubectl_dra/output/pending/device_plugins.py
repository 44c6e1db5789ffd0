"""Nodes that offer by a device plugin what a class serves elsewhere: they lack the resource, and the others devices.

Upstream: NodeResourcesFit decides by the node's own amount where it has one, DynamicResources where it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import NodeOutcome, NodeShortage
from kubectl_dra.output.pending.amounts import in_use_by
from kubectl_dra.output.pending.node_names import names_of
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import plural
from kubectl_dra.reports.claims.ask import ExtendedAsk
from kubectl_dra.reports.pending.nodes import NodeGroupRecord

#: Where a device plugin has some, the scheduler takes none of a driver's (filterExtendedResources).
_TWICE: Final = Safe("; devices that a DRA driver publishes there, which may be the same, do not serve it")


def by_device_plugin(nodes: Sequence[NodeGroupRecord], extended: Sequence[ExtendedAsk]) -> Safe:
    """``. plugin-1, which offers R by a device plugin, has none free (in use by a)``; empty where no node does."""
    texts = list(_clauses(nodes, extended))
    return fmt(". {}", Safe("; ").join(texts)) if texts else Safe("")


def _clauses(nodes: Sequence[NodeGroupRecord], extended: Sequence[ExtendedAsk]) -> Iterator[Safe]:
    for group in nodes:
        shortage = plugin_shortage(group, extended)
        if shortage is not None:
            offers, has = Safe("offers" if group.count == 1 else "offer"), Safe(plural("has", group.count))
            twice = any(name in each.twice_on for each in extended for name in group.names)
            text = "{}, which {} {} by a device plugin, {} {}{}"
            also = _TWICE if twice else Safe("")
            yield fmt(text, names_of([group]), offers, shortage.resource, has, _free(shortage), also)


def _free(shortage: NodeShortage) -> Safe:
    free, wanted = max(shortage.allocatable - shortage.used, 0), shortage.requested
    if shortage.allocatable < wanted:
        return fmt("only {} in all", shortage.allocatable)
    left, users = fmt("only {} of {} free", free, wanted) if free else Safe("none free"), in_use_by(shortage)
    return fmt("{} ({})", left, users) if users else left


def plugin_shortage(group: NodeGroupRecord, extended: Sequence[ExtendedAsk]) -> NodeShortage | None:
    """What nodes lack of a resource that a device plugin offers there; None where something else is in the way."""
    found = [cause.detail for cause in group.causes] if group.outcome == NodeOutcome.REJECTED else []
    resources = {each.resource for each in extended}
    if len(found) != 1 or not isinstance(found[0], NodeShortage):
        return None
    return found[0] if found[0].allocatable and found[0].resource in resources else None
