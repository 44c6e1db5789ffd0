"""What is evicted together: a pod, or all pods of a group that does not let go of single ones.

Upstream: framework/preemption types.go (getCrossNodesVictims, NewPodVictim), util.go (MoreImportantVictim,
GetPodPriority, FilterVictimsWithPDBViolation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kubectl_dra.model.ids import Key
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.policy import PodDisruptionBudget
from kubectl_dra.scheduler.attempt import visiting_order
from kubectl_dra.scheduler.gangs.group import members_on_nodes, priority_of
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot
from kubectl_dra.scheduler.victims import protected, start_of


class Unit(msgspec.Struct, frozen=True):
    """Pods with their nodes. ``priority`` is what protects them: that of their group if they are in one.

    ``group``: they belong to a group, which ranks above pods of none even where it is evicted pod by pod (victimRank).
    """

    pods: tuple[tuple[PodInfo, str], ...]
    priority: int
    group: bool = False

    @property
    def start(self) -> float:
        return min(start_of(pod.start_time) for pod, _ in self.pods)


def eviction_priority(world: Snapshot, pod: PodInfo) -> int:
    """The priority that protects a pod from being evicted: that of its group, where groups mean anything."""
    return priority_of(world, pod) if world.features.generic_workload else pod.shape.priority


def units(world: Snapshot) -> Iterator[Unit]:
    """All pods on nodes, as they can be evicted, in the order of the nodes."""
    return units_on(world, [world.nodes[name] for name in visiting_order(list(world.nodes.values()))])


def units_on(world: Snapshot, nodes: Iterable[NodeInfo]) -> Iterator[Unit]:
    """The pods of some nodes, as they can be evicted: with those of their group on other nodes."""
    if not world.features.generic_workload:
        yield from (Unit(((pod, node.name),), pod.shape.priority) for node in nodes for pod in node.pods)
        return
    seen: set[Key] = set()
    for node in nodes:
        for pod in node.pods:
            key = Key(pod.key.namespace, pod.shape.group)
            group = world.inventory.groups.pod_groups.get(key) if pod.shape.group else None
            if group is None or not group.evicted_as_one:
                yield Unit(((pod, node.name),), priority_of(world, pod), group=group is not None)
            elif key not in seen:
                seen.add(key)
                yield Unit(members_on_nodes(world, key), priority_of(world, pod), group=True)


def by_importance(found: Iterable[Unit]) -> list[Unit]:
    """The most important first; who is equal stays in order."""
    return sorted(found, key=rank)


def rank(unit: Unit) -> tuple[int, bool, int, float]:
    """Priority, groups before pods, the larger one, who started first; chance decides between equal ones."""
    return -unit.priority, not unit.group, -len(unit.pods), unit.start


class Protected(msgspec.Struct, frozen=True):
    """Units of which some pod's eviction breaks a budget, with the number of such pods, and the others."""

    breaking: tuple[tuple[Unit, int], ...]
    others: tuple[Unit, ...]


def by_budgets(ordered: Sequence[Unit], budgets: Sequence[PodDisruptionBudget]) -> Protected:
    """Which of the units budgets protect, given that those before are evicted too."""
    names = protected([pod for unit in ordered for pod, _ in unit.pods], budgets)
    if not names:
        return Protected((), tuple(ordered))
    counts = [(unit, sum(pod.uid in names for pod, _ in unit.pods)) for unit in ordered]
    return Protected(tuple((u, n) for u, n in counts if n), tuple(u for u, n in counts if not n))
