"""Whom a group evicts: pods of lower priority anywhere in the cluster; those that the group can do without may stay.

Upstream: framework/preemption/podgrouppreemption.go, types.go (getCrossNodesVictims), util.go (MoreImportantVictim).
Other than for a single pod all nodes are one, and it does not matter why the group did not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podinfo import PodInfo, pod_info
from kubectl_dra.scheduler.filtering import add_pod, filter_node, remove_pod
from kubectl_dra.scheduler.framework import Cycle
from kubectl_dra.scheduler.gangs.group import Gang
from kubectl_dra.scheduler.gangs.placements import schedule
from kubectl_dra.scheduler.gangs.trial import GroupStatus, Run, TriedPod
from kubectl_dra.scheduler.gangs.units import Unit, by_budgets, by_importance, eviction_priority, units
from kubectl_dra.scheduler.gangs.world import without_nominations, without_pods
from kubectl_dra.scheduler.preemption import NEVER
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot
from kubectl_dra.scheduler.status import StatusCode

PREFIX: Final = "pod group preemption: "
ONGOING: Final = "ongoing preemption on nominated nodes"
NO_VICTIMS: Final = "No preemption victims found for incoming preemptor"
PLACEMENT: Final = "found a placement for podgroup, preempting {} victims"
_BUDGET: Final = "PodDisruptionBudget"


class GroupPreemption(msgspec.Struct, frozen=True):
    """What comes of it. ``nominated``: the nodes that pods are about to get, by pod; ``victims``: who is evicted.

    ``unsure``: kinds that were not read and may change the choice of victims. ``tied``: some pod had several equally
    good nodes, or the group several domains, and which of them is taken can't be foretold.
    """

    status: GroupStatus
    nominated: Mapping[Key, str] = msgspec.field(default_factory=dict)
    victims: tuple[PodInfo, ...] = ()
    unsure: tuple[str, ...] = ()
    tied: bool = False


def preempt(gang: Gang, world: Snapshot, shared: Run) -> GroupPreemption:
    """What preemption does for a group that does not fit."""
    if not gang.preempts:
        return _refused(StatusCode.UNSCHEDULABLE, NEVER)
    if _ongoing(gang, world):
        nominated = {key_of(pod.metadata): pod.status.nominated_node_name for pod in gang.tried}
        return GroupPreemption(GroupStatus(StatusCode.SUCCESS, (PREFIX + ONGOING,)), nominated)
    potential = [unit for unit in units(world) if unit.priority < gang.priority]
    if not potential:
        return _refused(StatusCode.UNRESOLVABLE, NO_VICTIMS)
    emptied = without_pods(world, [pod for unit in potential for pod in unit.pods])
    found, emptied = schedule(gang, emptied, replace(shared, devices={}))
    status = found.trial.status
    if status.code is not StatusCode.SUCCESS:
        return GroupPreemption(GroupStatus(status.code, (PREFIX + status.message,) if status.message else ()))
    victims = _Reprieve(emptied, found.trial.placed).victims(potential)
    pods = tuple(pod for unit in victims for pod, _ in unit.pods)
    nominated = {key_of(each.pod.metadata): each.node for each in found.trial.placed}
    unsure = () if world.evidence.complete(_BUDGET) else (_BUDGET,)
    text = PREFIX + PLACEMENT.format(len(pods))
    tied = found.tied or any(len(each.best) > 1 for each in found.trial.placed)
    return GroupPreemption(GroupStatus(StatusCode.SUCCESS, (text,)), nominated, pods, unsure, tied)


def _refused(code: StatusCode, text: str) -> GroupPreemption:
    return GroupPreemption(GroupStatus(code, (PREFIX + text,)))


def _ongoing(gang: Gang, world: Snapshot) -> bool:
    """Whether somebody whom the group evicts is still there."""
    nominated = {pod.status.nominated_node_name for pod in gang.tried}
    return any(
        pod.shape.preempted and eviction_priority(world, pod) < gang.priority
        for name in nominated
        if (node := world.nodes.get(name)) is not None
        for pod in node.pods
    )


class _Reprieve:
    """Who can stay, with the pods of the group on the nodes that they got in an emptied cluster."""

    def __init__(self, emptied: Snapshot, placed: Sequence[TriedPod]) -> None:
        forgotten = without_nominations(emptied, [each.pod for each in placed])
        self._nodes = dict(emptied.nodes)
        self._budgets = tuple(emptied.inventory.budgets.values())
        self._placed: list[tuple[Cycle, str]] = []
        for each in placed:
            if each.attempt is not None:
                cycle = replace(each.attempt.cycle.clone(), snapshot=forgotten)
                self._placed.append((cycle, each.node))

    def victims(self, potential: Sequence[Unit]) -> list[Unit]:
        """Those that have to go; who breaks a budget may stay first, the more important before the others."""
        found = by_budgets(by_importance(potential), self._budgets)
        order = (*(unit for unit, _ in found.breaking), *found.others)
        return by_importance([unit for unit in order if not self._can_stay(unit)])

    def _can_stay(self, unit: Unit) -> bool:
        for pod, name in unit.pods:
            self._nodes[name] = self._nodes[name].plus(pod)
            for cycle, _ in self._placed:
                add_pod(cycle, pod, self._nodes[name])
        if self._all_fit():
            return True
        for pod, name in unit.pods:
            self._nodes[name] = self._nodes[name].minus(pod)
            for cycle, _ in self._placed:
                remove_pod(cycle, pod, self._nodes[name])
        return False

    def _all_fit(self) -> bool:
        """Whether each pod fits on its node beside those before it."""
        beside: dict[str, NodeInfo] = {}
        for cycle, name in self._placed:
            node = beside.get(name, self._nodes[name])
            if not filter_node(cycle, node).status.ok:
                return False
            beside[name] = node.plus(pod_info(cycle.pod))
        return True
