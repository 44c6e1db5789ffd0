"""What a pod comes to: a verdict with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.records import Cause, NodeGroup, OpenPlugin, Preemption, Verdict
from kubectl_dra.diagnosis.said.agreement import Prediction
from kubectl_dra.model.ids import Key

SILENT: Final = Prediction(silent=True)


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with what it rests on."""

    verdict: Verdict
    causes: tuple[Cause, ...] = ()
    prediction: Prediction = SILENT
    reason: str | None = None
    nodes: tuple[NodeGroup, ...] = ()
    depends_on_node_order: bool = False
    open: tuple[OpenPlugin, ...] = ()
    preemption: Preemption | None = None
    taken_to_wait: tuple[Key, ...] = ()


@derived()
def by_default(_state: ClusterState) -> dict[Key, Finding]:
    """Of the first pod of a gang that finds no node by the default rules: all pods of the gang ask for it."""
    return {}
