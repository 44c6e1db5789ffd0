"""Victims of preemption: which is more important, and which of them a budget protects.

Upstream: framework/preemption util.go (MoreImportantVictim, FilterVictimsWithPDBViolation) and scheduler/util.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from math import inf

from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.policy import PodDisruptionBudget
from kubectl_dra.model.terms import requirements_of, selects


@lru_cache(maxsize=65536)
def start_of(text: str) -> float:
    """When a pod started, in seconds; later than everything (now, to upstream) for one that did not start."""
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else inf
    except ValueError:
        return inf


def earliest_start(victims: Sequence[PodInfo]) -> float:
    """The first start among those of the highest priority."""
    highest = max(pod.shape.priority for pod in victims)
    return min(start_of(pod.start_time) for pod in victims if pod.shape.priority == highest)


def protected(pods: Iterable[PodInfo], budgets: Sequence[PodDisruptionBudget]) -> frozenset[str]:
    """The names (uids) of the pods whose eviction violates a budget, given that those before are evicted too."""
    if not budgets:
        return frozenset()
    allowed = [budget.status.disruptions_allowed for budget in budgets]
    return frozenset(pod.uid for pod in pods if _violates(pod, budgets, allowed))


def _violates(pod: PodInfo, budgets: Sequence[PodDisruptionBudget], allowed: list[int]) -> bool:
    """Every budget that is about the pod loses one; the first that had none left ends it."""
    if not pod.shape.labels:
        return False
    for index, budget in enumerate(budgets):
        if _counts(pod, budget):
            allowed[index] -= 1
            if allowed[index] < 0:
                return True
    return False


def _counts(pod: PodInfo, budget: PodDisruptionBudget) -> bool:
    """A budget without any requirement is about nobody; whom it is being evicted for already, it does not protect."""
    requirements = requirements_of(budget.spec.selector)
    return (
        budget.metadata.namespace == pod.key.namespace
        and bool(requirements)
        and selects(requirements, pod.shape.labels)
        and pod.key.name not in budget.status.disrupted_pods
    )
