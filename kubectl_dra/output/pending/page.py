"""One pod on one page: the answer, what it asks for, the evidence as a funnel, the scheduler's own words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Agreement, AssumptionKind, Cause, NodeOutcome, Preemption, Refusal, Verdict
from kubectl_dra.output.layout import closed, wrapped
from kubectl_dra.output.pending.asks import ask_lines, unseen_lines
from kubectl_dra.output.pending.evidence import evidence_lines, missing_lines
from kubectl_dra.output.pending.funnel import FunnelView, funnel_lines, funnel_views, has_devices
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.remedies import beyond_lines, remedy_lines
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.output.words import ago, counted, listed, shortened
from kubectl_dra.reports.pending import NodeGroupRecord, PendingReport
from kubectl_dra.scheduler.fit_error import without_preemption

_MAX_FUNNELS: Final = 3
# Verdicts that rest on the whole cluster; the others follow from the pod and its claims alone.
_OF_THE_CLUSTER: Final = frozenset(
    {Verdict.SCHEDULER_ERROR, Verdict.SCHEDULABLE, Verdict.UNSCHEDULABLE, Verdict.UNKNOWN}
)
# The codes of what aborts an attempt.
_ABORTS: Final = "DRA-3"
_OTHER_PLUGINS: Final = (Code.VOLUMES, Code.TOPOLOGY, Code.OTHER_PLUGIN)
AGREEMENT: Final = {
    Agreement.AGREES: "agrees with the above",
    Agreement.STALE: "is older than the state shown above",
    Agreement.DIFFERS: "differs from the above: please report it with a snapshot",
    Agreement.UNOBSERVED: "nothing written yet",
    Agreement.UNCHECKED: "could not be compared",
}


def pending_page(report: PendingReport, now: datetime) -> list[Safe]:
    """All lines of one report; ``now`` is the time that ages are counted from."""
    blocks: list[list[Safe]] = [
        whatif_lines(report.what_if) if report.what_if is not None else [],
        wrapped(styled(pending_summary(report), Style.BOLD)),
        list(ask_lines(report.asks, report.extended)) if _shows_asks(report) else [],
        list(unseen_lines(report.unseen)),
        *_funnels(report),
        list(_other_nodes(report)),
        _evidence(report, now),
        list(missing_lines(report.missing)) if report.verdict in _OF_THE_CLUSTER else [],
        preemption_lines(report.preemption),
        list(remedy_lines(report.remedies, report.verdict)),
        list(beyond_lines(report)),
        _taken_to_admit(report),
        _random_order(report),
        [*_scheduler(report, now), *_footer(report)],
    ]
    lines: list[Safe] = []
    for block in blocks:
        if block:
            lines += [Safe(""), *block] if lines else block
    return lines


def _evidence(report: PendingReport, now: datetime) -> list[Safe]:
    """What proves the causes; the same words for two of them are said once."""
    causes = [cause for cause in report.causes if not _is_said_below(cause, report)]
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
    text = fmt("The scheduler evicts {} of lower priority on {}: {}.", victims, found.nodes[0], listed(found.victims))
    if found.violations:
        text += fmt(" {} of them is protected by a PodDisruptionBudget, which does not prevent it.", found.violations)
    if not found.certain:
        text += Safe(" It may choose others that are equally suitable.")
    return wrapped(text)


def pending_summary(report: PendingReport) -> Safe:
    """The answer in a sentence."""
    pod = fmt("Pod {}", str(report.pod.key))
    cause = report.causes[0] if report.causes else None
    reason = reason_sentence(cause) if cause is not None else Safe("")
    sentences: dict[Verdict, Safe] = {
        Verdict.NOT_PENDING: fmt("{} is not pending{}.", pod, _on(report)),
        Verdict.PREPARING: fmt("{} has its devices and node {}; {}.", pod, report.node, reason),
        Verdict.DELETING: fmt("{} {}.", pod, reason),
        Verdict.GATED: fmt("{} is not tried by the scheduler: {}.", pod, reason),
        Verdict.OTHER_SCHEDULER: fmt("{} waits, but not for the default scheduler: {}.", pod, reason),
        Verdict.BINDING: fmt("{} has devices that are not ready yet: {}.", pod, reason),
        Verdict.SCHEDULER_ERROR: fmt("{} cannot be scheduled{}: {}.", pod, _although(report), reason),
        Verdict.SCHEDULABLE: fmt("{} would fit now{}.", pod, _fitting(report)),
        Verdict.UNSCHEDULABLE: fmt("{} cannot be scheduled: {}.", pod, reason),
        Verdict.UNKNOWN: fmt("Whether pod {} can be scheduled is unknown: {}.", str(report.pod.key), reason),
    }
    if report.code is Code.NOT_SIMULATED:
        return _open_headline(report, pod, reason)
    if report.verdict is Verdict.SCHEDULABLE and report.code in (*_OTHER_PLUGINS, Code.DEVICE_VANISHED):
        return fmt("{} would get its devices{}, but {}.", pod, _fitting(report), reason)
    return sentences[report.verdict]


def _open_headline(report: PendingReport, pod: Safe, reason: Safe) -> Safe:
    """What the devices decide, where other plugins that are not simulated have a say."""
    aborts = next((cause for cause in report.causes if cause.code.startswith(_ABORTS)), None)
    if aborts is None:
        text = "{} would get its devices{}; whether it can be scheduled is unknown: {}."
        return fmt(text, pod, _fitting(report), reason)
    unless = fmt("unless other plugins keep it from there ({})", reason)
    return fmt("{} cannot be scheduled{}: {}, {}.", pod, _although(report), reason_sentence(aborts), unless)


def _on(report: PendingReport) -> Safe:
    return fmt(": it runs on node {}", report.node) if report.node else Safe("")


def _fits(report: PendingReport) -> list[NodeGroupRecord]:
    return [group for group in report.nodes if group.outcome == NodeOutcome.FITS]


def _names(groups: Sequence[NodeGroupRecord]) -> Safe:
    """A few names of the nodes of some groups, and how many more there are."""
    names = [name for group in groups for name in group.names]
    more = sum(group.count for group in groups) - min(len(names), 3)
    shown = Safe(", ").join(names[:3])
    return fmt("{} +{}", shown, more) if more > 0 else listed(names[:3])


def _fitting(report: PendingReport) -> Safe:
    groups = _fits(report)
    return fmt(" on {}", _names(groups)) if groups else Safe("")


def _although(report: PendingReport) -> Safe:
    groups = _fits(report)
    return fmt(", although it would fit on {}", _names(groups)) if groups else Safe("")


def _shows_asks(report: PendingReport) -> bool:
    return report.verdict not in (Verdict.NOT_PENDING, Verdict.PREPARING, Verdict.DELETING)


def _funnels(report: PendingReport) -> list[list[Safe]]:
    views = funnel_views(report.nodes)
    several = len(views) > 1
    blocks = []
    for view in views[:_MAX_FUNNELS]:
        lines = list(funnel_lines(view, report.certainty))
        if lines and several:
            lines = [fmt("Request {} of claim {}:", view.request, view.claim.name), *lines]
        blocks.append(lines)
    return blocks


def _without_devices(view: FunnelView) -> Iterator[Safe]:
    empty = [track.group for track in view.tracks if not has_devices(track)]
    if empty:
        verb = Safe("has" if sum(group.count for group in empty) == 1 else "have")
        yield from wrapped(fmt("  {} {} no device of the class", _names(empty), verb), indent=2)


def _other_nodes(report: PendingReport) -> Iterator[Safe]:
    """Nodes that have no column: without any device of the class, or out before devices were tried."""
    views = funnel_views(report.nodes)[:_MAX_FUNNELS]
    # Requests of one class have the same nodes without any.
    yield from dict.fromkeys(line for view in views for line in _without_devices(view))
    for group in report.nodes:
        text = _why_out(group)
        if text:
            verb = Safe("was" if group.count == 1 else "were")
            yield from wrapped(fmt("  {} {} out before devices were tried: {}", _names([group]), verb, text), indent=2)
    unavailable = [group for group in report.nodes if group.outcome == NodeOutcome.CLAIM_UNAVAILABLE]
    for group in unavailable:
        claims = listed([str(claim.key) for claim in group.claims])
        yield from wrapped(fmt("  {}: allocated claim {} can't be used there", _names([group]), claims), indent=2)


def _why_out(group: NodeGroupRecord) -> Safe:
    if group.outcome != NodeOutcome.REJECTED:
        return Safe("")
    sentences = [reason_sentence(cause) for cause in group.causes] or [safe(group.message)]
    return Safe("; ").join(dict.fromkeys(sentences))


def _taken_to_admit(report: PendingReport) -> list[Safe]:
    """Which plugins the ways out leave open."""
    names = [each.subject for each in report.assumed if each.kind is AssumptionKind.NOT_SIMULATED]
    if not (names and report.remedies):
        return []
    return wrapped(fmt("Not simulated here, and taken to admit the pod: {}.", listed(names)))


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


def _scheduler(report: PendingReport, now: datetime) -> Iterator[Safe]:
    """What the scheduler wrote, and whether that is what the diagnosis predicts."""
    seen = report.observed
    if seen is not None and seen.status == "False":
        reason = Safe("") if seen.reason == "Unschedulable" else fmt(" ({})", seen.reason)
        words = fmt("Scheduler, {}{}: {}", ago(seen.time, now), reason, without_preemption(seen.message))
        yield from closed(words, styled(Safe(AGREEMENT[report.agreement]), Style.DIM))
        if report.agreement is Agreement.STALE and report.message:
            yield from wrapped(fmt("It would say now: {}", report.message))
        if report.agreement is Agreement.DIFFERS and report.message:
            yield from wrapped(fmt("Expected: {}", report.message))
    elif report.verdict is Verdict.GATED:
        yield from wrapped(Safe("The scheduler does not try such a pod and writes neither condition nor event."))
    elif report.message:
        yield from wrapped(fmt("The scheduler has written nothing yet; it would say: {}", report.message))


def _footer(report: PendingReport) -> Iterator[Safe]:
    if not report.causes:
        return
    codes = list(dict.fromkeys(cause.code for cause in report.causes))
    first = styled(safe(codes[0]), Style.DIM) + Safe(f" {codes[0].meaning}")
    others = [code for code in codes[1:] if code is not Code.EVIDENCE_MISSING]
    more = fmt("also {}", shortened(others, 3)) if others else Safe("")
    yield from closed(first, more) if more else wrapped(first)
