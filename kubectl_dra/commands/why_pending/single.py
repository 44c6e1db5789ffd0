"""What why-pending says of single objects: their reports and pages, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_dra.api.kinds import Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import Scoped
from kubectl_dra.commands.shared.live import with_autoscalers, with_daemon_sets, with_driver_pods, with_workloads
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import Answer, is_document
from kubectl_dra.commands.why_pending.groups import AnyPending, Pending, answer_about
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.waiting_work import WaitingWork
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.idle import idle
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.records import MakerRefusal, Missing, MissingEvidence, ObjectRef, PodDiagnosis
from kubectl_dra.diagnosis.remedies.actions import ScaleDown
from kubectl_dra.diagnosis.whatif import WhatIf
from kubectl_dra.model.ids import Key
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.output.pending.claim_page import claim_pending_page, claim_pending_summary
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.idle import idle_page, idle_summary, refused_page
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.output.pending.remedies import step_lines
from kubectl_dra.output.safe import Safe
from kubectl_dra.reports.pending import pending
from kubectl_dra.reports.pending.idle import WorkloadPendingReport, idle_report, refused_report, waiting_report
from kubectl_dra.reports.pending.kept_off_drivers import is_about_drivers
from kubectl_dra.reports.pending.remedies import FoundRemedies, find_remedies
from kubectl_dra.reports.pending.renewal import AutoscalersUnread

if TYPE_CHECKING:
    from kubectl_dra.commands.why_pending.node_groups import Judge

#: Wrong whatever state the pod is in.
_BAD: Final = frozenset({Code.DEVICE_VANISHED, Code.EVICTED_AT_ONCE, Code.KUBELET_REJECTED})
_GOOD: Final = frozenset(
    {
        "NotPending",
        "Ended",
        "Preparing",
        "Schedulable",
        "Reserved",
        "Allocated",
        "Starting",
        "Suspended",
        "ScaledToZero",
        "Elsewhere",
    }
)
_UNKNOWN: Final = "Unknown"


class PendingCall(msgspec.Struct):
    """One call of the command: the options, what was read, and whether a name could not be answered."""

    options: Options
    node: str
    cluster: Scoped
    diagnoser: Diagnoser
    remedies: bool = False
    failed: bool = msgspec.field(default=False)
    read_owner: ReadOwner | None = None
    moment: datetime | None = None
    what_if: WhatIf | None = None
    sort_by: str = ""
    no_headers: bool = False
    judge: Judge | None = None
    #: What could not be read is said around all pages.
    told: bool = False
    #: Pods of workloads that could not be listed.
    unlisted: list[Missing] = msgspec.field(default_factory=list)
    _drivers_read: ClusterState | None = None

    def with_daemon_sets(self) -> ClusterState:
        """The cluster with its DaemonSets, which are read once, and only for pods that no driver serves."""
        if self._drivers_read is None:
            known = with_daemon_sets(self.options, self.cluster.state)
            self._drivers_read = with_driver_pods(self.options, known)
        return self._drivers_read

    @property
    def address(self) -> Address:
        return self.cluster.state.evidence.address

    @property
    def now(self) -> datetime:
        """The time of the evidence: ages in an old snapshot read as they were."""
        return self.moment or self.diagnoser.state.now


def pod_answer(call: PendingCall, key: Key, *, remedies: bool = True) -> Pending:
    read = call.read_owner
    if remedies:
        # Each way out is tried on all nodes.
        call.diagnoser.state.devices.alike.expect_more()
    diagnosis = call.diagnoser.pod(key)
    found = _ways_out(call, diagnosis) if remedies else None
    report = pending.pending_report(
        diagnosis,
        call.with_daemon_sets() if is_about_drivers(diagnosis, call.cluster.state) else call.cluster.state,
        all_nodes=call.options.output == "wide",
        node=call.node,
        ways=found,
        what_if=call.what_if,
        node_groups=call.judge(call.diagnoser.state, key) if remedies and call.judge is not None else None,
        read_owner=read if remedies else None,
        read_autoscalers=partial(with_autoscalers, call.options, call.cluster.state, key.namespace),
    )
    told = report.without_steps() if is_document(call.options) and not call.remedies else report
    told = told.in_list() if is_document(call.options) and not remedies else told
    return Answer("PendingReport", told, partial(pending_summary, report), partial(_pod_page, call, report))


def _ways_out(call: PendingCall, diagnosis: PodDiagnosis) -> FoundRemedies:
    """The ways out; where one scales a workload down, its namespace's autoscalers are read, and others may be left."""
    state = call.diagnoser.state
    found = find_remedies(state, diagnosis, read_owner=call.read_owner)
    actions = [each for way in found.remedies if AutoscalersUnread() in way.notes for each in way.actions]
    for namespace in sorted({each.workload.namespace for each in actions if isinstance(each, ScaleDown)}):
        state = with_autoscalers(call.options, state, namespace)
    again = state is not call.diagnoser.state
    return find_remedies(state, diagnosis, read_owner=call.read_owner) if again else found


def _pod_page(call: PendingCall, report: pending.PendingReport) -> list[Safe]:
    full = call.options.output == "wide"
    lines = pending_page(report, call.now, call.address, told=call.told, full=full)
    steps = list(step_lines(report.remedies, call.address)) if call.remedies else []
    return [*lines, Safe(""), *steps] if steps else lines


def pod_group_answer(call: PendingCall, key: Key, *, remedies: bool = True) -> Pending:
    steps = call.address if call.remedies else None
    read, what_if = call.read_owner, call.what_if
    return answer_about(call.diagnoser, key, remedies=remedies, steps=steps, read_owner=read, what_if=what_if)


def claim_answer(call: PendingCall, key: Key, *, alone: bool = False) -> Pending:
    """The diagnosis of one claim; ``alone``: what would use it may be read for it."""
    diagnosis, state = call.diagnoser.claim(key), call.cluster.state
    if alone and pending.is_unused(diagnosis):
        state = with_workloads(call.options, state, key.namespace)
    report = pending.claim_pending_report(diagnosis, state, call.what_if)
    summary = partial(claim_pending_summary, report)
    return Answer("ClaimPendingReport", report, summary, partial(_claim_page, call, report))


def _claim_page(call: PendingCall, report: pending.ClaimPendingReport) -> list[Safe]:
    return claim_pending_page(report, call.now, call.address, told=call.told)


def lacking(report: AnyPending) -> Iterator[Missing]:
    """What a report lacks, and what its causes do: those of a claim are its pods'."""
    yield from report.missing
    for cause in report.causes:
        if isinstance(cause.detail, MissingEvidence):
            yield from cause.detail.missing


def code_of_answers(call: PendingCall, answers: Sequence[Pending]) -> int:
    if call.failed:
        return ExitCode.ERROR
    bad = any(is_bad(each) and each.report.verdict != _UNKNOWN for each in answers)
    missing = any(item.decides for each in answers for item in each.report.missing)
    partial = missing or any(each.report.verdict == _UNKNOWN for each in answers)
    return finding_code(asked=call.options.exit_code, bad=bad, partial=partial)


def is_bad(each: Pending) -> bool:
    """Whether something is wrong: also with a pod that has failed, or runs on a device that is not there any more."""
    of_pod = each.report.causes and not isinstance(each.report, WorkloadPendingReport)
    if of_pod and each.report.causes[0].code in _BAD:
        return True
    # A pod that somebody deletes is none of our findings.
    deleted = each.report.verdict == "Deleting" and isinstance(each.report, pending.PendingReport)
    if deleted and each.report.causes[0].code is Code.POD_BEING_DELETED:
        return False
    return each.report.verdict not in _GOOD


def waiting_answer(call: PendingCall, found: WaitingWork) -> Pending:
    """Work that waits in a queue and has no pods yet, of which nothing else was read."""
    report = waiting_report(call.cluster.state, found)
    page = partial(idle_page, report, call.now, call.address)
    return Answer("WorkloadPendingReport", report, partial(idle_summary, report), page)


def refused_answer(call: PendingCall, state: ClusterState, workload: ObjectRef, refusal: MakerRefusal) -> Pending:
    """What keeps the controller of a workload without pending pods from making more."""
    report = refused_report(state, workload, refusal)
    page = partial(refused_page, report, call.now, call.address)
    return Answer("WorkloadPendingReport", report, partial(idle_summary, report), page)


def idle_answer(call: PendingCall, state: ClusterState, kind: Kind, key: Key) -> Pending | None:
    """Who holds back the pods of a workload that has none, of a state with its queues; None where nobody does."""
    found = idle(state, kind.name, key)
    if found is None:
        return None
    report = idle_report(state, ObjectRef(kind.name, key.namespace, key.name), found)
    page = partial(idle_page, report, call.now, call.address)
    return Answer("WorkloadPendingReport", report, partial(idle_summary, report), page)
