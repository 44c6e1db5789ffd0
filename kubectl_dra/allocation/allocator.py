"""One attempt: prepare the claims once, gather a node's pools, check, search, build the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kubectl_dra.allocation.allocated import AllocatedState
from kubectl_dra.allocation.causes import Cause, PoolIncomplete, PoolInvalid, PoolObsolete, SliceIgnored
from kubectl_dra.allocation.checks import Checks
from kubectl_dra.allocation.counting import Counting, NotApplicableError
from kubectl_dra.allocation.errors import Aborted, TooManyDevices, UndecidedError
from kubectl_dra.allocation.outcome import Allocated, Fatal, Observer, Outcome, Undecided, Unsatisfiable
from kubectl_dra.allocation.pools import Gathered, SliceIndex, gather, uses_groups
from kubectl_dra.allocation.requests import MAX_RESULTS, Enumerate, Limit, Plan, Stop, plan
from kubectl_dra.allocation.result import Chosen, Solution, allocations
from kubectl_dra.allocation.search import ROOT, Search
from kubectl_dra.allocation.selectors import Selection
from kubectl_dra.allocation.steps import Budget
from kubectl_dra.allocation.taints import merge_rules
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice


BUDGET: Final = "budget"


class Cluster:
    """What one scheduling attempt sees of a cluster, prepared once for all nodes and never changed."""

    def __init__(
        self, index: SliceIndex, classes: Mapping[str, DeviceClass], allocated: AllocatedState, features: Features
    ) -> None:
        self.index = index
        self.classes = classes
        self.allocated = allocated
        self.features = features

    @classmethod
    def of(
        cls,
        slices: Iterable[ResourceSlice],
        classes: Iterable[DeviceClass],
        claims: Iterable[ResourceClaim],
        features: Features,
        taint_rules: Sequence[DeviceTaintRule] = (),
    ) -> Cluster:
        """``claims``: all claims of the cluster, of which those with an allocation hold devices."""
        return cls(
            SliceIndex(merge_rules(slices, taint_rules, features), features),
            {device_class.metadata.name: device_class for device_class in classes},
            AllocatedState(claims, features),
            features,
        )


class Attempt:
    """The claims of one pod against one cluster; asked node by node."""

    def __init__(self, cluster: Cluster, claims: Sequence[ResourceClaim]) -> None:
        self.cluster = cluster
        self.features = cluster.features
        self.plan = plan(claims, cluster.classes, cluster.features)
        self.selection = Selection(self.plan.requests, _constrained(claims), cluster.features)

    def checks(self, node: Node, gathered: Gathered) -> Checks:
        """The static checks of a node."""
        cluster = self.cluster
        return Checks(self.plan, self.selection, self.features, cluster.allocated, node, gathered.pools)

    def on(self, node: Node, budget: Budget, observer: Observer | None) -> Outcome:
        """The answer for a node."""
        collector = observer if observer is not None else Collector()
        try:
            gathered = gather(self.cluster.index, node)
        except Aborted as aborted:
            return Fatal(steps=0, error=aborted.error)
        for cause in pool_causes(gathered, self.features):
            collector.rejected(cause)
        return Walk(self, node, gathered, budget, collector).outcome()


class Collector(Observer):
    """Keeps each distinct cause once, up to a number."""

    def __init__(self, limit: int = 10_000) -> None:
        self._causes: dict[Cause, None] = {}
        self._seen: set[int] = set()
        self._limit = limit

    def rejected(self, cause: Cause) -> None:
        """Remembers the cause."""
        if len(self._causes) < self._limit:
            self._causes[cause] = None

    @property
    def causes(self) -> tuple[Cause, ...]:
        """In the order in which they came up first."""
        return tuple(self._causes)


class Walk:
    """The attempt on one node."""

    def __init__(self, attempt: Attempt, node: Node, gathered: Gathered, budget: Budget, observer: Observer) -> None:
        self.attempt = attempt
        self.node = node
        self.pools = gathered.pools
        self.budget = budget
        self.observer = observer
        self.checks = attempt.checks(node, gathered)
        self.search: Search | None = None

    def outcome(self) -> Outcome:
        """The answer."""
        try:
            return self._outcome()
        except Aborted as aborted:
            return Fatal(steps=self._steps, error=aborted.error)
        except UndecidedError as error:
            return Undecided(steps=self._steps, why=str(error))

    def _compute(self, needed: list[int], listed: dict[int, list[int]]) -> bool | None:
        """The answer with computed steps, None if they can't be computed."""
        try:
            counting = Counting(self.checks, needed, listed, self.budget.combinations)
            search = Search(self.checks, needed, listed, None)
            dead = counting.dead_steps(search, ROOT)
            if dead is None:
                search.oracle = counting.dead_steps
                search.run(self.budget.steps, self.budget.looks)
            else:
                search.steps = dead
        except NotApplicableError:
            return None
        self.search = search
        return dead is None

    @property
    def _steps(self) -> int:
        return self.search.steps if self.search is not None else 0

    def _outcome(self) -> Outcome:
        needed, listed = prepare(self.attempt.plan, self.checks)
        search = self.search = Search(self.checks, needed, listed, self.observer)
        found = search.run(self.budget.first, self.budget.looks)
        if found is None:
            found = self._compute(needed, listed)
        if found is None:
            self.observer.gave_up(search.steps)
            found = search.run(self.budget.steps, self.budget.looks)
        search = self.search
        if found is None:
            return Undecided(steps=search.steps, why=BUDGET)
        if not found:
            causes = self.observer.causes if isinstance(self.observer, Collector) else ()
            return Unsatisfiable(
                steps=search.steps, invalid_pools=any(p.invalid is not None for p in self.pools), causes=causes
            )
        results = allocations(
            _solution(search), self.attempt.plan, self.checks.candidates, self.node, self.attempt.features
        )
        return Allocated(steps=search.steps, allocations=results)


def _solution(search: Search) -> Solution:
    devices = tuple(Chosen(p.request, p.position, p.amounts) for p in search.placements)
    forms = tuple(
        tuple(choice.options[search.chosen(claim.index, i)] for i, choice in enumerate(claim.choices))
        for claim in search.checks.plan.claims
    )
    return Solution(devices, forms)


def prepare(prepared: Plan, checks: Checks) -> tuple[list[int], dict[int, list[int]]]:
    """Devices needed per request, and the devices of ``All`` requests. Raises :class:`Aborted`."""
    needed = [request.spec.count for request in prepared.requests]
    listed: dict[int, list[int]] = {}
    totals: dict[int, int] = {}
    for step in prepared.steps:
        if isinstance(step, Stop):
            raise Aborted(step.error)
        if isinstance(step, Enumerate):
            number = step.request.number
            listed[number] = checks.enumerate(step.request)
            needed[number] = len(listed[number])
        else:
            _limit(step, needed, totals)
    return needed, listed


def _limit(step: Limit, needed: Sequence[int], totals: dict[int, int]) -> None:
    claim = step.claim
    so_far = totals.get(claim.index, 0)
    adding = min(needed[option.number] for option in step.choice.options)
    if adding > MAX_RESULTS - so_far:
        raise Aborted(TooManyDevices(claim.key, step.choice.name, adding, so_far))
    totals[claim.index] = so_far + adding


def _constrained(claims: Iterable[ResourceClaim]) -> tuple[str, ...]:
    constraints = (constraint for claim in claims for constraint in claim.spec.devices.constraints)
    names = (c.match_attribute if c.match_attribute is not None else c.distinct_attribute for c in constraints)
    return tuple(sorted({name for name in names if name is not None}))


def pool_causes(gathered: Gathered, features: Features) -> Iterable[Cause]:
    """Why pools of the node, or slices of them, are left out."""
    for pool in gathered.pools:
        if pool.incomplete:
            yield PoolIncomplete(pool.id, pool.generation, pool.seen, pool.expected)
        elif pool.invalid is not None:
            yield PoolInvalid(pool.id, pool.invalid)
    for obsolete in gathered.obsolete:
        yield PoolObsolete(obsolete.id, obsolete.generation, obsolete.newer)
    for slice_ in gathered.ignored:
        grouped = uses_groups(slice_) and not features.compatibility_groups
        feature = "DRADeviceCompatibilityGroups" if grouped else "DRAPartitionableDevices"
        yield SliceIgnored(PoolId(slice_.spec.driver, slice_.spec.pool.name), slice_.metadata.name, feature)
