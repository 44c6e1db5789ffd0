"""One attempt: prepare the claims once, gather a node's pools, check, search, build the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.requests import MAX_RESULTS, Enumerate, Limit, Plan, Stop, plan
from kubectl_dra.allocation.checks.selection import SelectorMemo
from kubectl_dra.allocation.errors import Aborted, TooManyDevices, UndecidedError
from kubectl_dra.allocation.input.allocated import AllocatedState
from kubectl_dra.allocation.input.pools import Gathered, NodePool, SliceIndex, gather
from kubectl_dra.allocation.outcome import Allocated, Budget, Fatal, Outcome, Undecided, Unsatisfiable
from kubectl_dra.allocation.result import Chosen, Solution, allocations
from kubectl_dra.allocation.search.classes import NodeClasses
from kubectl_dra.allocation.search.counting import Counting
from kubectl_dra.allocation.search.equivalence import NotApplicableError
from kubectl_dra.allocation.search.search import ROOT, Search
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import AllocationResult, DeviceClass, ResourceClaim

BUDGET: Final = "budget"


class Cluster:
    """What one scheduling attempt sees of a cluster, prepared once for all nodes and never changed."""

    def __init__(
        self,
        index: SliceIndex,
        classes: Mapping[str, DeviceClass],
        allocated: AllocatedState,
        features: Features,
        former: Cluster | None = None,
    ) -> None:
        self.index = index
        self.classes = classes
        self.allocated = allocated
        self.features = features
        known = former.alike if former is not None and former.features == features else None
        #: Which nodes are alike; what is known of a ``former`` state of the same slices is not worked out again.
        self.alike: NodeClasses = NodeClasses(index, allocated, features, known)


class ClaimSearch:
    """The claims of one pod against one cluster; asked node by node."""

    def __init__(self, cluster: Cluster, claims: Sequence[ResourceClaim]) -> None:
        self.cluster = cluster
        self.features = cluster.features
        self.plan = plan(claims, cluster.classes, cluster.features)
        self.constrained = _constrained(claims)
        self.selection = SelectorMemo(self.plan.requests, self.constrained, cluster.features)

    def checks(self, node: Node, pools: Sequence[NodePool]) -> Checks:
        return Checks(self.plan, self.selection, self.features, self.cluster.allocated, node, pools)

    def on(self, node: Node, budget: Budget) -> Outcome:
        try:
            gathered = gather(self.cluster.index, node)
        except Aborted as aborted:
            return Fatal(steps=0, error=aborted.error)
        return NodeSearch(self, node, gathered, budget).outcome


class NodeSearch:
    """The attempt on one node, done when it is made.

    ``reach``: the last position in the search order that the answer depends on, None if it depends on all devices.
    ``solution`` is there if the outcome is :class:`Allocated`. ``effort``: steps walked and combinations computed,
    where a short walk did not do.
    """

    def __init__(self, attempt: ClaimSearch, node: Node, gathered: Gathered, budget: Budget) -> None:
        self.attempt = attempt
        self.node = node
        self.budget = budget
        self.solution: Solution | None = None
        self.reach: int | None = None
        self._pools = gathered.pools
        self._search: Search | None = None
        self.effort = 0
        self.checks = attempt.checks(node, gathered.pools)
        self.outcome = self._guarded()

    def _guarded(self) -> Outcome:
        try:
            return self._answer()
        except Aborted as aborted:
            self.reach = self._reached()
            return Fatal(steps=self._steps, error=aborted.error)
        except UndecidedError as error:
            return Undecided(steps=self._steps, why=str(error))

    @property
    def _steps(self) -> int:
        return self._search.steps if self._search is not None else 0

    def _reached(self) -> int | None:
        if self.attempt.plan.takes_all or (self._search is not None and self._search.oracle is not None):
            return None
        return self._search.reach if self._search is not None else -1

    def _answer(self) -> Outcome:
        needed, listed = prepare(self.attempt.plan, self.checks)
        found = self._run(needed, listed)
        search = self._search
        if search is None or found is None:
            return Undecided(steps=self._steps, why=BUDGET)
        if found:
            self.reach = self._reached()
            solution = _solution(search)
            # Devices that were found are no solution yet: the node selector of a claim may be one that can't be made.
            outcome = Allocated(steps=search.steps, allocations=self._allocations(solution))
            self.solution = solution
            return outcome
        whole = self.attempt.features.judges_whole_pools
        invalid = whole and any(pool.invalid is not None for pool in self._pools)
        return Unsatisfiable(steps=search.steps, invalid_pools=invalid)

    def _allocations(self, solution: Solution) -> tuple[AllocationResult, ...]:
        return allocations(solution, self.attempt.plan, self.checks.candidates, self.node, self.attempt.features)

    def _run(self, needed: list[int], listed: dict[int, list[int]]) -> bool | None:
        """A short walk decides nearly always; if not, steps are computed; if they can't be, the walk goes on."""
        search = self._search = Search(self.checks, needed, listed)
        found = search.run(self.budget.first, self.budget.looks)
        if found is None:
            found = self._compute(needed, listed)
        if found is None:
            found = search.run(self.budget.steps, self.budget.looks)
            self.effort += search.steps
        return found

    def _compute(self, needed: list[int], listed: dict[int, list[int]]) -> bool | None:
        """The answer with computed steps, None if they can't be computed."""
        search = Search(self.checks, needed, listed)
        try:
            counting = Counting(self.checks, needed, listed, self.budget.combinations)
        except NotApplicableError:
            return None
        search.oracle = counting.dead_steps
        try:
            dead = counting.dead_steps(search, ROOT)
            found = search.run(None, self.budget.looks) if dead is None else False
        except NotApplicableError:
            return None
        finally:
            self.effort += counting.spent
        if found is not None:
            self._search = search
            search.steps = search.steps if dead is None else dead
        return found


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
    adding = sum(min(needed[option.number] for option in choice.options) for choice in step.choices)
    if adding > MAX_RESULTS - so_far:
        request = step.choices[0].name if len(step.choices) == 1 else ""
        raise Aborted(TooManyDevices(claim.key, request, adding, so_far))
    totals[claim.index] = so_far + adding


def _constrained(claims: Iterable[ResourceClaim]) -> tuple[str, ...]:
    constraints = (constraint for claim in claims for constraint in claim.spec.devices.constraints)
    names = (c.match_attribute if c.match_attribute is not None else c.distinct_attribute for c in constraints)
    return tuple(sorted({name for name in names if name is not None}))
