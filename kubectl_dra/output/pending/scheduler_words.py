"""The scheduler's own words at the end of a page, and whether they match the diagnosis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.records import MemberState
from kubectl_dra.diagnosis.records import Agreement, FatalError, GangElsewhere, Observed, SchedulerName, Verdict
from kubectl_dra.model.clock import parse_time
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import GAP, closed, width, wrapped
from kubectl_dra.output.pending.said_advice import right_lacked
from kubectl_dra.output.pending.volcano_words import plain_words
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import ago, often
from kubectl_dra.reports.groups.placed_group import PlacedGroup
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.scheduler.fit_error import SCHEDULING_GATED, without_preemption

#: What the first line and the ways out have of an error of a selector (plugins/dynamicresources, cel).
_ON_A_DEVICE: Final = re.compile(r"(?:claim|class) \S+: selector #[0-9]+ on device \S+: ")
_COUNT_OF_NODES: Final = re.compile("^0/[0-9]+ nodes are available: ")
_HINT: Final = re.compile(r"\. consider using CEL optional chaining \(.*$")
AGREEMENT: Final = {
    Agreement.AGREES: "matches this diagnosis",
    Agreement.STALE: "outdated: the cluster has changed since",
    Agreement.UNTRACED: "outdated if something was deleted since: nothing else that was read has changed",
    Agreement.DIFFERS: "differs from this diagnosis: please report it with a snapshot",
    Agreement.UNOBSERVED: "nothing written yet",
    Agreement.UNCHECKED: "could not be compared",
}
#: Which plugin said it, where the code of the page tells more.
_PLUGIN: Final = re.compile('^running (?:[A-Za-z]+ )?(?:plugin )?"[A-Za-z]+"(?: filter plugin)?: ')
#: Their sentence is made of the scheduler's words.
_QUOTED: Final = (Code.ALLOCATION_IN_FLIGHT,)
#: A scheduler tries new pods at once.
_UNTRIED: Final = timedelta(minutes=5)


def fault_of(report: PendingReport) -> FatalError | None:
    """The first error of a selector, which is marked where the selector stands."""
    return next((cause.detail for cause in report.causes if isinstance(cause.detail, FatalError)), None)


def scheduler_lines(report: PendingReport, now: datetime) -> Iterator[Safe]:
    """What the scheduler wrote, and whether that is what the diagnosis predicts."""
    seen, spoken = report.observed, report.causes[0].detail if report.causes else None
    if isinstance(spoken, SchedulerName | GangElsewhere) and spoken.words:
        times = often(spoken.times, spoken.first, spoken.time, now)
        own = plain_words(spoken.words) is not None and isinstance(spoken, GangElsewhere)
        words = fmt(", in these words: {}", spoken.words.removesuffix(".")) if own else Safe("")
        yield from wrapped(fmt("The scheduler said so {}{}.", times, words))
        return
    if report.verdict is Verdict.BINDING and report.agreement is Agreement.STALE:
        # Of an earlier attempt, which is over.
        return
    if seen is not None and seen.status == "False":
        yield from _observed_lines(report, seen, now)
    elif report.group is not None and (of_group := list(words_on_group(report.group, now))):
        yield from of_group
    elif report.message and report.verdict is not Verdict.GATED:
        created = parse_time(report.created)
        untried = seen is None and created is not None and now - created > _UNTRIED
        when = fmt("since the pod was created {}: does kube-scheduler run?", ago(report.created, now))
        text = "The scheduler has written nothing {} It would write: {}" if untried else "{} it would write: {}"
        since = when if untried else Safe("The scheduler has written nothing yet;")
        yield from wrapped(fmt(text, since, report.message))


def words_on_group(group: PlacedGroup, now: datetime) -> Iterator[Safe]:
    """What the scheduler wrote on a group, else on the pod of it that it wrote on last; nothing if it wrote nothing."""
    seen, agreement, on = group.observed, group.agreement, Safe("")
    if seen is None or seen.status != "False":
        spoken = [(each.observed.time, each) for each in group.members if each.observed is not None and _is_told(each)]
        if not spoken:
            return
        last = max(spoken, key=lambda each: each[0])[1]
        seen, agreement, on = last.observed, last.agreement, fmt(", on {}", last.pod.name)
    if seen is None:
        return
    reason = Safe("") if seen.reason == "Unschedulable" else fmt(" ({})", seen.reason)
    lead, words = fmt("Scheduler, {}{}{}: ", ago(seen.time, now), on, reason), without_preemption(seen.message)
    if agreement is Agreement.AGREES:
        yield from _one_line(lead, words, Safe(AGREEMENT[agreement]))
    else:
        yield from closed(lead + safe(words), styled(Safe(AGREEMENT[agreement]), Style.DIM))
    if agreement in (Agreement.STALE, Agreement.DIFFERS) and group.message:
        said = Safe("It would say now" if agreement is Agreement.STALE else "Expected")
        yield from wrapped(fmt("{}: {}", said, without_preemption(group.message)))


def _is_told(member: MemberState) -> bool:
    """Whether the scheduler's words on a pod tell more than that it has a scheduling gate."""
    seen = member.observed
    return seen is not None and seen.status == "False" and seen.reason != SCHEDULING_GATED


def _observed_lines(report: PendingReport, seen: Observed, now: datetime) -> Iterator[Safe]:
    """A line where the words match, for what they mean stands above; all of them where they do not."""
    agreement, when = report.agreement, ago(seen.time, now)
    if _is_quoted(report):
        yield fmt("The scheduler said so {}.", when)
        return
    reason = Safe("") if seen.reason == "Unschedulable" else fmt(" ({})", seen.reason)
    lead, words = fmt("Scheduler, {}{}: ", when, reason), _words(report, seen.message)
    match agreement:
        case Agreement.AGREES if seen.reason == SCHEDULING_GATED:
            # That there is a gate, and no more.
            return
        case Agreement.AGREES:
            yield from _one_line(lead, words, Safe(AGREEMENT[agreement]))
        case Agreement.UNCHECKED:
            yield from wrapped(lead + safe(words))
        case _:
            yield from closed(lead + safe(words), styled(Safe(AGREEMENT[agreement]), Style.DIM))
    if agreement in (Agreement.STALE, Agreement.UNTRACED) and report.message:
        yield from wrapped(fmt("It would now write: {}", report.message))
    if agreement is Agreement.DIFFERS and report.message:
        yield from wrapped(fmt("This diagnosis expects: {}", report.message))


def _one_line(lead: Safe, words: str, right: Safe) -> Iterator[Safe]:
    """The words without their count of nodes and their plugin; only that they match where they need another line."""
    whole = lead + safe(_PLUGIN.sub("", _COUNT_OF_NODES.sub("… ", words)))
    if width(whole) + GAP + width(right) <= page_width():
        yield from closed(whole, styled(right, Style.DIM))
    else:
        yield from wrapped(fmt("{}its message {}.", lead, right))


def _is_quoted(report: PendingReport) -> bool:
    """Whether the first line has the scheduler's words."""
    return report.code in _QUOTED or right_lacked(report) is not None


def _words(report: PendingReport, message: str) -> str:
    """The scheduler's words, without the claim, the device and the hint where the page has them already.

    Whom it evicts is told where that is under way, and else more shortly elsewhere.
    """
    if report.agreement is Agreement.AGREES and fault_of(report) is not None:
        return _HINT.sub(" …", _ON_A_DEVICE.sub("… ", message))
    return message if _is_evicting(report) else without_preemption(message)


def _is_evicting(report: PendingReport) -> bool:
    return report.preemption is not None and report.preemption.under_way
