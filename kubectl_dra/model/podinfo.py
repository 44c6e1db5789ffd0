"""What the scheduler's plugins read of a pod that is on a node, or is about to come there.

Upstream: the scheduler framework's PodInfo, with what plugins look up in the pod itself. Replicas of a workload have
equal shapes, so that memory grows with kinds of pods.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

import msgspec

from kubectl_dra.model.core import Container, ContainerStatus, Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.requests import HostPort, counts_status, host_ports, non_zero_requests, pod_requests
from kubectl_dra.model.terms import NO_TERMS, PodTerms, terms_of
from kubectl_dra.model.volumes import EphemeralVolume, Volume

# Of what there are more, each pod is likely to be of its own kind.
MOST_SHAPES: Final = 20_000
_EPHEMERAL: Final = EphemeralVolume()
_DISRUPTED: Final = "DisruptionTarget"
_RESIZE: Final = "PodResizePending"
_READ_CONDITIONS: Final = frozenset({_RESIZE, _DISRUPTED})
_BY_SCHEDULER: Final = "PreemptionByScheduler"


class PodShape(msgspec.Struct, frozen=True):
    """Everything but the identity; who reads many pods keeps equal shapes once.

    ``requests`` are milli-cores and base units by resource, in-place resize counted; ``non_zero`` cpu and memory for
    scoring; ``volumes`` those with a source that plugins look at; ``terminating``: the pod has a deletionTimestamp;
    ``preempted``: the scheduler evicts it. ``group``: the PodGroup that it names.
    """

    namespace: str = ""
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    priority: int = 0
    requests: Mapping[str, int] = msgspec.field(default_factory=dict)
    non_zero: Mapping[str, int] = msgspec.field(default_factory=dict)
    ports: frozenset[HostPort] = frozenset()
    terms: PodTerms = NO_TERMS
    volumes: tuple[Volume, ...] = ()
    terminating: bool = False
    preempted: bool = False
    group: str = ""


class PodInfo(msgspec.Struct, frozen=True, gc=False):
    """One pod; ``start_time`` is RFC 3339, empty if the kubelet has not set it."""

    key: Key
    uid: str
    shape: PodShape
    start_time: str = ""


def pod_info(pod: Pod) -> PodInfo:
    """The same of a pod as it was read."""
    return _info(pod, _shape_of(pod))


class PodInfos:
    """The same of many pods; those that plugins can't tell apart have one shape, which is worked out once."""

    def __init__(self) -> None:
        self._shapes: dict[Hashable, PodShape] = {}

    def of(self, pod: Pod) -> PodInfo:
        """The same of a pod as it was read."""
        key = _content(pod)
        shape = self._shapes.get(key)
        if shape is None:
            shape = _shape_of(pod)
            if len(self._shapes) < MOST_SHAPES:
                self._shapes[key] = shape
        return _info(pod, shape)

    def shape_of(self, pod: Pod) -> PodShape:
        return self.of(pod).shape


class SharedPodInfos:
    """The same of pods that share their parts, which are looked at once. It keeps pods, so it is not for long."""

    def __init__(self, infos: PodInfos) -> None:
        self._infos = infos
        # With a pod that has these parts: the identity of one that is gone would pass to another.
        self._known: dict[Hashable, tuple[PodShape, Pod]] = {}

    def of(self, pod: Pod) -> PodInfo:
        """The same of a pod as it was read."""
        parts = _parts(pod)
        known = self._known.get(parts)
        if known is not None:
            return _info(pod, known[0])
        found = self._infos.of(pod)
        if len(self._known) < MOST_SHAPES:
            self._known[parts] = found.shape, pod
        return found


def _info(pod: Pod, shape: PodShape) -> PodInfo:
    meta = pod.metadata
    return PodInfo(Key(shape.namespace, meta.name), meta.uid, shape, pod.status.start_time or "")


def _parts(pod: Pod) -> Hashable:
    """All that the shape is made from, most of it by its identity."""
    spec, status, meta = pod.spec, pod.status, pod.metadata
    return (
        meta.namespace,
        id(meta.labels),
        meta.deletion_timestamp is not None,
        spec.priority,
        id(spec.containers),
        id(spec.init_containers),
        id(spec.affinity),
        id(spec.volumes),
        id(spec.overhead),
        id(spec.resources),
        id(spec.scheduling_group),
        id(status.resources),
        id(status.allocated_resources),
        id(status.container_statuses),
        id(status.init_container_statuses),
        tuple([(c.type, c.status, c.reason) for c in status.conditions if c.type in _READ_CONDITIONS]),
    )


def _content(pod: Pod) -> Hashable:
    """All that the shape is made from."""
    spec, status, meta = pod.spec, pod.status, pod.metadata
    return (
        meta.namespace,
        tuple(meta.labels.items()),
        spec.priority,
        tuple(map(_container, spec.containers)),
        tuple(map(_container, spec.init_containers)),
        terms_of(pod) if spec.affinity is not None else None,
        volumes_of(pod) if spec.volumes else (),
        tuple(spec.overhead.items()) if spec.overhead else None,
        None if spec.resources is None else tuple(spec.resources.requests.items()),
        None if status.resources is None else tuple(status.resources.requests.items()),
        None if status.allocated_resources is None else tuple(status.allocated_resources.items()),
        tuple(_reported(each) for each in status.container_statuses),
        tuple(_reported(each) for each in status.init_container_statuses),
        tuple(c.reason for c in status.conditions if c.type == _RESIZE),
        _is_preempted(pod) if meta.deletion_timestamp is not None else None,
        spec.scheduling_group,
    )


def _container(container: Container) -> Hashable:
    return container.name, container.restart_policy, container.ports, tuple(container.resources.requests.items())


def _reported(status: ContainerStatus) -> Hashable:
    resources, allocated = status.resources, status.allocated_resources
    if resources is None and allocated is None:
        return None
    requests = None if resources is None else tuple(resources.requests.items())
    return status.name, requests, None if allocated is None else tuple(allocated.items())


def volumes_of(pod: Pod) -> tuple[Volume, ...]:
    """The volumes with a source that some plugin looks at."""
    return tuple(_counted(volume) for volume in pod.spec.volumes if volume != Volume(volume.name))


def _counted(volume: Volume) -> Volume:
    """Of an ephemeral volume only matters which claim it has."""
    return volume if volume.ephemeral is None else msgspec.structs.replace(volume, ephemeral=_EPHEMERAL)


def _shape_of(pod: Pod) -> PodShape:
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
        volumes_of(pod),
        terminating,
        terminating and _is_preempted(pod),
        pod.spec.scheduling_group.pod_group_name if pod.spec.scheduling_group is not None else "",
    )


def _non_zero(pod: Pod, requests: Mapping[str, int]) -> Mapping[str, int]:
    """Where all containers say what they need, and the kubelet nothing else, nothing is added."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    if not counts_status(pod) and all(
        "cpu" in each.resources.requests and "memory" in each.resources.requests for each in containers
    ):
        return {"cpu": requests.get("cpu", 0), "memory": requests.get("memory", 0)}
    return non_zero_requests(pod, use_status=True)


def _is_preempted(pod: Pod) -> bool:
    wanted = _DISRUPTED, "True", _BY_SCHEDULER
    return any((c.type, c.status, c.reason) == wanted for c in pod.status.conditions)
