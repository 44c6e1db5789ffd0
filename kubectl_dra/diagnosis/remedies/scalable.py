"""Which workloads can be given another number of pods by ``kubectl scale``, without harm and for good."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kubectl_dra.diagnosis.pod.autoscalers import KIND, SCALED_OBJECT, bounds_by_target
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.actions import ScaleDown
from kubectl_dra.diagnosis.remedies.records import Action
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.workloads import WorkloadObject

#: Kinds with ``spec.replicas``.
SCALED: Final = ("Deployment", "ReplicaSet", "StatefulSet")
_DELETED: Final = "Delete"


def loses_volumes(workload: WorkloadObject) -> bool:
    """Whether the volume claims of pods that are scaled away are deleted, and their data with most classes.

    Upstream: pkg/controller/statefulset/stateful_set_utils.go, getPersistentVolumeClaimRetentionPolicy.
    """
    return workload.spec.persistent_volume_claim_retention_policy.when_scaled == _DELETED


def is_scaled_back(inventory: Inventory, workload: ObjectRef, to: int) -> bool:
    """Whether an autoscaler sets the number again: Kubernetes leaves a workload without pods alone, KEDA does not.

    Upstream: pkg/controller/podautoscaler/horizontal.go, reconcileAutoscaler.
    """
    found = bounds_by_target(inventory).get(workload)
    return found is not None and (to > 0 or found.of.kind == SCALED_OBJECT)


def may_be_scaled_back(evidence: Evidence, actions: Iterable[Action]) -> bool:
    """Whether an autoscaler that was not read may do so."""
    down = (each for each in actions if isinstance(each, ScaleDown) and each.to)
    return any(not evidence.complete(KIND, each.workload.namespace) for each in down)
