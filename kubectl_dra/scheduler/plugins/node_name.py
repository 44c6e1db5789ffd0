"""NodeName: a pod that names its node.

Upstream: plugins/nodename. PreFilter narrows to the node since 1.37; before, Filter rejects all others.
"""

from __future__ import annotations

from typing import ClassVar, Final

from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, unresolvable

TEXT: Final = "node(s) didn't match the requested node name"


class NodeName(Plugin):
    """``spec.nodeName``."""

    name: ClassVar[str] = "NodeName"

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Only the named node is looked at."""
        wanted = cycle.pod.spec.node_name
        if not wanted:
            return PreFilterResult(SKIP)
        return PreFilterResult(nodes=frozenset((wanted,))) if cycle.features.node_name_narrows else PASS

    def reads(self, cycle: Cycle) -> kinds.Reading:
        """Whether the node is the one."""
        wanted = cycle.pod.spec.node_name
        return kinds.Reading(kinds.of_nodes, ("name", wanted), lambda nodes: [node.name == wanted for node in nodes])

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        return SUCCESS if node.name == cycle.pod.spec.node_name else unresolvable(TEXT)
