"""Workloads that have no pods to diagnose: held back, in a queue, or scaled to none; would a pod of them fit?"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.placing import place
from kubectl_dra.diagnosis.queues import Queued, queued
from kubectl_dra.diagnosis.records import PodDiagnosis
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.queues import QUEUE_LABEL
from kubectl_dra.model.workloads import WorkloadObject


@dataclass(frozen=True, slots=True)
class Idle:
    """``suspended`` and ``queue``: who holds the pods back. ``scaled``: there are to be none.

    ``node`` is where one pod of it would go now, ``failed`` what keeps it (placed in ``world``); neither where it has
    no template. ``waits``: what Kueue says.
    """

    suspended: bool
    queue: str
    scaled: bool
    node: str = ""
    failed: PodDiagnosis | None = None
    world: ClusterState | None = None
    waits: Queued | None = None


def idle(state: ClusterState, kind: str, key: Key) -> Idle | None:
    """Why a workload has no pods; None where nothing holds them back."""
    workload = state.inventory.workloads.get((kind, key.namespace, key.name))
    if not isinstance(workload, WorkloadObject):
        return None
    queue = workload.metadata.labels.get(QUEUE_LABEL, "")
    suspended, scaled = workload.spec.suspend is True, workload.spec.replicas == 0
    if not (suspended or scaled):
        return None
    waits = queued(state, queue, key.namespace, (kind, key.name)) if suspended and queue else None
    made = workload.template_of(kind, Pod())
    if scaled or made is None:
        return Idle(suspended, queue, scaled, waits=waits)
    template = made[1]
    name = f"{key.name}-simulated"
    meta = ObjectMeta(name=name, namespace=key.namespace, uid=name, labels=template.metadata.labels)
    spec = template.spec
    if not spec.scheduler_name:
        spec = msgspec.structs.replace(spec, scheduler_name="default-scheduler")
    placed = place(state, [Pod(meta, spec, PodStatus(phase="Pending"))])
    return Idle(suspended, queue, scaled, next(iter(placed.nodes), ""), placed.failed, placed.world, waits)
