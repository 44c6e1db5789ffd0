"""What becomes of the devices that match: in use, unusable, taken by copies that fit, or left over; node by node.

Only the largest request of the shape is told, with all of its alternatives; of a shape that asks for several kinds of
devices the others limit as well.

The devices that requests could get on nodes, pool by pool: of a large cluster hundreds of thousands. Nodes are alike
where no search can tell their devices apart, pool by pool: what is found on one of them stands at the same places of
the others' pools, counted without those that offer no devices.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

import msgspec

from kubectl_dra.allocation import ClaimSearch as Allocating
from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.requests import Request
from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.input.candidates import Candidate, offering
from kubectl_dra.allocation.input.pools import NodePool, gather
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.filling import Alike, Filled
from kubectl_dra.diagnosis.capacity.offered import offered, plus
from kubectl_dra.diagnosis.capacity.records import Devices, NodeRoom
from kubectl_dra.diagnosis.capacity.shape import device_classes
from kubectl_dra.diagnosis.explain.funnel import NodeExplainer
from kubectl_dra.diagnosis.records import Cause, Funnel, NodeOutcome, NodeShortage, NodeTaint, RequestReport, StageName
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import ResourceClaim

#: So many names of alike nodes are told unless all are asked for.
NAMES: Final = 20
_NONE: Final[frozenset[str]] = frozenset()
# Pools that offer devices by their place, and the places of devices in each.
_Places = tuple[tuple[int, list[int]], ...]


def rooms(filled: Filled, names: int | None = NAMES) -> tuple[NodeRoom, ...]:
    """Nodes with the same numbers for the same reasons, the roomiest first; of each at most so many ``names``."""
    account = _Account(filled)
    found: dict[Hashable, tuple[list[str], NodeRoom]] = {}
    for alike in filled.groups:
        for nodes, devices in account.of(alike):
            causes = alike.last.causes if alike.last is not None else ()
            codes = tuple(dict.fromkeys((cause.code, cause.request, _told(cause)) for cause in causes))
            plugin = alike.last.plugin if alike.last is not None else ""
            key = (alike.copies, devices, plugin, codes)
            room = NodeRoom(0, (), 0, alike.copies, devices, causes)
            found.setdefault(key, ([], room))[0].extend(nodes)
    made = [_room(nodes, room, names) for nodes, room in found.values()]
    return tuple(sorted(made, key=lambda room: (-room.copies, -room.devices.left, -room.devices.matching, room.names)))


def _told(cause: Cause) -> str:
    """What a node lacks, or which taint it has: each in its own words."""
    match cause.detail:
        case NodeTaint():
            return cause.detail.taint
        case NodeShortage():
            return cause.detail.resource
    return ""


def _room(nodes: list[str], room: NodeRoom, limit: int | None) -> NodeRoom:
    names = tuple(sorted(nodes))
    shown = names[:limit]
    return NodeRoom(len(names), shown, len(names) - len(shown), room.copies, room.devices, room.causes)


def totals(filled: Filled) -> Devices:
    """The devices of all nodes together; one that several nodes reach is counted once."""
    account = _Account(filled)
    shared: dict[str, set[DeviceId | str]] = {"matching": set(), "in_use": set(), "left": set(), "tainted": set()}
    matching = in_use = left = taken = free = tainted = 0
    by_plugins: list[tuple[int, tuple[str, ...]]] = []
    for alike in filled.groups:
        found_on = list(account.funnels(alike))
        by_plugins += [(alike.copies, alike.nodes)] if not found_on else []
        for nodes, funnels in found_on:
            ids = account.ids(funnels)
            if not ids["matching"]:
                by_plugins.append((alike.copies, nodes))
                continue
            for name, found in ids.items():
                shared[name].update(each for each in found if account.is_shared(each))
            own = {name: sum(not account.is_shared(each) for each in found) for name, found in ids.items()}
            matching += len(nodes) * own["matching"]
            in_use += len(nodes) * own["in_use"]
            free += len(nodes) * own["left"]
            tainted += len(nodes) * own["tainted"]
            if filled.side_by_side and alike.copies:
                takes, rest = account.taken(alike, own["left"])
                taken += len(nodes) * takes
                left += len(nodes) * rest
            else:
                left += len(nodes) * own["left"]
    matching += len(shared["matching"])
    in_use += len(shared["in_use"])
    left += len(shared["left"])
    free += len(shared["left"])
    tainted += len(shared["tainted"])
    if not filled.side_by_side:
        copies = filled.copies - sum(each * len(nodes) for each, nodes in by_plugins)
        taken = free if account.takes_all and copies else copies * account.needed
        left = max(0, left - taken)
    unusable = max(0, matching - in_use - free)
    every = Devices(matching, in_use, unusable, taken, left, tainted=min(tainted, unusable))
    for copies, nodes in by_plugins:
        for names, each in offered(filled, nodes, copies):
            every = plus(every, len(names), each)
    return every


def _left(alike: Alike) -> int | None:
    """The free devices that the next copy still meets; None if it did not come to look at devices."""
    if alike.last is None or alike.last.outcome is not NodeOutcome.CANNOT_ALLOCATE:
        return None
    after = _largest(alike.last.requests)
    return len({device for funnel in after for device in funnel.left}) if after else None


def _largest(reports: Iterable[RequestReport]) -> tuple[Funnel, ...]:
    """Of the request that takes most devices at least: one funnel for each alternative."""
    found: dict[Hashable, list[Funnel]] = {}
    for report in reports:
        if report.funnel is not None:
            found.setdefault((report.claim, report.request.partition("/")[0]), []).append(report.funnel)
    return tuple(max(found.values(), key=lambda funnels: min(each.needed for each in funnels), default=()))


class _Account:
    """The funnels of nodes before any copy is placed; nodes whose devices are alike share one."""

    def __init__(self, filled: Filled) -> None:
        waiting = filled.waiting
        self._filled = filled
        self._state: ClusterState = waiting.state
        searched = (result.searched for _, result in filled.tried.results)
        found = next((each.attempt for each in searched if each is not None), None)
        claims = waiting.with_virtual() if not waiting.problem else ()
        plain = Allocating(self._state.devices, claims) if claims else None
        self._allocating = found or plain
        self.needed = 0
        #: One copy leaves nothing: its request is for all devices of a node.
        self.takes_all = False
        self._known: dict[Hashable, tuple[Funnel, ...]] = {}
        slices = self._state.inventory.slices.values()
        self._shared = {(s.spec.driver, s.spec.pool.name) for s in slices if not s.spec.node_name}
        if self._allocating is not None:
            self._explainer = NodeExplainer(self._state, self._allocating)
            requests = self._allocating.plan.requests
            choices = (choice.options for claim in self._allocating.plan.claims for choice in claim.choices)
            exact = [options for options in choices if not any(each.takes_all or each.admin for each in options)]
            self.needed = max((min(each.spec.count for each in options) for options in exact), default=0)
            self.takes_all = not exact and any(each.takes_all and not each.admin for each in requests)

    def is_shared(self, device: str) -> bool:
        return DeviceId.of(device).pool_id in self._shared

    def ids(self, funnels: Iterable[Funnel]) -> dict[str, tuple[str, ...]]:
        """The devices that match, those of no use that claims hold, those left, and those tainted that none holds.

        What any of the alternatives could get is left.
        """
        met = [(each.after(StageName.NODE), self._used(each), each.left, self._tainted(each)) for each in funnels]
        matching, used, left, tainted = (dict.fromkeys(chain.from_iterable(each)) for each in zip(*met, strict=True))
        return {
            "matching": tuple(matching),
            "in_use": tuple(each for each in used if each not in left),
            "left": tuple(left),
            "tainted": tuple(each for each in tainted if each not in left),
        }

    def _used(self, funnel: Funnel) -> Iterator[str]:
        stages = (funnel.stage(name).removed for name in (StageName.TAINTS, StageName.UNUSED, StageName.CAPACITY))
        removed = (device for removals in stages for removal in removals for device in removal.devices)
        return (device for device in removed if self._is_held(DeviceId.of(device)))

    def _tainted(self, funnel: Funnel) -> Iterator[str]:
        removed = (device for removal in funnel.stage(StageName.TAINTS).removed for device in removal.devices)
        return (device for device in removed if not self._is_held(DeviceId.of(device)))

    def _is_held(self, device: DeviceId) -> bool:
        return device.device in self._state.allocated.pool(device.driver, device.pool)

    def taken(self, alike: Alike, free: int) -> tuple[int, int]:
        """How many of so many free devices of a node copies take, for all their requests, and how many are left.

        Where copies depend on each other those on other nodes may take them. Of shared devices the shares count.
        """
        if self.takes_all and alike.copies:
            return free, 0
        shares, after = alike.copies * self.needed, _left(alike)
        if after is None:
            return shares, max(0, free - shares)
        return max(shares, free - after), after

    def funnels(self, alike: Alike) -> Iterator[tuple[tuple[str, ...], tuple[Funnel, ...]]]:
        """The nodes, apart by their devices; none where nothing can be told."""
        if self._allocating is None:
            return
        nodes = self._state.inventory.nodes
        apart: dict[Hashable, list[str]] = {}
        numbers = device_classes(self._state, self._allocating, {name: nodes[name] for name in alike.nodes})
        for name, number in numbers.items():
            apart.setdefault(number, []).append(name)
        for key, names in apart.items():
            if key not in self._known:
                explanation = self._explainer.explain(nodes[names[0]], False)
                self._known[key] = _largest(explanation.reports)
            if self._known[key]:
                yield tuple(names), self._known[key]

    def of(self, alike: Alike) -> Iterator[tuple[tuple[str, ...], Devices]]:
        """The nodes with the devices of each."""
        told = False
        for nodes, funnels in self.funnels(alike):
            told = True
            matching, in_use, free, tainted = (len(ids) for ids in self.ids(funnels).values())
            taken, left = self.taken(alike, free)
            unusable = max(0, matching - in_use - free)
            devices = Devices(matching, in_use, unusable, taken, left, tainted=min(tainted, unusable))
            yield from offered(self._filled, nodes, alike.copies) if not matching else ((nodes, devices),)
        if not told:
            yield from offered(self._filled, alike.nodes, alike.copies)


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

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._known: list[tuple[Hashable, frozenset[str], DeviceSet | None]] = []

    def of(self, claims: Sequence[ResourceClaim], admits: frozenset[str]) -> DeviceSet | None:
        """The devices that any request of these claims could get on these nodes; None where one can be shared."""
        asked = tuple((claim.metadata.namespace, repr(_of_one(claim).spec)) for claim in claims)
        for known, nodes, found in self._known:
            if known == asked and nodes == admits:
                return found
        found = _Found(self._state, claims).on(admits)
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

    def __init__(self, state: ClusterState, claims: Sequence[ResourceClaim]) -> None:
        self._state = state
        self._allocating = Allocating(state.devices, claims)
        self._pools: dict[PoolId, frozenset[str]] = {}
        # Sets of names by the names in their order.
        self._names: dict[tuple[str, ...], frozenset[str]] = {}

    def on(self, admits: frozenset[str]) -> DeviceSet | None:
        """Those on some nodes; None where one can be shared."""
        nodes = self._state.inventory.nodes
        alike = device_classes(self._state, self._allocating, nodes)
        places: dict[Hashable, _Places | None] = {}
        for node in nodes.values():
            if node.metadata.name not in admits:
                continue
            try:
                pools = gather(self._state.devices.index, node).pools
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
