"""An attempt of the schedulers of 1.30 and 1.31: what classic claims make of each node before anything is searched.

Upstream: Filter of the dynamicresources plugin of 1.30 and 1.31. The first claim that speaks against a node ends it.

Why a node's named resources are not enough for a claim: per request what each check leaves, as for devices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Final

from kubectl_dra.allocation.input import nodes as node_selectors
from kubectl_dra.allocation.named_resources import (
    DriverDemand,
    Instance,
    NamedInstances,
    NamedOutcome,
    NamedSelectorError,
    admits,
)
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.classic.pre_filter import PreFilter, class_nodes, driver_of, scheduling_context
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.attempt import Attempting, NodeResult, PodAttempt
from kubectl_dra.diagnosis.explain.funnel import NodeExplanation
from kubectl_dra.diagnosis.explain.pre_filter import PreFilterStop
from kubectl_dra.diagnosis.records import (
    Cause,
    ClassProblem,
    FatalError,
    Funnel,
    Negotiation,
    NodeOutcome,
    ObjectRef,
    Removal,
    RequestReport,
    SearchSize,
    StageName,
)
from kubectl_dra.model.classic import ClaimSchedulingStatus, ClassicResourceClaim, PodSchedulingContext
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.scheduler import status as statuses
from kubectl_dra.scheduler.fit_error import DYNAMIC_RESOURCES
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult
from kubectl_dra.scheduler.plugins.dynamic_resources import DynamicResources, StateData, unusable_claims
from kubectl_dra.scheduler.profile import PLUGINS
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import Status, error, unresolvable

UNSUITABLE: Final = "resourceclaim cannot be allocated for the node (unsuitable)"
_EXCLUDED: Final = "excluded by {} class node filter"
_CHECK_FAILED: Final = "checking structured parameters failed: "
_SLICE_ORDER: Final = "the scheduler goes through the slices of a node in any order, and the order decides"
_CODES: Final = {
    StageName.CLASS: Code.NO_DEVICE_IN_CLASS,
    StageName.SELECTORS: Code.SELECTOR_MATCHES_NOTHING,
    StageName.UNUSED: Code.DEVICES_IN_USE,
}


def attempt(
    state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim], among: Collection[str] | None = None
) -> PodAttempt:
    """Try to schedule ``pod`` with its existing ``claims``, some of which are classic."""
    return ClassicAttempting(state, pod, claims, among).run()


def answer_for(context: PodSchedulingContext | None, pod: Pod, position: int) -> ClaimSchedulingStatus | None:
    """The driver's answer for the claim at ``position``; the scheduler takes the name of the entry there."""
    if context is None:
        return None
    name = pod.spec.resource_claims[position].name
    return next((status for status in context.status.resource_claims if status.name == name), None)


class ClassicAttempting(Attempting):
    """The steps that differ from later schedulers."""

    def __init__(
        self, state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim], among: Collection[str] | None = None
    ) -> None:
        super().__init__(state, pod, claims, among)
        self._pre_filter = PreFilter(state, pod, self.claims)
        self._context = scheduling_context(state, pod)

    @property
    def plugins(self) -> Sequence[Plugin]:
        """Those of the default profile, with the DynamicResources of these schedulers."""
        return [_ClassicDevices(self) if isinstance(each, DynamicResources) else each for each in PLUGINS]

    def check(self) -> PreFilterStop | None:
        """What ends the attempt before any node is looked at."""
        return self._pre_filter.check()

    def examine(self, node: Node) -> NodeResult | None:
        """What the first claim that speaks against the node says; claims that are searched come after all others."""
        for position, claim in enumerate(self.claims):
            if isinstance(claim, ClassicResourceClaim) and claim.status.allocation is None:
                found = self._examine_claim(node, position, claim)
                if found is not None:
                    return found
        return None

    def _examine_claim(self, node: Node, position: int, claim: ClassicResourceClaim) -> NodeResult | None:
        for selector in class_nodes(self.state, claim):
            if not node_selectors.matches(selector, node):
                return self._excluded(claim)
        if position in self._pre_filter.demands:
            return self._examine_named(node, position, claim)
        answer = answer_for(self._context, self.pod, position)
        if answer is not None and node.metadata.name in answer.unsuitable_nodes:
            return self._unsuitable(claim, answer)
        return None

    def _excluded(self, claim: ClassicResourceClaim) -> NodeResult:
        classic = claim.classic
        name = classic.resource_class_name or ", ".join(
            request.exactly.device_class_name for request in claim.spec.devices.requests if request.exactly is not None
        )
        cause = Cause(Code.CLASS_EXCLUDES_NODE, ClassProblem(name), ObjectRef.of_claim(claim))
        text = _EXCLUDED.format("resource" if classic.resource_class_name else "device")
        return _rejected(text, NodeExplanation((cause.code, cause.claim), (), (cause,), ()))

    def _unsuitable(self, claim: ClassicResourceClaim, answer: ClaimSchedulingStatus) -> NodeResult:
        context = self._context
        assert context is not None  # noqa: S101 - it has the answer
        detail = Negotiation(
            driver_of(self.state, claim),
            selected_node=context.spec.selected_node,
            potential_nodes=context.spec.potential_nodes,
            unsuitable_nodes=answer.unsuitable_nodes,
            answered=True,
            since=context.metadata.creation_timestamp or "",
        )
        cause = Cause(Code.NODE_UNSUITABLE, detail, ObjectRef.of_claim(claim))
        return _rejected(UNSUITABLE, NodeExplanation((cause.code, cause.claim), (), (cause,), ()))

    # --- named resources ----------------------------------------------------------------------------------------------

    @cached_property
    def _named(self) -> NamedInstances:
        return NamedInstances(self.state.inventory.slices.values(), self.state.inventory.claims.values())

    def _examine_named(self, node: Node, position: int, claim: ClassicResourceClaim) -> NodeResult | None:
        evidence, demands = self.state.evidence, self._pre_filter.demands[position]
        if not evidence.complete("ResourceSlice"):
            return NodeResult(NodeOutcome.UNDECIDED, DYNAMIC_RESOURCES)
        name = node.metadata.name
        outcome = self._named.select(name, demands)
        if outcome.undecided:
            cause = Cause(Code.SEARCH_UNDECIDED, SearchSize(0, _SLICE_ORDER), ObjectRef.of_claim(claim))
            return NodeResult(
                NodeOutcome.UNDECIDED, DYNAMIC_RESOURCES, explanation=NodeExplanation(cause.code, (), (cause,), ())
            )
        if outcome.suitable:
            # Claims that could not be read may hold what looks free.
            return None if evidence.complete("ResourceClaim") else NodeResult(NodeOutcome.UNDECIDED, DYNAMIC_RESOURCES)
        text = UNSUITABLE if outcome.error is None else _CHECK_FAILED + outcome.error.text(name)
        return _rejected(text, _named_story(self._named, name, ObjectRef.of_claim(claim), demands, outcome))


class _ClassicDevices(DynamicResources):
    """What the plugin of 1.30 and 1.31 says; claims that are searched are searched as later."""

    def __init__(self, attempting: ClassicAttempting) -> None:
        self._attempting = attempting

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Claim by claim, in their order."""
        cycle.write(
            StateData(self._attempting.claims, unusable=unusable_claims(cycle.snapshot, self._attempting.claims))
        )
        stop = self._attempting.check()
        if stop is None:
            return PASS
        status = error if stop.fatal else unresolvable
        return PreFilterResult(status(stop.text, detail=stop))

    def reads(self, cycle: Cycle) -> None:
        """Drivers say of each node by its name what they think of it."""

    def filter_all(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[Status]:
        """The first claim that speaks against a node ends it; only the rest is searched."""
        known = {node.name: self._attempting.examine(node.node) for node in nodes}
        left = [node for node in nodes if known[node.name] is None]
        found = dict(zip((node.name for node in left), super().filter_all(cycle, left), strict=True))
        return [found[node.name] if (result := known[node.name]) is None else _status(result) for node in nodes]


def _status(result: NodeResult) -> Status:
    if result.outcome is NodeOutcome.UNDECIDED:
        return Status(statuses.StatusCode.UNKNOWN, detail=result)
    return unresolvable(*result.texts, detail=result)


def _rejected(text: str, explanation: NodeExplanation) -> NodeResult:
    return NodeResult(NodeOutcome.CANNOT_ALLOCATE, DYNAMIC_RESOURCES, (text,), explanation=explanation)


def _named_story(
    resources: NamedInstances, node: str, claim: ObjectRef, demands: Sequence[DriverDemand], outcome: NamedOutcome
) -> NodeExplanation:
    """The explanation of a node that is not suitable for one claim; requests are numbered per driver."""
    reports, causes = [], []
    for demand in demands:
        instances = list(resources.instances(node, demand.driver))
        error = outcome.selections[demand.driver].error
        if error is not None:
            causes.append(_failed(claim, node, error))
            continue
        chosen = outcome.selections[demand.driver].chosen
        for number, expression in enumerate(demand.requests):
            name = request_name(demands, demand, number)
            funnel = _funnel(node, demand, number, expression, instances)
            reports.append(RequestReport(claim, name, funnel))
            if chosen[number] is None:
                causes.append(_short(claim, name, funnel))
    told = tuple((r.request, tuple(stage.count for stage in r.funnel.stages)) for r in reports if r.funnel is not None)
    nearness = (-len(causes),)
    return NodeExplanation((told, tuple((c.code, c.request) for c in causes)), tuple(reports), tuple(causes), nearness)


def request_name(demands: Sequence[DriverDemand], demand: DriverDemand, number: int) -> str:
    """What a request is called, which has no name: its number, and the driver's name if there are several."""
    return f"request {number}" if len(demands) == 1 else f"{demand.driver} request {number}"


def _failed(claim: ObjectRef, node: str, error: NamedSelectorError) -> Cause:
    owner = "the class's filter" if error.request is None else f"request {error.request}"
    detail = FatalError(
        error.text(node),
        device=f"{error.driver}/{node}/{error.instance}",
        owner=owner,
        expression=error.expression,
        detail=error.detail,
    )
    return Cause(Code.NAMED_SELECTOR_FAILS, detail, claim)


def _short(claim: ObjectRef, request: str, funnel: Funnel) -> Cause:
    """The check that left nothing; if something was left, an earlier request took it."""
    empty = next((stage.name for stage in funnel.stages if not stage.count), None)
    code = Code.REQUESTS_COMPETE if empty is None else _CODES[empty]
    return Cause(code, funnel, claim, request)


def _funnel(node: str, demand: DriverDemand, number: int, expression: str, instances: Iterable[Instance]) -> Funnel:
    passed = [each for each in instances if admits(demand, None, "", each) is True]
    selected = [each for each in passed if admits(demand, number, expression, each) is True]
    refused = [each for each in passed if each not in selected]
    free = [each for each in selected if each.holder is None]
    pool = f"{demand.driver}/{node}"
    by_selector = (Removal(StageName.SELECTORS, expression, _ids(pool, refused)),) if refused else ()
    held = (each for each in selected if each.holder is not None)
    in_use = (Removal(StageName.UNUSED, str(each.holder), _ids(pool, (each,))) for each in held)
    return Funnel(node, 1, len(passed), (*by_selector, *in_use), _ids(pool, free))


def _ids(pool: str, instances: Iterable[Instance]) -> tuple[str, ...]:
    return tuple(f"{pool}/{each.name}" for each in instances)
