"""On which nodes a DaemonSet's controller makes a pod.

Upstream: pkg/controller/daemon NodeShouldRunDaemonPod: labels, affinity and taints, whatever else is on the node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.model.core import Pod
from kubectl_dra.scheduler.attempt import attempt
from kubectl_dra.scheduler.framework import Plugin
from kubectl_dra.scheduler.plugins.node_affinity import NodeAffinity
from kubectl_dra.scheduler.plugins.node_name import NodeName
from kubectl_dra.scheduler.plugins.node_unschedulable import NodeUnschedulable
from kubectl_dra.scheduler.plugins.taint_toleration import TaintToleration
from kubectl_dra.scheduler.snapshot import Snapshot

_LOOKED_AT: Final[tuple[Plugin, ...]] = (NodeName(), NodeUnschedulable(), TaintToleration(), NodeAffinity())


def daemon_nodes(snapshot: Snapshot, pod: Pod) -> Iterator[str]:
    """The names of the nodes; ``pod`` has the tolerations that the controller adds."""
    yield from attempt(snapshot, pod, _LOOKED_AT).feasible
