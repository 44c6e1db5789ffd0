"""Pods with device claims that the kubelet of their node did not take: they have failed, and wait for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.pending import wants_devices
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.said.kubelet import is_rejected, was_not_taken
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import key_of
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.scheduler.extended import served_resources


class RejectedPods(ReportRecord, frozen=True):
    """Those with the same ``reason``, the newest first; ``message`` and ``created`` are the newest one's."""

    reason: str
    message: str
    pods: tuple[ObjectRef, ...]
    created: str


def rejected_pods(
    state: ClusterState, namespace: str, selects: Callable[[Mapping[str, str]], bool]
) -> tuple[RejectedPods, ...]:
    """Those in a namespace, or anywhere, by reason; the most frequent first."""
    served, found = served_resources(state), dict[str, list[Pod]]()
    for pod in state.inventory.pods.values():
        here = namespace in ("", pod.metadata.namespace) and selects(pod.metadata.labels)
        failed = here and is_rejected(pod) and was_not_taken(pod.status.reason, pod.status.message)
        if failed and wants_devices(pod, served):
            found.setdefault(pod.status.reason, []).append(pod)
    return tuple(_alike(pods) for pods in sorted(found.values(), key=len, reverse=True))


def _alike(pods: list[Pod]) -> RejectedPods:
    newest = sorted(pods, key=lambda pod: (pod.metadata.creation_timestamp or "", key_of(pod.metadata)), reverse=True)
    refs = tuple(ObjectRef.of("Pod", key_of(pod.metadata)) for pod in newest)
    first = newest[0]
    return RejectedPods(first.status.reason, first.status.message, refs, first.metadata.creation_timestamp or "")
