"""One PodGroup on one page: the answer about all of its pods, each in a line, then the page of the one in the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.gangs.records import MemberState
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.layout import Column, paragraphs, table, wrapped
from kubectl_dra.output.pending.gangs import WholeGroup, gang_reason, needs_of_group, with_whole_name
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.pending.node_tables import joined
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.scheduler_words import words_on_group
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.output.words import counted, every
from kubectl_dra.reports.groups.groups import GroupAnswer, GroupPendingReport, OtherAssignment
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.scheduler.fit_error import without_preemption

_MEMBERS_SHOWN: Final = 16
_NOT_SEARCHED: Final = (
    "Whether another choice of nodes would let enough pods fit was not searched to the end: at most 2 s are spent."
)
_NO_OTHER: Final = "No other choice of nodes for its pods lets enough of them fit either."


def group_page(
    answer: GroupAnswer, now: datetime, *, apart: bool = False, address: Address | None = None
) -> list[Safe]:
    """All lines of one answer; ``now`` is the time that ages are counted from.

    The page of the pod that tells why, as one about the whole group. ``apart``: without the first sentence and the ways
    out, which stand beside the page.
    """
    report, pod = answer.report, answer.pod
    first = wrapped(styled(group_summary(answer), Style.BOLD))
    about, words = [list(needs_of_group(report, whole=True)), _members(report)], list(_scheduler(report, now))
    if pod is not None:
        whole = WholeGroup(about, _other_assignment(report), words)
        return pending_page(pod, now, address or HERE, head=first, apart=apart, whole=whole)
    return paragraphs(
        (
            whatif_lines(report.what_if, address or HERE) if report.what_if is not None else [],
            [] if apart else first,
            *about,
            words,
        )
    )


def group_summary(answer: GroupAnswer) -> Safe:
    report = answer.report
    name = fmt("PodGroup {}", str(report.group.key))
    reason = _reason(answer) if report.causes else Safe("")
    if not report.placed_together and report.members:
        return _each_by_itself(report, name)
    match report.verdict:
        case Verdict.NOT_PENDING:
            running = counted(len(report.running), "pod")
            return fmt("{} is not pending: {} of it {} a node.", name, running, _has(len(report.running)))
        case Verdict.SCHEDULABLE:
            return _placed(report, name)
        case Verdict.OTHER_SCHEDULER:
            return fmt("{} waits, but not for the default scheduler: {}.", name, reason)
        case Verdict.UNKNOWN:
            return fmt("Whether {} can be scheduled is unknown: {}.", name, reason)
    # What is said of a group names it.
    return fmt("{}{}.", Safe(reason[:1].upper()), Safe(reason[1:]))


def _reason(answer: GroupAnswer) -> Safe:
    """The cause; what is in the way of the blocking pod is told as on the page of that pod."""
    told = gang_reason(answer.pod, main_reason, whole=True) if answer.pod is not None else None
    return told or reason_sentence(with_whole_name(answer.report.causes[0]))


def _placed(report: GroupPendingReport, name: Safe) -> Safe:
    waiting = len(report.members)
    if report.placed == waiting:
        all_ = Safe("its pod finds") if waiting == 1 else fmt("{} find", every(waiting, "pod"))
        return fmt("{} would be placed now: {} a node.", name, all_)
    enough = Safe("") if report.min_count is None else fmt(", which is enough for minCount {}", report.min_count)
    text = "{} would be placed now: {} of {} pods find a node{}. The others wait on."
    return fmt(text, name, report.placed, waiting, enough)


def _each_by_itself(report: GroupPendingReport, name: Safe) -> Safe:
    verdicts, number = [each.verdict for each in report.members], len(report.members)
    fit, open_ = verdicts.count(Verdict.SCHEDULABLE), verdicts.count(Verdict.UNKNOWN)
    text = "{} means nothing to this cluster's scheduler, which places each pod by itself: {}."
    if open_ == number:
        return fmt(text, name, fmt("whether {} would find a node is unknown", counted(number, "pod")))
    rest = fmt(", and of {} it is unknown", open_) if open_ else Safe("")
    return fmt(text, name, fmt("{} of {} would find a node{}", fit, number, rest))


def _has(number: int) -> Safe:
    return Safe("has" if number == 1 else "have")


def _members(report: GroupPendingReport) -> list[Safe]:
    rows = [[safe(each.pod.name), fmt("runs on {}", each.node)] for each in report.running]
    rows += [[safe(each.pod.name), _state(each, report)] for each in _nearest(report)]
    if not rows:
        return []
    shown = table([Column(), Column(flexible=True)], rows[:_MEMBERS_SHOWN], indent=2, header=False)
    more = len(rows) - _MEMBERS_SHOWN
    return [*shown, fmt("  and {}", counted(more, "more pod"))] if more > 0 else shown


def _nearest(report: GroupPendingReport) -> Sequence[MemberState]:
    """The pod that is in the way first, so that it is always shown."""
    return sorted(report.members, key=lambda each: each.pod != report.blocking)


def _state(member: MemberState, report: GroupPendingReport) -> Safe:
    if not report.placed_together:
        if member.verdict is Verdict.SCHEDULABLE:
            return Safe("would find a node by itself")
        return reason_sentence(member.causes[0]) if member.causes else Safe("unknown")
    if member.nominated:
        return fmt("is to get {} once others are evicted", member.nominated)
    if member.nodes:
        return fmt("would get {}", member.nodes[0])
    if member.pod == report.blocking:
        return Safe("finds no node" if member.verdict is Verdict.UNSCHEDULABLE else "ends the attempt with an error")
    if member.causes != report.causes and member.causes and member.verdict is not Verdict.UNSCHEDULABLE:
        return reason_sentence(member.causes[0])
    if member.verdict is Verdict.UNKNOWN:
        return Safe("unknown")
    if report.blocking is not None:
        return fmt("waits for {}", report.blocking.name)
    return Safe("waits")


def _other_assignment(report: GroupPendingReport) -> list[Safe]:
    match report.other_assignment:
        case OtherAssignment.NOT_SEARCHED:
            return wrapped(Safe(_NOT_SEARCHED))
        case OtherAssignment.NOT_FOUND:
            return wrapped(Safe(_NO_OTHER))
    return []


def _scheduler(report: GroupPendingReport, now: datetime) -> Iterator[Safe]:
    """What the scheduler wrote on the group or its pods, and whether that is what the diagnosis predicts."""
    said = list(words_on_group(report, now))
    if said:
        yield from said
    elif report.verdict is Verdict.GATED:
        yield from wrapped(Safe("The scheduler does not try such a group and writes nothing."))
    elif report.message:
        said_now = without_preemption(report.message)
        yield from wrapped(fmt("The scheduler has written nothing yet; it would say: {}", said_now))


# --- groups in a list of pods ---------------------------------------------------------------------------------------


def gang_lines(reports: Sequence[PendingReport], page: Sequence[Safe] = ()) -> list[Safe]:
    """One line for each group that keeps pods of a list waiting, unless the ``page`` above has the same sentence."""
    above = joined(page)
    told = dict.fromkeys(
        text
        for report in reports
        if report.group is not None
        for text in [gang_reason(report, main_reason, whole=True) or reason_sentence(with_whole_name(report.causes[0]))]
        if text.replace(f"{report.pod.namespace}/", "", 1) not in above
    )
    if not told:
        return []
    return [Safe(""), Safe("Pods that are placed together:"), *(line for text in told for line in _gang_line(text))]


def _gang_line(text: Safe) -> list[Safe]:
    return wrapped(fmt("  {}", text), indent=4, first=2)
