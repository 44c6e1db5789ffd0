"""NodeUnschedulable: cordoned nodes.

Upstream: plugins/nodeunschedulable.
"""

from __future__ import annotations

from typing import ClassVar, Final

from kubectl_dra.model.core import Taint
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.framework import Cycle, Plugin
from kubectl_dra.scheduler.plugins.taint_toleration import tolerated
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SUCCESS, Status, unresolvable

TEXT: Final = "node(s) were unschedulable"
_CORDON: Final = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_READING: Final = kinds.Reading(
    kinds.of_nodes, "unschedulable", lambda nodes: [bool(node.node.spec.unschedulable) for node in nodes]
)


class NodeUnschedulable(Plugin):
    """``spec.unschedulable`` of nodes, unless the pod tolerates the taint that stands for it."""

    name: ClassVar[str] = "NodeUnschedulable"

    def reads(self, cycle: Cycle) -> kinds.Reading:
        return _READING

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """The node takes new pods, or the pod does not mind."""
        if not node.node.spec.unschedulable:
            return SUCCESS
        if tolerated(_CORDON, cycle.pod.spec.tolerations, cycle.features.toleration_comparison):
            return SUCCESS
        return unresolvable(TEXT)
