"""The devices that requests could get on nodes, pool by pool: of a large cluster hundreds of thousands.

Nodes are alike where no search can tell their devices apart, pool by pool: what is found on one of them stands at the
same places of the others' pools, counted without those that offer no devices.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation import ClaimSearch as Allocating
from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.requests import Request
from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.input.candidates import Candidate, offering
from kubectl_dra.allocation.input.pools import NodePool, gather
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.shape import device_classes
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import ResourceClaim

_NONE: Final[frozenset[str]] = frozenset()
# Pools that offer devices by their place, and the places of devices in each.
_Places = tuple[tuple[int, list[int]], ...]


class DeviceSet:
    """A set of devices: the names of each pool, where equal sets of names are one object as a rule."""

    def __init__(self, pools: Mapping[PoolId, frozenset[str]]) -> None:
        self._pools = pools
        self._count = sum(map(len, pools.values()))

    def __len__(self) -> int:
        return self._count

    def __contains__(self, device: DeviceId) -> bool:
        return device.device in self._pools.get(device.pool_id, _NONE)

    def without(self, other: DeviceSet) -> DeviceSet:
        left = {pool: names - other._pools.get(pool, _NONE) for pool, names in self._pools.items()}
        return DeviceSet({pool: names for pool, names in left.items() if names})


def union(sets: Iterable[DeviceSet]) -> DeviceSet:
    """The devices of all sets, each set looked at once."""
    found: dict[PoolId, frozenset[str]] = {}
    for devices in {id(each): each for each in sets}.values():
        for pool, names in devices._pools.items():
            before = found.setdefault(pool, names)
            if before is not names:
                found[pool] = before | names
    return DeviceSet(found)


class UsableDevices:
    """What claims could get in one cluster; claims that differ only in the number of devices are asked about once."""

    def __init__(self, world: ClusterState) -> None:
        self._world = world
        self._known: list[tuple[Hashable, frozenset[str], DeviceSet | None]] = []

    def of(self, claims: Sequence[ResourceClaim], admits: frozenset[str]) -> DeviceSet | None:
        """The devices that any request of these claims could get on these nodes; None where one can be shared."""
        asked = tuple((claim.metadata.namespace, repr(_of_one(claim).spec)) for claim in claims)
        for known, nodes, found in self._known:
            if known == asked and nodes == admits:
                return found
        found = _Found(self._world, claims).on(admits)
        self._known.append((asked, admits, found))
        return found


def _of_one(claim: ResourceClaim) -> ResourceClaim:
    """The same claim with requests for one device where they ask for a number of them: which ones are no other."""
    replace = msgspec.structs.replace
    requests = tuple(
        replace(request, exactly=replace(request.exactly, count=1))
        if request.exactly is not None and request.exactly.allocation_mode == "ExactCount"
        else request
        for request in claim.spec.devices.requests
    )
    return replace(claim, spec=replace(claim.spec, devices=replace(claim.spec.devices, requests=requests)))


class _Found:
    """The devices that the requests of some claims could get, node by node."""

    def __init__(self, world: ClusterState, claims: Sequence[ResourceClaim]) -> None:
        self._world = world
        self._allocating = Allocating(world.devices, claims)
        self._pools: dict[PoolId, frozenset[str]] = {}
        # Sets of names by the names in their order.
        self._names: dict[tuple[str, ...], frozenset[str]] = {}

    def on(self, admits: frozenset[str]) -> DeviceSet | None:
        """Those on some nodes; None where one can be shared."""
        nodes = self._world.inventory.nodes
        alike = device_classes(self._world, self._allocating, nodes)
        places: dict[Hashable, _Places | None] = {}
        for node in nodes.values():
            if node.metadata.name not in admits:
                continue
            try:
                pools = gather(self._world.devices.index, node).pools
            except Aborted:
                continue
            key = alike[node.metadata.name]
            if key not in places:
                places[key] = self._places(self._allocating.checks(node, pools))
            known = places[key]
            if known is None:
                return None
            if known:
                self._add(known, tuple(offering(pools, self._allocating.features)))
        return DeviceSet(self._pools)

    def _places(self, checks: Checks) -> _Places | None:
        """Where the devices stand on a node; None where one can be shared."""
        requests = self._allocating.plan.requests
        usable = [c for c in checks.candidates if not all(never(checks, request, c) for request in requests)]
        if any(candidate.shareable for candidate in usable):
            return None
        found: dict[int, list[int]] = {}
        positions = {candidate.position for candidate in usable}
        position = 0
        for place, pool in enumerate(offering(checks.pools, checks.features)):
            for number in range(sum(len(slice_.spec.devices) for slice_ in pool.slices)):
                if position in positions:
                    found.setdefault(place, []).append(number)
                position += 1
        return tuple(found.items())

    def _add(self, places: _Places, pools: Sequence[NodePool]) -> None:
        for place, numbers in places:
            pool = pools[place]
            names = [device.name for slice_ in pool.slices for device in slice_.spec.devices]
            chosen = tuple([names[number] for number in numbers])
            found = self._names.get(chosen)
            if found is None:
                found = self._names[chosen] = frozenset(chosen)
            before = self._pools.setdefault(pool.id, found)
            if before is not found:
                self._pools[pool.id] = before | found


def never(checks: Checks, request: Request, candidate: Candidate) -> bool:
    """Whether a device serves no copy, whatever else happens; what can't be told may serve."""
    try:
        return (
            checks.in_use(request, candidate)
            or checks.unselected(request, candidate)
            or checks.unsupported(candidate) is not None
            or checks.tainted(request, candidate) is not None
        )
    except Aborted:
        return False
