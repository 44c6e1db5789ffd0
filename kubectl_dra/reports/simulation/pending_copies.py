"""What is told of the first copy that does not fit, or of the first for each reason; and the ways out, found later."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import PlacedCopies
from kubectl_dra.diagnosis.pod.siblings import taken_by
from kubectl_dra.diagnosis.records import PodDiagnosis
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import FoundRemedies
from kubectl_dra.reports.simulation.file_edits import Places, of_the_files
from kubectl_dra.reports.simulation.flavors import without_flavor_edits
from kubectl_dra.reports.simulation.present import Present
from kubectl_dra.reports.simulation.trials import PodTrial


class Opened(NamedTuple):
    """A pod that did not fit, of which trial it is, the cluster with it, and what that has of its workload."""

    pending: PendingReport
    position: int
    state: ClusterState
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
    pending = pending_report(failed, placed.state, ways=FoundRemedies())
    before = taken_by(placed.state, failed, trial.subject, simulated, placed.copies)
    return msgspec.structs.replace(pending, siblings=before)


def ways_told(
    pending: PendingReport, ways: FoundRemedies, state: ClusterState, trial: PodTrial, where: Places
) -> PendingReport:
    kept = without_flavor_edits(state, trial.plan, ways.remedies)
    found = of_the_files(msgspec.structs.replace(ways, remedies=kept), state, trial, where)
    return msgspec.structs.replace(
        pending,
        remedies=found.remedies,
        no_pair_helps=found.no_pair_helps,
        additions=found.additions,
        tried=found.tried,
    )
