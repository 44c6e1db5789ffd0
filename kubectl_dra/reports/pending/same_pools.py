"""Pools of one name that several nodes publish: what one of them has in use counts as in use on the others.

The scheduler gathers pools node by node, but a device is identified by driver, pool and name alone (upstream:
GatherPools and DeviceID of the structured allocator).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import NodeGroup, NodeOutcome, StageName
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.reports.base import ReportRecord


class SamePool(ReportRecord, frozen=True):
    """A pool ``DRIVER/POOL`` of which several ``nodes`` publish ``devices`` of the same names, which are in use."""

    pool: str
    nodes: tuple[str, ...]
    devices: tuple[str, ...]


def same_pools(groups: Iterable[NodeGroup], state: ClusterState) -> tuple[SamePool, ...]:
    """Those whose devices in use are what nodes lack that were tried."""
    taken: dict[tuple[str, str], set[str]] = {}
    for each in _in_use(groups):
        driver, pool, device = DeviceId.of(each)
        taken.setdefault((driver, pool), set()).add(device)
    nodes: dict[tuple[str, str], dict[str, set[str]]] = {}
    for slice_ in state.inventory.slices.values() if taken else ():
        key, node = (slice_.spec.driver, slice_.spec.pool.name), slice_.spec.node_name or ""
        if key in taken and node in state.inventory.nodes:
            for name in {device.name for device in slice_.spec.devices} & taken[key]:
                nodes.setdefault(key, {}).setdefault(name, set()).add(node)
    return tuple(_told(nodes))


def _told(nodes: dict[tuple[str, str], dict[str, set[str]]]) -> Iterator[SamePool]:
    for (driver, pool), devices in sorted(nodes.items()):
        twice = {name: on for name, on in devices.items() if len(on) > 1}
        if twice:
            yield SamePool(f"{driver}/{pool}", tuple(sorted(set().union(*twice.values()))), tuple(sorted(twice)))


def _in_use(groups: Iterable[NodeGroup]) -> Iterator[str]:
    tried = (group for group in groups if group.outcome is NodeOutcome.CANNOT_ALLOCATE)
    funnels = (each.funnel for group in tried for each in group.requests if each.funnel is not None)
    for funnel in funnels:
        for removal in funnel.removed:
            if removal.stage is StageName.UNUSED:
                yield from removal.devices
