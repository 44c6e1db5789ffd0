"""What Kueue has decided about a pod that is not held any more: that it was admitted, and where it has to run.

With topology-aware scheduling Kueue chooses the nodes, and writes them into the node selectors of the pods; it counts
quota, and no devices that others hold (upstream: Kueue's pkg/controller/tas, topology_ungater.go).
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.queues import HeldBy, evicted, flavors_that_select, queued
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.model.queues import GROUP
from kubectl_dra.reports.base import ReportRecord

#: Of pods whose nodes Kueue chooses.
_PLACED: Final = f"{GROUP}/tas"
_WORKLOAD: Final = f"{GROUP}/workload"


class QueueAdmission(ReportRecord, frozen=True):
    """``assigned``: the node that Kueue chose, empty where the scheduler may; ``workload``: Kueue's object, if known.

    ``cluster_queue``: whose quota stays in use while the pod of ``owner`` waits, where that was read. ``evicted``: why
    Kueue has taken the admission back, and ``words``: what it says about that. ``flavors``: those of the ClusterQueue
    whose node labels Kueue added to the pod's node selector.
    """

    assigned: str = ""
    workload: ObjectRef | None = None
    owner: ObjectRef | None = None
    cluster_queue: str = ""
    evicted: str = ""
    words: str = ""
    flavors: tuple[str, ...] = ()


def queue_admission(pod: Pod, state: ClusterState) -> QueueAdmission | None:
    """What is known of it; None for pods that Kueue has not admitted, as far as that can be told."""
    meta = pod.metadata
    if pod.spec.scheduling_gates or pod.spec.node_name:
        return None
    assigned = pod.spec.node_selector.get(HOSTNAME, "") if meta.labels.get(_PLACED) == "true" else ""
    name = meta.annotations.get(_WORKLOAD, "")
    found = meta.controller
    owner = ("Pod", meta.name) if found is None else (found.kind, found.name)
    told = queued(state, "", meta.namespace, owner) if state.inventory.queues.workloads else None
    admitted = told is not None and told.held_by is HeldBy.ADMITTED and bool(told.cluster_queue)
    out = evicted(state, meta.namespace, owner) if told is not None and not admitted else None
    if out is not None:
        name = out[0]
    if not (assigned or admitted or out):
        return None
    return QueueAdmission(
        assigned,
        ObjectRef("Workload", meta.namespace, name) if name else None,
        ObjectRef(owner[0], meta.namespace, owner[1]),
        told.cluster_queue if told is not None and admitted else "",
        out[1].reason if out is not None else "",
        out[1].message if out is not None else "",
        flavors_that_select(state, pod)[0],
    )
