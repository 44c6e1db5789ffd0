"""The trials of the files, in order, and then the ways out for those that do not fit, each followed to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.placing import refused_by_quota
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.records import ObjectRef, QuotaShortage
from kubectl_dra.diagnosis.remedies.records import DeletePod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import find_remedies
from kubectl_dra.reports.simulation.afterwards import Afterwards
from kubectl_dra.reports.simulation.course import Course, TrialOptions, pods_of
from kubectl_dra.reports.simulation.file_edits import Places
from kubectl_dra.reports.simulation.gang_numbers import with_members
from kubectl_dra.reports.simulation.numbers import reconciled
from kubectl_dra.reports.simulation.pending_copies import Opened, ways_told
from kubectl_dra.reports.simulation.pods import Copies
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial


def simulated(
    state: ClusterState,
    trials: Sequence[PodTrial],
    copies: Copies,
    read_owner: ReadOwner | None = None,
    cluster: ClusterState | None = None,
    where: Places | None = None,
) -> list[PodSimulation]:
    """Every trial; those that are not alone find what those before them left. ``read_owner``: of pods in the way.

    ``cluster``: as it is now; what ``state`` has beside its pods can't be deleted. ``where`` the files' objects stand.
    """
    where = where or {}
    asked = TrialOptions(copies, read_owner, pods_of(state) - pods_of(cluster or state), where)
    course, afterwards = Course(state, trials, asked, state), Afterwards(state, trials, replace(asked, counts=True))
    for position in range(len(trials)):
        course.upto(position)
    found = list(course.found)
    reconciled(found, trials, afterwards.with_trials)
    with_members(found, state, trials, afterwards.with_trials)
    for opened in course.opened:
        # Of a stage that has ended when others start, these take nothing.
        after = course.state if opened.pending.pod.key in course.state.inventory.pods else opened.state
        keep = pods_of(after) - pods_of(cluster or state)
        with_ways(found, opened, after, trials[opened.position], afterwards, keep, where, read_owner)
    return found


def with_ways(
    found: list[PodSimulation],
    opened: Opened,
    state: ClusterState,
    trial: PodTrial,
    afterwards: Afterwards,
    keep: AbstractSet[Key],
    where: Places,
    read_owner: ReadOwner | None,
) -> None:
    """Find the ways out for a pod in the ``state`` with all that was placed, and put them where it is told of."""
    pending, there = opened.pending, opened.there
    about = [number for number, each in enumerate(found) if any(one is pending for one in _all_told(each))]
    if not about:
        return
    counting = afterwards.of(opened.position, state, pending.pod.key, found, is_new=there is None)
    over = [each.detail for each in pending.causes if isinstance(each.detail, QuotaShortage)]
    over = [each for each in over if each.kind == "Pod"]
    key = pending.pod.key
    # In this world it exists, although the server refuses it.
    diagnosis = refused_by_quota(state, key, over) if over else Diagnoser(state).pod(key)
    ways = find_remedies(state, diagnosis, keep=keep, read_owner=read_owner, then=counting)
    whole = ways_told(pending, ways, state, trial, where)
    if found[about[0]].stuck and there is not None:
        whole = _keeping(whole, {ObjectRef.of("Pod", key_of(pod.metadata)) for pod in there.old})
    for number in about:
        found[number] = _retold(found[number], pending, whole)


def _all_told(pod: PodSimulation) -> Iterator[PendingReport]:
    yield from (pod.pending,) if pod.pending is not None else ()
    yield from (each.pending for each in pod.kept_off.others) if pod.kept_off is not None else ()


def _retold(pod: PodSimulation, old: PendingReport, new: PendingReport) -> PodSimulation:
    """With another report in the place of one."""
    if pod.pending is old or pod.kept_off is None:
        return msgspec.structs.replace(pod, pending=new)
    others = (msgspec.structs.replace(e, pending=new) if e.pending is old else e for e in pod.kept_off.others)
    return msgspec.structs.replace(pod, kept_off=msgspec.structs.replace(pod.kept_off, others=tuple(others)))


def _keeping(pending: PendingReport, pods: AbstractSet[ObjectRef]) -> PendingReport:
    """Without ways out that delete these pods."""
    ways = pending.remedies
    kept = (way for way in ways if not any(isinstance(a, DeletePod) and a.pod in pods for a in way.actions))
    return msgspec.structs.replace(pending, remedies=tuple(kept))
