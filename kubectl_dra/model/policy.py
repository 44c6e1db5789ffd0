"""Who goes before whom: priority classes, and budgets that say how many pods may be disrupted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import field

from kubectl_dra.model.base import Record
from kubectl_dra.model.core import PodSpec
from kubectl_dra.model.meta import LabelSelector, ObjectMeta


class PriorityClass(Record, frozen=True):
    """A priority by name; admission writes its value into pods."""

    metadata: ObjectMeta = ObjectMeta()
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None


#: Classes that every cluster has.
SYSTEM_CLASSES: Final[Mapping[str, int]] = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}


def priority_of(spec: PodSpec, classes: Mapping[str, PriorityClass]) -> tuple[int | None, str | None]:
    """Priority and policy of the class that a pod names, or of the default one (admission plugin Priority)."""
    name = spec.priority_class_name
    if name in SYSTEM_CLASSES:
        return SYSTEM_CLASSES[name], spec.preemption_policy
    default = min((each for each in classes.values() if each.global_default), key=lambda c: c.value, default=None)
    found = classes.get(name) if name else default
    if found is None:
        return spec.priority, spec.preemption_policy
    return found.value, found.preemption_policy or spec.preemption_policy


class DisruptionBudgetSpec(Record, frozen=True):
    """``spec`` of a budget; preemption ignores one whose selector is absent or empty."""

    selector: LabelSelector | None = None


class DisruptionBudgetStatus(Record, frozen=True):
    """``status`` of a budget. ``disrupted_pods``: names, and when they were evicted."""

    disruptions_allowed: int = 0
    disrupted_pods: dict[str, str] = field(default_factory=dict)


class PodDisruptionBudget(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()
    status: DisruptionBudgetStatus = DisruptionBudgetStatus()
