"""One PodGroup on one page: the answer about all of its pods, each pod in a line, the evidence, ways out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.gangs.records import MemberState
from kubectl_dra.diagnosis.records import Agreement, Cause, GroupShortage, Verdict
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.layout import Column, closed, paragraphs, table, wrapped
from kubectl_dra.output.pending.asks import ask_lines
from kubectl_dra.output.pending.evidence import evidence_lines
from kubectl_dra.output.pending.funnel import funnel_lines, funnel_views
from kubectl_dra.output.pending.gangs import group_sentence, origin, placed_together, with_whole_name
from kubectl_dra.output.pending.made import refused_advice, refused_of
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.pending.preemption import preemption_lines
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.remedies import remedy_lines
from kubectl_dra.output.pending.scheduler_words import AGREEMENT
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.unread import missing_lines
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.output.words import ago, counted, listed
from kubectl_dra.reports.claims.ask import ClaimAsk, ExtendedAsk
from kubectl_dra.reports.groups.groups import GroupPendingReport, OtherAssignment
from kubectl_dra.reports.pending.pending import NodeGroupRecord, PendingReport
from kubectl_dra.scheduler.fit_error import without_preemption

_MEMBERS_SHOWN: Final = 16
_NOT_SEARCHED: Final = (
    "Whether another choice of nodes would let enough pods fit was not searched to the end: at most 2 s are spent."
)
_NO_OTHER: Final = "No other choice of nodes for its pods lets enough of them fit either."


def group_page(
    report: GroupPendingReport, now: datetime, *, apart: bool = False, address: Address | None = None
) -> list[Safe]:
    """All lines of one report; ``now`` is the time that ages are counted from.

    ``apart``: without the first sentence and the ways out, which stand beside the page.
    """
    blocks: list[list[Safe]] = [
        whatif_lines(report.what_if) if report.what_if is not None else [],
        [] if apart else wrapped(styled(group_summary(report), Style.BOLD)),
        list(_asked(report)),
        _members(report),
        *_funnels(report),
        _evidence(report, now, address or HERE),
        list(missing_lines(report.missing, address)) if report.verdict is Verdict.UNKNOWN else [],
        preemption_lines(report.preemption),
        [] if apart else list(remedy_lines(report.remedies, report.verdict)),
        _other_assignment(report),
        _advice(report, address),
        [*_scheduler(report, now), *_footer(report)],
    ]
    return paragraphs(blocks)


def group_summary(report: GroupPendingReport) -> Safe:
    """The answer in a sentence."""
    name = fmt("PodGroup {}", str(report.group.key))
    reason = _reason(report) if report.causes else Safe("")
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


@dataclass(frozen=True, slots=True)
class _Blocking:
    """The pod that is in the way, as far as the sentence about its own cause needs it."""

    causes: tuple[Cause, ...]
    asks: tuple[ClaimAsk, ...]
    nodes: tuple[NodeGroupRecord, ...]
    extended: tuple[ExtendedAsk, ...] = ()


def _reason(report: GroupPendingReport) -> Safe:
    """The cause; what is in the way of the blocking pod is told as on the page of that pod."""
    cause = with_whole_name(report.causes[0])
    detail = cause.detail
    if not isinstance(detail, GroupShortage) or detail.first is None or detail.first != report.blocking:
        return reason_sentence(cause)
    blocking = _Blocking(detail.because, report.asks, report.nodes)
    return group_sentence(cause, lambda _first: main_reason(blocking))


def _placed(report: GroupPendingReport, name: Safe) -> Safe:
    waiting = len(report.members)
    if report.placed == waiting:
        all_ = Safe("its pod finds") if waiting == 1 else fmt("all {} pods find", waiting)
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


def _asked(report: GroupPendingReport) -> Iterator[Safe]:
    """What the group needs: pods at the same time, one domain, claims that all share."""
    if report.verdict is Verdict.NOT_PENDING:
        return
    yield from placed_together(report)
    for claim in report.claims:
        made = fmt(" (from template {})", claim.template) if claim.template else Safe("")
        state = listed(claim.devices) if claim.devices else Safe("no devices yet")
        name = claim.claim.name if claim.claim is not None else "not created yet"
        yield from wrapped(fmt("  shared     {}: claim {}{}, {}", claim.name, name, made, state), indent=13)
    if report.workload is not None:
        yield from wrapped(fmt("  made from  {}", origin(report.workload, report.template)), indent=13)


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
    own = member.causes != report.causes
    if own and member.causes and (member.pod == report.blocking or member.verdict is not Verdict.UNSCHEDULABLE):
        return reason_sentence(member.causes[0])
    if member.verdict is Verdict.UNKNOWN:
        return Safe("unknown")
    if report.blocking is not None:
        return fmt("waits for {}", report.blocking.name)
    return Safe("waits")


def _funnels(report: GroupPendingReport) -> list[list[Safe]]:
    if report.blocking is None:
        return []
    blocks = [list(ask_lines(report.asks, ()))] if report.asks else []
    if blocks:
        blocks[0].insert(0, fmt("{}:", report.blocking.name))
    return [*blocks, *(list(funnel_lines(view, report.certainty)) for view in funnel_views(report.nodes)[:2])]


def _evidence(report: GroupPendingReport, now: datetime, address: Address) -> list[Safe]:
    of_pods = (each for cause in report.causes for each in getattr(cause.detail, "because", ()))
    causes = [*(cause for cause in report.causes if refused_of(cause) is not None), *of_pods]
    told = dict.fromkeys(tuple(evidence_lines(cause, report.group.namespace, now, address=address)) for cause in causes)
    return [line for lines in told for line in lines]


def _advice(report: GroupPendingReport, address: Address | None) -> list[Safe]:
    refused = (found for cause in report.causes if (found := refused_of(cause)) is not None)
    return [line for each in refused for line in refused_advice(each, address or HERE)]


def _other_assignment(report: GroupPendingReport) -> list[Safe]:
    match report.other_assignment:
        case OtherAssignment.NOT_SEARCHED:
            return wrapped(Safe(_NOT_SEARCHED))
        case OtherAssignment.NOT_FOUND:
            return wrapped(Safe(_NO_OTHER))
    return []


def _scheduler(report: GroupPendingReport, now: datetime) -> Iterator[Safe]:
    """What the scheduler wrote on the group, and whether that is what the diagnosis predicts."""
    seen = report.observed
    if seen is not None and seen.status == "False":
        reason = Safe("") if seen.reason == "Unschedulable" else fmt(" ({})", seen.reason)
        words = fmt("Scheduler, {}{}: {}", ago(seen.time, now), reason, without_preemption(seen.message))
        yield from closed(words, styled(Safe(AGREEMENT[report.agreement]), Style.DIM))
        if report.agreement in (Agreement.STALE, Agreement.DIFFERS) and report.message:
            said = Safe("It would say now" if report.agreement is Agreement.STALE else "Expected")
            yield from wrapped(fmt("{}: {}", said, without_preemption(report.message)))
    elif report.verdict is Verdict.GATED:
        yield from wrapped(Safe("The scheduler does not try such a group and writes nothing."))
    elif report.message:
        said_now = without_preemption(report.message)
        yield from wrapped(fmt("The scheduler has written nothing yet; it would say: {}", said_now))


def _footer(report: GroupPendingReport) -> Iterator[Safe]:
    for code in list(dict.fromkeys(cause.code for cause in report.causes))[:1]:
        about = styled(safe(code), Style.DIM) + Safe(f" {code.label}")
        yield from closed(about, fmt("kubectl dra explain {}", code))


# --- groups in a list of pods ---------------------------------------------------------------------------------------


def gang_lines(reports: Sequence[PendingReport]) -> list[Safe]:
    """One line for each group that keeps pods of a list waiting."""
    told = dict.fromkeys(
        reason_sentence(with_whole_name(cause))
        for report in reports
        for cause in report.causes[:1]
        if hasattr(cause.detail, "because")
    )
    if not told:
        return []
    return [Safe(""), Safe("Pods that are placed together:"), *(line for text in told for line in _gang_line(text))]


def _gang_line(text: Safe) -> list[Safe]:
    return wrapped(fmt("  {}", text), indent=4, first=2)
