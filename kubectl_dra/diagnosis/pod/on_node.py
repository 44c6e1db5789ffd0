"""A pod on its node whose containers have not started: the kubelet's words, then what the objects show.

Who put a pod on its node: a scheduler, or whoever wrote ``spec.nodeName`` into it or its template.

Pods that are going away: deleted, evicted, or about to be. Nothing else that is true of them matters any more.
Upstream: the condition DisruptionTarget (pkg/apis/core: PodReasonTerminationByKubelet and the others), which whoever
evicts a pod sets before deleting it; pkg/controller/devicetainteviction, whose message does not name the taint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kubectl_dra.allocation.input.taints import tolerates
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.claim_verdicts import vanished
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.gates import ClaimGates
from kubectl_dra.diagnosis.pod.eviction import taints_of
from kubectl_dra.diagnosis.pod.workloads import owners
from kubectl_dra.diagnosis.records import Cause, Departure, HeldTaint, ObjectRef
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.diagnosis.said import kubelet
from kubectl_dra.diagnosis.said.mounts import with_holders
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.held import device_of, results_of
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.resource import DeviceRequestAllocationResult, DeviceTaint, ResourceClaim
from kubectl_dra.model.taint_text import NO_EXECUTE
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.claims import ClaimProblem, ResolvedEntry

_BROKEN = (ClaimProblem.MISSING, ClaimProblem.NOT_CREATED, ClaimProblem.NOT_OWNED)
#: Kubernetes', Volcano's, YuniKorn's and KAI's schedulers write it of what they have bound.
_SCHEDULED: Final = ("Scheduled", "Bound")
_CONDITION = "DisruptionTarget"
_BY_DEVICE_TAINT = "DeletionByDeviceTaintManager"


def preparing(
    state: ClusterState, pod: Pod, entries: Sequence[ResolvedEntry], events: Sequence[Event]
) -> Iterator[Cause]:
    """Why its containers have not started, each reason once."""
    broken = [each for each in entries if each.problem in _BROKEN]
    claims = [entry.claim for entry in entries if entry.claim is not None and entry not in broken]
    unusable = list(kubelet.not_usable(pod, claims, state.features))
    waiting = list(kubelet.waiting(pod))
    said = kubelet.said(pod, events, state.inventory.nodes.get(pod.spec.node_name), unusable)
    warned = [each for each in said if waiting and each.code is Code.KUBELET_WARNS]
    said = [each for each in said if each not in warned]
    same = kubelet.repeated(warned, waiting)
    of_gates = ClaimGates(state.inventory, state.evidence, state.features, pod).causes(broken)
    failures = [each for each in said if each.code is not Code.PREPARING]
    allocated = gone(state, [entry.claim for entry in entries if entry.claim is not None])
    found = [*allocated, *failures, *of_gates, *unusable, *kubelet.unhealthy(pod, state.inventory), *waiting, *same]
    told: set[tuple[Code, ObjectRef | None]] = set()
    for cause in (
        found or list(kubelet.initializing(pod)) or said or [Cause(Code.PREPARING, nodes=(pod.spec.node_name,))]
    ):
        if cause.code is Code.DEVICE_UNHEALTHY or (cause.code, cause.claim) not in told:
            told.add((cause.code, cause.claim))
            yield with_holders(state, pod, kubelet.not_allocated_by(_bound_by(state.inventory, pod), cause))


def gone(state: ClusterState, claims: Sequence[ResourceClaim]) -> list[Cause]:
    """Of each allocated claim the devices that are not there any more."""
    found = (vanished(state.inventory, state.evidence, claim) for claim in claims)
    return [cause for cause in dict.fromkeys(found) if cause is not None]


def _bound_by(inventory: Inventory, pod: Pod) -> str:
    """The scheduler that bound the pod; empty where the node was written by hand, or may have been.

    An event of it is proof. Else a template with a node is proof of the contrary, and one without a node that some
    scheduler did; where neither is known, a scheduler that somebody has chosen is taken to have done its work.
    """
    chosen = pod.spec.scheduler_name or DEFAULT_SCHEDULER
    for event in events_.about(inventory, pod):
        if event.reason in _SCHEDULED:
            return events_.reporter(event) or chosen
    found = (each.object.template_of(each.ref.kind, pod) for each in owners(inventory, pod) if each.object is not None)
    template = next((each[1] for each in found if each is not None), None)
    if template is not None:
        return "" if template.spec.node_name else chosen
    return "" if chosen == DEFAULT_SCHEDULER else chosen


def departure(state: ClusterState, pod: Pod, claims: Iterable[ResourceClaim]) -> Cause | None:
    """Why a pod is going away; None if it is not, or is gone already and only its record is left."""
    condition = next((c for c in pod.status.conditions if c.type == _CONDITION and c.status == "True"), None)
    deleted = pod.metadata.deletion_timestamp
    if is_terminal(pod) or (deleted is None and (condition is None or not pod.spec.node_name)):
        return None
    finalizers = pod.metadata.finalizers if deleted is not None else ()
    if condition is None:
        return Cause(Code.POD_BEING_DELETED, Departure(deleted or "", finalizers=finalizers))
    taints = tuple(_taints(state, claims)) if condition.reason == _BY_DEVICE_TAINT else ()
    moved = condition.last_transition_time or ""
    detail = Departure(deleted or "", condition.reason, condition.message, moved, finalizers, taints)
    return Cause(Code.POD_EVICTED, detail)


def _taints(state: ClusterState, claims: Iterable[ResourceClaim]) -> Iterator[HeldTaint]:
    """The taints that evict, of the devices that the claims hold, in their order."""
    for claim in claims:
        for result in results_of(claim):
            for taint, rule in taints_of(state, device_of(result)):
                if _evicts(result, taint):
                    yield HeldTaint(result.device, f"{taint.key}:{taint.effect}", rule)


def _evicts(result: DeviceRequestAllocationResult, taint: DeviceTaint) -> bool:
    forever = (t for t in result.tolerations if t.effect == NO_EXECUTE and t.toleration_seconds is None)
    return taint.effect == NO_EXECUTE and not any(tolerates(each, taint) for each in forever)
