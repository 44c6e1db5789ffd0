"""Nodes that take no new pods whatever their devices are: cordoned, or by a taint not ready or about to go.

Pods for GPUs tolerate the taints that keep others off their nodes; of these taints no pod for devices should tolerate
one, and what is free behind them is not to be had. A kubelet that reports no readiness gets its taint from the node
controller (pkg/controller/nodelifecycle); the scheduler reads the taint, not the condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.core import Node
from kubectl_dra.model.taint_text import CORDONED, PRESSURES, remover_of, removes_node
from kubectl_dra.reports.scope import Scope, ScopeKind, nodes_of

_ONLY_PREFERRED: Final = "PreferNoSchedule"


class Closed(StrEnum):
    """Why no node takes new pods that could use a device."""

    CORDONED = "cordoned"
    NOT_READY = "notReady"
    PRESSURE = "pressure"
    NO_NODE = "noNode"
    LEAVING = "leaving"


@derived("nodes")
def closed_nodes(state: ClusterState) -> Mapping[str, Closed]:
    """The nodes that take no new pods, as far as nodes were read."""
    found = ((name, _closed(node)) for name, node in state.inventory.nodes.items())
    return {name: closed for name, closed in found if closed is not None}


def closed_scope(scope: Scope, state: ClusterState) -> Closed | None:
    """Why none of the nodes that could use something takes new pods; None where one does, or may."""
    if scope.nodes == 0:
        return Closed.NO_NODE
    closed = closed_nodes(state)
    if scope.kind is ScopeKind.NODE:
        return closed.get(scope.node)
    if scope.nodes is None or len(closed) < scope.nodes:
        return None
    reasons = {closed.get(name) for name in nodes_of(scope, state)}
    return None if None in reasons else max(reasons, key=lambda reason: reason is Closed.NOT_READY, default=None)


def _closed(node: Node) -> Closed | None:
    keys = [taint.key for taint in node.spec.taints if taint.effect != _ONLY_PREFERRED]
    if any(key != CORDONED and key not in PRESSURES and remover_of(key) is not None for key in keys):
        return Closed.NOT_READY
    if any(key in PRESSURES for key in keys):
        return Closed.PRESSURE
    if any(map(removes_node, keys)):
        return Closed.LEAVING
    return Closed.CORDONED if node.spec.unschedulable or CORDONED in keys else None
