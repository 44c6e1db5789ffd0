"""How far a workload is whose pods do not all do their work, or do not all exist."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.diagnosis.gates.pending import is_pending
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.scalable import SCALED
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.base import ReportRecord


class AilingWorkload(ReportRecord, frozen=True):
    """How many of the ``pods`` are ready, and how many there are to be, None where that is not known.

    ``missing``: how many the controller has not made; ``one_by_one``: it does only when those before are ready.
    ``waiting``: how many of the pods have not been started.
    """

    workload: ObjectRef
    ready: int
    pods: int
    wanted: int | None = None
    missing: int = 0
    one_by_one: bool = False
    waiting: int = 0


def ailing_workload(inventory: Inventory, workload: ObjectRef, pods: Sequence[Pod]) -> AilingWorkload:
    """The state of a workload that was read, or whose pods were."""
    ready, waiting = sum(map(_is_ready, pods)), sum(map(is_pending, pods))
    found = inventory.workloads.get((workload.kind, workload.namespace, workload.name))
    if found is None or workload.kind not in SCALED:
        return AilingWorkload(workload, ready, len(pods), waiting=waiting)
    wanted = 1 if found.spec.replicas is None else found.spec.replicas
    staying = [pod for pod in pods if pod.metadata.deletion_timestamp is None and not is_terminal(pod)]
    missing = max(wanted - len(staying), 0)
    one_by_one = missing > 0 and found.makes_one_by_one(workload.kind)
    return AilingWorkload(workload, ready, len(pods), wanted, missing, one_by_one, waiting)


def _is_ready(pod: Pod) -> bool:
    """By its containers: of a pod without devices the condition is not kept."""
    statuses, gone = pod.status.container_statuses, pod.metadata.deletion_timestamp is not None
    conditions = [each.status for each in pod.status.conditions if each.type == "Ready"]
    return not gone and "False" not in conditions and bool(statuses) and all(each.ready for each in statuses)
