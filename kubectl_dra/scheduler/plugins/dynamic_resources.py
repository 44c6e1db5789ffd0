"""DynamicResources: claims, and extended resources that DeviceClasses serve.

Upstream: plugins/dynamicresources (dynamicresources.go, extendeddynamicresources.go). The search itself is the
allocator's; nodes that it can't tell apart share one search, so all nodes are best asked for at once. What is known of
a node does not depend on the pods there: preemption frees no devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import msgspec

from kubectl_dra.allocation import ClaimSearch
from kubectl_dra.allocation.outcome import Allocated, Fatal, Outcome, TimeLimit, Undecided, Unsatisfiable
from kubectl_dra.model.classic import IMMEDIATE, classic_of, is_searched
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.features import Features
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import AllocationResult, ResourceClaim
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.allocation_errors import CANNOT_ALLOCATE, INVALID_POOLS, allocation_error
from kubectl_dra.scheduler.binding import BindingProblem, unusable
from kubectl_dra.scheduler.claim_problems import problems_of
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.scheduler.device_reads import DeviceReads, can_search, usable_on
from kubectl_dra.scheduler.extended import asked, virtual_claim
from kubectl_dra.scheduler.fit_error import DEALLOCATED, DELETED, NO_CLAIMS, NO_STATE, NOTHING_HELPED
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult, normalised
from kubectl_dra.scheduler.plugins.node_resources_fit import allocatable_of
from kubectl_dra.scheduler.search import Searched, search
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot
from kubectl_dra.scheduler.status import (
    SUCCESS,
    NodeError,
    Status,
    StatusCode,
    error,
    failed,
    unknown,
    unresolvable,
    unschedulable,
)

UNAVAILABLE: Final = "resourceclaim not available on the node"
LEFT_OVER: Final = "cannot schedule extended resource claim"
CANNOT_FIT: Final = "cannot fit resource"
_MOST_ALTERNATIVES: Final = 8


class DevicesOnNode(msgspec.Struct, frozen=True):
    """What was found on a node. ``unavailable``: positions of allocated claims that can't be used there.

    ``extended``: extended resources for which devices had to be found. ``searched`` None: there was nothing to find.
    """

    extended: tuple[str, ...] = ()
    searched: Searched | None = None
    unavailable: tuple[int, ...] = ()
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class SearchError(NodeError):
    """An error that the search ended with, in the words of Kubernetes 1.``minor``."""

    searched: Searched
    minor: int

    def text(self) -> str:
        """The text with this node's own devices."""
        own = self.searched.own
        failed = own if isinstance(own, Fatal) else self.searched.shared
        assert isinstance(failed, Fatal)  # noqa: S101 - nodes alike fail alike
        return allocation_error(failed.error, self.minor)

    def on(self, node: Node) -> SearchError:
        return SearchError(self.searched.on(node), self.minor)


@dataclass(frozen=True, slots=True)
class TimedOut(NodeError):
    """The search takes longer than the scheduler gives it."""

    node: str

    def text(self) -> str:
        """What the plugin says."""
        return f"node {self.node}: timed out trying to allocate devices"

    def on(self, node: Node) -> TimedOut:
        return TimedOut(node.metadata.name)


class StateData(msgspec.Struct):
    """The claims of the pod in order, and what is known of each node that was asked about, see :func:`devices_on`.

    ``left_over``: a claim for extended resources that an earlier attempt left behind. ``unusable``: by position, the
    claims whose devices failed to bind. ``prepared``: what has compared nodes, to search the same claims.
    """

    claims: tuple[ResourceClaim, ...] = ()
    asked: tuple[str, ...] = ()
    mapped: frozenset[str] = frozenset()
    left_over: ResourceClaim | None = None
    unusable: Mapping[int, BindingProblem] = msgspec.field(default_factory=dict)
    statuses: dict[str, Status] = msgspec.field(default_factory=dict)
    nodes: dict[str, DevicesOnNode] = msgspec.field(default_factory=dict)
    prepared: ClaimSearch | None = None

    def idle(self, pod: Pod) -> list[int]:
        """Positions of claims that are in the way on some node and that nobody else uses."""
        return idle_claims(pod, self.claims, (i for found in self.nodes.values() for i in found.unavailable))


class DynamicResources(Plugin):
    """``spec.resourceClaims``, and ``resources.requests`` of what classes serve."""

    name: ClassVar[str] = "DynamicResources"
    weight: ClassVar[int] = 2

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """The claims have to be in order, their classes there."""
        snapshot, pod = cycle.snapshot, cycle.pod
        entries = resolve(snapshot.inventory, snapshot.evidence, snapshot.features, pod)
        claims = tuple(entry.claim for entry in entries if entry.claim is not None)
        names = tuple(asked(pod))
        mapped = frozenset(name for name in names if name in snapshot.served)
        state = StateData(claims, names, mapped)
        cycle.write(state)
        broken = next((entry for entry in entries if entry.problem is not None), None)
        if broken is not None:
            return PreFilterResult(
                unresolvable(broken.text, detail=broken) if broken.text else unknown("ResourceClaim")
            )
        if not (claims or mapped):
            return PASS
        state.left_over = snapshot.extended_claims.get((key_of(pod.metadata), pod.metadata.uid)) if mapped else None
        state.unusable = unusable_claims(snapshot, claims)
        first = next((problem for claim in claims for problem in problems_of(snapshot, claim)), None)
        return PASS if first is None else PreFilterResult(first)

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """Devices for all claims are to be had on the node."""
        return self.filter_all(cycle, (node,))[0]

    def filter_all(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[Status]:
        """The same for many nodes at once."""
        state = cycle.read(StateData)
        if not (state.claims or state.mapped):
            return [SUCCESS] * len(nodes)
        known = [_known(cycle, state, node.name) for node in nodes] if state.statuses else [None] * len(nodes)
        unknown_yet = [node for node, status in zip(nodes, known, strict=True) if status is None]
        if unknown_yet:
            _Filtering(cycle, state).run(unknown_yet)
        return [status or state.statuses[node.name] for node, status in zip(nodes, known, strict=True)]

    def reads(self, cycle: Cycle) -> kinds.Reading | None:
        """What the search for devices sees, and what decides about claims that are allocated."""
        state = cycle.read(StateData)
        if not (state.claims or state.mapped):
            return kinds.NOTHING
        # Which of the resources that classes serve are needed differs from node to node.
        served = virtual_claim(cycle.pod, sorted(state.mapped), cycle.snapshot.served) if state.mapped else None
        reads = DeviceReads(cycle.snapshot, state.claims, state.asked, state.mapped, served)
        prepared = reads.prepared()
        state.prepared = prepared if served is None else None
        return reads.reading(prepared)

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """Early alternatives of ``firstAvailable`` are good."""
        state = cycle.read(StateData)
        if not any(request.first_available for claim in state.claims for request in claim.spec.devices.requests):
            return [0] * len(nodes)
        return normalised([_alternatives(cycle, state, node) for node in nodes])


def unusable_claims(snapshot: Snapshot, claims: Sequence[ResourceClaim]) -> dict[int, BindingProblem]:
    """By position, the allocated claims that are given up on every node."""
    now, timeout = snapshot.state.observed_at, snapshot.state.binding_timeout
    found = (unusable(claim, snapshot.features, now, timeout) for claim in claims)
    return {i: problem for i, problem in enumerate(found) if problem is not None}


def _known(cycle: Cycle, state: StateData, node: str) -> Status | None:
    """What is known of a node, or of one that is alike; errors name what is on a node."""
    found = state.statuses.get(node)
    if found is None:
        found = state.statuses.get(cycle.instead_of(DynamicResources.name, node))
        return None if found is not None and found.code is StatusCode.ERROR else found
    return found


def devices_on(cycle: Cycle, node: str) -> DevicesOnNode | None:
    """What was found on a node, or would be as on the one that was asked about in its place."""
    state = cycle.states.get(StateData)
    if not isinstance(state, StateData):
        return None
    found = state.nodes.get(node)
    if found is None:
        found = state.nodes.get(cycle.instead_of(DynamicResources.name, node))
        if found is not None and found.searched is not None:
            found = msgspec.structs.replace(found, searched=found.searched.on(cycle.snapshot.nodes[node].node))
    return found


class _Filtering:
    """Filter over some nodes."""

    def __init__(self, cycle: Cycle, state: StateData) -> None:
        self._cycle = cycle
        self._state = state

    def run(self, nodes: Sequence[NodeInfo]) -> None:
        """Find out about the nodes, those with the same needs together."""
        if not self._state.mapped:
            self._allocate((), nodes)
            return
        groups: dict[tuple[str, ...], list[NodeInfo]] = {}
        for node in nodes:
            found = self._extended(node)
            if isinstance(found, Status):
                self._state.statuses[node.name] = found
            else:
                groups.setdefault(found, []).append(node)
        for extended, group in groups.items():
            self._allocate(extended, group)

    def _extended(self, node: NodeInfo) -> tuple[str, ...] | Status:
        """The extended resources for which devices have to be found on the node, or why it can't be used."""
        state = self._state
        if state.left_over is not None:
            return unresolvable(LEFT_OVER)
        by_dra = []
        for name in state.asked:
            if name in state.mapped and allocatable_of(node.node, name) == 0:
                by_dra.append(name)
            elif name not in node.node.status.allocatable:
                return unresolvable(CANNOT_FIT)
        return tuple(sorted(by_dra))

    def _allocate(self, extended: tuple[str, ...], group: Sequence[NodeInfo]) -> None:
        snapshot = self._cycle.snapshot
        to_allocate = list(filter(is_searched, self._state.claims))
        if extended:
            to_allocate.append(virtual_claim(self._cycle.pod, extended, snapshot.served))
        found: Mapping[str, Searched] = {}
        if to_allocate and not can_search(snapshot, to_allocate):
            for node in group:
                self._state.statuses[node.name] = unknown("ResourceSlice", "DeviceClass")
            return
        if to_allocate:
            prepared = self._state.prepared
            found = search(snapshot.state.devices, [node.node for node in group], to_allocate, prepared)
        # Where no claim is allocated, nodes that share what was searched share what follows.
        shared = all(claim.status.allocation is None for claim in self._state.claims)
        known: dict[int, Status] = {}
        state = self._state
        for node in group:
            name = node.name
            searched = found.get(name)
            if shared and searched is not None and id(searched) in known:
                state.statuses[name] = known[id(searched)]
                state.nodes[name] = state.nodes[searched.node]
            else:
                state.statuses[name] = known[id(searched)] = self._status(node, searched, extended)

    def _status(self, node: NodeInfo, searched: Searched | None, extended: tuple[str, ...]) -> Status:
        outcome = searched.shared if searched is not None else None
        late = outcome is not None and self._time(outcome) is TimeLimit.BEYOND
        open_ = outcome is not None and (isinstance(outcome, Undecided) or self._time(outcome) is TimeLimit.UNCERTAIN)
        unavailable: tuple[int, ...] = ()
        # Nodes that fit are told apart by what was found there.
        status = Status(StatusCode.SUCCESS)
        if searched is not None and outcome is not None and not (isinstance(outcome, Allocated) or late or open_):
            status = self._failure(searched, outcome)
        else:
            unavailable = self._unavailable(node)
            if unavailable and isinstance(outcome, Allocated | None):
                status = unresolvable(UNAVAILABLE)
            elif late:
                status = failed(TimedOut(node.name))
            elif open_:
                status = unknown()
        found = DevicesOnNode(extended, searched, unavailable if status.rejected else (), late)
        self._state.nodes[node.name] = found
        return status

    def _failure(self, searched: Searched, outcome: Outcome) -> Status:
        match outcome:
            case Fatal(only_affects_node=True):
                return unresolvable(allocation_error(outcome.error))
            case Fatal():
                return failed(SearchError(searched, self._cycle.features.minor))
            case Unsatisfiable(invalid_pools=True):
                return unresolvable(INVALID_POOLS)
            case _:
                return unresolvable(CANNOT_ALLOCATE)

    def _time(self, outcome: Outcome) -> TimeLimit:
        return outcome.time_limit if self._cycle.features.filter_timeout else TimeLimit.WITHIN

    def _unavailable(self, node: NodeInfo) -> tuple[int, ...]:
        """Positions of the allocated claims that can't be used on the node."""
        found = []
        for index, claim in enumerate(self._state.claims):
            allocation = claim.status.allocation
            if allocation is not None and (index in self._state.unusable or not usable_on(allocation, node)):
                found.append(index)
        return tuple(found)


# --- scores ---------------------------------------------------------------------------------------------------------


def _alternatives(cycle: Cycle, state: StateData, node: NodeInfo) -> int:
    return sum(_worth(claim, allocation) for claim, allocation in reserved(cycle, state, node.name))


def reserved(cycle: Cycle, state: StateData, node: str) -> Iterator[tuple[ResourceClaim, AllocationResult]]:
    """What the claims get if the pod comes to a node; the one for extended resources is the last.

    Filter lists new allocations first and behind them those that pods of the group made before, Reserve hands them out
    in the order of the claims: a claim behind a shared one gets what is not its own.
    """
    found = devices_on(cycle, node)
    if found is None:
        return
    pending = cycle.snapshot.pending
    claims = [claim for claim in state.claims if is_searched(claim) or key_of(claim.metadata) in pending]
    if found.extended:
        claims.append(virtual_claim(cycle.pod, found.extended, cycle.snapshot.served))
    own = found.searched.own if found.searched is not None else None
    new = own.allocations if isinstance(own, Allocated) else ()
    shared = [claim.status.allocation for claim in claims if claim.status.allocation is not None]
    yield from zip(claims, (*new, *shared), strict=False)


def _worth(claim: ResourceClaim, allocation: AllocationResult) -> int:
    chosen = {result.request for result in allocation.devices.results}
    worth = 0
    for request in claim.spec.devices.requests:
        for index, each in enumerate(request.first_available):
            if f"{request.name}/{each.name}" in chosen:
                worth += _MOST_ALTERNATIVES - index
                break
    return worth


# --- after no node did ----------------------------------------------------------------------------------------------


def post_filter(cycle: Cycle) -> Status:
    """Free an idle claim or delete a left-over one; an error where PreFilter never got here."""
    if StateData not in cycle.states:
        return error(NO_STATE)
    state = cycle.read(StateData)
    known = bool(state.statuses)
    text = after_filter(
        cycle.features,
        idle=bool(state.idle(cycle.pod)),
        left_over=known and state.left_over is not None,
        claims=known and bool(state.claims),
    )
    return unschedulable(text) if text else unschedulable()


def after_filter(features: Features, *, idle: bool = False, left_over: bool = False, claims: bool = False) -> str:
    """What is said: an ``idle`` claim was freed, one ``left_over`` deleted, or whether there were ``claims`` at all."""
    if idle:
        return DEALLOCATED
    if left_over:
        return DELETED
    if not features.tells_idle_post_filter:
        return ""
    return NOTHING_HELPED if claims else NO_CLAIMS


def idle_claims(pod: Pod, claims: Sequence[ResourceClaim], unavailable: Iterable[int]) -> list[int]:
    """Positions of those that are ``unavailable`` on some node and that nobody else uses."""
    positions = sorted(set(unavailable))
    consumers = {i: [c.uid for c in claims[i].status.reserved_for] for i in positions}
    return [i for i in positions if consumers[i] in ([], [pod.metadata.uid]) and not _stays(claims[i])]


def _stays(claim: ResourceClaim) -> bool:
    """Whether a claim was allocated without any pod, and would be so again if it were freed."""
    classic = classic_of(claim)
    return classic is not None and classic.allocation_mode == IMMEDIATE
