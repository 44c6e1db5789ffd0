"""PriorityClasses and RuntimeClasses that pods of the files name and that do not exist: the server refuses each pod.

Upstream: plugin/pkg/admission/priority/admission.go (admitPod) and plugin/pkg/admission/runtimeclass/admission.go
(prepareObjects) are about pods alone, so that their workload is created.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.reports.simulation.stops import AbsentClass
from kubectl_dra.reports.simulation.trials import PRIORITY_CLASS, RUNTIME_CLASS, PodTrial

_FIELDS: Final = {PRIORITY_CLASS: "priorityClassName", RUNTIME_CLASS: "runtimeClassName"}


def absent_classes(world: ClusterState, trial: PodTrial) -> tuple[AbsentClass, ...]:
    """The classes, where they stand in the manifest, and those that exist."""
    inventory = world.inventory
    there = {PRIORITY_CLASS: inventory.priority_classes, RUNTIME_CLASS: inventory.runtime_classes}
    return tuple(_absent(world, trial, each, there) for each in trial.blocked if each.kind in _FIELDS)


def _absent(world: ClusterState, trial: PodTrial, ref: ObjectRef, there: Mapping[str, Collection[str]]) -> AbsentClass:
    known = tuple(sorted(there[ref.kind]))
    left_out = not known and world.evidence.coverage(ref.kind) is Coverage.ASSUMED
    return AbsentClass(ref, f"{trial.plan.spec_at}.{_FIELDS[ref.kind]}", known, left_out)
