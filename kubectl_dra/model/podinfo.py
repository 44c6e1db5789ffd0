"""What the scheduler's plugins read of a pod that is on a node, or is about to come there.

Upstream: the scheduler framework's PodInfo, with what plugins look up in the pod itself. Replicas of a workload have
equal shapes, so that memory grows with kinds of pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.requests import HostPort, host_ports, non_zero_requests, pod_requests
from kubectl_dra.model.terms import NO_TERMS, PodTerms, terms_of
from kubectl_dra.model.volumes import Volume

_DISRUPTED: Final = "DisruptionTarget"
_BY_SCHEDULER: Final = "PreemptionByScheduler"


@dataclass(frozen=True, slots=True)
class PodShape:
    """Everything but the identity; who reads many pods keeps equal shapes once.

    ``requests`` are milli-cores and base units by resource, in-place resize counted; ``non_zero`` cpu and memory for
    scoring; ``volumes`` those with a source that plugins look at; ``terminating``: the pod has a deletionTimestamp;
    ``preempted``: the scheduler evicts it.
    """

    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    priority: int = 0
    requests: Mapping[str, int] = field(default_factory=dict)
    non_zero: Mapping[str, int] = field(default_factory=dict)
    ports: frozenset[HostPort] = frozenset()
    terms: PodTerms = NO_TERMS
    volumes: tuple[Volume, ...] = ()
    terminating: bool = False
    preempted: bool = False


@dataclass(frozen=True, slots=True)
class PodInfo:
    """One pod; ``start_time`` is RFC 3339, empty if the kubelet has not set it."""

    key: Key
    uid: str
    shape: PodShape
    start_time: str = ""


def pod_info(pod: Pod) -> PodInfo:
    """The same of a pod as it was read."""
    meta = pod.metadata
    return PodInfo(Key(meta.namespace, meta.name), meta.uid, shape_of(pod), pod.status.start_time or "")


def shape_of(pod: Pod) -> PodShape:
    """What counts on a node: what an unfinished resize still holds or already got, too."""
    requests = pod_requests(pod, use_status=True)
    terminating = pod.metadata.deletion_timestamp is not None
    return PodShape(
        pod.metadata.namespace,
        pod.metadata.labels,
        pod.spec.priority or 0,
        requests,
        _non_zero(pod, requests),
        frozenset(host_ports(pod)),
        terms_of(pod),
        tuple(volume for volume in pod.spec.volumes if volume != Volume(volume.name)),
        terminating,
        terminating and any(_preempts(c.type, c.status, c.reason) for c in pod.status.conditions),
    )


def _non_zero(pod: Pod, requests: Mapping[str, int]) -> Mapping[str, int]:
    """Where all containers say what they need, nothing is added."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    if all("cpu" in each.resources.requests and "memory" in each.resources.requests for each in containers):
        return {"cpu": requests.get("cpu", 0), "memory": requests.get("memory", 0)}
    return non_zero_requests(pod, use_status=True)


def _preempts(kind: str, status: str, reason: str) -> bool:
    return (kind, status, reason) == (_DISRUPTED, "True", _BY_SCHEDULER)
