"""Which pods count as pending with devices.

A pod counts while its phase is Pending, gated, unscheduled or bound but not running, if it names claims or asks for an
extended resource that a DeviceClass serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.gates import names_claims
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.scheduler.extended import ClassMap, asked, served_resources
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX

_SPEAKER: Final = '"DynamicResources"'
Matches = Callable[[Mapping[str, str]], bool]


def pending_pods(state: ClusterState, namespace: str | None = None, matches: Matches | None = None) -> tuple[Key, ...]:
    """The keys of pending pods with devices, sorted; ``matches`` decides about a pod's labels."""
    served = served_resources(state)
    pods = (pod for pod in state.inventory.pods.values() if namespace is None or pod.metadata.namespace == namespace)
    return _keys(p for p in pods if counts(p, served) and (matches is None or matches(p.metadata.labels)))


def _keys(pods: Iterable[Pod]) -> tuple[Key, ...]:
    return tuple(sorted(key_of(pod.metadata) for pod in pods))


def counts(pod: Pod, served: ClassMap) -> bool:
    """Whether the pod is pending and has to do with devices."""
    return is_pending(pod) and wants_devices(pod, served)


def unserved(state: ClusterState, namespace: str = "", matches: Matches | None = None) -> dict[Key, frozenset[str]]:
    """Pending pods without claims, and the extended resources of each that no class serves of those that were read."""
    served, found = served_resources(state), dict[Key, frozenset[str]]()
    for pod in state.inventory.pods.values():
        # Nearly all pods run: that comes first.
        if not is_pending(pod) or namespace not in ("", pod.metadata.namespace):
            continue
        here = matches is None or matches(pod.metadata.labels)
        if here and any(map(_has_domain, _resources(pod))) and not wants_devices(pod, served):
            names = frozenset(asked(pod))
            if names:
                found[key_of(pod.metadata)] = names
    return found


def is_pending(pod: Pod) -> bool:
    """Whether the pod waits for a node, or for its containers to start; a pod that is going away does not."""
    if pod.status.phase not in ("", "Pending"):
        return False
    return pod.metadata.deletion_timestamp is None or bool(pod.spec.node_name)


def wants_devices(pod: Pod, served: ClassMap) -> bool:
    """Whether the pod names claims, or asks for an extended resource that a class serves or could only serve."""
    if names_claims(pod) or pod.spec.resource_claims or pod.status.extended_resource_claim_status is not None:
        return True
    if not any(map(_has_domain, _resources(pod))):
        return False
    wanted = asked(pod)
    return bool(wanted) and (
        any(name in served or name.startswith(DEVICE_CLASS_PREFIX) for name in wanted) or _was_tried(pod)
    )


def _was_tried(pod: Pod) -> bool:
    """Whether the scheduler's plugin for devices speaks of the pod, whatever classes could be read here.

    Upstream: it takes no part for a pod without claims and without resources that a class serves (PreFilter).
    """
    said = (each for each in pod.status.conditions if each.type == "PodScheduled" and each.status == "False")
    return any(_SPEAKER in each.message for each in said)


def _resources(pod: Pod) -> Iterable[str]:
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        yield from container.resources.requests


def _has_domain(resource: str) -> bool:
    return "/" in resource
