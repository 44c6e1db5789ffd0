"""Which pods belong together if a pod says nothing about spreading: those of its controller.

Upstream: plugins/helper/spread.go DefaultSelector, which joins the selectors of the pod's Services and of its
ReplicaSet, StatefulSet or ReplicationController. Those are not read: the labels that all pods of a controller have in
common stand for its selector, and a Service that takes pods of several controllers is left out.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.model.core import Pod
from kubectl_dra.model.meta import NodeSelectorRequirement
from kubectl_dra.model.terms import Requirements
from kubectl_dra.scheduler.claims import controller_of

_CONTROLLERS: Final = frozenset({"ReplicaSet", "StatefulSet", "ReplicationController"})
# Labels that a StatefulSet gives each of its pods alone, or with each revision anew.
_OF_ONE_POD: Final = frozenset(
    {"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "controller-revision-hash"}
)


def default_selector(pod: Pod) -> Requirements:
    """The requirements; empty if the pod belongs to nothing that spreads its pods."""
    owner = controller_of(pod.metadata)
    if owner is None or owner.kind not in _CONTROLLERS:
        return ()
    labels = sorted(pod.metadata.labels.items())
    return tuple(NodeSelectorRequirement(key, "In", (value,)) for key, value in labels if key not in _OF_ONE_POD)
