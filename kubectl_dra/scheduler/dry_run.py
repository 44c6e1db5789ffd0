"""One node without its pods of lower priority, and which of them could stay.

Upstream: SelectVictimsOnNode of plugins/defaultpreemption.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.policy import PodDisruptionBudget
from kubectl_dra.scheduler.filtering import Verdict, add_pod, filter_node, passed_with_any_pods, remove_pod
from kubectl_dra.scheduler.framework import Cycle
from kubectl_dra.scheduler.gangs.units import Unit, are_equal, by_budgets, by_importance, units_on
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SUCCESS, Status, error, unresolvable

_WITH_ANY_PODS: Final = passed_with_any_pods()
NO_VICTIMS: Final = "No preemption victims found for incoming pod"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Evicting ``victims``, the most important first, makes room; ``violations`` of them break a budget.

    ``settled`` False: others that are equally important could be evicted instead of some of them.
    """

    victims: tuple[PodInfo, ...]
    violations: int = 0
    settled: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """A candidate, or what is in the way even so; ``unsure``: kinds that were not read."""

    candidate: Candidate | None = None
    status: Status = SUCCESS
    unsure: tuple[str, ...] = ()


class DryRun:
    """Tries nodes for one pod."""

    def __init__(self, cycle: Cycle, budgets: Sequence[PodDisruptionBudget]) -> None:
        self._cycle = cycle
        self._budgets = budgets

    def on(self, node: NodeInfo, passed: Collection[str] = ()) -> Result:
        """What evicting pods would do for one node; nothing outside is changed.

        ``passed``: plugins that let the node pass with fewer pods.
        """
        snapshot, priority = self._cycle.snapshot, self._cycle.info.shape.priority
        potential = [unit for unit in units_on(snapshot, [node]) if unit.priority < priority]
        if not potential:
            return Result(status=unresolvable(NO_VICTIMS))
        trial = _Trial(self._cycle.clone(), node)
        trial.remove(*potential)
        verdict = trial.verdict(passed)
        if not verdict.status.ok:
            return Result(status=verdict.status, unsure=_kinds(verdict))
        candidate = self._reprieve(trial, by_importance(potential))
        if not candidate.victims:
            text = f'expected at least one victim pod on node "{node.name}"'
            return Result(status=error(text), unsure=_kinds(verdict))
        return Result(candidate, unsure=_kinds(verdict))

    def _reprieve(self, trial: _Trial, potential: Sequence[Unit]) -> Candidate:
        """Those that break a budget may stay first, then the others, each the most important first."""
        found = by_budgets(potential, self._budgets)
        first, rest = [unit for unit, _ in found.breaking], found.others
        gone = [unit for unit in (*first, *rest) if not trial.can_stay(unit)]
        settled = all(_is_settled(group, gone) for group in (first, rest))
        ordered = by_importance(gone) if first and rest else gone
        violations = sum(number for unit, number in found.breaking if unit in gone)
        return Candidate(tuple(pod for unit in ordered for pod, _ in unit.pods), violations, settled)


def _is_settled(group: Sequence[Unit], gone: Sequence[Unit]) -> bool:
    """Whether no victim is as important as its neighbour that stays."""
    return all(not are_equal(one, other) or (one in gone) == (other in gone) for one, other in pairwise(group))


class _Trial:
    """A node from which pods are taken away, and back.

    Of pods of a group on other nodes only what plugins keep about them changes, not their node.
    """

    def __init__(self, cycle: Cycle, node: NodeInfo) -> None:
        self._cycle = cycle
        self._node = node

    def remove(self, *units: Unit) -> None:
        pods = [each for unit in units for each in unit.pods]
        here = [pod for pod, name in pods if name == self._node.name]
        if here:
            self._node = self._node.without(here)
        for pod, name in pods:
            remove_pod(self._cycle, pod, self._node_of(name))

    def add(self, unit: Unit) -> None:
        for pod, name in unit.pods:
            if name == self._node.name:
                self._node = self._node.plus(pod)
            add_pod(self._cycle, pod, self._node_of(name))

    def _node_of(self, name: str) -> NodeInfo:
        return self._node if name == self._node.name else self._cycle.snapshot.nodes[name]

    def verdict(self, passed: Collection[str]) -> Verdict:
        return filter_node(self._cycle, self._node, passed)

    def can_stay(self, unit: Unit) -> bool:
        """Put pods back; they stay if the pod that waits fits beside them."""
        self.add(unit)
        if self.verdict(_WITH_ANY_PODS).status.ok:
            return True
        self.remove(unit)
        return False


def _kinds(verdict: Verdict) -> tuple[str, ...]:
    return tuple(kind for status in verdict.unsure for kind in status.reasons)
