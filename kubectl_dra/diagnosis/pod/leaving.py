"""Pods that are going away: deleted, evicted, or about to be. Nothing else that is true of them matters any more.

Upstream: the condition DisruptionTarget (pkg/apis/core: PodReasonTerminationByKubelet and the others), which whoever
evicts a pod sets before deleting it; pkg/controller/devicetainteviction, whose message does not name the taint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_dra.allocation.input.taints import tolerates
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.eviction import NO_EXECUTE, taints_of
from kubectl_dra.diagnosis.records import Cause, Departure, HeldTaint
from kubectl_dra.model.core import Pod
from kubectl_dra.model.held import device_of, results_of
from kubectl_dra.model.resource import DeviceRequestAllocationResult, DeviceTaint, ResourceClaim
from kubectl_dra.model.usage import is_terminal

_CONDITION = "DisruptionTarget"
_BY_DEVICE_TAINT = "DeletionByDeviceTaintManager"


def departure(world: ClusterState, pod: Pod, claims: Iterable[ResourceClaim]) -> Cause | None:
    """Why a pod is going away; None if it is not, or is gone already and only its record is left."""
    condition = next((c for c in pod.status.conditions if c.type == _CONDITION and c.status == "True"), None)
    deleted = pod.metadata.deletion_timestamp
    if is_terminal(pod) or (deleted is None and (condition is None or not pod.spec.node_name)):
        return None
    finalizers = pod.metadata.finalizers if deleted is not None else ()
    if condition is None:
        return Cause(Code.POD_BEING_DELETED, Departure(deleted or "", finalizers=finalizers))
    taints = tuple(_taints(world, claims)) if condition.reason == _BY_DEVICE_TAINT else ()
    moved = condition.last_transition_time or ""
    detail = Departure(deleted or "", condition.reason, condition.message, moved, finalizers, taints)
    return Cause(Code.POD_EVICTED, detail)


def _taints(world: ClusterState, claims: Iterable[ResourceClaim]) -> Iterator[HeldTaint]:
    """The taints that evict, of the devices that the claims hold, in their order."""
    for claim in claims:
        for result in results_of(claim):
            for taint, rule in taints_of(world, device_of(result)):
                if _evicts(result, taint):
                    yield HeldTaint(result.device, f"{taint.key}:{taint.effect}", rule)


def _evicts(result: DeviceRequestAllocationResult, taint: DeviceTaint) -> bool:
    forever = (t for t in result.tolerations if t.effect == NO_EXECUTE and t.toleration_seconds is None)
    return taint.effect == NO_EXECUTE and not any(tolerates(each, taint) for each in forever)
