"""Which pods belong together if a pod says nothing about spreading: those of its Services and of its controller.

Upstream: plugins/helper/spread.go DefaultSelector: what the selectors of all Services that select the pod have in
common with that of the ReplicaSet, StatefulSet or ReplicationController that controls it; one that is gone has none.
Where the controller is not known, the labels that all its pods have in common stand for its selector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.core import Pod, Service
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.meta import LabelSelector, NodeSelectorRequirement, OwnerReference
from kubectl_dra.model.terms import Requirements, requirements_of
from kubectl_dra.scheduler.snapshot import Snapshot

#: By the very version of the API: upstream compares it, too.
_CONTROLLERS: Final = {("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"), ("v1", "ReplicationController")}
_HASH: Final = "pod-template-hash"
# Labels that a StatefulSet gives each of its pods alone, or with each revision anew.
_OF_ONE_POD: Final = frozenset(
    {"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "controller-revision-hash"}
)


def default_selector(snapshot: Snapshot, pod: Pod) -> Requirements:
    """The requirements; empty if the pod belongs to nothing that spreads its pods."""
    labels = pod.metadata.labels
    of_services: dict[str, str] = {}
    for service in _services(snapshot.state).get(pod.metadata.namespace, ()):
        selector = service.spec.selector
        if all(labels.get(key) == value for key, value in selector.items()):
            of_services |= selector
    return (*(requirements_of(LabelSelector(match_labels=of_services)) or ()), *_of_controller(snapshot, pod))


@derived("services")
def _services(state: ClusterState) -> Mapping[str, tuple[Service, ...]]:
    found: dict[str, tuple[Service, ...]] = {}
    for key, service in state.inventory.services.items():
        found[key.namespace] = (*found.get(key.namespace, ()), service)
    return found


def is_known(state: ClusterState, pod: Pod) -> bool:
    """Whether the controller that keeps a pod away from its other pods is known, or certainly selects just these.

    The hash that a Deployment gives its ReplicaSet is in that one's selector, and no other pods have it.
    """
    owner = _controller(pod)
    if owner is None or _HASH in pod.metadata.labels:
        return True
    named = owner.kind, pod.metadata.namespace, owner.name
    return named in state.inventory.workloads or _was_listed(state, owner.kind, pod.metadata.namespace)


def _controller(pod: Pod) -> OwnerReference | None:
    owner = pod.metadata.controller
    return owner if owner is not None and (owner.api_version, owner.kind) in _CONTROLLERS else None


def _was_listed(state: ClusterState, kind: str, namespace: str) -> bool:
    """Whether an object that is not there is gone: a plain list without any does not say so."""
    return state.evidence.coverage(kind, namespace) is Coverage.COMPLETE


def _of_controller(snapshot: Snapshot, pod: Pod) -> Requirements:
    owner = _controller(pod)
    if owner is None:
        return ()
    known = snapshot.inventory.workloads.get((owner.kind, pod.metadata.namespace, owner.name))
    if known is not None:
        return (requirements_of(known.spec.selector) or ()) if known.spec.selector is not None else ()
    if known is None and _was_listed(snapshot.state, owner.kind, pod.metadata.namespace):
        return ()
    labels = sorted(pod.metadata.labels.items())
    return tuple(NodeSelectorRequirement(key, "In", (value,)) for key, value in labels if key not in _OF_ONE_POD)
