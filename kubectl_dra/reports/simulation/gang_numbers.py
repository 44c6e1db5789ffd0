"""More pods where a gang needs more than its object makes: the number that does, tried as all others are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from kubectl_dra.api.workloads.beside import Gang
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.cycles import group_of
from kubectl_dra.model.core import Pod
from kubectl_dra.reports.simulation.counts import FewerPods, FieldNumber
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial

#: The program that starts gangs of Kubernetes' own.
SCHEDULER = "The scheduler"


def gang_of(state: ClusterState, trial: PodTrial) -> Gang | None:
    """The gang of its pods, whoever starts it."""
    return trial.plan.gang or _of_kubernetes(state, trial.plan.pod)


def _of_kubernetes(state: ClusterState, pod: Pod) -> Gang | None:
    group = group_of(state, pod)
    if group is None or group.min_count < 2:
        return None
    meta = group.metadata
    return Gang(SCHEDULER, f"PodGroup {meta.name}", meta.namespace, group.min_count)


def with_members(
    found: list[PodSimulation],
    state: ClusterState,
    trials: Sequence[PodTrial],
    again: Callable[[Sequence[PodTrial], int], Sequence[PodSimulation] | None],
) -> None:
    """Where the pods of a gang are too few though all are made by one number: with which they fit.

    Pods of the gang that the cluster has may be what it counts on. ``again``: what comes of other trials, up to one of
    them; None where that takes too long.
    """
    gangs = [gang_of(state, trial) for trial in trials]
    for position, (done, trial) in enumerate(zip(list(found), trials, strict=True)):
        gang = gangs[position]
        if gang is None or gangs.count(gang) > 1 or done.wanted is None or done.wanted >= gang.least or done.present:
            continue
        number = trial.plan.counted_by.raised(gang.least)
        # With the gates off a group of Kubernetes means nothing, and its pods fit.
        means_nothing = gang.program == SCHEDULER and not done.lacks
        if means_nothing or not number.fields or _is_there(state, gang):
            continue
        pods = number.fields[0][1] * number.pods
        then = again([_with_copies(each, pods) if each is trial else each for each in trials], position)
        if then is not None and not then[position].lacks and then[position].copies == pods:
            fields = tuple(FieldNumber(path, value) for path, value in number.fields)
            found[position] = msgspec.structs.replace(done, more=FewerPods(fields, pods, trial.planned.origin))


def _is_there(state: ClusterState, gang: Gang) -> bool:
    return any(has_member(gang, pod) for pod in state.inventory.pods.values())


def has_member(gang: Gang, pod: Pod) -> bool:
    """Whether a pod of the cluster is in the gang."""
    if gang.program != SCHEDULER:
        return gang.has(pod)
    group = pod.spec.scheduling_group
    named = group is not None and group.pod_group_name == gang.name.partition(" ")[2]
    return named and pod.metadata.namespace == gang.namespace


def _with_copies(trial: PodTrial, copies: int) -> PodTrial:
    return replace(trial, plan=replace(trial.plan, copies=copies))
