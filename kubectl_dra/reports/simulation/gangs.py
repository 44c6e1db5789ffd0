"""Trials whose pods are in one PodGroup: they are placed in one cycle, not one after the other.

Whether pods that another program keeps in one domain of nodes find room in any: certain where no domain has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kubectl_dra.api.workloads.domains import DomainRule
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together
from kubectl_dra.diagnosis.gangs.domains import DomainRoom, domain_rooms
from kubectl_dra.diagnosis.gangs.placing import GroupPlaced, place_group
from kubectl_dra.diagnosis.pod.placing import MAX_COPIES, PlacedCopies
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key, key_of
from kubectl_dra.reports.simulation.pods import Batch, Copies, batch
from kubectl_dra.reports.simulation.stops import DomainFit
from kubectl_dra.reports.simulation.trials import PodTrial


@dataclass(frozen=True, slots=True)
class GroupTrials:
    """What came of the trials of one group, by their positions: their pods, and where these go."""

    state: ClusterState
    found: Mapping[int, tuple[Batch, PlacedCopies]]


def group_of(state: ClusterState, trial: PodTrial) -> Key | None:
    """The group that the pods of a trial are placed with; None for pods that are scheduled one by one."""
    key = group_key(trial.plan.pod)
    known = key is not None and key in state.inventory.groups.pod_groups
    alone = trial.alone or bool(trial.stops or trial.bypasses)
    return key if known and not alone and are_placed_together(state) else None


def place_together(state: ClusterState, group: Key, trials: Sequence[PodTrial], copies: Copies) -> GroupTrials:
    """Place the pods of all ``trials`` that are in ``group``."""
    made: dict[int, tuple[Batch, list[Pod]]] = {}
    for position, trial in enumerate(trials):
        if group_of(state, trial) == group:
            found = batch(state, trial, copies)
            made[position] = found, list(found.pods)[:MAX_COPIES]
            state = found.state
    placed = place_group(state, group, [pod for _, pods in made.values() for pod in pods])
    return GroupTrials(
        placed.after, {position: (found, _share(placed, found, pods)) for position, (found, pods) in made.items()}
    )


def _share(placed: GroupPlaced, made: Batch, pods: Sequence[Pod]) -> PlacedCopies:
    """What came of the pods of one trial."""
    counts: dict[str, int] = {}
    for pod in pods:
        node = placed.nodes.get(key_of(pod.metadata))
        if node is not None:
            counts[node] = counts.get(node, 0) + 1
    short = sum(counts.values()) < len(pods)
    capped = made.wanted is None and not short
    return PlacedCopies(placed.waiting, counts, placed.failed if short else None, capped)


def domain_fits(state: ClusterState, trial: PodTrial, copies: Copies) -> Iterator[DomainFit]:
    """What is certain of the domains that the pods of a trial have to be in, without the other pods of the files.

    Nothing of what could not be told, and of numbers that are not those of the manifest.
    """
    if copies.asked or trial.alone or trial.scheduler:
        return
    for rule in trial.plan.domains:
        if rule.size <= MAX_COPIES:
            there, pods = _one_group(state, trial, rule)
            rooms = domain_rooms(there, rule.label, pods)
            if rooms is not None:
                yield _fit(rule, rooms)


def _one_group(state: ClusterState, trial: PodTrial, rule: DomainRule) -> tuple[ClusterState, list[Pod]]:
    pods: list[Pod] = []
    for position, number in rule.pods:
        made = batch(state, replace(trial, plan=trial.planned.pods[position]), Copies(number))
        state = made.state
        pods += made.pods
    return state, pods


def _fit(rule: DomainRule, rooms: tuple[DomainRoom, ...]) -> DomainFit:
    best = max(rooms, key=lambda room: room.pods, default=DomainRoom("", 0))
    return DomainFit(
        rule.program,
        rule.annotation,
        rule.label,
        rule.size,
        rule.groups,
        rule.exclusive,
        len(rooms),
        best.name,
        best.pods,
        best.message,
        tuple(room.name for room in rooms if room.pods >= rule.size),
    )
