"""One run of the group's algorithm: pod after pod, each where a single pod would go, without turning back.

Upstream: podGroupSchedulingDefaultAlgorithm, podGroupPodSchedulingAlgorithm; GangScheduling's PlacementFeasible.

In which order an attempt looks at nodes, and how far it comes: the next attempt starts there. Upstream:
findNodesThatFitPod, findNodesThatPassFilters.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.attempt import Attempt, attempt, scores, visiting_order
from kubectl_dra.scheduler.gangs.group import Gang
from kubectl_dra.scheduler.gangs.world import with_pod, without_nominations
from kubectl_dra.scheduler.plugins.dynamic_resources import StateData
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import SUCCESS, Status, StatusCode, error, unresolvable, unschedulable

UNSCHEDULABLE: Final = "pod group is unschedulable"
_UNKNOWN: Final = Status(StatusCode.UNKNOWN)


class GroupStatus(msgspec.Struct, frozen=True):
    """What is said of the group. ``named``: with the words that it is unschedulable in front."""

    code: StatusCode = StatusCode.SUCCESS
    reasons: tuple[str, ...] = ()
    named: bool = False

    @property
    def message(self) -> str:
        return ", ".join((UNSCHEDULABLE, *self.reasons) if self.named else self.reasons)

    @property
    def cause(self) -> str:
        """What others quote of it."""
        return UNSCHEDULABLE if self.named else self.message

    def because(self, reason: str) -> GroupStatus:
        return msgspec.structs.replace(self, reasons=(*self.reasons, reason))


class TriedPod(msgspec.Struct, frozen=True):
    """One pod: the message about it, or its node, one of those that are equally good (``best``).

    ``attempt`` None: no node was looked at, or it was not its turn.
    """

    pod: Pod
    status: Status
    attempt: Attempt | None = None
    node: str = ""
    best: tuple[str, ...] = ()


class GangTrial(msgspec.Struct, frozen=True):
    """A run: what came of the group, and of the pods that were tried, in their order."""

    status: GroupStatus
    tried: tuple[TriedPod, ...] = ()

    @property
    def placed(self) -> tuple[TriedPod, ...]:
        return tuple(each for each in self.tried if each.node)


@dataclass
class Run:
    """What several runs of one cycle have in common, as the scheduler keeps it.

    ``start``: the node at which it goes on looking. ``devices``: what DynamicResources knows of each pod that got so
    far, of the last run.
    """

    start: int = 0
    devices: dict[Key, StateData] = field(default_factory=dict)


def feasibility(gang: Gang, scheduled: int, remaining: int) -> Status:
    """Whether enough pods have a node (success), may still get one (wait: skip), or can't any more."""
    needed = gang.group.min_count
    if scheduled + remaining < needed:
        return unschedulable(f"minCount ({needed}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining")
    return SUCCESS if scheduled >= needed else Status(StatusCode.SKIP)


def run(gang: Gang, world: Snapshot, nodes: Sequence[str], shared: Run) -> tuple[GangTrial, Snapshot]:
    """Try all pods on ``nodes``. The world that comes back is the same but for nominations that are forgotten."""
    scheduled, remaining = len(gang.scheduled), len(gang.tried)
    status = feasibility(gang, scheduled, remaining)
    if status.rejected:
        return GangTrial(GroupStatus(status.code, status.reasons, named=True)), world
    tried: list[TriedPod] = []
    there = world
    for pod in gang.tried:
        one = place(there, pod, nodes, shared)
        tried.append(one)
        if one.status.code is StatusCode.UNKNOWN:
            return GangTrial(GroupStatus(StatusCode.UNKNOWN), tuple(tried)), world
        if one.status.code is StatusCode.ERROR:
            text = f"failed to schedule other pod from a pod group: {one.status.message}"
            return _ended(world, GroupStatus(StatusCode.ERROR, (text,)), tried)
        remaining -= 1
        if one.node and one.attempt is not None:
            scheduled += 1
            there = with_pod(one.attempt, one.node)
        status = feasibility(gang, scheduled, remaining)
        if status.rejected:
            break
    return _ended(world, GroupStatus(status.code, status.reasons) if status.rejected else GroupStatus(), tried)


def _ended(world: Snapshot, status: GroupStatus, tried: Sequence[TriedPod]) -> tuple[GangTrial, Snapshot]:
    return GangTrial(status, tuple(tried)), without_nominations(world, [one.pod for one in tried if one.node])


def place(world: Snapshot, pod: Pod, nodes: Sequence[str], shared: Run) -> TriedPod:
    """The node that a single pod would get among ``nodes``."""
    if not nodes:
        return TriedPod(pod, unresolvable(fit_error.NO_NODES_MESSAGE))
    found = attempt(world, pod, among=nodes)
    state = found.cycle.states.get(StateData)
    if isinstance(state, StateData):
        shared.devices[key_of(pod.metadata)] = state
    if found.selection.unsure:
        return TriedPod(pod, _UNKNOWN, found)
    stop = found.stop
    if stop is not None:
        rejected = unschedulable(fit_error.pre_filter_rejection(len(nodes), stop.message))
        return TriedPod(pod, error(stop.message) if stop.code is StatusCode.ERROR else rejected, found)
    if pod.status.nominated_node_name not in found.feasible:
        start = shared.start
        shared.start = (start + processed(found, start)) % len(nodes)
        if found.errors:
            return TriedPod(pod, error(first_error(found, start).message), found)
    return _chosen(found, nodes)


def _chosen(found: Attempt, nodes: Sequence[str]) -> TriedPod:
    pod = found.cycle.pod
    if found.feasible:
        chosen = scores(found)
        if chosen.failed is not None:
            return TriedPod(pod, chosen.failed, found)
        return TriedPod(pod, SUCCESS, found, chosen.best[0], chosen.best)
    if found.unsure:
        return TriedPod(pod, _UNKNOWN, found)
    reasons = (reason for name in nodes for reason in found.status_of(name).reasons)
    return TriedPod(pod, unschedulable(fit_error.fit_error(len(nodes), reasons)), found)


def visited(found: Attempt, start: int) -> list[str]:
    """The nodes that were looked at, in their order from ``start``."""
    chosen, nodes = found.selection.nodes, found.cycle.snapshot.nodes
    looked_at = {node.name for node in found.filtered.nodes if chosen is None or node.name in chosen}
    return visiting_order([node for name, node in nodes.items() if name in looked_at], start)


def first_error(found: Attempt, start: int) -> Status:
    """The error that is met first. Raises ``StopIteration`` where there is none."""
    return next(found.errors[name] for name in visited(found, start) if name in found.errors)


def processed(found: Attempt, start: int) -> int:
    """The nodes that have a status or fit when the attempt ends.

    An error ends it, and a nominated node that fits before any other is looked at.
    """
    nominated = found.cycle.pod.status.nominated_node_name
    if nominated in found.feasible:
        return 0
    looked_at = found.filtered.nodes
    if not found.errors:
        return len(looked_at)
    before = set(itertools.takewhile(lambda name: name not in found.errors, visited(found, start)))
    return len(before | ({nominated} & ({node.name for node in looked_at} - found.errors.keys())))
