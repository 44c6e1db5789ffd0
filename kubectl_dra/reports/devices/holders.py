"""Who holds a device: the claims allocated to it, the consumers that reserved them, and where those run.

Evidence: ``status.allocation`` and ``status.reservedFor`` of claims. Whether a device is *in use* in the scheduler's
sense is decided in ``allocation``; this module only names the people behind it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.reserved import is_without_pods
from kubectl_dra.model.core import ContainerStatus, Pod
from kubectl_dra.model.inventory import Holding
from kubectl_dra.model.resource import ConsumerReference, ResourceClaim
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.base import ReportRecord


class ConsumerState(StrEnum):
    """What is known of a consumer that a claim is reserved for."""

    PENDING = "pending"  # exists and is not bound to a node
    BOUND = "bound"  # on a node, not running yet
    RUNNING = "running"
    FINISHED = "finished"  # the controller will drop the reservation
    GONE = "gone"  # no unfinished pod has this uid
    EMPTY = "empty"  # a PodGroup without unfinished pods: its claims are its own until it is deleted
    UNKNOWN = "unknown"  # pods of the namespace were not read, or the consumer is no pod


#: Such a pod or group uses nothing any more.
OVER: Final = frozenset({ConsumerState.FINISHED, ConsumerState.GONE, ConsumerState.EMPTY})


class Consumer(ReportRecord, frozen=True):
    """One entry of ``status.reservedFor``; ``node`` and ``reason`` are empty where unknown or none.

    ``reason``: why a container waits, also of a pod that runs; ``restarts``: how often that one was started again.
    ``deleted``: of a pod that is being deleted, by when it should have ended.
    """

    api_group: str
    resource: str
    namespace: str
    name: str
    uid: str
    state: ConsumerState
    node: str
    reason: str
    restarts: int = 0
    deleted: str = ""


class Holder(ReportRecord, frozen=True):
    """One device or one share of it as a claim holds it.

    ``since`` is ``allocationTimestamp`` (RFC 3339; None where the scheduler did not write it). A claim that nobody
    reserved holds its devices all the same: then ``consumers`` is empty.
    """

    namespace: str
    claim: str
    request: str
    admin_access: bool
    share_id: str
    consumed_capacity: dict[str, str]
    since: str
    deleting: bool
    consumers: tuple[Consumer, ...]


def holder_of(holding: Holding, state: ClusterState) -> Holder:
    claim, result = holding.claim, holding.result
    allocation = claim.status.allocation
    return Holder(
        namespace=claim.metadata.namespace,
        claim=claim.metadata.name,
        request=result.request,
        admin_access=bool(result.admin_access),
        share_id=result.share_id or "",
        consumed_capacity={name: str(amount) for name, amount in sorted(result.consumed_capacity.items())},
        since=(allocation.allocation_timestamp or "") if allocation is not None else "",
        deleting=claim.metadata.deletion_timestamp is not None,
        consumers=consumers_of(claim, state),
    )


def consumers_of(claim: ResourceClaim, state: ClusterState) -> tuple[Consumer, ...]:
    """Everything that ``claim`` is reserved for, by name."""
    namespace = claim.metadata.namespace
    consumers = (_consumer(reference, namespace, state) for reference in claim.status.reserved_for)
    return tuple(sorted(consumers, key=lambda consumer: (consumer.resource, consumer.name, consumer.uid)))


def consumer_states(claim: ResourceClaim, state: ClusterState) -> frozenset[ConsumerState]:
    """How far those are that ``claim`` is reserved for."""
    namespace = claim.metadata.namespace
    return frozenset(_state(each, _pod(each, state), namespace, state) for each in claim.status.reserved_for)


def pod_state(pod: Pod) -> ConsumerState:
    """How far a pod is."""
    if is_terminal(pod):
        return ConsumerState.FINISHED
    if not pod.spec.node_name:
        return ConsumerState.PENDING
    return ConsumerState.RUNNING if pod.status.phase == "Running" else ConsumerState.BOUND


def waiting_reason(pod: Pod) -> str:
    """Why the first container that waits does so, else the pod's own reason; empty if nothing waits."""
    waiting = _waiting(pod)
    return waiting.state.waiting.reason if waiting is not None and waiting.state.waiting else pod.status.reason


def restarts_of(pod: Pod) -> int:
    """How often the container was started again that waits."""
    waiting = _waiting(pod)
    return waiting.restart_count if waiting is not None else 0


def _waiting(pod: Pod) -> ContainerStatus | None:
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return next((each for each in statuses if each.state.waiting is not None and each.state.waiting.reason), None)


def is_pod(reference: ConsumerReference) -> bool:
    """Whether a reservation is for a pod (the core group has an empty name)."""
    return reference.resource == "pods" and not reference.api_group


def _consumer(reference: ConsumerReference, namespace: str, state: ClusterState) -> Consumer:
    pod = _pod(reference, state)
    lives = _state(reference, pod, namespace, state)
    who = (reference.api_group, reference.resource, namespace, reference.name, reference.uid, lives)
    if pod is None:
        return Consumer(*who, "", "")
    deleted = pod.metadata.deletion_timestamp or ""
    return Consumer(*who, pod.spec.node_name, waiting_reason(pod), restarts_of(pod), deleted)


def _pod(reference: ConsumerReference, state: ClusterState) -> Pod | None:
    """The consumer: a pod of the same name with another uid is a successor."""
    return state.inventory.pods_by_uid.get(reference.uid) if is_pod(reference) else None


def _state(reference: ConsumerReference, pod: Pod | None, namespace: str, state: ClusterState) -> ConsumerState:
    """How far a consumer is, and what is known of one that is no pod, or none that is there.

    Upstream: the resource claim controller ends the reservation of a PodGroup only when that is gone.
    """
    if pod is not None:
        return pod_state(pod)
    if not state.evidence.users_known(namespace):
        return ConsumerState.UNKNOWN
    if is_pod(reference):
        return ConsumerState.GONE
    return ConsumerState.EMPTY if is_without_pods(state.inventory, namespace, reference) else ConsumerState.UNKNOWN
