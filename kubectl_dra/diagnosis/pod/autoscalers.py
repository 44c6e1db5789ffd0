"""How many pods an autoscaler makes of those that a workload says.

Upstream: pkg/controller/podautoscaler/horizontal.go (convertDesiredReplicasWithRules; 0 replicas switch it off). KEDA's
ScaledObject has one of its own (kedacore/keda, controllers/keda/hpa.go), whose bounds it writes again and again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.admission import HorizontalPodAutoscaler
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.inventory import Inventory, key_of

KIND: Final = "HorizontalPodAutoscaler"
SCALED_OBJECT: Final = "ScaledObject"
#: Kinds of which nobody changes the number by their ``scale``, as far as they are known.
UNSCALED: Final = frozenset({"Pod", "Job", "CronJob", "DaemonSet", "ResourceClaim", "ResourceClaimTemplate"})


class Bounds(ReportRecord, frozen=True):
    """The bounds of a workload's number of pods. ``of``: the object in whose fields ``low`` and ``high`` they are."""

    least: int
    most: int
    of: ObjectRef
    low: str = "spec.minReplicas"
    high: str = "spec.maxReplicas"

    def bounded(self, copies: int) -> int:
        """How many pods there are where the workload says ``copies``; none are left alone."""
        return max(min(copies, self.most), self.least) if copies else 0


def bounds_by_target(inventory: Inventory) -> Mapping[ObjectRef, Bounds]:
    """The bounds by what is scaled; of several autoscalers of one workload the first counts."""
    found: dict[ObjectRef, Bounds] = {}
    for scaler in inventory.autoscalers.values():
        found.setdefault(target_of(scaler), _bounds(scaler))
    return found


def target_of(scaler: HorizontalPodAutoscaler) -> ObjectRef:
    target = scaler.spec.scale_target_ref
    return ObjectRef(target.kind, scaler.metadata.namespace, target.name)


def _bounds(scaler: HorizontalPodAutoscaler) -> Bounds:
    least = 1 if scaler.spec.min_replicas is None else scaler.spec.min_replicas
    most, key = scaler.spec.max_replicas, key_of(scaler.metadata)
    owner = scaler.metadata.controller
    if owner is not None and owner.kind == SCALED_OBJECT:
        of = ObjectRef(SCALED_OBJECT, key.namespace, owner.name)
        return Bounds(least, most, of, "spec.minReplicaCount", "spec.maxReplicaCount")
    return Bounds(least, most, ObjectRef.of(KIND, key))
