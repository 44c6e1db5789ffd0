"""How taints of nodes and of devices are written, and what their effects are called.

Taints that say that a node is not ready: who removes them, and by which pod on the node. No pod for devices should
tolerate one: it would be bound to a node without a network, a volume driver or a kubelet. A cluster's own taints of
this kind are known by the names that they end with.

Sources: k8s.io/api/core/v1/well_known_taints.go and k8s.io/cloud-provider/api; the documentation of Cilium, the CSI
drivers of AWS, Karpenter, Cluster API, cluster-autoscaler and the node readiness controller.
"""

from __future__ import annotations

from typing import Final, Protocol

import msgspec

NO_EXECUTE: Final = "NoExecute"
#: The effects that keep pods without a toleration away.
PREVENTING: Final = ("NoSchedule", NO_EXECUTE)
#: The key of the taint that a cordoned node has.
CORDONED: Final = "node.kubernetes.io/unschedulable"


class _Taint(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def effect(self) -> str: ...


def same_taint(one: _Taint, other: _Taint) -> bool:
    """Whether two taints are the same but for the time when they were added."""
    return (one.key, one.value, one.effect) == (other.key, other.value, other.effect)


def taint_text(taint: _Taint) -> str:
    """``KEY[=VALUE]:EFFECT`` as kubectl writes it; what a removal leaves open is left out."""
    value, effect = (f"={taint.value}" if taint.value else ""), (f":{taint.effect}" if taint.effect else "")
    return f"{taint.key}{value}{effect}"


class Remover(msgspec.Struct, frozen=True):
    """Who removes a taint: ``name`` in a sentence; ``agent``: what names of its pods on each node begin with.

    ``of_the_node``: Kubernetes itself does, by the state of the node.
    """

    name: str
    agent: str = ""
    of_the_node: bool = False


_NODES: Final = Remover("the node controller", of_the_node=True)
_CLOUD: Final = Remover("the cloud controller manager", of_the_node=True)
_AUTOSCALER: Final = Remover("whoever set it (a startup taint of cluster-autoscaler)")
#: By the whole key.
_KEYS: Final = {
    "node.cilium.io/agent-not-ready": Remover("Cilium's agent", "cilium"),
    "ebs.csi.aws.com/agent-not-ready": Remover("the EBS CSI driver", "ebs-csi-node"),
    "efs.csi.aws.com/agent-not-ready": Remover("the EFS CSI driver", "efs-csi-node"),
    "fsx.csi.aws.com/agent-not-ready": Remover("the FSx CSI driver", "fsx-csi-node"),
    "karpenter.sh/unregistered": Remover("Karpenter"),
    "node.cluster.x-k8s.io/uninitialized": Remover("Cluster API"),
}
#: By the domain.
_DOMAINS: Final = {
    "node.kubernetes.io": _NODES,
    "node.cloudprovider.kubernetes.io": _CLOUD,
    "readiness.k8s.io": Remover("the node readiness controller"),
    "startup-taint.cluster-autoscaler.kubernetes.io": _AUTOSCALER,
    "status-taint.cluster-autoscaler.kubernetes.io": _AUTOSCALER,
}
#: Of nodes whose kubelet runs short of something, and what that is (upstream: pkg/controller/nodelifecycle).
PRESSURES: Final = {
    "node.kubernetes.io/disk-pressure": "disk space",
    "node.kubernetes.io/memory-pressure": "memory",
    "node.kubernetes.io/pid-pressure": "process ids",
}
#: Of nodes that are about to go, by whom (karpenter, pkg/apis/v1/taints.go; cluster-autoscaler, utils/taints; GKE's
#: graceful termination; aws-node-termination-handler, pkg/node).
_LEAVING: Final = {
    "karpenter.sh/disrupted": "Karpenter",
    "karpenter.sh/disruption": "Karpenter",
    "ToBeDeletedByClusterAutoscaler": "the cluster autoscaler",
    "cloud.google.com/impending-node-termination": "the cloud provider",
    **dict.fromkeys(
        (
            "aws-node-termination-handler/asg-lifecycle-termination",
            "aws-node-termination-handler/rebalance-recommendation",
            "aws-node-termination-handler/scheduled-maintenance",
            "aws-node-termination-handler/spot-itn",
        ),
        "the cloud provider",
    ),
}
#: The state of nodes, and their roles.
_OF_NODES: Final = ("karpenter.sh", "node-role.kubernetes.io")
_NAMES: Final = frozenset({"agent-not-ready", "not-ready", "uninitialized", "unregistered"})


def remover_of(key: str) -> Remover | None:
    """Who removes a taint of this key when the node is ready; None for a taint that says something else."""
    if key in _KEYS:
        return _KEYS[key]
    domain, _, name = key.rpartition("/")
    if domain in _DOMAINS:
        return _DOMAINS[domain]
    return Remover(f"the agent of {domain}") if domain and name in _NAMES else None


def keeps_for_some(taint: _Taint) -> bool:
    """Whether a taint of a node keeps it for pods that tolerate it, and does not say in what state the node is."""
    domain = taint.key.rpartition("/")[0]
    of_its_state = bool(removes_node(taint.key)) or domain in _OF_NODES or remover_of(taint.key) is not None
    return taint.effect in PREVENTING and not of_its_state


def removes_node(key: str) -> str:
    """Who is about to remove a node with a taint of this key; empty for a taint that says something else."""
    return _LEAVING.get(key, "")
