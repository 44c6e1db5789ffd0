"""One node without its pods of lower priority, and which of them could stay.

Upstream: SelectVictimsOnNode of plugins/defaultpreemption, which asks all plugins after each change. Here a plugin is
asked only where a pod came or went that it minds, and where what it said before is not the answer already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

import msgspec

from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.policy import PodDisruptionBudget
from kubectl_dra.model.usage import Ledger
from kubectl_dra.scheduler import filtering
from kubectl_dra.scheduler.framework import Cycle, Plugin, PodsMatter
from kubectl_dra.scheduler.gangs.units import Unit, by_budgets, by_importance, rank, units_on
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SUCCESS, Status, error, unresolvable

NO_VICTIMS: Final = "No preemption victims found for incoming pod"


class Eviction(msgspec.Struct, frozen=True):
    """Evicting ``victims``, the most important first, makes room; ``violations`` of them break a budget.

    ``settled`` False: others that are equally important could be evicted instead of some of them.
    """

    victims: tuple[PodInfo, ...]
    violations: int = 0
    settled: bool = True


class TriedEviction(msgspec.Struct, frozen=True):
    """A candidate, or what is in the way even so; ``unsure``: kinds that were not read."""

    candidate: Eviction | None = None
    status: Status = SUCCESS
    unsure: tuple[str, ...] = ()


class DryRun:
    """Tries nodes for one pod."""

    def __init__(self, cycle: Cycle, budgets: Sequence[PodDisruptionBudget]) -> None:
        self._cycle = cycle
        self._budgets = budgets
        self._asked = _PluginsOf(cycle)

    def on(self, node: NodeInfo, refused: Status | None = None) -> TriedEviction:
        """What evicting pods would do for one node; nothing outside is changed.

        ``refused``: what was said of the node as it is, if all plugins before that one could decide.
        """
        snapshot, priority = self._cycle.snapshot, self._cycle.info.shape.priority
        potential = [unit for unit in units_on(snapshot, [node]) if unit.priority < priority]
        if not potential:
            return TriedEviction(status=unresolvable(NO_VICTIMS))
        trial = _Trial(self._cycle, node, potential, self._asked)
        verdict = trial.emptied(refused)
        if not verdict.status.ok:
            return TriedEviction(status=verdict.status, unsure=_kinds(verdict))
        candidate = self._reprieve(trial, by_importance(potential))
        if not candidate.victims:
            text = f'expected at least one victim pod on node "{node.name}"'
            return TriedEviction(status=error(text), unsure=_kinds(verdict))
        return TriedEviction(candidate, unsure=_kinds(verdict))

    def _reprieve(self, trial: _Trial, potential: Sequence[Unit]) -> Eviction:
        """Those that break a budget may stay first, then the others, each the most important first."""
        found = by_budgets(potential, self._budgets)
        protected = [(unit, not trial.can_stay(unit)) for unit, _ in found.breaking]
        others = [(unit, not trial.can_stay(unit)) for unit in found.others]
        gone = [unit for unit, goes in (*protected, *others) if goes]
        ordered = by_importance(gone) if protected and others else gone
        violations = sum(n for (_, n), (_, goes) in zip(found.breaking, protected, strict=True) if goes)
        settled = _is_settled(protected) and _is_settled(others)
        return Eviction(tuple(pod for unit in ordered for pod, _ in unit.pods), violations, settled)


def _is_settled(group: Sequence[tuple[Unit, bool]]) -> bool:
    """Whether no victim is as important as its neighbour that stays."""
    return all(goes == goes_too or rank(one) != rank(other) for (one, goes), (other, goes_too) in pairwise(group))


class _PluginsOf:
    """Which plugins a dry run has to ask, all in their order."""

    def __init__(self, cycle: Cycle) -> None:
        self._cycle = cycle
        self._plugins = tuple(filtering.filters(cycle))
        self._passed: dict[str, frozenset[str]] = {}
        #: With any pods these say of a node that fits what they said.
        self.indifferent = filtering.passed_with_any_pods(cycle)

    def passed(self, refused: Status | None) -> frozenset[str]:
        """Those that let a node pass with fewer pods, by what was said of it."""
        if refused is None:
            return frozenset()
        known = self._passed.get(refused.plugin)
        if known is None:
            known = self._passed[refused.plugin] = filtering.passed_without_pods(self._cycle, refused)
        return known

    def after(self, refused: Status, minded: set[Plugin]) -> Iterator[Plugin]:
        """Those to be asked of a node that has lost pods which ``minded`` mind, besides the one that refused it."""
        passed, before = self.passed(refused), True
        for plugin in self._plugins:
            if plugin.name == refused.plugin:
                before = False
            if before and (plugin.name in passed or plugin not in minded):
                continue
            yield plugin


class _Trial:
    """A node from which pods are taken away, and to which some come back.

    Of pods of a group on other nodes only what plugins keep about them changes, not their node.
    """

    def __init__(self, cycle: Cycle, node: NodeInfo, units: Sequence[Unit], asked: _PluginsOf) -> None:
        self._asked = asked
        self._units = units
        self._original = node
        self._crowded = bool(filtering.about_to_come(cycle, node))
        pods = [each for unit in units for each in unit.pods]
        self._minded = {plugin for pod, _ in pods for plugin in filtering.minding(cycle, pod.shape).plugins}
        counted = [(pod, name) for pod, name in pods if filtering.minding(cycle, pod.shape).counting]
        self._cycle = cycle.clone() if counted else cycle
        for pod, name in counted:
            filtering.remove_pod(self._cycle, pod, node if name == node.name else cycle.snapshot.nodes[name])

    @cached_property
    def _ledger(self) -> Ledger:
        """The sums of the node, all units gone; often nobody asks for them."""
        ledger = Ledger(self._original.usage)
        for unit in self._units:
            for pod, name in unit.pods:
                if name == self._original.name:
                    ledger.remove(pod)
        return ledger

    @cached_property
    def _node(self) -> NodeInfo:
        return NodeInfo(self._original.node, self._ledger)

    def emptied(self, refused: Status | None) -> filtering.NodeVerdict:
        """What is said of the node once all units are gone; ``refused`` as for :meth:`DryRun.on`."""
        if self._crowded or refused is None:
            return filtering.filter_node(self._cycle, self._node, self._asked.passed(refused))
        unsure: tuple[Status, ...] = ()
        for plugin in self._asked.after(refused, self._minded):
            if plugin.name == refused.plugin and plugin not in self._minded:
                return filtering.NodeVerdict(refused, unsure)
            node = self._node if plugin.pods is PodsMatter.FEWER_IS_BETTER else self._original
            found = filtering.ask(self._cycle, node, (plugin,))
            unsure += found.unsure
            if not found.status.ok:
                return filtering.NodeVerdict(found.status, unsure)
        return filtering.NodeVerdict(SUCCESS, unsure)

    def can_stay(self, unit: Unit) -> bool:
        """Put pods back; they stay if the pod that waits fits beside them."""
        for pod, name in unit.pods:
            if name == self._node.name:
                self._ledger.add(pod)
            filtering.add_pod(self._cycle, pod, self._node_of(name))
        if self._fits_beside(unit):
            return True
        for pod, name in unit.pods:
            if name == self._node.name:
                self._ledger.remove(pod)
            filtering.remove_pod(self._cycle, pod, self._node_of(name))
        return False

    def _node_of(self, name: str) -> NodeInfo:
        return self._node if name == self._node.name else self._cycle.snapshot.nodes[name]

    def _fits_beside(self, unit: Unit) -> bool:
        """On a node that fitted before the unit came back."""
        if self._crowded:
            return filtering.filter_node(self._cycle, self._node, self._asked.indifferent).status.ok
        if len(unit.pods) == 1:
            return filtering.passes(
                self._cycle, self._node, filtering.minding(self._cycle, unit.pods[0][0].shape).plugins
            )
        found = {plugin for pod, _ in unit.pods for plugin in filtering.minding(self._cycle, pod.shape).plugins}
        return filtering.passes(self._cycle, self._node, found)


def _kinds(verdict: filtering.NodeVerdict) -> tuple[str, ...]:
    return tuple(kind for status in verdict.unsure for kind in status.reasons)
