"""Ways out for a pod of another kube-scheduler, whose words are those of the default one and are met by its rules.

Such a scheduler is a second kube-scheduler, or a second profile; a change of the scheduler is not what such a pod
needs. What else its configuration enables cannot be read, so that nothing is called verified.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import PodDiagnosis, SchedulerName, Verdict
from kubectl_dra.scheduler.reasons import is_of_default_plugins

if TYPE_CHECKING:
    from kubectl_dra.diagnosis.remedies import Proposal, Proposals


def as_default(state: ClusterState, diagnosis: PodDiagnosis) -> tuple[ClusterState, PodDiagnosis] | None:
    """The cluster in which the pod's scheduler is the default one, with what is wrong there; None where it is not."""
    found = diagnosis.causes[0].detail if diagnosis.causes else None
    if diagnosis.verdict is not Verdict.OTHER_SCHEDULER or not isinstance(found, SchedulerName):
        return None
    if not is_of_default_plugins(found.words) or found.name in state.schedulers:
        return None
    there = replace(state, schedulers=state.schedulers | {found.name})
    known = Diagnoser(there).pod(diagnosis.pod.key)
    return (there, known) if known.verdict is Verdict.UNSCHEDULABLE else None


def unverified(found: Proposals) -> Proposals:
    def of(each: Proposal) -> Proposal:
        return replace(each, remedy=msgspec.structs.replace(each.remedy, verified=False))

    proposals, additions = map(of, found.proposals), map(of, found.additions)
    return replace(found, proposals=tuple(proposals), additions=tuple(additions))
