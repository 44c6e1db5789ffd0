"""One simulated scheduling attempt of one pod: PreFilter, the filters node by node, DynamicResources, the outcome.

Upstream: schedule_one.go and the dynamicresources plugin's Filter. What the words and the verdict are is decided
elsewhere; here only what happens on which node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.allocation import nodes as node_selectors
from kubectl_dra.allocation.errors import AllocationError
from kubectl_dra.allocation.outcome import Allocated, Fatal, Outcome, Undecided, Unsatisfiable
from kubectl_dra.allocation.steps import TimeLimit
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import binding, pre_filter
from kubectl_dra.diagnosis.funnel import Story
from kubectl_dra.diagnosis.nodefilters import NodeFilters, Rejection, Request, preselected
from kubectl_dra.diagnosis.nodefilters.repelled import repelled
from kubectl_dra.diagnosis.nodefilters.resources import allocatable_of
from kubectl_dra.diagnosis.records import Cause, NodeOutcome
from kubectl_dra.diagnosis.renaming import Names
from kubectl_dra.model.classic import is_searched
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.features import NEWEST_MINOR
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import AllocationResult, ResourceClaim
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.allocation_errors import allocation_error
from kubectl_dra.scheduler.claims import known_extended_claims
from kubectl_dra.scheduler.extended import asked, served_resources, virtual_claim
from kubectl_dra.scheduler.search import Searched, search

CANNOT_ALLOCATE: Final = "cannot allocate all claims"
INVALID_POOLS: Final = "invalid resource pools were encountered"
UNAVAILABLE: Final = "resourceclaim not available on the node"
LEFT_OVER: Final = "cannot schedule extended resource claim"
CANNOT_FIT: Final = "cannot fit resource"
_PLUGIN: Final = "DynamicResources"
_SAME_NAMES: Final = Names()
_OPTIONAL_OPERATIONS: Final = "DRAOptionalNodeOperations"


@dataclass(frozen=True, slots=True)
class Result:
    """What happens on a node; nodes with equal results belong together.

    ``texts`` are the reasons as they are counted. ``unavailable`` are positions of claims. ``searched`` None: there was
    nothing to allocate, or what is needed for that could not be read. ``story``: what is known without a search.
    """

    outcome: NodeOutcome
    plugin: str = ""
    texts: tuple[str, ...] = ()
    rejection: Rejection | None = None
    unavailable: tuple[int, ...] = ()
    extended: tuple[str, ...] = ()
    searched: Searched | None = None
    timed_out: bool = False
    story: Story | None = None

    @property
    def outcome_of_search(self) -> Outcome | None:
        """What the search said of nodes alike."""
        return self.searched.shared if self.searched is not None else None

    @property
    def error(self) -> AllocationError | None:
        """The error that this node raises; None where it ran out of time."""
        own = self.searched.own if self.searched is not None and not self.timed_out else None
        return own.error if isinstance(own, Fatal) else None

    def error_text(self, names: Names = _SAME_NAMES, minor: int = NEWEST_MINOR) -> str:
        """The text of the error that this node raises, in the words of Kubernetes 1.``minor``."""
        error = self.error
        if error is not None:
            return allocation_error(names.error(error), minor)
        assert self.searched is not None  # noqa: S101 - only a search raises errors
        return f"node {self.searched.node}: timed out trying to allocate devices"


@dataclass(frozen=True, slots=True)
class Attempt:
    """The whole attempt. ``claims`` are the pod's existing claims in order; ``extended`` the left-over or made-up one.

    ``results`` has every node of the cluster in the Inventory's order, unless ``stop`` ended the attempt before.
    """

    claims: tuple[ResourceClaim, ...]
    left_over: ResourceClaim | None
    stop: pre_filter.Stop | None
    results: tuple[tuple[Node, Result], ...] = ()
    not_checked: tuple[str, ...] = ()
    failed_bindings: tuple[Cause, ...] = ()

    @property
    def to_allocate(self) -> tuple[ResourceClaim, ...]:
        """The claims for which the scheduler has to find devices."""
        return tuple(filter(is_searched, self.claims))

    def nodes(self, outcome: NodeOutcome) -> list[tuple[Node, Result]]:
        """The nodes with that outcome."""
        return [(node, result) for node, result in self.results if result.outcome is outcome]


def attempt(world: ClusterState, pod: Pod, claims: Sequence[ResourceClaim]) -> Attempt:
    """Try to schedule ``pod`` with its existing ``claims``, those of its entries in their order."""
    return Attempting(world, pod, claims).run()


class Attempting:
    """One attempt under way; generations that have other rules override :meth:`check` and :meth:`examine`."""

    def __init__(self, world: ClusterState, pod: Pod, claims: Sequence[ResourceClaim]) -> None:
        self.world = world
        self.pod = pod
        self.claims = tuple(claims)
        self.asked = asked(pod)
        self.mapped = frozenset(name for name in self.asked if name in served_resources(world))
        left_over = known_extended_claims(world).get((key_of(pod.metadata), pod.metadata.uid)) if self.mapped else None
        self.left_over = left_over
        self.unusable = self._unusable()

    def _unusable(self) -> dict[int, Cause]:
        world = self.world
        causes = (binding.unusable(c, world.features, world.observed_at, world.binding_timeout) for c in self.claims)
        return {i: cause for i, cause in enumerate(causes) if cause is not None}

    def run(self) -> Attempt:
        """The whole attempt."""
        request = Request.of(self.pod, served_resources(self.world))
        allowed, by_plugin = preselected(request)
        if allowed is not None and not allowed:
            return Attempt(self.claims, self.left_over, pre_filter.affinity_conflict())
        stop = self.check()
        if stop is not None:
            return Attempt(self.claims, self.left_over, stop)
        filters = NodeFilters(
            request,
            self.world.usage,
            self._nominated(),
            away=repelled(self.world, self.pod),
            names_taints=self.world.features.names_untolerated_taint,
        )
        results = self._run_filters(filters, allowed, by_plugin)
        ordered = tuple((node, results[name]) for name, node in self.world.inventory.nodes.items())
        failed = tuple(self.unusable.values())
        return Attempt(self.claims, self.left_over, None, ordered, filters.not_checked, failed)

    def check(self) -> pre_filter.Stop | None:
        """What ends the attempt before any node is looked at."""
        return pre_filter.check_claims(self.world, self.claims)

    def examine(self, node: Node) -> Result | None:
        """What is known of a node that other plugins let pass, before devices are searched; None: nothing is."""
        return None

    def _run_filters(self, filters: NodeFilters, allowed: frozenset[str] | None, by_plugin: str) -> dict[str, Result]:
        texts = (fit_error.not_preselected(by_plugin),) if self.world.features.counts_preselection else ()
        left_out = Result(NodeOutcome.REJECTED, by_plugin, texts)
        results: dict[str, Result] = {}
        waiting: dict[tuple[str, ...], list[Node]] = {}
        for name, node in self.world.inventory.nodes.items():
            result = left_out if allowed is not None and name not in allowed else self._filter(filters, node)
            if isinstance(result, Result):
                results[name] = result
            else:
                waiting.setdefault(result, []).append(node)
        for extended, group in waiting.items():
            results.update(self._allocate(extended, group))
        return results

    def _nominated(self) -> Iterable[Pod]:
        """Pods of at least the same priority that are about to get a node count as if they were there."""
        priority = self.pod.spec.priority or 0
        others = (other for other in self.world.nominated if other.metadata.uid != self.pod.metadata.uid)
        return (other for other in others if (other.spec.priority or 0) >= priority)

    # --- one node before the search ---------------------------------------------------------------------------------

    def _filter(self, filters: NodeFilters, node: Node) -> Result | tuple[str, ...]:
        """The result, or the extended resources that the search has to find on the node."""
        rejection = filters.reject(node)
        if rejection is not None:
            return Result(NodeOutcome.REJECTED, rejection.plugin, rejection.texts, rejection)
        known = self.examine(node)
        if known is not None:
            return known
        if not self.mapped:
            return ()
        if self.left_over is not None:
            return Result(NodeOutcome.CLAIM_UNAVAILABLE, _PLUGIN, (LEFT_OVER,))
        by_dra = []
        for name in self.asked:
            if name in self.mapped and allocatable_of(node, name) == 0:
                by_dra.append(name)
            elif name not in node.status.allocatable:
                return Result(NodeOutcome.CANNOT_ALLOCATE, _PLUGIN, (CANNOT_FIT,))
        return tuple(sorted(by_dra))

    def _unavailable(self, node: Node) -> tuple[int, ...]:
        """Positions of the allocated claims that can't be used on the node."""
        found = []
        for index, claim in enumerate(self.claims):
            allocation = claim.status.allocation
            if allocation is not None and (index in self.unusable or not _usable_on(allocation, node)):
                found.append(index)
        return tuple(found)

    # --- the search -------------------------------------------------------------------------------------------------

    def _allocate(self, extended: tuple[str, ...], group: Sequence[Node]) -> dict[str, Result]:
        to_allocate = list(filter(is_searched, self.claims))
        if extended:
            to_allocate.append(virtual_claim(self.pod, extended, served_resources(self.world)))
        if not to_allocate:
            return {node.metadata.name: self._result(node, None, extended) for node in group}
        world = self.world
        if not world.evidence.complete("ResourceSlice") or not pre_filter.classes_known(world, to_allocate):
            unread = Result(NodeOutcome.UNDECIDED, _PLUGIN, extended=extended)
            return {node.metadata.name: unread for node in group}
        found = search(world.devices, group, to_allocate)
        return {node.metadata.name: self._result(node, found[node.metadata.name], extended) for node in group}

    def _result(self, node: Node, searched: Searched | None, extended: tuple[str, ...]) -> Result:
        if searched is not None and not isinstance(searched.shared, Allocated):
            return self._failed(searched, extended)
        unavailable = self._unavailable(node)
        if unavailable:
            texts = (UNAVAILABLE,)
            return Result(NodeOutcome.CLAIM_UNAVAILABLE, _PLUGIN, texts, None, unavailable, extended, searched)
        if searched is not None and self._time(searched.shared) is not TimeLimit.WITHIN:
            return self._late(searched, extended)
        return Result(NodeOutcome.FITS, extended=extended, searched=searched)

    def _failed(self, searched: Searched, extended: tuple[str, ...]) -> Result:
        outcome = searched.shared
        if self._time(outcome) is not TimeLimit.WITHIN or isinstance(outcome, Undecided):
            return self._late(searched, extended)
        match outcome:
            case Fatal(only_affects_node=True):
                texts: tuple[str, ...] = (allocation_error(outcome.error),)
                return Result(NodeOutcome.CANNOT_ALLOCATE, _PLUGIN, texts, extended=extended, searched=searched)
            case Fatal():
                return Result(NodeOutcome.FATAL, _PLUGIN, extended=extended, searched=searched)
            case Unsatisfiable(invalid_pools=True):
                texts = (INVALID_POOLS,)
            case _:
                texts = (CANNOT_ALLOCATE,)
        return Result(NodeOutcome.CANNOT_ALLOCATE, _PLUGIN, texts, extended=extended, searched=searched)

    def _late(self, searched: Searched, extended: tuple[str, ...]) -> Result:
        """A search that takes, or may take, longer than the scheduler allows; or one that was not finished here."""
        late = self._time(searched.shared) is TimeLimit.BEYOND
        outcome = NodeOutcome.FATAL if late else NodeOutcome.UNDECIDED
        return Result(outcome, _PLUGIN, extended=extended, searched=searched, timed_out=late)

    def _time(self, outcome: Outcome) -> TimeLimit:
        return outcome.time_limit if self.world.features.filter_timeout else TimeLimit.WITHIN


def _usable_on(allocation: AllocationResult, node: Node) -> bool:
    skips = any(result.skip_node_operations for result in allocation.devices.results)
    if skips and _OPTIONAL_OPERATIONS not in node.status.declared_features:
        return False
    selector = allocation.node_selector
    return selector is None or node_selectors.matches(selector, node)
