"""Workloads that have no pods to diagnose: held back, in a queue, or scaled to none; would a pod of them fit?"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.placing import place
from kubectl_dra.diagnosis.records import PodDiagnosis
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.workloads import WorkloadObject

#: The label by which Kueue finds the queue of a workload.
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"


@dataclass(frozen=True, slots=True)
class Idle:
    """``suspended`` and ``queue``: who holds the pods back. ``scaled``: there are to be none.

    ``node`` is where one pod of it would go now, ``failed`` what keeps it; neither where it has no template.
    """

    suspended: bool
    queue: str
    scaled: bool
    node: str = ""
    failed: PodDiagnosis | None = None


def idle(state: ClusterState, kind: str, key: Key) -> Idle | None:
    """Why a workload has no pods; None where nothing holds them back."""
    workload = state.inventory.workloads.get((kind, key.namespace, key.name))
    if not isinstance(workload, WorkloadObject):
        return None
    found = Idle(
        workload.spec.suspend is True, workload.metadata.labels.get(QUEUE_LABEL, ""), workload.spec.replicas == 0
    )
    if not (found.suspended or found.scaled):
        return None
    made = workload.template_of(kind, Pod())
    if found.scaled or made is None:
        return found
    template = made[1]
    name = f"{key.name}-simulated"
    meta = ObjectMeta(name=name, namespace=key.namespace, uid=name, labels=template.metadata.labels)
    spec = template.spec
    if not spec.scheduler_name:
        spec = msgspec.structs.replace(spec, scheduler_name="default-scheduler")
    placed = place(state, [Pod(meta, spec, PodStatus(phase="Pending"))])
    return Idle(found.suspended, found.queue, found.scaled, next(iter(placed.nodes), ""), placed.failed)
