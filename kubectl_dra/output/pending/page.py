"""One pod on one page: what is wrong, how we know, what can be done, where to read more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from kubectl_dra.api.kinds import RESOURCE_CLAIM_TEMPLATE
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    Cause,
    ClassProblem,
    GangElsewhere,
    Missing,
    NodeTaint,
    Refusal,
    Removal,
    StageName,
    Verdict,
)
from kubectl_dra.diagnosis.remedies.records import AddDevices, RemedyKind
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.devices.claim_page import amounts_text, reported_lines
from kubectl_dra.output.devices.parts import ranges
from kubectl_dra.output.layout import paragraphs, wrapped
from kubectl_dra.output.pending import advice
from kubectl_dra.output.pending.asks import ask_lines, is_marked, is_told, unread_claims, unseen_lines
from kubectl_dra.output.pending.assumptions import assumption_blocks, unpublished_lines
from kubectl_dra.output.pending.driver_pods import kept_off_driver_lines
from kubectl_dra.output.pending.evidence import (
    autoscaler_lines,
    descheduled_lines,
    evidence_lines,
    failing_lines,
    named_event_lines,
    same_pool_lines,
)
from kubectl_dra.output.pending.footer import codes_lines
from kubectl_dra.output.pending.gangs import WholeGroup, about_group, whose_requests, with_blocking
from kubectl_dra.output.pending.headline import EVENTS, names_failing, pending_summary
from kubectl_dra.output.pending.heard import heard_lines, is_heard_first
from kubectl_dra.output.pending.lingering import lingering_lines, with_delay
from kubectl_dra.output.pending.logs import driver_faults, repair_lines
from kubectl_dra.output.pending.next_in_the_way import admitted_lines, awaited_lines, preemption_lines, renamed_lines
from kubectl_dra.output.pending.no_help import admin_access, evicts_nobody, where_devices_are
from kubectl_dra.output.pending.node_groups import node_group_lines
from kubectl_dra.output.pending.node_tables import devices_elsewhere, joined, other_nodes_lines, tables, told_by_nodes
from kubectl_dra.output.pending.obstacles import is_bare
from kubectl_dra.output.pending.only_way import only_way
from kubectl_dra.output.pending.pressure import pressure_lines
from kubectl_dra.output.pending.queued_work import not_taken_lines
from kubectl_dra.output.pending.queues import admission_lines
from kubectl_dra.output.pending.remedies import IT, addition_lines, recorded_lines, remedy_lines, short_commands
from kubectl_dra.output.pending.rollouts import undo_lines
from kubectl_dra.output.pending.scheduler_words import fault_of, scheduler_lines
from kubectl_dra.output.pending.set_by_admission import admission_sets_lines
from kubectl_dra.output.pending.siblings import next_run_lines
from kubectl_dra.output.pending.taints import deletion_lines, taint_lines, with_age
from kubectl_dra.output.pending.unready import unready_lines
from kubectl_dra.output.pending.visible import allocated_lines, visible_lines
from kubectl_dra.output.pending.volumes import is_made_for_others, where_attached
from kubectl_dra.output.safe import Safe, Style, command, fmt, safe, styled
from kubectl_dra.output.unread import rights_lines
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.reports.invocations import dra, of, reading
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import RemedyReport

# Verdicts that rest on the whole cluster; the others follow from the pod and its claims alone.
_OF_THE_CLUSTER: Final = frozenset(
    {Verdict.SCHEDULER_ERROR, Verdict.SCHEDULABLE, Verdict.UNSCHEDULABLE, Verdict.UNKNOWN}
)
_OF_TEMPLATES: Final = frozenset({Code.CLAIM_NOT_CREATED, Code.CLAIM_CREATION_FAILED})
_UNREAD_TEMPLATES: Final = Safe("Its template could not be read, so that commands that would replace it are left out.")
_TELL_WHY: Final = ("ResourceQuota", EVENTS)
_UNREAD_WHY: Final = Safe("What would tell whether the claim is refused could not be read, see below.")
#: How to see the nodes that a table has no room for.
_OUTSIDE, _INSIDE = Safe("--node NAME"), Safe("v lists them")


def pending_page(
    report: PendingReport,
    now: datetime,
    address: Address = HERE,
    more: Safe | None = None,
    *,
    head: list[Safe] | None = None,
    apart: bool = False,
    told: bool = False,
    whole: WholeGroup | None = None,
    who: Safe = IT,
    also: Sequence[Safe] = (),
    full: bool = False,
) -> list[Safe]:
    """All lines of one report; ``now`` is the time that ages are counted from.

    ``address``: the cluster that commands are for. ``more`` stands below the ways out, in place of the command that
    prints one of them, on screens with keys of their own. ``head``: the first lines, in place of the sentence about the
    pod. ``apart``: without the first lines and the ways out, which stand beside the page. ``told``: what could
    not be read is said around all pages. ``whole``: the page is about the group of the pod. ``who``
    fits with a way out; ``also``: lines below these. ``full``: with the nodes and checks that change nothing.
    """
    summary = with_delay(
        with_age(pending_summary(report), report.nodes, now), report.lingering, report.pod.namespace, now
    )
    first = wrapped(styled(summary, Style.BOLD)) if head is None else head
    shown = with_blocking(report)
    funnels = tables(shown, first, _INSIDE if more is not None else _OUTSIDE, now, full=full)
    return paragraphs(
        (
            whatif_lines(report.what_if, address) if report.what_if is not None else [],
            [] if apart else first,
            list(awaited_lines(report.awaited, address)),
            *_what_is_wrong(shown, now, whole, joined(first) if head is not None and whole is None else ""),
            *funnels,
            *_how_we_know(shown, now, address, joined(first), tables=bool(funnels), full=full),
            *_what_can_be_done(shown, now, address, more, who, apart=apart, also=also),
            whole.other_assignment if whole is not None else [],
            list(_rights(report, address, told=told)),
            *_what_else_to_know(report, now, whole),
        )
    )


def _what_is_wrong(report: PendingReport, now: datetime, whole: WholeGroup | None, said: str) -> Iterator[list[Safe]]:
    """Below the first lines: what is asked for, unless that is no more than files say which they have ``said``."""
    yield list(_held(report, now))
    yield list(heard_lines(report, now))
    yield from whole.about if whole is not None else about_group(report)
    if report.group is not None and report.group.blocking is None and whole is not None:
        return
    asks = [] if is_told(report.asks, report.extended, said) else _asks(report)
    yield [*whose_requests(report, of_group=whole is not None), *asks] if asks else []
    yield list(renamed_lines(report.still_blocked))
    yield list(visible_lines(report.visible, report.pod.namespace))
    yield list(allocated_lines(report.causes, report.pod.namespace))
    yield list(unseen_lines(report.unseen))


def _asks(report: PendingReport) -> list[Safe]:
    known = ask_lines(report.asks, report.extended, fault_of(report)) if _shows_asks(report) else ()
    return [*known, *unread_claims(report.causes)]


def _held(report: PendingReport, now: datetime) -> Iterator[Safe]:
    """Of a pod that runs: its claims, its devices, and what is known of these."""
    if report.verdict is Verdict.NOT_PENDING and report.asks:
        yield from wrapped(fmt("Claims: {}", Safe(", ").join(safe(ask.name) for ask in report.asks)), indent=2)
        devices = Safe(", ").join(ranges(report.devices)) or Safe("none are allocated")
        yield from wrapped(fmt("Devices: {}", devices), indent=2)
        for each in report.held:
            takes = fmt(" {}", amounts_text(each.consumed_capacity)) if each.consumed_capacity else Safe("")
            yield from wrapped(fmt("{}{}", each.device, takes), indent=4, first=2)
            yield from reported_lines(each.conditions, each.network_data, now)


def _how_we_know(
    report: PendingReport,
    now: datetime,
    address: Address,
    said: str,
    *,
    tables: bool,
    full: bool,
) -> Iterator[list[Safe]]:
    """What proves the causes; the first line has ``said`` so much already.

    ``tables``: nodes have columns, with the ages of their taints. ``full``: those that have none are all named.
    """
    yield [
        *(other_nodes_lines(report, said, full=full) if told_by_nodes(report) else ()),
        *_evidence(report, now, address, said),
        *admitted_lines(report.still_blocked),
        *(() if tables else taint_lines(report.nodes, now, said)),
        *driver_faults(report, address),
        *deletion_lines(report.nodes, now),
        *unready_lines(report.unready, now),
        *lingering_lines(report.lingering, now, report.failing, said),
        *same_pool_lines(report.same_pools),
        *admission_sets_lines(report.nodes),
        *kept_off_driver_lines(each for each in report.idle_daemon_sets if each.beside),
        *unpublished_lines(report),
    ]
    yield list(named_event_lines(report.named_event, now, said))
    yield list(descheduled_lines(report.turn, report.pod.name, now))
    yield list(next_run_lines(report))
    elsewhere = report.verdict is Verdict.UNSCHEDULABLE and report.code not in advice.WITHOUT_DEVICES
    failing = () if names_failing(report) else report.failing
    yield [*failing_lines(failing), *(repair_lines(report, address) if elsewhere else ())]
    yield list(autoscaler_lines(report.autoscaler, now))
    yield list(_unread_why(report))
    yield preemption_lines(report.preemption, said)
    yield [] if report.verdict is Verdict.ENDED else list(not_taken_lines(report.not_taken, report.owner, now))


def _what_can_be_done(
    report: PendingReport,
    now: datetime,
    address: Address,
    more: Safe | None,
    who: Safe,
    *,
    apart: bool,
    also: Sequence[Safe],
) -> Iterator[list[Safe]]:
    """Ways out that were tried, then advice."""
    instead = only_way(report, now, address)
    if instead is not None:
        yield instead
        return
    yield list(advice.existing_lines(report))
    yield advice.overdue_lines(report, now)
    tainted = [name for g in report.nodes for c in g.causes if isinstance(c.detail, NodeTaint) for name in g.names]
    # Before other work is stopped for what is free there.
    yield list(pressure_lines([n for n in report.pressed if n.node not in report.in_files.nodes], now, address))
    ways = report.remedies
    labels = where_attached(report.causes)
    additions = list(addition_lines(_additions(report), tainted, alone=not ways, beside=ways, who=who, labels=labels))
    if apart:
        yield additions
    else:
        elsewhere = devices_elsewhere(report)
        yield [*_ways_out(report, now, who), *additions, *also, *elsewhere, *_commands(report, now, address, more)]
    yield list(undo_lines(report.remedies, address))
    yield list(admission_lines(report, address))
    yield list(node_group_lines(report.node_groups, report.missing, address)) if report.node_groups_judged else []
    shared = is_made_for_others(report.causes[0].detail) if report.causes else False
    yield [] if also and not shared else list(advice.advice_lines(report, now, address))
    yield list(advice.next_step_lines(report, address, now))


def _what_else_to_know(report: PendingReport, now: datetime, whole: WholeGroup | None) -> Iterator[list[Safe]]:
    """What does not help, what is assumed, and where to read more."""
    yield [*where_devices_are(report), *admin_access(report), *evicts_nobody(report)]
    yield from assumption_blocks(report)
    words = whole.words if whole is not None else scheduler_lines(report, now)
    yield [*([] if is_heard_first(report) else words), *codes_lines(report.causes)]


def _rights(report: PendingReport, address: Address, *, told: bool) -> Iterator[Safe]:
    """What could not be read, where that may change what the page says; ``told``: what decides stands elsewhere."""
    decides = report.verdict in _OF_THE_CLUSTER and not told
    decisive = [each for each in report.missing if decides and each.decides]
    lacking = dict.fromkeys((*decisive, *_lacking_templates(report), *_lacking_why(report)))
    again = dra("why-pending", of("pod", report.pod.name, report.pod.namespace))
    yield from rights_lines([msgspec.structs.replace(each, decides=True) for each in lacking], address, again)


def _lacking_templates(report: PendingReport) -> Sequence[Missing]:
    """Of templates that could not be read nobody knows what they say, and nothing can replace them."""
    waits = report.verdict in _OF_THE_CLUSTER and any(ask.template for ask in report.asks)
    made = waits or any(cause.code in _OF_TEMPLATES for cause in report.causes)
    return [each for each in report.missing if made and each.kind == RESOURCE_CLAIM_TEMPLATE.name]


def _lacking_why(report: PendingReport) -> Sequence[Missing]:
    """Events tell what has failed, and of a claim that does not exist yet what was refused; quotas may refuse it."""
    refused = any(cause.code is Code.CLAIM_NOT_CREATED for cause in report.causes)
    kinds = _TELL_WHY if refused else (EVENTS,) if report.code is Code.PREPARING else ()
    return [each for each in report.missing if each.kind in kinds]


def _unread_why(report: PendingReport) -> Iterator[Safe]:
    if _lacking_templates(report):
        yield from wrapped(_UNREAD_TEMPLATES)
    if report.code is not Code.PREPARING and _lacking_why(report):
        yield from wrapped(_UNREAD_WHY)


def _evidence(report: PendingReport, now: datetime, address: Address, said: str) -> list[Safe]:
    """What proves the causes; the same words for two of them are said once, and those of the first line not again."""
    # Which class is missing is in the first line.
    first = [c for i, c in enumerate(report.causes) if i or not isinstance(c.detail, ClassProblem)]
    marked = fault_of(report) if _shows_asks(report) else None
    marked = marked if marked is not None and is_marked(report.asks, marked) else None
    causes = [cause for cause in first if cause.detail is not marked and not _is_said_below(cause, report)]
    shown = [selector for ask in report.asks for request in ask.requests for selector in request.selectors]
    told = dict.fromkeys(
        tuple(evidence_lines(cause, report.pod.namespace, now, said, shown, address=address)) for cause in causes
    )
    return [line for lines in told for line in lines]


def _is_said_below(cause: Cause, report: PendingReport) -> bool:
    """Whether the evidence is the scheduler's present words, which have a line of their own."""
    words = cause.detail.message if isinstance(cause.detail, Refusal) else None
    return words is not None and report.observed is not None and words == report.observed.message


def _additions(report: PendingReport) -> Sequence[RemedyReport]:
    """Those that were checked; the others only where nothing is published, and nothing says why."""
    if report.code is Code.NO_DEVICE_IN_CLASS and not (report.failing or report.idle_drivers):
        return report.additions
    if report.failing:
        # What is there already is not published yet.
        return []
    tainted = {device for removal in _tainted(report) for device in removal.devices}
    other = any(each.verified for each in report.remedies)
    without = {name for g in report.nodes for name in g.names if is_bare(g)} if other else set()
    return [
        each
        for each in report.additions
        if each.verified
        and not any(isinstance(a, AddDevices) and (a.like in tainted or a.node in without) for a in each.actions)
    ]


def _tainted(report: PendingReport) -> Iterator[Removal]:
    """The devices that are tainted: nobody adds another like those."""
    funnels = (each.funnel for group in report.nodes for each in group.requests if each.funnel is not None)
    return (removal for funnel in funnels for removal in funnel.stage(StageName.TAINTS).removed)


def _in_vain(report: PendingReport, now: datetime) -> bool:
    """Whether what is waited for should have come long ago."""
    return advice.is_binding_overdue(report, now) or advice.overdue_claim(report) is not None


def _only_waits(report: PendingReport, now: datetime) -> bool:
    """Whether nothing is left to do: the page says that of a pod that fits or is on its node, or that it is in vain."""
    told = report.code is Code.FITS_NOW or report.verdict is Verdict.PREPARING or _in_vain(report, now)
    return told and all(remedy.kind is RemedyKind.WAIT for remedy in report.remedies)


def _ways_out(report: PendingReport, now: datetime, who: Safe) -> list[Safe]:
    if _only_waits(report, now):
        return []
    gang = report.causes[0].detail if report.causes else None
    if not (isinstance(gang, GangElsewhere) and gang.lacking and report.remedies):
        return list(remedy_lines(report.remedies, report.verdict, who))
    text = "(checked by the default scheduler's rules: whether its group starts then is decided by {})"
    lacking = gang.waiting - (gang.fitting or 0)
    more = "one more pod of its group" if gang.fitting else "a pod of its group"
    rest = Safe("the rest of its group" if lacking == 1 else more) if gang.waiting > 1 else who
    return [*remedy_lines(report.remedies, report.verdict, rest), *wrapped(fmt(text, gang.system), indent=4)]


def _commands(report: PendingReport, now: datetime, address: Address, more: Safe | None) -> list[Safe]:
    """The commands of the only way out where they are short, else how to get those of any."""
    first = next((number for number, remedy in enumerate(report.remedies, 1) if remedy.steps), None)
    if first is None or _only_waits(report, now):
        return []
    if more is not None:
        return [more] if more else []
    short = short_commands(report.remedies)
    about = list(recorded_lines(address)) if short else []
    if short and (about or len(short) > 1):
        # Without an indent: a here-document ends only with its word at the beginning of a line.
        return [Safe("Commands:"), *about, *short]
    if short:
        return [fmt("Command: {}", short[0])]
    pod = of("pod", report.pod.name, report.pod.namespace)
    line = command(reading(dra("why-pending", pod, "--remedy", str(first)), address))
    return [fmt("Commands: {}", line)] if line is not None else [Safe("Commands: --remedies")]


def _shows_asks(report: PendingReport) -> bool:
    return report.verdict not in (Verdict.NOT_PENDING, Verdict.ENDED, Verdict.PREPARING, Verdict.DELETING)
