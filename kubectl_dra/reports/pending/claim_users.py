"""Workloads that name a claim which no pod uses: they have no pods, and why."""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.idle import naming
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.base import ReportRecord


class IdleUser(ReportRecord, frozen=True):
    """A workload: ``scaled`` to no pods, or ``suspended_by`` a field of it."""

    workload: ObjectRef
    scaled: bool = False
    suspended_by: str = ""


def idle_users(claim: Key, state: ClusterState) -> tuple[IdleUser, ...]:
    return tuple(IdleUser(ref, maker.scaled, maker.suspended_by) for ref, maker in naming(state, claim))
