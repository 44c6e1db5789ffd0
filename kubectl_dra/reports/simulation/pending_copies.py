"""What is told of the first copy that does not fit, or of the first for each reason; and the ways out, found later."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.placing import PlacedCopies, refused_by_quota
from kubectl_dra.diagnosis.pod.siblings import taken_by
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.records import ObjectRef, PodDiagnosis, QuotaShortage
from kubectl_dra.diagnosis.remedies.records import DeletePod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import FoundRemedies, find_remedies
from kubectl_dra.reports.simulation.afterwards import Afterwards
from kubectl_dra.reports.simulation.file_edits import Places, of_the_files
from kubectl_dra.reports.simulation.flavors import without_flavor_edits
from kubectl_dra.reports.simulation.present import Present
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial


class Opened(NamedTuple):
    """A pod that did not fit, of which trial it is, the cluster with it, and what that has of its workload."""

    pending: PendingReport
    position: int
    world: ClusterState
    there: Present | None


#: Of pods with a node each, so many reasons are told.
_REASONS: Final = 4


def told_of(
    trial: PodTrial, placed: PlacedCopies, simulated: Collection[Key]
) -> list[tuple[tuple[str, ...], PendingReport]]:
    """What keeps the next pod; of pods with a node each what keeps them, by the reason, with their names."""
    by_reason: dict[object, list[PodDiagnosis]] = {}
    for each in placed.failures or ((placed.failed,) if placed.failed is not None else ()):
        by_reason.setdefault(each.causes[0].code if each.causes else None, []).append(each)
    found = []
    for alike in list(by_reason.values())[:_REASONS]:
        pending = pending_of(trial, replace(placed, failed=alike[0]), simulated)
        found += [(tuple(each.pod.name for each in alike), pending)] if pending is not None else []
    return found


def pending_of(trial: PodTrial, placed: PlacedCopies, simulated: Collection[Key]) -> PendingReport | None:
    """What keeps the next pod."""
    failed = placed.failed
    if failed is None:
        return None
    pending = pending_report(failed, placed.world, ways=FoundRemedies())
    before = taken_by(placed.world, failed, trial.subject, simulated, placed.copies)
    return msgspec.structs.replace(pending, siblings=before)


def ways_told(
    pending: PendingReport, ways: FoundRemedies, world: ClusterState, trial: PodTrial, where: Places
) -> PendingReport:
    kept = without_flavor_edits(world, trial.plan, ways.remedies)
    found = of_the_files(msgspec.structs.replace(ways, remedies=kept), world, trial, where)
    return msgspec.structs.replace(
        pending,
        remedies=found.remedies,
        no_pair_helps=found.no_pair_helps,
        additions=found.additions,
        tried=found.tried,
    )


def with_ways(
    found: list[PodSimulation],
    opened: Opened,
    world: ClusterState,
    trial: PodTrial,
    afterwards: Afterwards,
    keep: AbstractSet[Key],
    where: Places,
    read_owner: ReadOwner | None,
) -> None:
    """Find the ways out for a pod in the ``world`` with all that was placed, and put them where it is told of."""
    pending, there = opened.pending, opened.there
    about = [number for number, each in enumerate(found) if any(one is pending for one in _all_told(each))]
    if not about:
        return
    counting = afterwards.of(opened.position, world, pending.pod.key, found, is_new=there is None)
    over = [each.detail for each in pending.causes if isinstance(each.detail, QuotaShortage)]
    over = [each for each in over if each.kind == "Pod"]
    key = pending.pod.key
    # In this world it exists, although the server refuses it.
    diagnosis = refused_by_quota(world, key, over) if over else Diagnoser(world).pod(key)
    ways = find_remedies(world, diagnosis, keep=keep, read_owner=read_owner, then=counting)
    whole = ways_told(pending, ways, world, trial, where)
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
