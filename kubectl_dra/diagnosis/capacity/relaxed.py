"""No more copies fit, wherever pods that may move are placed: two relaxations that can only count too many.

Two relaxations that can only count too many: node by node as if all those pods were gone, and by the number of devices
that they need anyhow. A small cluster is searched whole: every choice of who stays, every distribution of the others
over the nodes, every order on each node, each step with the scheduler's own search; then the bound is reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from kubectl_dra.allocation import ClaimSearch as Allocating
from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.requests import Choice, Request
from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.input.candidates import Candidate
from kubectl_dra.allocation.input.pools import gather
from kubectl_dra.diagnosis.capacity.accounts import DeviceSet, UsableDevices, never, union
from kubectl_dra.diagnosis.capacity.filling import Filled
from kubectl_dra.diagnosis.capacity.movable import Movable
from kubectl_dra.diagnosis.capacity.packing import ADMITTING, Packing
from kubectl_dra.diagnosis.capacity.shape import WaitingCopy, device_classes
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.diagnosis.whatif.displaced import again
from kubectl_dra.model.core import Node
from kubectl_dra.model.forms import forms_of
from kubectl_dra.model.held import device_of, results_of
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.model.resource import (
    DeviceClaim,
    DeviceRequest,
    ResourceClaimSpec,
    ResourceClaimStatus,
)
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.scheduler.attempt import attempt as engine_attempt
from kubectl_dra.scheduler.plugins.node_resources_fit import allocatable_of, counted
from kubectl_dra.scheduler.snapshot import Snapshot

_UNLIMITED: Final = 1 << 30
_MOST_PODS: Final = 6
_MOST_NODES: Final = 4


def relaxed(filled: Filled, pods: Sequence[Movable]) -> int:
    """The smaller one of what nodes without the pods allow and of what the devices do."""
    gone = without_pods({each.key for each in pods})
    waiting = filled.waiting
    emptied = waiting.state.changed(gone(waiting.state.inventory))
    room = _Emptied(replace(waiting, state=emptied))
    per_node = sum(room.copies(node) for node in emptied.inventory.nodes.values())
    return min(per_node, room.by_devices(pods))


class _Emptied:
    """A cluster without the pods that may move, as the shape sees it."""

    def __init__(self, waiting: WaitingCopy) -> None:
        self._waiting = waiting
        self._state = waiting.state
        pod = waiting.pod
        served = Snapshot(self._state).served
        amounts = counted(pod_requests(pod))
        self._requests = {name: amount for name, amount in amounts.items() if name not in served}
        self._claims = waiting.with_virtual()
        # What a node offers by a device plugin takes none of the devices.
        self._extended = bool(set(amounts) & set(served)) and self._claims == waiting.claims
        self._allocating = Allocating(self._state.devices, self._claims) if self._claims else None
        self._alike = device_classes(self._state, self._allocating, self._state.inventory.nodes)
        self._known: dict[Hashable, int] = {}
        self._usable = UsableDevices(self._state)
        tried = engine_attempt(Snapshot(self._state), pod, ADMITTING)
        self._admits = frozenset((*tried.feasible, *tried.open))

    def copies(self, node: Node) -> int:
        """No more copies than these fit on a node."""
        name = node.metadata.name
        if name not in self._admits:
            return 0
        usage = (self._state.usage or {}).get(name, NodeUsage())
        room = allocatable_of(node, "pods") - usage.pods
        for resource, amount in self._requests.items():
            room = min(room, (allocatable_of(node, resource) - usage.requests.get(resource, 0)) // amount)
        return max(0, min(room, self._devices(node)))

    def _devices(self, node: Node) -> int:
        if self._allocating is None or self._extended:
            return _UNLIMITED
        key = self._alike[node.metadata.name]
        if key not in self._known:
            self._known[key] = self._by_requests(node)
        return self._known[key]

    def _by_requests(self, node: Node) -> int:
        """The least that any one request allows, and what all of them do together."""
        allocating = self._allocating
        assert allocating is not None  # noqa: S101 - asked for devices
        try:
            checks = allocating.checks(node, gather(self._state.devices.index, node).pools)
        except Aborted:
            return 0
        most, union, needed = _UNLIMITED, set[int](), 0
        for choice in (choice for claim in allocating.plan.claims for choice in claim.choices):
            found = self._by_choice(checks, choice)
            if found is None:
                return _UNLIMITED
            copies, positions, least = found
            most = min(most, copies)
            union |= positions
            needed += least
        return min(most, len(union) // needed) if needed else most

    def _by_choice(self, checks: Checks, choice: Choice) -> tuple[int, set[int], int] | None:
        """For how many copies there are devices, which ones, and how many of them a copy takes at least.

        Each copy gets one of the alternatives. None where a device may serve any number of copies.
        """
        copies, positions = 0, set[int]()
        for request in choice.options:
            if request.admin or request.takes_all:
                return None
            free = [c for c in checks.candidates if not never(checks, request, c)]
            if any(candidate.shareable for candidate in free):
                return None
            positions.update(candidate.position for candidate in free)
            copies += self._with_constraints(checks, request, free) // max(request.spec.count, 1)
        least = min(request.spec.count for request in choice.options)
        return min(copies, len(positions) // max(least, 1)), positions, least

    def _with_constraints(self, checks: Checks, request: Request, free: Sequence[Candidate]) -> int:
        """How many of the devices are of use where all of one copy must have the same value."""
        claim = next(each for each in checks.plan.claims if each.index == request.claim_index)
        count, best = request.spec.count, len(free)
        for index in request.applying:
            attribute = claim.claim.spec.devices.constraints[index].match_attribute
            if attribute is None:
                continue
            values: Counter[Hashable] = Counter()
            try:
                for candidate in free:
                    value = checks.value(request, attribute, candidate)
                    if value is None or value.members is None:
                        continue
                    kind, members = value.members
                    if len(members) != 1:
                        return best
                    values[kind, next(iter(members))] += 1
            except Aborted:
                return best
            best = min(best, sum(number // count * count for number in values.values()))
        return best

    # --- devices in all ---

    def by_devices(self, pods: Sequence[Movable]) -> int:
        """By the number of devices that copies could get, less those that the pods can't do without."""
        needed = self._needed_by_copy()
        free = self._usable.of(self._claims, self._admits) if needed else None
        if free is None:
            return _UNLIMITED
        known: dict[Hashable, tuple[_Demand, ...]] = {}
        in_all = alone = 0
        held: set[DeviceId] = set()
        for each in pods:
            if each.kind not in known:
                known[each.kind] = tuple(self._of_kind(each, free))
            for demand in known[each.kind]:
                own = [device for device in _held(each, demand) if device not in free]
                in_all += demand.count
                # It stays or moves, and has no devices but such as copies could get.
                alone += 0 if demand.elsewhere or own else demand.count
                held.update(own)
        elsewhere = union(demand.elsewhere for demands in known.values() for demand in demands)
        together = in_all - len(elsewhere) - sum(device not in elsewhere for device in held)
        return max(0, (len(free) - max(alone, together)) // needed)

    def _needed_by_copy(self) -> int:
        """The devices of one copy; 0 where that can't be told."""
        counts = [_least(request) for claim in self._claims for request in claim.spec.devices.requests]
        return sum(counts) if all(counts) and not self._extended else 0

    def _of_kind(self, pod: Movable, free: DeviceSet) -> Iterator[_Demand]:
        """What a pod takes at least, request by request, whether it stays or moves."""
        admitting = engine_attempt(Snapshot(self._state), again(pod.pod), ADMITTING)
        admits = frozenset((*admitting.feasible, *admitting.open))
        for index, claim in enumerate(pod.claims):
            for request in claim.spec.devices.requests:
                count = _least(request)
                if count:
                    spec = ResourceClaimSpec(DeviceClaim((request,)))
                    alone = msgspec.structs.replace(claim, spec=spec, status=ResourceClaimStatus())
                    usable = self._usable.of((alone,), admits)
                    if usable is not None:
                        yield _Demand(count, usable.without(free), index, request.name)


def _least(request: DeviceRequest) -> int:
    """How many devices a request takes at least; 0 where it may do without any of its own."""
    if request.exactly is not None and request.exactly.admin_access:
        return 0
    counts = [form.count if form.allocation_mode == "ExactCount" else 0 for _, form in forms_of(request)]
    return min(counts, default=0)


@dataclass(frozen=True, slots=True)
class _Demand:
    """At least so many devices, which need not be among those that copies could get where others are ``elsewhere``."""

    count: int
    elsewhere: DeviceSet
    claim: int
    request: str


def _held(pod: Movable, demand: _Demand) -> Iterator[DeviceId]:
    """What the pod has for the request now."""
    results = results_of(pod.claims[demand.claim])
    return (device_of(each) for each in results if each.request.partition("/")[0] == demand.request)


@dataclass(frozen=True, slots=True)
class _Bounded:
    """``most`` copies at most; ``reached``: a placement with so many was found."""

    most: int
    reached: bool


def bound(filled: Filled, pods: Sequence[Movable]) -> _Bounded:
    """The bound for copies that don't concern each other; ``pods`` are those that may move."""
    if not pods:
        return _Bounded(filled.copies, not filled.more_may_fit)
    most = max(filled.copies, relaxed(filled, pods))
    if most == filled.copies:
        return _Bounded(most, True)
    found = Packing(filled, pods).most() if _is_small(filled, pods) else None
    return _Bounded(most, False) if found is None else _Bounded(found, True)


def _is_small(filled: Filled, pods: Sequence[Movable]) -> bool:
    return len(pods) <= _MOST_PODS and len(filled.waiting.state.inventory.nodes) <= _MOST_NODES
