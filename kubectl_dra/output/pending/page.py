"""One pod on one page: what is wrong, how we know, what can be done, where to read more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.api.kinds import RESOURCE_CLAIM_TEMPLATE
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    Agreement,
    AssumptionKind,
    Cause,
    ClaimElsewhere,
    ClassProblem,
    Funnel,
    NodeOutcome,
    PoolProblem,
    Preemption,
    Refusal,
    Verdict,
)
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.explain.index import matching
from kubectl_dra.output.layout import closed, wrapped
from kubectl_dra.output.pending.advice import advice_lines, existing_lines, next_step_lines
from kubectl_dra.output.pending.asks import ask_lines, unseen_lines
from kubectl_dra.output.pending.evidence import autoscaler_lines, evidence_lines, failing_lines
from kubectl_dra.output.pending.funnel import funnel_lines, funnel_views, has_devices
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.main_reason import constraint_tells_all, names_of
from kubectl_dra.output.pending.node_groups import node_group_lines
from kubectl_dra.output.pending.obstacles import obstacle
from kubectl_dra.output.pending.remedies import addition_lines, recorded_lines, remedy_lines, short_commands
from kubectl_dra.output.safe import Safe, Style, command, fmt, safe, styled
from kubectl_dra.output.unread import missing_kinds, missing_lines
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.output.words import ago, counted, listed
from kubectl_dra.reports.invocations import dra, of, reading
from kubectl_dra.reports.pending import NodeGroupRecord, PendingReport
from kubectl_dra.reports.remedies import RemedyReport
from kubectl_dra.scheduler.fit_error import SCHEDULER_ERROR, without_preemption

_MAX_FUNNELS: Final = 3
# Verdicts that rest on the whole cluster; the others follow from the pod and its claims alone.
_OF_THE_CLUSTER: Final = frozenset(
    {Verdict.SCHEDULER_ERROR, Verdict.SCHEDULABLE, Verdict.UNSCHEDULABLE, Verdict.UNKNOWN}
)
_OF_TEMPLATES: Final = frozenset({Code.CLAIM_NOT_CREATED, Code.CLAIM_CREATION_FAILED})
_UNREAD_TEMPLATES: Final = Safe("Its template could not be read, so that commands that would replace it are left out.")
#: How to see the nodes that a table has no room for.
_OUTSIDE, _INSIDE = Safe("--node NAME"), Safe("v lists them")
#: What eviction by priority does not free.
_HELD: Final = frozenset({Code.DEVICES_IN_USE, Code.COUNTERS_EXHAUSTED, Code.ALL_MODE_BLOCKED})
#: Their sentence says what rejects the nodes.
_TELLS_NODES: Final = (Code.CLAIM_ELSEWHERE, Code.EXTENDED_RESOURCE_UNSERVED)
#: So many groups of nodes are told in the first line.
_TOLD_FIRST: Final = 3
AGREEMENT: Final = {
    Agreement.AGREES: "matches this diagnosis",
    Agreement.STALE: "outdated: the cluster has changed since",
    Agreement.DIFFERS: "differs from this diagnosis: please report it with a snapshot",
    Agreement.UNOBSERVED: "nothing written yet",
    Agreement.UNCHECKED: "could not be compared",
}


def pending_page(
    report: PendingReport,
    now: datetime,
    address: Address = HERE,
    more: Safe | None = None,
    *,
    head: list[Safe] | None = None,
    apart: bool = False,
    told: bool = False,
) -> list[Safe]:
    """All lines of one report; ``now`` is the time that ages are counted from.

    ``address``: the cluster that commands are for. ``more`` stands below the ways out, in place of the command that
    prints one of them, on screens with keys of their own. ``head``: the first lines, in place of the sentence about the
    pod. ``apart``: without the first lines and the ways out, which stand beside the page. ``told``: what could
    not be read stands above all pages.
    """
    first = wrapped(styled(pending_summary(report), Style.BOLD)) if head is None else head
    blocks: list[list[Safe]] = [
        whatif_lines(report.what_if) if report.what_if is not None else [],
        [] if apart else first,
        list(_heard(report, now)),
        list(ask_lines(report.asks, report.extended)) if _shows_asks(report) else [],
        list(unseen_lines(report.unseen)),
        *([] if constraint_tells_all(report) else _funnels(report, _INSIDE if more is not None else _OUTSIDE)),
        list(_other_nodes(report)),
        _evidence(report, now),
        list(failing_lines(report.failing)),
        list(autoscaler_lines(report.autoscaler, now)),
        list(missing_lines(report.missing, address)) if report.verdict in _OF_THE_CLUSTER and not told else [],
        list(_unread_templates(report)),
        preemption_lines(report.preemption),
        list(existing_lines(report)),
        [] if apart else _ways_out(report, address, more),
        list(addition_lines(_additions(report), alone=not report.remedies)),
        list(node_group_lines(report.node_groups, report.missing)),
        list(advice_lines(report)),
        list(next_step_lines(report, address)),
        _where_devices_are(report),
        _priority(report),
        _taken_to_admit(report),
        _random_order(report),
        [*([] if _is_heard_first(report) else _scheduler(report, now)), *_footer(report)],
    ]
    lines: list[Safe] = []
    for block in blocks:
        if block:
            lines += [Safe(""), *block] if lines else block
    return lines


def _unread_templates(report: PendingReport) -> Iterator[Safe]:
    """Of templates that could not be read nobody knows what they say, and nothing can replace them."""
    unread = [each for each in report.missing if each.kind == RESOURCE_CLAIM_TEMPLATE.name]
    waits = report.verdict in _OF_THE_CLUSTER and any(ask.template for ask in report.asks)
    made = waits or any(cause.code in _OF_TEMPLATES for cause in report.causes)
    if unread and made:
        yield from wrapped(_UNREAD_TEMPLATES)
        yield from missing_kinds(unread)


def _evidence(report: PendingReport, now: datetime) -> list[Safe]:
    """What proves the causes; the same words for two of them are said once."""
    # Which class is missing is in the first line.
    first = [c for i, c in enumerate(report.causes) if i or not isinstance(c.detail, ClassProblem)]
    causes = [cause for cause in first if not _is_said_below(cause, report)]
    told = dict.fromkeys(tuple(evidence_lines(cause, report.pod.namespace, now)) for cause in causes)
    return [line for lines in told for line in lines]


def _is_said_below(cause: Cause, report: PendingReport) -> bool:
    """Whether the evidence is the scheduler's present words, which have a line of their own."""
    words = cause.detail.message if isinstance(cause.detail, Refusal) else None
    return words is not None and report.observed is not None and words == report.observed.message


def preemption_lines(found: Preemption | None) -> list[Safe]:
    """Whom the scheduler evicts for a pod or group, if that helps."""
    if found is None or not found.nodes:
        return []
    victims = counted(len(found.victims), "pod")
    if found.under_way:
        text = "The scheduler has evicted {} of lower priority from {} for this pod: {}. Once {} ended, it tries again."
        return wrapped(fmt(text, victims, found.nodes[0], listed(found.victims), _they_have(found)))
    text = fmt("The scheduler evicts {} of lower priority on {}: {}.", victims, found.nodes[0], listed(found.victims))
    if found.violations:
        text += fmt(" {} of them is protected by a PodDisruptionBudget, which does not prevent it.", found.violations)
    if not found.certain:
        text += Safe(" It may choose others that are equally suitable.")
    return wrapped(text)


def _they_have(found: Preemption) -> Safe:
    return Safe("that has" if len(found.victims) == 1 else "they have")


def _additions(report: PendingReport) -> Sequence[RemedyReport]:
    """Those that were checked; the others only where nothing is published, and nothing says why."""
    if report.code is Code.NO_DEVICE_IN_CLASS and not report.failing:
        return report.additions
    return [each for each in report.additions if each.verified]


def _ways_out(report: PendingReport, address: Address, more: Safe | None) -> list[Safe]:
    """The list; a pod that is on its node has only to wait, which the first line says."""
    if report.verdict is Verdict.PREPARING and all(remedy.kind is RemedyKind.WAIT for remedy in report.remedies):
        return []
    return [*remedy_lines(report.remedies, report.verdict), *_commands(report, address, more)]


def _where_devices_are(report: PendingReport) -> list[Safe]:
    """What no edit of the request changes, and how work is laid out instead."""
    detail = report.causes[0].detail if report.causes and report.verdict is Verdict.UNSCHEDULABLE else None
    if report.code is Code.TOO_FEW_DEVICES and isinstance(detail, Funnel) and detail.needed > 1:
        return wrapped(
            Safe("A pod gets all its devices on one node; work split over several pods can use several nodes.")
        )
    if isinstance(detail, ClaimElsewhere) and detail.consumers:
        text = (
            "Pods that share a claim run where its devices are; with a ResourceClaimTemplate each pod gets devices of "
            "its own."
        )
        return wrapped(Safe(text))
    return []


def _priority(report: PendingReport) -> list[Safe]:
    """What people try first, and what it does not change."""
    if report.code not in _HELD or report.verdict is not Verdict.UNSCHEDULABLE:
        return []
    return wrapped(Safe("A higher priority would not help: preemption does not free devices."))


def _commands(report: PendingReport, address: Address, more: Safe | None) -> list[Safe]:
    """The commands of the only way out where they are short, else how to get those of any."""
    first = next((number for number, remedy in enumerate(report.remedies, 1) if remedy.steps), None)
    if first is None:
        return []
    if more is not None:
        return [more] if more else []
    short = short_commands(report.remedies)
    about = list(recorded_lines(address)) if short else []
    if short and (about or len(short) > 1):
        return [Safe("Commands:"), *(fmt("  {}", line) for line in (*about, *short))]
    if short:
        return [fmt("Command: {}", short[0])]
    pod = of("pod", report.pod.name, report.pod.namespace)
    line = command(reading(dra("why-pending", pod, "--remedy", str(first)), address))
    return [fmt("Commands: {}", line)] if line is not None else [Safe("Commands: --remedies")]


def _shows_asks(report: PendingReport) -> bool:
    return report.verdict not in (Verdict.NOT_PENDING, Verdict.PREPARING, Verdict.DELETING)


def _funnels(report: PendingReport, others: Safe) -> list[list[Safe]]:
    views = funnel_views(report.nodes)
    several = len(views) > 1
    blocks = []
    for view in views[:_MAX_FUNNELS]:
        lines = list(funnel_lines(view, report.certainty, others))
        if lines and several:
            lines = [fmt("Request {} (claim {})", view.request, view.claim.name), *lines]
        blocks.append(lines)
    return blocks


def _other_nodes(report: PendingReport) -> Iterator[Safe]:
    """Nodes that have no column: ruled out before devices were tried, or without any device of the class."""
    ruled_out: dict[Safe, list[NodeGroupRecord]] = {}
    for group in report.nodes:
        text = _why_out(group)
        if text:
            ruled_out.setdefault(text, []).append(group)
    first = report.code or ""
    told = first.startswith("DRA-4") or first in _TELLS_NODES
    if ruled_out and not (told and len(ruled_out) <= _TOLD_FIRST):
        parts = [fmt("{} ({})", names_of(groups), text) for text, groups in ruled_out.items()]
        yield from wrapped(fmt("Ruled out earlier: {}.", Safe("; ").join(parts)), indent=2, first=0)
    views = funnel_views(report.nodes)[:_MAX_FUNNELS]
    without: dict[Safe, list[str]] = {}
    for view in views:
        empty = [track.group for track in view.tracks if not has_devices(track) and not _pool_unused(track.group)]
        if empty and len(empty) < len(view.tracks):
            without.setdefault(names_of(empty), []).append(view.request)
    for names, requests in without.items():
        whose = fmt(" for {}", listed(requests)) if len(requests) < len(views) else Safe("")
        yield from wrapped(fmt("No device of the class{}: {}.", whose, names), indent=2, first=0)
    for group in report.nodes:
        if group.outcome == NodeOutcome.CLAIM_UNAVAILABLE:
            claims = listed([str(claim.key) for claim in group.claims])
            told_of = fmt("{}: the devices of claim {} cannot be used there.", names_of([group]), claims)
            yield from wrapped(told_of, indent=2, first=0)


def _pool_unused(group: NodeGroupRecord) -> bool:
    """Whether the node has devices that may match, in a pool that is not used."""
    return any(isinstance(cause.detail, PoolProblem) for cause in group.causes)


def _why_out(group: NodeGroupRecord) -> Safe:
    if group.outcome != NodeOutcome.REJECTED:
        return Safe("")
    several = group.count > 1
    parts = [obstacle(cause, several=several) for cause in group.causes] or [safe(group.message)]
    return Safe("; ").join(list(dict.fromkeys(parts)))


def _taken_to_admit(report: PendingReport) -> list[Safe]:
    """Which plugins the ways out leave open."""
    names = [each.subject for each in report.assumed if each.kind is AssumptionKind.NOT_SIMULATED]
    if not (names and report.remedies):
        return []
    return wrapped(fmt("Assumed to admit the pod, because they are not simulated: {}.", listed(names)))


def _random_order(report: PendingReport) -> list[Safe]:
    """What can't be predicted of schedulers that go through devices in random order."""
    for assumption in report.assumed:
        if assumption.kind is AssumptionKind.SEARCH_ORDER:
            text = (
                "The scheduler of Kubernetes {}, with the feature gates assumed here, goes through devices in random "
                "order: which ones the pod gets, and on which the search fails first, is not predicted."
            )
            return wrapped(fmt(text, assumption.subject))
    return []


def _is_heard_first(report: PendingReport) -> bool:
    """Whether the scheduler's words are the best answer that there is: it could read everything."""
    seen = report.observed
    unread = report.code is Code.EVIDENCE_MISSING and report.verdict is Verdict.UNKNOWN
    return unread and seen is not None and seen.status == "False" and bool(seen.message)


def _heard(report: PendingReport, now: datetime) -> Iterator[Safe]:
    """What the scheduler wrote, and where that is explained, in place of a diagnosis."""
    if not _is_heard_first(report):
        return
    seen = report.observed
    assert seen is not None  # noqa: S101 - see above
    yield from wrapped(fmt("The scheduler, which reads everything, wrote {}: {}", ago(seen.time, now), seen.message))
    codes = matching(f"{seen.reason}: {seen.message}" if seen.reason == SCHEDULER_ERROR else seen.message)
    if len(codes) == 1:
        meaning = Safe(codes[0].meaning)
        yield from wrapped(fmt("That is {}: {} (kubectl dra explain {}).", codes[0], meaning, codes[0]))
    elif codes:
        line = command(reading(dra("explain", without_preemption(seen.message)), HERE))
        yield from (
            [fmt("It has one of {} reasons, which this command lists:", len(codes)), fmt("  {}", line)] if line else []
        )


def _scheduler(report: PendingReport, now: datetime) -> Iterator[Safe]:
    """What the scheduler wrote, and whether that is what the diagnosis predicts."""
    seen = report.observed
    if seen is not None and seen.status == "False":
        reason = Safe("") if seen.reason == "Unschedulable" else fmt(" ({})", seen.reason)
        words = fmt("Scheduler, {}{}: {}", ago(seen.time, now), reason, _words(report, seen.message))
        yield from closed(words, styled(Safe(AGREEMENT[report.agreement]), Style.DIM))
        if report.agreement is Agreement.STALE and report.message:
            yield from wrapped(fmt("It would now write: {}", report.message))
        if report.agreement is Agreement.DIFFERS and report.message:
            yield from wrapped(fmt("This diagnosis expects: {}", report.message))
    elif report.verdict is Verdict.GATED:
        yield from wrapped(
            Safe("The scheduler does not try such a pod yet, so it writes neither a condition nor an event.")
        )
    elif report.message:
        yield from wrapped(fmt("The scheduler has written nothing yet; it would write: {}", report.message))


def _words(report: PendingReport, message: str) -> str:
    """The scheduler's words; whom it evicts is told where that is under way, and else more shortly elsewhere."""
    return message if _is_evicting(report) else without_preemption(message)


def _is_evicting(report: PendingReport) -> bool:
    return report.preemption is not None and report.preemption.under_way


def _footer(report: PendingReport) -> Iterator[Safe]:
    """The code, its meaning, and the command that explains it."""
    if not report.causes:
        return
    codes = list(dict.fromkeys(cause.code for cause in report.causes))
    others = [code for code in codes[1:] if code is not Code.EVIDENCE_MISSING]
    more = fmt(" and {} more", len(others) - 2) if len(others) > 2 else Safe("")
    also = fmt(" (also {}{})", Safe(", ").join(others[:2]), more) if others else Safe("")
    first = fmt("{} {}{}", styled(safe(codes[0]), Style.DIM), Safe(codes[0].label), also)
    yield from closed(first, fmt("kubectl dra explain {}", codes[0]))
