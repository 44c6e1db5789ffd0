"""The pod that a pod has to run beside and that has no node itself: what is in its way."""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Company, ObjectRef, PodDiagnosis
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.pending.still_blocked import StillBlocked, in_the_way_of


class Awaited(ReportRecord, frozen=True):
    """``pod``: the one that is waited for; ``blocked``: what keeps it from every node, None where that is not it."""

    pod: ObjectRef
    blocked: StillBlocked | None = None

    def for_json(self) -> Awaited:
        return Awaited(self.pod, self.blocked.for_json() if self.blocked is not None else None)


def awaited(diagnosis: PodDiagnosis, state: ClusterState) -> Awaited | None:
    """Of several the first one; None where the pod waits for no other."""
    for cause in diagnosis.causes[:1]:
        if isinstance(cause.detail, Company) and cause.detail.waiting:
            first = cause.detail.waiting[0]
            return Awaited(first, in_the_way_of(first.key, state))
    return None
