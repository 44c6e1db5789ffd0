"""Who goes before whom: priority classes, and budgets that say how many pods may be disrupted."""

from __future__ import annotations

from msgspec import field

from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import LabelSelector, ObjectMeta


class PriorityClass(Record, frozen=True):
    """A priority by name; admission writes its value into pods."""

    metadata: ObjectMeta = ObjectMeta()
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None


class DisruptionBudgetSpec(Record, frozen=True):
    """``spec`` of a budget; preemption ignores one whose selector is absent or empty."""

    selector: LabelSelector | None = None


class DisruptionBudgetStatus(Record, frozen=True):
    """``status`` of a budget. ``disrupted_pods``: names, and when they were evicted."""

    disruptions_allowed: int = 0
    disrupted_pods: dict[str, str] = field(default_factory=dict)


class PodDisruptionBudget(Record, frozen=True):
    """A budget."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()
    status: DisruptionBudgetStatus = DisruptionBudgetStatus()
