"""Gangs of the files that can't start: too few of their pods fit, or are ever there at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubectl_dra.api.workloads.beside import Gang
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.simulation.file_edits import Places
from kubectl_dra.reports.simulation.gang_numbers import SCHEDULER, gang_of, has_member
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.stops import GangCount
from kubectl_dra.reports.simulation.trials import PodTrial

_Member = tuple[PodTrial, PodSimulation]


def gang_counts(
    state: ClusterState, tried: Sequence[PodTrial], pods: Sequence[PodSimulation], where: Places
) -> Iterator[GangCount]:
    """The gangs that can't start; pods that run already count. Of Kubernetes' own the pods tell how many fit."""
    gangs: dict[Gang, list[_Member]] = {}
    for trial, pod in zip(tried, pods, strict=True):
        gang = gang_of(state, trial)
        if gang is not None:
            gangs.setdefault(gang, []).append((trial, pod))
    for gang, members in gangs.items():
        there = [pod for pod in state.inventory.pods.values() if has_member(gang, pod) and not is_terminal(pod)]
        known = not gang.counts_pods or state.evidence.complete("Pod", gang.namespace)
        if known and not any(not pod.spec.node_name for pod in there):
            found = _never_there(gang, members, len(there)) or _too_few(gang, members, len(there))
            yield from (replace(each, at=_place(gang, where), least_field=gang.field) for each in found)


def _place(gang: Gang, where: Places) -> str:
    kind, _, name = gang.name.partition(" ")
    place = where.get(ObjectRef(kind, gang.namespace, name))
    return place.at if place is not None else ""


def _never_there(gang: Gang, members: Sequence[_Member], there: int) -> tuple[GangCount, ...]:
    """That pods which have to start together wait for each other to be ready before they are made."""
    roles = {(trial.subject, trial.plan.role) for trial, _ in members}

    def waits(trial: PodTrial) -> bool:
        return any((trial.subject, role) in roles for role in trial.plan.awaits)

    def made(trial: PodTrial, pod: PodSimulation) -> int:
        wanted = (pod.wanted or pod.copies) - pod.present
        return 0 if waits(trial) else min(wanted, 1) if trial.plan.one_by_one else wanted

    at_once = there + sum(made(trial, pod) for trial, pod in members)
    maker = next((trial for trial, _ in members if trial.plan.one_by_one or waits(trial)), None)
    count = _count(gang, members, there)
    if maker is None or at_once >= gang.least or count.wanted < gang.least:
        return ()
    found = GangCount(
        gang.program,
        gang.name,
        gang.namespace,
        gang.least,
        count.fit,
        count.wanted,
        maker.subject,
        maker.plan.one_by_one,
        at_once,
    )
    return (found,)


def _too_few(gang: Gang, members: Sequence[_Member], there: int) -> tuple[GangCount, ...]:
    """That fewer fit than have to start together."""
    count = _count(gang, members, there)
    open_ = gang.program == SCHEDULER or any(pod.undecided or pod.capped for _, pod in members)
    return (count,) if count.fit < gang.least and not open_ else ()


def _count(gang: Gang, members: Sequence[_Member], there: int) -> GangCount:
    fit = there + sum(pod.copies for _, pod in members)
    wanted = there + sum(pod.wanted or pod.copies for _, pod in members)
    return GangCount(gang.program, gang.name, gang.namespace, gang.least, fit, wanted)
