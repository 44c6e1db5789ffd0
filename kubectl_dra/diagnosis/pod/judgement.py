"""From an attempt to the verdict and the literal message: which outcomes decide, and what missing evidence leaves open.

Upstream: findNodesThatPassFilters (an error on any node ends the cycle; enough feasible nodes end it too), FitError,
handleSchedulingFailure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from kubectl_dra.allocation.outcome import Allocated, Fatal
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain import binding
from kubectl_dra.diagnosis.explain.attempt import AlikeNodes, NodeResult, PodAttempt
from kubectl_dra.diagnosis.explain.renaming import ClaimNames
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.pod.missing import of_the_choice
from kubectl_dra.diagnosis.records import Cause, FatalError, NodeOutcome, Verdict
from kubectl_dra.diagnosis.said.agreement import Prediction
from kubectl_dra.model.admin_access import known_lack
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podneeds import is_spread
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.model.resource import AllocationResult, ResourceClaim
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.attempt import scores
from kubectl_dra.scheduler.claims import is_reserved_for
from kubectl_dra.scheduler.extended import served_resources, virtual_claim
from kubectl_dra.scheduler.plugins.default_selector import is_known
from kubectl_dra.scheduler.plugins.dynamic_resources import after_filter
from kubectl_dra.scheduler.resource_names import is_dra_extended_resource

_ALL_NODES_BELOW: Final = 100
_MIN_PERCENT: Final = 5
_WORDED: Final = 50
_SAME_NAMES: Final = ClaimNames()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of an attempt. ``messages``: what the scheduler may write, the first being the most telling.

    ``refusals`` come only once a node is chosen: errors when that is written, drivers that have not decided yet.
    ``fatal`` are the nodes behind the messages that abort the attempt, ``refused`` the allocations behind refusals of
    new ones, with the position of their claim. ``unread``: kinds that may forbid what is written to a node that fits.
    ``unspread``: the pod has no spread constraints of its own.
    """

    verdict: Verdict
    reason: str | None = None
    messages: tuple[str, ...] = ()
    fitting: int = 0
    depends_on_node_order: bool = False
    refusals: tuple[Cause, ...] = ()
    fatal: tuple[tuple[Node, NodeResult], ...] = ()
    refused: tuple[tuple[int, AllocationResult], ...] = ()
    unread: tuple[str, ...] = ()
    unspread: bool = False

    @property
    def prediction(self) -> Prediction:
        """What the scheduler would write."""
        fitting = self.fitting if self.verdict is Verdict.SCHEDULABLE else 0
        return Prediction(self.messages, fitting=fitting, unspread=self.unspread)


_UNKNOWN: Final = Judgement(Verdict.UNKNOWN)


def feasible_nodes_to_find(nodes: int) -> int:
    """How many nodes that fit are enough for the scheduler, so that it looks at no more."""
    if nodes < _ALL_NODES_BELOW:
        return nodes
    percent = max(50 - nodes // 125, _MIN_PERCENT)
    return max(nodes * percent // 100, _ALL_NODES_BELOW)


def judge(state: ClusterState, pod: Pod, attempt: PodAttempt) -> Judgement:
    if not nodes_can_tell(state):
        return _without_nodes(state, attempt)
    total = len(state.inventory.nodes)
    if total == 0:
        return _unschedulable(fit_error.NO_NODES_MESSAGE)
    if attempt.stop is not None:
        return _stopped(state, attempt, total)
    if _extended_open(state, pod):
        return _UNKNOWN
    return _filtered(state, pod, attempt, total)


def nodes_can_tell(state: ClusterState) -> bool:
    """Whether the nodes are known; a plain list without any node says nothing about them."""
    if state.inventory.nodes:
        return state.evidence.complete("Node")
    return state.evidence.coverage("Node") in (Coverage.COMPLETE, Coverage.NOT_SERVED)


def _without_nodes(state: ClusterState, attempt: PodAttempt) -> Judgement:
    """What is rejected before any node is looked at stays rejected, but how many nodes there are can't be said."""
    stop = attempt.stop
    if stop is None or stop.fatal or not stop.certain or state.evidence.coverage("Node") is Coverage.ASSUMED:
        return _UNKNOWN
    return _unschedulable()


def _stopped(state: ClusterState, attempt: PodAttempt, total: int) -> Judgement:
    stop = attempt.stop
    assert stop is not None  # noqa: S101
    if not stop.certain:
        return _UNKNOWN
    message = stop.message(total, after_filter(state.features))
    if stop.fatal:
        return Judgement(Verdict.SCHEDULER_ERROR, fit_error.SCHEDULER_ERROR, (message,))
    return _unschedulable(message)


def _unschedulable(*messages: str) -> Judgement:
    return Judgement(Verdict.UNSCHEDULABLE, fit_error.UNSCHEDULABLE, messages)


def _extended_open(state: ClusterState, pod: Pod) -> bool:
    """Whether a class that was not read may serve a resource that no known class serves."""
    if not state.features.extended_resource or state.evidence.complete("DeviceClass"):
        return False
    wanted = (name for name, value in pod_requests(pod).items() if value and is_dra_extended_resource(name))
    return any(name not in served_resources(state) for name in wanted)


def _filtered(state: ClusterState, pod: Pod, attempt: PodAttempt, total: int) -> Judgement:
    fits = [each for each in attempt.alike if each.result.outcome is NodeOutcome.FITS]
    fatal = attempt.nodes(NodeOutcome.FATAL)
    nominated = bool(fatal) and pod.status.nominated_node_name in attempt.names(NodeOutcome.FITS)
    if fatal and not nominated:
        return _fatal(state, pod, attempt, fatal, total)
    if fits:
        return _fitting(state, pod, attempt, fits, total)
    if attempt.number(NodeOutcome.UNDECIDED) or (state.blind and state.sharing_hides_counters):
        return _UNKNOWN
    # Pods that could not be read may reject nodes for other reasons: the verdict stays, the words don't.
    if attempt.not_checked or attempt.unread:
        return Judgement(Verdict.UNSCHEDULABLE, fit_error.UNSCHEDULABLE)
    return _unschedulable(fit_error.fit_error(total, attempt.texts, post_filter(state, pod, attempt)))


def _fatal(
    state: ClusterState,
    pod: Pod,
    attempt: PodAttempt,
    fatal: Sequence[tuple[Node, NodeResult]],
    total: int,
) -> Judgement:
    fitting = attempt.number(NodeOutcome.FITS)
    certain = [(node, result) for node, result in fatal if _is_certain(state, attempt, result)]
    if not certain:
        return _UNKNOWN
    depends = fitting + attempt.number(NodeOutcome.UNDECIDED) > feasible_nodes_to_find(total)
    return Judgement(
        Verdict.SCHEDULER_ERROR,
        fit_error.SCHEDULER_ERROR,
        _fatal_messages(state, pod, certain),
        fitting=fitting,
        depends_on_node_order=depends,
        fatal=tuple(certain),
    )


def _fatal_messages(
    state: ClusterState, pod: Pod, fatal: Sequence[tuple[Node, NodeResult]], names: ClaimNames = _SAME_NAMES
) -> tuple[str, ...]:
    """Every node's text may be the one that is written; beyond some, only those that the condition speaks of matter."""
    minor = state.features.minor
    said = " ".join(c.message for c in pod.status.conditions if c.type == "PodScheduled")
    more = [(node, result) for node, result in fatal[_WORDED:] if node.metadata.name in said] if said else []
    texts = (result.error_message(names, minor) for _, result in (*fatal[:_WORDED], *more))
    return tuple(dict.fromkeys(texts))


def reworded(
    state: ClusterState, judgement: Judgement, pod: Pod, claims: Sequence[ResourceClaim], names: ClaimNames
) -> Judgement:
    """The judgement of another pod of the same kind: ``claims`` are its own, ``names`` how they are called there."""
    if judgement.fatal:
        return replace(judgement, messages=_fatal_messages(state, pod, judgement.fatal, names))
    if not judgement.refused:
        return judgement
    to_allocate = [claim for claim in claims if claim.status.allocation is None]
    label = lacking_admin_label(state, pod)
    causes = (binding.refused_admin_access(to_allocate[i], allocation, label) for i, allocation in judgement.refused)
    refusals = tuple(dict.fromkeys(cause for cause in causes if cause is not None))
    return replace(judgement, messages=_refusal_messages(refusals), refusals=refusals)


def _refusal_messages(refusals: Sequence[Cause]) -> tuple[str, ...]:
    return tuple(fit_error.pre_bind_error(_text(cause)) for cause in refusals)


def _is_certain(state: ClusterState, attempt: PodAttempt, result: NodeResult) -> bool:
    """Unseen pods may keep the node from being searched; unseen claims or taints may turn the search elsewhere."""
    if attempt.not_checked:
        return False
    if not state.blind:
        return True
    outcome = result.outcome_of_search
    return isinstance(outcome, Fatal) and outcome.steps == 0


def _fitting(state: ClusterState, pod: Pod, attempt: PodAttempt, fits: Sequence[AlikeNodes], total: int) -> Judgement:
    searched = any(each.result.searched is not None for each in fits)
    fitting = attempt.number(NodeOutcome.FITS)
    if attempt.not_checked or (searched and state.blind):
        return Judgement(Verdict.UNKNOWN, fitting=fitting)
    refused = _refusals(state, pod, attempt, fits)
    if refused:
        return Judgement(
            Verdict.SCHEDULER_ERROR,
            fit_error.SCHEDULER_ERROR,
            tuple(fit_error.pre_bind_error(each.text) for each in refused),
            refusals=tuple(each.cause for each in refused),
            refused=tuple(each.allocation for each in refused if each.allocation is not None),
        )
    rest = fit_error.fit_error(total, attempt.texts)
    unread = (quota.KIND,) if _quotas_decide(state, pod, attempt, fits) else ()
    return Judgement(Verdict.SCHEDULABLE, messages=(rest,), fitting=fitting, unread=unread)


def _quotas_decide(state: ClusterState, pod: Pod, attempt: PodAttempt, fits: Sequence[AlikeNodes]) -> bool:
    """Whether a quota that was not read may forbid the claim that the scheduler makes for extended resources.

    It makes one on each node where a class serves what the node does not have (upstream: extendeddynamicresources.go,
    PreBind). A refusal changes no score, so a node that is refused may be taken again and again.
    """
    makes = attempt.left_over is None and any(each.result.extended for each in fits)
    return makes and not quota.are_read(state, pod.metadata.namespace)


class _Refused(NamedTuple):
    """What the API server refuses to write; ``allocation``: with the position of its claim, where it is about that."""

    cause: Cause
    text: str
    allocation: tuple[int, AllocationResult] | None = None


def _refusals(state: ClusterState, pod: Pod, attempt: PodAttempt, fits: Sequence[AlikeNodes]) -> Sequence[_Refused]:
    """What the API server would refuse first of each node that the scheduler takes; nothing where it does not of one.

    A refusal changes no score: a node with a better one than those that are not refused is taken again and again.
    """
    lacking = lacking_admin_label(state, pod)
    alike = {_made_for(each.result): each for each in fits}
    results = {made: each.result.on(each.nodes[-1]) for made, each in alike.items()}
    found = {made: next(_refused(state, pod, attempt, result, lacking), None) for made, result in results.items()}
    if None in found.values() and any(found.values()):
        taken = _taken(state, pod, attempt)
        among = ((_made_for(each.result), each.nodes) for each in fits)
        found = {
            made: found[made]
            for made, nodes in among
            if not taken or any(node.metadata.name in taken for node in nodes)
        }
    refused: dict[Cause, _Refused] = {}
    for each in found.values():
        if each is None:
            return ()
        refused.setdefault(each.cause, each)
    return tuple(refused.values())


def _made_for(result: NodeResult) -> tuple[int, tuple[str, ...]]:
    """What is written for a pod on a node: nodes that are alike share what a search found."""
    return id(result.outcome_of_search), result.extended


def _taken(state: ClusterState, pod: Pod, attempt: PodAttempt) -> Collection[str]:
    """The nodes of which the scheduler takes one; none where that can't be told."""
    fitting = attempt.number(NodeOutcome.FITS)
    spreads = is_spread(pod) and not (of_the_choice(state.evidence, pod) is None and is_known(state, pod))
    if attempt.engine is None or spreads or fitting > feasible_nodes_to_find(len(state.inventory.nodes)):
        return ()
    return scores(attempt.engine).best


def _refused(
    state: ClusterState, pod: Pod, attempt: PodAttempt, result: NodeResult, lacking: str
) -> Iterator[_Refused]:
    """Claim by claim, in the order in which they are written; one that is reserved for the pod is not.

    The claim made up for extended resources comes last; it has no admin access, and is created only then.
    """
    own = result.searched.own if result.searched is not None else None
    decided = list(enumerate(own.allocations)) if isinstance(own, Allocated) else []
    written: set[Key] = set()
    for claim in attempt.claims:
        allocation = decided.pop(0) if claim.status.allocation is None and decided else None
        if is_reserved_for(pod, claim, state.features):
            continue
        if key_of(claim.metadata) in written:
            yield _said(binding.refused_second_entry(pod, claim))
        written.add(key_of(claim.metadata))
        if allocation is None:
            full = binding.refused_reservation(pod, claim, state.features)
            if full is not None:
                yield _said(full)
        elif lacking and (refused := binding.refused_admin_access(claim, allocation[1], lacking)) is not None:
            yield _said(refused, allocation)
    if result.extended and attempt.left_over is None:
        made_up = virtual_claim(pod, result.extended, served_resources(state))
        shortages = quota.own_claim_shortages(state.inventory.quotas.values(), made_up)
        if shortages:
            text = fit_error.own_claim_refused(made_up.metadata, quota.refusal(shortages))
            told = quota.with_users(shortages[0], pod.metadata.namespace, state.inventory, state.features)
            yield _Refused(Cause(Code.QUOTA_EXCEEDED, told), text)


def _said(cause: Cause, allocation: tuple[int, AllocationResult] | None = None) -> _Refused:
    return _Refused(cause, _text(cause), allocation)


def lacking_admin_label(state: ClusterState, pod: Pod) -> str:
    """The label for admin access that the pod's namespace is known to lack."""
    return known_lack(state.inventory, pod.metadata.namespace, state.features)


def _text(cause: Cause) -> str:
    assert isinstance(cause.detail, FatalError)  # noqa: S101 - made by ``binding``
    return cause.detail.text


def post_filter(state: ClusterState, pod: Pod, attempt: PodAttempt) -> str:
    """What DynamicResources does, and says, when no node fits: free an idle claim, delete a left-over one."""
    idle, left_over = bool(attempt.idle(pod)), attempt.left_over is not None
    return after_filter(state.features, idle=idle, left_over=left_over, claims=bool(attempt.claims))
