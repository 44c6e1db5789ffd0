"""Nodes with devices whose kubelet runs short of something: since when, and what it says of it.

Upstream: pkg/kubelet/eviction (conditions, and what is reclaimed), pkg/kubelet/events (reasons of events).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Cause, NodeTaint
from kubectl_dra.diagnosis.records.nodes import key_of_taint
from kubectl_dra.model.taint_text import PRESSURES
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.pending.events import NamedEvent, last_of_node

_NODES: Final = 3
_CONDITIONS: Final = {"disk": "DiskPressure", "memory": "MemoryPressure", "pid": "PIDPressure"}
_RECLAIMS: Final = "EvictionThresholdMet"
_REASONS: Final = {
    "disk": (_RECLAIMS, "FreeDiskSpaceFailed", "ImageGCFailed", "ContainerGCFailed"),
    "memory": (_RECLAIMS, "SystemOOM"),
    "pid": (_RECLAIMS,),
}


class PressedNode(ReportRecord, frozen=True):
    """A node that ``lacks`` something (``disk space``) as its ``taint`` says, ``since`` when by its condition.

    ``since`` is empty where no condition says that it still is so. ``event``: the kubelet's last words about it.
    """

    node: str
    taint: str
    lacks: str
    since: str = ""
    event: NamedEvent | None = None


def pressed_nodes(causes: Iterable[Cause], state: ClusterState) -> tuple[PressedNode, ...]:
    """The first few nodes that such a taint keeps a pod from."""
    found = (
        each
        for cause in causes
        if isinstance(cause.detail, NodeTaint)
        for each in _pressed(cause.detail.taint, cause.nodes[:_NODES], state)
    )
    return tuple(dict.fromkeys(found))[:_NODES]


def pressed_by(name: str, taints: Iterable[str], state: ClusterState) -> tuple[PressedNode, ...]:
    """The same of one node and all of its taints."""
    return tuple(each for taint in taints for each in _pressed(taint, (name,), state))


def _pressed(taint: str, names: Iterable[str], state: ClusterState) -> Iterator[PressedNode]:
    key = key_of_taint(taint)
    if key not in PRESSURES:
        return
    kind = key.rpartition("/")[2].removesuffix("-pressure")
    for name in names:
        node = state.inventory.nodes.get(name)
        conditions = node.status.conditions if node is not None else ()
        found = next((each for each in conditions if each.type == _CONDITIONS[kind] and each.status == "True"), None)
        since = found.last_transition_time or "" if found is not None else ""
        yield PressedNode(name, taint, PRESSURES[key], since, last_of_node(name, _REASONS[kind], state.inventory))
