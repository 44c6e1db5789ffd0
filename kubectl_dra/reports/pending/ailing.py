"""Workloads all of whose pods have a node, and do not all do their work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.freeing import SCALED
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.reports.base import ReportRecord

_SET: Final = "StatefulSet"


class AilingWorkload(ReportRecord, frozen=True):
    """How many of the ``pods`` are ready, and how many there are to be, None where that is not known.

    ``one_by_one``: the controller makes the missing ones only when those before are ready.
    """

    workload: ObjectRef
    ready: int
    pods: int
    wanted: int | None = None
    one_by_one: bool = False


def ailing_workload(inventory: Inventory, workload: ObjectRef, pods: Sequence[Pod]) -> AilingWorkload:
    """The state of a workload that was read, or whose pods were."""
    ready = sum(_is_ready(pod) for pod in pods)
    found = inventory.workloads.get((workload.kind, workload.namespace, workload.name))
    if found is None or workload.kind not in SCALED:
        return AilingWorkload(workload, ready, len(pods))
    wanted = 1 if found.spec.replicas is None else found.spec.replicas
    staying = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    return AilingWorkload(workload, ready, len(pods), wanted, workload.kind == _SET and len(staying) < wanted)


def _is_ready(pod: Pod) -> bool:
    """By its containers: of a pod without devices the condition is not kept."""
    statuses, gone = pod.status.container_statuses, pod.metadata.deletion_timestamp is not None
    conditions = [each.status for each in pod.status.conditions if each.type == "Ready"]
    return not gone and "False" not in conditions and bool(statuses) and all(each.ready for each in statuses)
