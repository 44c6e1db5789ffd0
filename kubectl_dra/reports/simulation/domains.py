"""Whether pods that another program keeps in one domain of nodes find room in any: certain where no domain has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubectl_dra.api.workloads.domains import DomainRule
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.domains import DomainRoom, domain_rooms
from kubectl_dra.diagnosis.pod.placing import MAX_COPIES
from kubectl_dra.model.core import Pod
from kubectl_dra.reports.simulation.pods import Copies, batch
from kubectl_dra.reports.simulation.records import DomainFit
from kubectl_dra.reports.simulation.trials import PodTrial


def domain_fits(world: ClusterState, trial: PodTrial, copies: Copies) -> Iterator[DomainFit]:
    """What is certain of the domains that the pods of a trial have to be in, without the other pods of the files.

    Nothing of what could not be told, and of numbers that are not those of the manifest.
    """
    if copies.asked or trial.alone or trial.scheduler:
        return
    for rule in trial.plan.domains:
        if rule.size <= MAX_COPIES:
            there, pods = _one_group(world, trial, rule)
            rooms = domain_rooms(there, rule.label, pods)
            if rooms is not None:
                yield _fit(rule, rooms)


def _one_group(world: ClusterState, trial: PodTrial, rule: DomainRule) -> tuple[ClusterState, list[Pod]]:
    pods: list[Pod] = []
    for position, number in rule.pods:
        made = batch(world, replace(trial, plan=trial.planned.pods[position]), Copies(number))
        world = made.world
        pods += made.pods
    return world, pods


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
