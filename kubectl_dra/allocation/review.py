"""What each check says of each device of a node for one request, all checks side by side and without a search.

A search stops at the first check that fails; an explanation wants to know them all. Nothing here depends on what an
attempt chooses: counters and capacity are those that allocated claims leave.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kubectl_dra.allocation.allocator import Attempt, Cluster, pool_causes
from kubectl_dra.allocation.candidates import Candidate
from kubectl_dra.allocation.causes import Cause, CountersShort, FeatureOff, InUse, OtherNode
from kubectl_dra.allocation.checks import Checks
from kubectl_dra.allocation.constraints import Members
from kubectl_dra.allocation.errors import Aborted, AllocationError, UndecidedError
from kubectl_dra.allocation.pools import gather
from kubectl_dra.allocation.requests import Request, Selector
from kubectl_dra.model.core import Node
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.resource import ResourceClaim


@dataclass(frozen=True, slots=True)
class SelectorFinding:
    """One selector on one device: ``matches`` None if it failed, with ``error`` unless it is too costly to tell."""

    selector: Selector
    matches: bool | None
    error: AllocationError | None = None


@dataclass(frozen=True, slots=True)
class DeviceReview:
    """One device. Each cause is there if its check says no; ``error`` is what computing the capacity ends with."""

    device: DeviceId
    selectors: tuple[SelectorFinding, ...]
    on_node: OtherNode | None
    feature: FeatureOff | None
    in_use: InUse | None
    taint: Cause | None
    capacity: Cause | None
    counters: CountersShort | None
    error: AllocationError | None

    @property
    def in_class(self) -> bool:
        """Whether all selectors of the class match."""
        return all(f.matches for f in self.selectors if f.selector.device_class is not None)

    @property
    def selected(self) -> bool:
        """Whether all selectors of class and request match."""
        return all(f.matches for f in self.selectors)

    @property
    def obstacles(self) -> tuple[Cause, ...]:
        """The checks other than selectors that say no, in the order in which a reader asks."""
        found = (self.on_node, self.feature, self.taint, self.in_use, self.capacity, self.counters)
        return tuple(cause for cause in found if cause is not None)

    @property
    def available(self) -> bool:
        """Whether every check passes."""
        return self.selected and not self.obstacles and self.error is None


@dataclass(frozen=True, slots=True)
class RequestReview:
    """One request or subrequest on one node. ``needed`` is None for ``All``; ``pools`` says which are left out."""

    request: str
    needed: int | None
    devices: tuple[DeviceReview, ...]
    pools: tuple[Cause, ...]
    error: AllocationError | None = None


def review(
    cluster: Cluster, node: Node, claim: ResourceClaim, request: str, subrequest: str | None = None
) -> RequestReview:
    """Review one request. ``error`` is set, and there are no devices, if the claim or the pools can't be evaluated.

    Raises :class:`KeyError` if the claim has no such request.
    """
    name = request if subrequest is None else f"{request}/{subrequest}"
    attempt = Attempt(cluster, [claim])
    prepared = next((r for r in attempt.plan.requests if r.full_name == name), None)
    if prepared is None:
        if attempt.plan.stopped is None:
            raise KeyError(name)
        return RequestReview(name, None, (), (), attempt.plan.stopped)
    needed = None if prepared.takes_all else prepared.spec.count
    try:
        gathered = gather(cluster.index, node)
    except Aborted as aborted:
        return RequestReview(name, needed, (), (), aborted.error)
    checks = attempt.checks(node, gathered.pools)
    devices = tuple(_Review(checks, prepared).devices())
    return RequestReview(name, needed, devices, tuple(pool_causes(gathered, cluster.features)))


def constraint_groups(
    cluster: Cluster, node: Node, claim: ResourceClaim, request: str, attribute: str
) -> Mapping[Members, tuple[DeviceId, ...]]:
    """The available devices of a request by their value of an attribute; with list values, under each element."""
    attempt = Attempt(cluster, [claim])
    groups: defaultdict[Members, list[DeviceId]] = defaultdict(list)
    prepared = next((r for r in attempt.plan.requests if r.full_name == request), None)
    if prepared is not None:
        checks = attempt.checks(node, gather(cluster.index, node).pools)
        reviewing = _Review(checks, prepared)
        for candidate in checks.candidates:
            value = checks.value(prepared, attribute, candidate) if reviewing.of(candidate).available else None
            for element in _elements(value.members if value is not None else None):
                groups[element].append(candidate.id)
    return {value: tuple(devices) for value, devices in groups.items()}


def _elements(members: Members | None) -> Iterable[Members]:
    return () if members is None else ((members[0], frozenset((element,))) for element in members[1])


class _Review:
    def __init__(self, checks: Checks, request: Request) -> None:
        self.checks = checks
        self.request = request
        self._counters = {id(pool): checks.counters(pool) for pool in checks.pools if pool.counter_sets}

    def devices(self) -> Iterator[DeviceReview]:
        return map(self.of, self.checks.candidates)

    def of(self, candidate: Candidate) -> DeviceReview:
        checks, request = self.checks, self.request
        features = checks.features
        capacity: Cause | None = None
        error: AllocationError | None = None
        try:
            capacity = checks.short(request, candidate) if features.consumable_capacity else None
        except Aborted as aborted:
            error = aborted.error
        return DeviceReview(
            candidate.id,
            tuple(map(self._finding(candidate), request.selectors)),
            self._on_node(candidate),
            checks.unbindable(request, candidate) or checks.unsupported(request, candidate),
            checks.in_use(request, candidate),
            checks.tainted(request, candidate),
            capacity,
            self._short_counters(candidate),
            error,
        )

    def _finding(self, candidate: Candidate) -> Callable[[Selector], SelectorFinding]:
        def finding(selector: Selector) -> SelectorFinding:
            try:
                return SelectorFinding(selector, self.checks.selection.matches(self.request, selector, candidate))
            except Aborted as aborted:
                return SelectorFinding(selector, None, aborted.error)
            except UndecidedError:
                return SelectorFinding(selector, None)

        return finding

    def _on_node(self, candidate: Candidate) -> OtherNode | None:
        try:
            return self.checks.elsewhere(self.request, candidate)
        except Aborted:
            return OtherNode(candidate.id, self.request.claim, self.request.full_name)

    def _short_counters(self, candidate: Candidate) -> CountersShort | None:
        counters = self._counters.get(id(candidate.pool))
        shared = candidate.shareable and candidate.state is not None and candidate.state.shared
        if counters is None or shared or not candidate.device.consumes_counters:
            return None
        shortage = counters.shortage(counters.consumption(candidate.device))
        if shortage is None:
            return None
        return CountersShort(candidate.id, self.request.claim, self.request.full_name, *shortage)
