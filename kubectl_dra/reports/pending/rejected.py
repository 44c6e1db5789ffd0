"""Pods with device claims that the kubelet of their node did not take: they have failed, and wait for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.pending import wants_devices
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.said.kubelet import is_rejected, was_not_taken
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.scheduler.extended import served_resources

#: Of so many nodes and reasons is told.
_NODES: Final = 3


class RejectedPods(ReportRecord, frozen=True):
    """Those with the same ``reason``, the newest first; ``message``, ``created`` and ``node`` are the newest one's."""

    reason: str
    message: str
    pods: tuple[ObjectRef, ...]
    created: str
    node: str


def rejected_pods(
    state: ClusterState, namespace: str, selects: Callable[[Mapping[str, str]], bool]
) -> tuple[RejectedPods, ...]:
    """Those in a namespace, or anywhere, by reason; the most frequent first."""
    served, found = served_resources(state), dict[str, list[Pod]]()
    for pod in state.inventory.pods.values():
        failed = is_rejected(pod) and was_not_taken(pod.status.reason, pod.status.message)
        here = failed and namespace in ("", pod.metadata.namespace) and selects(pod.metadata.labels)
        if here and wants_devices(pod, served):
            found.setdefault(pod.status.reason, []).append(pod)
    return tuple(_alike(pods) for pods in sorted(found.values(), key=len, reverse=True))


def rejected_siblings(state: ClusterState, key: Key) -> tuple[RejectedPods, ...]:
    """The pods of a pod's own controller that a node did not take, by node and reason: it may do so again."""
    pod, found = state.inventory.pods.get(key), dict[tuple[str, str], list[Pod]]()
    owner = pod.metadata.controller if pod is not None else None
    for other in state.inventory.pods.values() if owner is not None else ():
        if other.metadata.namespace != key.namespace or other.metadata.controller != owner or other is pod:
            continue
        if is_rejected(other) and was_not_taken(other.status.reason, other.status.message):
            found.setdefault((other.spec.node_name, other.status.reason), []).append(other)
    return tuple(_alike(pods) for _, pods in sorted(found.items(), key=lambda each: (-len(each[1]), each[0])))[:_NODES]


def _alike(pods: list[Pod]) -> RejectedPods:
    newest = sorted(pods, key=lambda pod: (pod.metadata.creation_timestamp or "", key_of(pod.metadata)), reverse=True)
    refs = tuple(ObjectRef.of("Pod", key_of(pod.metadata)) for pod in newest)
    first = newest[0]
    status, created = first.status, first.metadata.creation_timestamp or ""
    return RejectedPods(status.reason, status.message, refs, created, first.spec.node_name)
