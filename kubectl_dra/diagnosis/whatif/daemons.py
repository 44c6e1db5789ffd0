"""What DaemonSets put on a fresh node before any other pod comes there.

Upstream: pkg/controller/daemon/daemon_controller.go (NodeShouldRunDaemonPod, Predicates). A DaemonSet that was not read
is told by its pods. Their affinity is that to their own node (util.ReplaceDaemonSetPodNodeNameNodeAffinity), so that
of one which does not run on all nodes that its selector and tolerations admit it is open where else it would run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.derived import derived
from kubectl_dra.model.core import Node, Pod, PodSpec, PodStatus
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import ObjectMeta, OwnerReference
from kubectl_dra.model.policy import priority_of
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.scheduler.daemons import daemon_tolerations
from kubectl_dra.scheduler.plugins.node_affinity import matches, required_terms
from kubectl_dra.scheduler.plugins.taint_toleration import untolerated

DAEMON_SET: Final = "DaemonSet"


def daemon_pods(state: ClusterState, node_name: str) -> Iterator[Pod]:
    """The pods of all known DaemonSets that belong on a node, as they would run there; without claims of their own."""
    node = state.inventory.nodes[node_name]
    for pod, certain in _daemons(state).values():
        if certain and _admits(state, node, pod):
            yield _on(node_name, pod)


def absent_daemon_pods(state: ClusterState, node_name: str) -> Iterator[Pod]:
    """Those of :func:`daemon_pods` whose DaemonSet has no pod on the node yet."""
    there = _there(state, node_name)
    return (pod for pod in daemon_pods(state, node_name) if daemon_set_of(pod) not in there)


def open_daemon_sets(state: ClusterState, node_name: str) -> Iterator[Key]:
    """DaemonSets without a pod on a node of which it is open whether they run there."""
    node, there = state.inventory.nodes[node_name], _there(state, node_name)
    for key, (pod, certain) in _daemons(state).items():
        if not certain and key not in there and _admits(state, node, pod):
            yield key


def _there(state: ClusterState, node_name: str) -> set[Key | None]:
    return {daemon_set_of(pod) for pod in state.inventory.pods.values() if pod.spec.node_name == node_name}


def daemon_set_of(pod: Pod) -> Key | None:
    """The DaemonSet that a pod belongs to."""
    owner = pod.metadata.controller
    return Key(pod.metadata.namespace, owner.name) if owner is not None and owner.kind == DAEMON_SET else None


@derived("workloads", "pods", "nodes", "priority_classes", read=True)
def _daemons(state: ClusterState) -> Mapping[Key, tuple[Pod, bool]]:
    """A pod as each DaemonSet makes it, and whether it is certain where it goes."""
    found: dict[Key, tuple[Pod, bool]] = {}
    for (kind, namespace, name), workload in state.inventory.workloads.items():
        if kind == DAEMON_SET and isinstance(workload, WorkloadObject) and workload.spec.template is not None:
            template, own = workload.spec.template, workload.metadata
            owner = OwnerReference("apps/v1", DAEMON_SET, name, own.uid, controller=True)
            meta = ObjectMeta(name, namespace, labels=template.metadata.labels, owner_references=(owner,))
            found[Key(namespace, name)] = Pod(meta, _admitted(template.spec, state)), True
    if state.evidence.complete(DAEMON_SET):
        return found
    running: dict[Key, list[Pod]] = {}
    for pod in state.inventory.pods.values():
        key = daemon_set_of(pod)
        if key is not None and key not in found and pod.spec.node_name and not is_terminal(pod):
            running.setdefault(key, []).append(pod)
    # One without any daemon is too new to tell.
    old = {pod.spec.node_name for pods in running.values() for pod in pods}
    settled = [node for name, node in state.inventory.nodes.items() if name in old]
    for key, pods in sorted(running.items()):
        first = min(pods, key=lambda pod: key_of(pod.metadata))
        example = Pod(first.metadata, msgspec.structs.replace(first.spec, affinity=None))
        nodes = {pod.spec.node_name for pod in pods}
        elsewhere = (node for node in settled if node.metadata.name not in nodes)
        found[key] = example, not any(_admits(state, node, example) for node in elsewhere)
    return found


def _admitted(spec: PodSpec, state: ClusterState) -> PodSpec:
    priority, policy = priority_of(spec, state.inventory.priority_classes)
    return msgspec.structs.replace(
        spec, tolerations=daemon_tolerations(spec), priority=priority, preemption_policy=policy
    )


def _admits(state: ClusterState, node: Node, pod: Pod) -> bool:
    taints = untolerated(node.spec.taints, pod.spec.tolerations, comparison=state.features.toleration_comparison)
    return matches(pod.spec.node_selector, required_terms(pod), node) and next(taints, None) is None


def _on(node: str, pod: Pod) -> Pod:
    key = daemon_set_of(pod)
    name = key.name if key is not None else pod.metadata.name
    meta = msgspec.structs.replace(pod.metadata, name=f"{name}-{node}", uid=f"{pod.metadata.namespace}-{name}-{node}")
    spec = msgspec.structs.replace(pod.spec, node_name=node, resource_claims=())
    return Pod(meta, spec, PodStatus(phase="Running"))
