"""Why a workload has no pods, as a report: who holds them back, and whether one of them would fit."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.queues import HeldBy, Queued
from kubectl_dra.diagnosis.gates.waiting_work import WaitingWork
from kubectl_dra.diagnosis.pod.idle import Idle
from kubectl_dra.diagnosis.pod.missing import missing_of_kueue
from kubectl_dra.diagnosis.records import Assumption, Cause, Certainty, MakerRefusal, Missing, ObjectRef, Verdict
from kubectl_dra.model.meta import Condition
from kubectl_dra.reports.base import Fits, ReadRecord, ReportRecord, reads_of
from kubectl_dra.reports.pending.pending import PendingReport, pending_report


class WorkloadVerdict(StrEnum):
    """Why there are no pods."""

    QUEUED = "Queued"  # Kueue holds them back
    STARTING = "Starting"  # Kueue has admitted it, its controller is about to make them
    ELSEWHERE = "Elsewhere"  # another cluster runs it, or whoever manages it in place of its controller
    SUSPENDED = "Suspended"  # somebody else does
    SCALED_TO_ZERO = "ScaledToZero"
    ENDED = "Ended"  # a Job that has failed or is complete
    REFUSED = "Refused"  # the API server refuses its controller more pods


class AllPodsRecord(ReportRecord, frozen=True):
    """All pods of it at once: ``copies`` of the ``wanted`` that are called ``role`` fit, and ``causes`` keep the next.

    All fit where nothing does, and it is about all of them then.
    """

    role: str
    copies: int
    wanted: int
    causes: tuple[Cause, ...] = ()


class JobEnd(ReportRecord, frozen=True):
    """How a Job ended, in its controller's words; ``time`` is RFC 3339, empty if not said."""

    failed: bool
    reason: str
    message: str
    time: str


class WorkloadPendingReport(ReportRecord, frozen=True, kw_only=True):
    """A workload without pods. ``suspended_by``: the field that holds them back; ``queue``: where it waits, for what.

    ``fits``: whether one pod of each of its templates would fit now, each tried alone, on ``nodes`` (by what its
    object calls the pod; of a single template also ``node``). ``pending`` is what keeps the pod called ``role``.
    ``untried``: why no pod was tried. ``owner``: what the workload is a part of. ``like``: a workload whose pods differ
    in their names only was tried instead, and ``pending`` is about that one. ``managed_by``: who manages the workload
    in place of its usual controller (``spec.managedBy``). ``refused``: what the API server said when a pod was to be
    made; of such a workload no pod is tried. ``all_pods``: whether they fit at once; None where that was not tried.
    ``causes``, ``certainty`` and ``assumed``: those of ``pending``, empty where no pod was tried, or all fit.
    ``ended``: how a Job ended, None of what has not; of a failed one a pod is tried as if it were created again.
    """

    workload: ObjectRef
    verdict: WorkloadVerdict
    suspended_by: str
    managed_by: str
    owner: ObjectRef | None
    queue: Queued | None
    fits: Fits
    node: str
    nodes: dict[str, str]
    role: str
    untried: str
    pending: PendingReport | None
    like: ObjectRef | None
    missing: tuple[Missing, ...]
    read: tuple[ReadRecord, ...]
    refused: MakerRefusal | None = None
    all_pods: AllPodsRecord | None = None
    ended: JobEnd | None = None
    causes: tuple[Cause, ...] = ()
    certainty: Certainty = Certainty()
    assumed: tuple[Assumption, ...] = ()

    @property
    def code(self) -> Code | None:
        return self.causes[0].code if self.causes else None

    def for_json(self) -> WorkloadPendingReport:
        """The same of what it says of its pod."""
        if self.pending is None:
            return self
        pending = self.pending.for_json()
        return msgspec.structs.replace(self, pending=pending, causes=pending.causes)


def idle_report(state: ClusterState, workload: ObjectRef, found: Idle) -> WorkloadPendingReport:
    """The report of a workload that has no pods."""
    failed = found.failed
    pending = pending_report(failed, found.state or state).without_steps() if failed is not None else None
    return WorkloadPendingReport(
        workload=workload,
        verdict=_verdict(found),
        suspended_by=found.maker.suspended_by,
        managed_by=found.maker.managed_by,
        owner=found.owner,
        queue=found.waits,
        fits=_fits(found),
        node=next(iter(found.nodes.values()), "") if len(found.nodes) == 1 and found.failed is None else "",
        nodes=dict(found.nodes),
        role=found.role,
        untried=found.maker.untried,
        pending=pending,
        like=found.like,
        missing=(*(pending.missing if pending is not None else ()), *_of_kueue(state, workload, found)),
        read=reads_of(state.evidence),
        all_pods=_all_pods(found),
        ended=_end(found.ended) if found.ended is not None else None,
        causes=pending.causes if pending is not None else (),
        certainty=pending.certainty if pending is not None else Certainty(),
        assumed=pending.assumed if pending is not None else (),
    )


def _end(said: Condition) -> JobEnd:
    return JobEnd(said.type == "Failed", said.reason, said.message, said.last_transition_time or "")


def _all_pods(found: Idle) -> AllPodsRecord | None:
    tried = found.all_pods
    if tried is None or (tried.failed is not None and tried.failed.verdict is Verdict.UNKNOWN):
        return None
    return AllPodsRecord(
        tried.role, tried.copies, tried.wanted, tried.failed.causes if tried.failed is not None else ()
    )


def waiting_report(state: ClusterState, found: WaitingWork) -> WorkloadPendingReport:
    """The report of work in a queue of which nothing else was read: what its pods are, and whether they fit."""
    report = idle_report(state, found.work, Idle(waits=found.waits))
    # Where its program has said why it waits, what else could be read changes nothing.
    return msgspec.structs.replace(report, missing=()) if found.waits.message else report


def refused_report(state: ClusterState, workload: ObjectRef, refusal: MakerRefusal) -> WorkloadPendingReport:
    """The report of a workload without pending pods, whose controller is refused more."""
    report = idle_report(state, workload, Idle())
    return msgspec.structs.replace(report, verdict=WorkloadVerdict.REFUSED, refused=refusal)


def _of_kueue(state: ClusterState, workload: ObjectRef, found: Idle) -> tuple[Missing, ...]:
    waits = found.waits
    return tuple(missing_of_kueue(waits, state.inventory.queues, workload.namespace)) if waits is not None else ()


def _verdict(found: Idle) -> WorkloadVerdict:
    if found.ended is not None:
        return WorkloadVerdict.ENDED
    if found.waits is not None and found.waits.held_by is HeldBy.OTHER_CLUSTER:
        return WorkloadVerdict.ELSEWHERE
    if found.maker.managed_by and (found.waits is None or not found.waits.clusters):
        return WorkloadVerdict.ELSEWHERE
    if found.waits is not None:
        return WorkloadVerdict.STARTING if found.waits.held_by is HeldBy.ADMITTED else WorkloadVerdict.QUEUED
    return WorkloadVerdict.SUSPENDED if found.maker.suspended_by else WorkloadVerdict.SCALED_TO_ZERO


def _fits(found: Idle) -> Fits:
    if found.nodes and found.failed is None:
        return Fits.YES
    known = found.failed is not None and found.failed.verdict is not Verdict.UNKNOWN
    return Fits.NO if known else Fits.UNKNOWN
