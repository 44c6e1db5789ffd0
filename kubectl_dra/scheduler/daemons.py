"""On which nodes a DaemonSet's controller makes a pod, and which taints it lets that pod onto.

Upstream: pkg/controller/daemon NodeShouldRunDaemonPod: labels, affinity and taints, whatever else is on the node;
pkg/controller/daemon/util/daemonset_util.go AddOrUpdateDaemonPodTolerations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.model.core import Pod, PodSpec, Toleration
from kubectl_dra.scheduler.attempt import attempt
from kubectl_dra.scheduler.framework import Plugin
from kubectl_dra.scheduler.plugins.node_affinity import NodeAffinity
from kubectl_dra.scheduler.plugins.node_name import NodeName
from kubectl_dra.scheduler.plugins.node_unschedulable import NodeUnschedulable
from kubectl_dra.scheduler.plugins.taint_toleration import TaintToleration
from kubectl_dra.scheduler.snapshot import Snapshot

_LOOKED_AT: Final[tuple[Plugin, ...]] = (NodeName(), NodeUnschedulable(), TaintToleration(), NodeAffinity())
_EVERYWHERE: Final = tuple(
    Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect=effect)
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)
_ON_HOST: Final = Toleration(key="node.kubernetes.io/network-unavailable", operator="Exists", effect="NoSchedule")


def daemon_tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    """Those of the template and what the controller adds."""
    return (*spec.tolerations, *_EVERYWHERE, *((_ON_HOST,) if spec.host_network else ()))


def daemon_nodes(snapshot: Snapshot, pod: Pod) -> Iterator[str]:
    """The names of the nodes; ``pod`` has the tolerations that the controller adds."""
    yield from attempt(snapshot, pod, _LOOKED_AT).feasible
