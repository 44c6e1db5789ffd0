"""How many copies of a pod fit now: nodes that no copy can tell apart are filled once, all of them side by side.

Where a copy on one node plays a part for others (devices that several nodes reach, spread, affinity, volumes) copies
are placed one after the other, as the scheduler does.

How many whole groups of pods fit, where the pods of a group differ and are of use together only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from kubectl_dra.allocation import ClaimSearch as Allocating
from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.input.pools import gather
from kubectl_dra.allocation.outcome import Allocated
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.shape import Shape, WaitingCopy, depends_on, device_classes
from kubectl_dra.diagnosis.explain.attempt import NodeResult, PodAttempt, attempt
from kubectl_dra.diagnosis.explain.causes import explain
from kubectl_dra.diagnosis.pod.judgement import Judgement, judge
from kubectl_dra.diagnosis.pod.placing import MAX_COPIES, place
from kubectl_dra.diagnosis.records import NodeGroup, NodeOutcome, Verdict
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Node, Pod, PodStatus
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.podinfo import pod_info
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.model.resource import ConsumerReference, ResourceClaim, ResourceClaimStatus
from kubectl_dra.model.usage import NodeUsage, usage_of
from kubectl_dra.scheduler.extended import served_resources
from kubectl_dra.scheduler.plugins.node_resources_fit import allocatable_of, counted
from kubectl_dra.scheduler.search import Searched

#: Copies per node beyond which nobody counts.
MOST_PER_NODE: Final = 1000
_NO_LIMIT: Final = 1 << 30
_BARE: Final = ResourceClaim()
#: Pods that are placed, times nodes.
_EFFORT: Final = 100_000


@dataclass(frozen=True, slots=True)
class Alike:
    """Nodes on which the same number of copies fits; ``last``: what the next copy meets on the first of them."""

    nodes: tuple[str, ...]
    copies: int
    last: NodeGroup | None


@dataclass(frozen=True)
class Filled:
    """How many copies fit on each node, and on nodes alike. ``judgement`` is that of the first copy.

    ``more_may_fit``: the counting was ended, or what decides about the next copy was not read. ``state`` is the cluster
    in which the copy waits. ``side_by_side``: copies on different nodes don't concern each other.
    """

    waiting: WaitingCopy
    judgement: Judgement
    tried: PodAttempt
    groups: tuple[Alike, ...] = ()
    more_may_fit: bool = False
    side_by_side: bool = True
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def copies(self) -> int:
        return sum(self.counts.values())


def fill(waiting: WaitingCopy) -> Filled:
    """Count the copies of the pod that waits."""
    state = waiting.state
    tried = attempt(state, waiting.pod, waiting.claims)
    judged = judge(state, waiting.pod, tried)
    start = Filled(waiting, judged, tried)
    if tried.stop is not None or judged.verdict is Verdict.SCHEDULER_ERROR:
        return start
    fits = tried.nodes(NodeOutcome.FITS)
    refused = tuple(_refused(state, waiting, tried, judged))
    if not fits:
        return replace(start, groups=refused)
    allocating = _allocating([result for _, result in fits])
    if any(True for _ in depends_on(waiting.pod)) or not _is_local(state, allocating, [node for node, _ in fits]):
        return _one_by_one(start, refused)
    members = _classes(waiting, allocating, fits)
    filled = fill_nodes(focused(waiting, [nodes[0] for nodes in members]))
    if filled.failed:
        return _one_by_one(start, refused)
    groups = tuple(Alike(nodes, filled.counts[nodes[0]], filled.last.get(nodes[0])) for nodes in members)
    counts = {name: group.copies for group in groups for name in group.nodes}
    return replace(start, groups=(*groups, *refused), counts=counts, more_may_fit=filled.capped)


def _refused(state: ClusterState, waiting: WaitingCopy, tried: PodAttempt, judged: Judgement) -> Iterator[Alike]:
    """The nodes on which not even one copy fits, by what is in the way."""
    for group in explain(state, waiting.pod, tried, judged).groups:
        if group.outcome is not NodeOutcome.FITS:
            yield Alike(group.nodes, 0, group)


def _allocating(results: Iterable[NodeResult]) -> Allocating | None:
    """The allocator's attempt for the copy, with what its selectors have said; None where no devices are asked for."""
    found = (result.searched.attempt for result in results if result.searched is not None)
    return next(found, None)


def _is_local(state: ClusterState, allocating: Allocating | None, nodes: Sequence[Node]) -> bool:
    """Whether every device that the copy could get belongs to one node."""
    shared = [slice_ for slice_ in state.inventory.slices.values() if not slice_.spec.node_name]
    if allocating is None or not shared:
        return True
    alike = device_classes(state, allocating, {node.metadata.name: node for node in nodes})
    seen: set[Hashable] = set()
    for node in nodes:
        number = alike[node.metadata.name]
        if number in seen:
            continue
        seen.add(number)
        try:
            checks = allocating.checks(node, gather(state.devices.index, node).pools)
            for candidate in checks.candidates:
                if candidate.slice.spec.node_name:
                    continue
                if any(not checks.unselected(request, candidate) for request in allocating.plan.requests):
                    return False
        except Aborted:
            return False
    return True


def _classes(
    waiting: WaitingCopy, allocating: Allocating | None, fits: Sequence[tuple[Node, NodeResult]]
) -> list[tuple[str, ...]]:
    """Nodes that can't be told apart by any number of copies."""
    state = waiting.state
    alike = device_classes(state, allocating, {node.metadata.name: node for node, _ in fits})
    room = _Room(waiting, allocating)
    about_to_come = {pod.status.nominated_node_name: key_of(pod.metadata) for pod in state.nominated}
    found: dict[Hashable, list[str]] = {}
    for node, result in fits:
        name = node.metadata.name
        key = (alike[name], result.extended, room.on(node), about_to_come.get(name))
        found.setdefault(key, []).append(name)
    return [tuple(names) for names in found.values()]


class _Room:
    """For how many copies a node has cpu, memory and so on, as far as that is not more than its devices allow."""

    def __init__(self, waiting: WaitingCopy, allocating: Allocating | None) -> None:
        state, pod = waiting.state, waiting.pod
        served = served_resources(state)
        self._inventory = state.inventory
        self._usage = state.usage or {}
        amounts = counted(pod_requests(pod))
        self._requests = {name: amount for name, amount in amounts.items() if name not in served}
        self._plain = not any(name in served for name in amounts)
        self._needed = 0
        if allocating is not None:
            exact = (r for r in allocating.plan.requests if r.parent is None and not r.admin and not r.takes_all)
            self._needed = sum(request.spec.count for request in exact)

    def on(self, node: Node) -> int:
        usage = self._usage.get(node.metadata.name, NodeUsage())
        room = allocatable_of(node, "pods") - usage.pods
        for name, amount in self._requests.items():
            room = min(room, (allocatable_of(node, name) - usage.requests.get(name, 0)) // amount)
        return min(room, self._devices(node.metadata.name))

    def _devices(self, node: str) -> int:
        """More copies than the node has devices for can't fit, whatever else it has."""
        if not self._needed or not self._plain:
            return _NO_LIMIT
        devices = [d for slice_ in self._inventory.slices_by_node.get(node, ()) for d in slice_.spec.devices]
        if any(device.allow_multiple_allocations for device in devices):
            return _NO_LIMIT
        return len(devices) // self._needed


def focused(waiting: WaitingCopy, names: Sequence[str]) -> WaitingCopy:
    """The same with these nodes only: with their own slices and those of no node, and the claims that hold of them."""
    inventory = waiting.state.inventory
    wanted = dict.fromkeys(names)
    own = [slice_ for name in wanted for slice_ in inventory.slices_by_node.get(name, ())]
    kept = {id(slice_) for slice_ in (*own, *inventory.slices_by_node.get("", ()))}
    slices = {name: slice_ for name, slice_ in inventory.slices.items() if id(slice_) in kept}
    pools = {slice_.spec.pool_id for slice_ in slices.values()}
    claims = {
        key: claim
        for key, claim in inventory.claims.items()
        if key.namespace == waiting.key.namespace or _holds_of(claim, pools)
    }
    about_to_come = {
        key: pod
        for key, pod in inventory.pods.items()
        if key == waiting.key or (pod.status.nominated_node_name in wanted and not pod.spec.node_name)
    }
    small = inventory.replace(
        nodes={name: inventory.nodes[name] for name in inventory.nodes if name in wanted},
        slices=slices,
        claims=claims,
        pods=about_to_come,
        usage={name: inventory.usage[name] for name in wanted if name in inventory.usage},
    )
    return replace(waiting, state=waiting.state.changed(small))


def _holds_of(claim: ResourceClaim, pools: set[PoolId]) -> bool:
    return any(device.pool_id in pools for device in devices_of(claim))


@dataclass(frozen=True)
class FilledNodes:
    """How many copies fit on each of some nodes, and what the next one meets there.

    ``capped``: :data:`MOST_PER_NODE` fit on one, and no more were tried. ``failed``: with an error.
    """

    counts: Mapping[str, int]
    last: Mapping[str, NodeGroup]
    capped: bool
    failed: bool
    state: ClusterState


def fill_nodes(waiting: WaitingCopy, *, explained: bool = True) -> FilledNodes:
    """Put one copy on every node where one fits, again and again, until none fits anywhere."""
    state, key = waiting.state, waiting.key
    alive: list[str] = list(state.inventory.nodes)
    counts = dict.fromkeys(alive, 0)
    last: dict[str, NodeGroup] = {}
    failed = False
    for number in range(MOST_PER_NODE):
        tried = attempt(state, state.inventory.pods[key], waiting.claims, alive)
        fitting = [(node, result) for node, result in tried.results if result.outcome is NodeOutcome.FITS]
        failed = failed or any(result.outcome is NodeOutcome.FATAL for _, result in tried.results)
        if explained and len(fitting) < len(alive):
            last |= _explained(state, waiting, tried)
        if not fitting:
            return FilledNodes(counts, last, False, failed, state)
        alive = [node.metadata.name for node, _ in fitting]
        found = [(node, result.searched) for node, result in fitting]
        for name in alive:
            counts[name] += 1
        state = state.changed(with_copies(state.inventory, waiting, found, number))
    return FilledNodes(counts, last, True, failed, state)


def _explained(state: ClusterState, waiting: WaitingCopy, tried: PodAttempt) -> dict[str, NodeGroup]:
    judged = judge(state, waiting.pod, tried)
    groups = explain(state, waiting.pod, tried, judged).groups
    return {name: group for group in groups if group.outcome is not NodeOutcome.FITS for name in group.nodes}


def with_copies(
    inventory: Inventory, waiting: WaitingCopy, fitting: Sequence[tuple[Node, Searched | None]], number: int
) -> Inventory:
    """With one copy on each of the nodes: what it takes there, and claims that hold what it was given."""
    claims, usage = dict(inventory.claims), dict(inventory.usage)
    pod = waiting.pod
    for node, searched in fitting:
        name = node.metadata.name
        suffix = f"{number}-{name}"
        own = msgspec.structs.replace(pod.metadata, name=f"{pod.metadata.name}-{suffix}", uid=suffix)
        spec = msgspec.structs.replace(pod.spec, node_name=name)
        placed = msgspec.structs.replace(pod, metadata=own, spec=spec, status=PodStatus(phase="Running"))
        usage[name] = usage.get(name, NodeUsage()).plus(usage_of(pod_info(placed)))
        outcome = searched.own if searched is not None else None
        user = ConsumerReference(resource="pods", name=own.name, uid=own.uid)
        for position, allocation in enumerate(outcome.allocations if isinstance(outcome, Allocated) else ()):
            meta = msgspec.structs.replace(own, name=f"{own.name}-{position}", uid=f"{own.uid}-{position}")
            status = ResourceClaimStatus(allocation=allocation, reserved_for=(user,))
            claims[key_of(meta)] = msgspec.structs.replace(_BARE, metadata=meta, status=status)
    return inventory.replace(claims=claims, usage=usage)


def _one_by_one(start: Filled, refused: Sequence[Alike]) -> Filled:
    """Copies as the scheduler places them, each finding what those before it left."""
    waiting = start.waiting
    state = waiting.state.changed(_without(waiting.state.inventory, waiting))
    own = waiting.pod.metadata

    def copies() -> Iterator[Pod]:
        for number in range(MAX_COPIES + 1):
            meta = msgspec.structs.replace(own, name=f"{own.name}-{number}", uid=f"{own.uid}-{number}")
            yield msgspec.structs.replace(waiting.pod, metadata=meta, status=PodStatus(phase="Pending"))

    placed = place(state, copies())
    failed = placed.failed
    unlucky = {name: group for group in (failed.nodes if failed is not None else ()) for name in group.nodes}
    members: dict[Hashable, list[str]] = {}
    for node, _ in start.tried.nodes(NodeOutcome.FITS):
        name = node.metadata.name
        members.setdefault((placed.nodes.get(name, 0), id(unlucky.get(name))), []).append(name)
    groups = tuple(
        Alike(tuple(names), placed.nodes.get(names[0], 0), unlucky.get(names[0])) for names in members.values()
    )
    # Whether the one that found no node has one is unknown where what decides was not read.
    more = placed.capped or (failed is not None and failed.verdict is Verdict.UNKNOWN)
    return replace(start, groups=(*groups, *refused), counts=placed.nodes, more_may_fit=more, side_by_side=False)


def _without(inventory: Inventory, waiting: WaitingCopy) -> Inventory:
    """Without the copy that waits; its claims from templates go with it."""
    own = {key_of(claim.metadata) for claim in waiting.claims if claim.metadata.owner_references}
    pods = {key: pod for key, pod in inventory.pods.items() if key != waiting.key}
    return inventory.replace(pods=pods, claims={k: claim for k, claim in inventory.claims.items() if k not in own})


def whole_groups(state: ClusterState, parts: Sequence[tuple[Shape, int]], most: int) -> int:
    """Groups that find nodes one after the other, each of so many pods of every shape, up to ``most``.

    No fewer fit; another order of the pods may place more.
    """
    templates = {key: each for shape, _ in parts for key, each in shape.templates.items()}
    state = state.changed(state.inventory.replace(templates={**state.inventory.templates, **templates}))
    size = sum(number for _, number in parts)
    for group in range(min(most, _EFFORT // max(1, size * len(state.inventory.nodes)))):
        for shape, number in parts:
            placed = place(state, _copies(shape.pod, group, number))
            if placed.copies < number:
                return group
            state = placed.state
    return min(most, _EFFORT // max(1, size * len(state.inventory.nodes)))


def _copies(pod: Pod, group: int, number: int) -> Iterator[Pod]:
    """By themselves: what a group of them gets in one cycle they get one after the other as well."""
    pod = with_spec(pod, scheduling_group=None, workload_ref=None)
    for index in range(number):
        name = f"{pod.metadata.name}-{group}-{index}"
        yield msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, name=name, uid=name))
