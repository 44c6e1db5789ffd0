"""Clauses of the first line about groups of nodes: what keeps the pod off them, and which devices they lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import NodeOutcome, NodeShortage
from kubectl_dra.output.pending.amounts import shortage_text
from kubectl_dra.output.pending.node_names import names_of
from kubectl_dra.output.pending.obstacles import obstacle
from kubectl_dra.output.pending.shortage import lack_of
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import plural
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.pending.nodes import NodeGroupRecord

#: So many groups of nodes are told.
CLAUSES: Final = 3


def lacking_both(rejected: Sequence[NodeGroupRecord], wanted: Safe) -> Safe | None:
    """Nodes with devices of the class that lack free ones as well as what rejects them; None where none has any."""
    told: list[Safe] = []
    for group in rejected[:CLAUSES]:
        if group.requests:
            have = Safe(plural("has", group.count))
            told.append(fmt("{}, and {} {}", node_clause(group, None), have, lack_of(group, wanted)))
    return Safe("; ").join(told) if told else None


def node_clause(group: NodeGroupRecord, devices: Safe | None) -> Safe:
    """What keeps the pod from nodes that have its devices; None: it needs none, or they have none."""
    if devices is None or group.devices_fit is not Fits.UNKNOWN:
        return _kept_off(group, devices)
    be = Safe("are" if devices.endswith("s") else "is")
    return fmt("{} (whether {} {} free there is not known)", _kept_off(group, None), devices, be)


def _kept_off(group: NodeGroupRecord, devices: Safe | None) -> Safe:
    details = [cause.detail for cause in group.causes]
    names, has = names_of([group]), Safe(plural("has", group.count))
    lead = fmt("{} {} {} but", names, has, devices) if devices is not None else names
    if len(details) == 1 and isinstance(details[0], NodeShortage):
        lead = lead if devices is not None else fmt("{} {}", names, has)
        return fmt("{} {}", lead, shortage_text(details[0]))
    obstacles = [obstacle(cause, several=group.count > 1) for cause in group.causes]
    told = Safe(", and ").join(dict.fromkeys(obstacles)) if obstacles else fmt("is rejected: {}", group.message)
    return fmt("{} {}", lead, told)


def without_devices(groups: Sequence[NodeGroupRecord], room: int, wanted: Safe) -> Iterator[Safe]:
    """The nodes that were tried and have no devices for the pod."""
    tried = [group for group in groups if group.outcome == NodeOutcome.CANNOT_ALLOCATE]
    told: dict[Safe, list[NodeGroupRecord]] = {}
    for group in tried:
        told.setdefault(lack_of(group, wanted), []).append(group)
    for lack, alike in list(told.items())[:room]:
        yield fmt("{} {} {}", names_of(alike), Safe(plural("has", sum(group.count for group in alike))), lack)
