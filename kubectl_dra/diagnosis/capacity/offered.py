"""Devices that device plugins offer on nodes, for shapes that request them as an extended resource.

Upstream: NodeResourcesFit decides by the node's own amount where it has one, and no DeviceClass serves it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_dra.diagnosis.capacity.filling import Filled
from kubectl_dra.diagnosis.capacity.records import Devices
from kubectl_dra.scheduler.extended import asked
from kubectl_dra.scheduler.plugins.node_resources_fit import allocatable_of
from kubectl_dra.scheduler.snapshot import Snapshot


def offered(filled: Filled, nodes: Iterable[str], copies: int) -> Iterator[tuple[tuple[str, ...], Devices]]:
    """Nodes with so many copies each, apart by what they offer of the resource of which one takes most."""
    state, requested = filled.waiting.state, asked(filled.waiting.pod)
    known, found = Snapshot(state).nodes, dict[Devices, list[str]]()
    for name in nodes:
        info, devices = known[name], Devices()
        here = [each for each in requested if allocatable_of(info.node, each)]
        if here:
            resource = max(here, key=lambda each: requested[each])
            there, used = allocatable_of(info.node, resource), info.usage.requests.get(resource, 0)
            taken = copies * requested[resource]
            devices = Devices(there, used, 0, taken, max(there - used - taken, 0))
        found.setdefault(devices, []).append(name)
    return ((tuple(names), devices) for devices, names in found.items())


def plus(one: Devices, number: int, other: Devices) -> Devices:
    """The devices of one account, and those of so many nodes."""
    return Devices(
        one.matching + number * other.matching,
        one.in_use + number * other.in_use,
        one.unusable,
        one.taken + number * other.taken,
        one.left + number * other.left,
        tainted=one.tainted,
    )
