"""The first lines of a page about one pod: what is wrong, in full, and what to look at next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code, Family
from kubectl_dra.diagnosis.remedies.records import EXTENDED_NAME, EditClass
from kubectl_dra.output.pending.autoscalers import scaling_sentence
from kubectl_dra.output.pending.driver_pods import (
    failing_sentence,
    idle_sentence,
    not_running_sentence,
    starting_sentence,
)
from kubectl_dra.output.pending.free_nodes import free_sentence
from kubectl_dra.output.pending.gangs import is_counted
from kubectl_dra.output.pending.health import runs_with_unhealthy
from kubectl_dra.output.pending.heard import (
    free_but_for_taints,
    heard_sentence,
    is_before_devices,
    is_heard_first,
    makes_room,
    named_cause,
    said_of,
)
from kubectl_dra.output.pending.kept import kept_sentence
from kubectl_dra.output.pending.lingering import NOT_ENDED, lingering_sentence, not_started, overdue_sentence
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.pending.next_in_the_way import EVICTED, whatever_selected
from kubectl_dra.output.pending.node_names import names_of
from kubectl_dra.output.pending.older_template import older_sentence
from kubectl_dra.output.pending.queues import evicted_clause
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.reasons.running import unwell
from kubectl_dra.output.pending.rollouts import own_rollout
from kubectl_dra.output.pending.said_advice import right_lacked
from kubectl_dra.output.pending.siblings import sibling_sentence
from kubectl_dra.output.pending.unready import unready_sentence
from kubectl_dra.output.pending.volcano_words import plain_words
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import capital, counted, listed, one_of, plural, shortened
from kubectl_dra.reports.pending.nodes import NodeGroupRecord
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.scheduler.fit_error import DEALLOCATED

#: The scheduler says them although a node fits; whether they still hold is part of the sentence.
_AGAINST_THE_OBJECTS: Final = (
    Code.SCORING_FAILED,
    Code.EXTENDED_RESOURCE_IGNORED,
    Code.VOLUMES_AT_BINDING,
    Code.REFUSED_BY_ANOTHER,
    Code.ALLOCATION_IN_FLIGHT,
)
#: What is wrong there is the namespace, or the claim: the nodes say nothing.
_WHEREVER: Final = (Code.ADMIN_LABEL_AT_BINDING, Code.ALLOCATION_IN_FLIGHT)
_OTHER_PLUGINS: Final = (Code.VOLUMES, Code.TOPOLOGY, Code.OTHER_PLUGIN)
_DEVICES: Final = 3
_VICTIMS: Final = 2
#: What tells of failures on a node.
EVENTS: Final = "Event"
_WITHOUT_DEVICES: Final = (Code.NO_DEVICE_IN_CLASS, Code.CLASS_SELECTS_NOTHING, Code.DEVICES_OF_GONE_NODES)
#: Codes of pods that more nodes may help.
_PLACES: Final = (Family.DEVICES, Family.NODES)
_UNPLACED: Final = frozenset(
    {records.Verdict.UNSCHEDULABLE, records.Verdict.SCHEDULER_ERROR, records.Verdict.GATED, records.Verdict.UNKNOWN}
)


def pending_summary(report: PendingReport) -> Safe:
    """One or two sentences: the state of the pod, and the whole cause."""
    pod, reason = fmt("Pod {}", str(report.pod.key)), own_rollout(report) or main_reason(report)
    if report.code is Code.NOT_SIMULATED:
        return _open(report, pod, reason)
    evicted = evicted_clause(report)
    if evicted is not None:
        besides = fmt(" Besides, {}.", reason) if report.verdict is records.Verdict.UNSCHEDULABLE else Safe("")
        return fmt("{} is pending{}.{}", pod, evicted, besides)
    if _is_refused(report):
        return fmt("{} would get its devices{}, but {}.", pod, _fitting(report), reason)
    if report.verdict is records.Verdict.UNKNOWN and report.code is Code.OTHER_PLUGIN:
        text = "{} would get its devices{}; whether it can be scheduled is unknown: at the last attempt {}."
        return fmt(text, pod, _fitting(report), reason)
    match report.verdict:
        case records.Verdict.NOT_PENDING | records.Verdict.ENDED:
            return _not_pending(report, pod, reason)
        case records.Verdict.PREPARING:
            return _scheduled(report, pod, reason)
        case records.Verdict.OTHER_SCHEDULER if (right := right_lacked(report)) is not None:
            text = "{} is pending: the API server refuses its scheduler{}: {} cannot {} {}."
            detail = report.causes[0].detail
            name = fmt(" {}", detail.name) if isinstance(detail, records.SchedulerName) else Safe("")
            return fmt(text, pod, name, right.user, right.verb, right.resource)
        case records.Verdict.DELETING:
            return overdue_sentence(report.lingering, reason) or fmt("{} {}.", pod, reason)
        case records.Verdict.BINDING:
            text = "{} is pending: its devices are reserved, but not ready. {}.{}"
            return fmt(text, pod, capital(reason), _given_up(report))
        case records.Verdict.SCHEDULER_ERROR:
            return fmt("{} is pending{}: {}.", pod, _although(report), reason)
        case records.Verdict.SCHEDULABLE:
            leaves = report.code is Code.EVICTED_AT_ONCE
            but = fmt(" There it is evicted at once: {}.", reason) if leaves else _but_not_start(report)
            return fmt("{} is pending, but would fit now{}.{}{}", pod, _fitting(report), but, _untried(report))
        case records.Verdict.UNKNOWN if report.code in _AGAINST_THE_OBJECTS:
            return fmt("{} is pending{}: {}.", pod, _although(report), reason)
        case records.Verdict.UNKNOWN if (certain := whatever_selected(report.still_blocked)) is not None:
            return fmt("{} is pending: {}. More cannot be said: {}.", pod, certain, reason)
        case records.Verdict.UNKNOWN if is_heard_first(report):
            return fmt("{} is pending: {}.{}", pod, heard_sentence(report), _unread_beside(report, reason))
        case records.Verdict.UNKNOWN:
            return fmt("Whether pod {} can be scheduled is unknown: {}.", str(report.pod.key), reason)
    evicting = _under_way(report)
    if evicting is not None:
        return fmt("{} is pending: {}. Until then {}.", pod, evicting, reason)
    although = _although(report) if report.code in _AGAINST_THE_OBJECTS else Safe("")
    return fmt("{} is pending{}: {}{}.", pod, although, reason, _besides(report) or _surroundings(report, reason))


def _under_way(report: PendingReport) -> Safe | None:
    """Whom it waits for where the scheduler has made room for it already."""
    found = report.preemption
    if found is None or not found.under_way or report.verdict is not records.Verdict.UNSCHEDULABLE:
        return None
    have = Safe("has" if len(found.victims) == 1 else "have")
    text = f"{{}} {EVICTED} {{}} ({{}}) {{}} {NOT_ENDED}"
    return fmt(text, counted(len(found.victims), "pod"), found.nodes[0], shortened(found.victims, _VICTIMS), have)


def _besides(report: PendingReport) -> Safe:
    """What an attempt would end with that is not made before a gang has its pods."""
    if report.code not in (Code.POD_GROUP_INCOMPLETE, Code.OTHER_SCHEDULER) or len(report.causes) == 1:
        return Safe("")
    later = main_reason(msgspec.structs.replace(report, causes=report.causes[1:]))
    if report.code is Code.POD_GROUP_INCOMPLETE:
        return fmt(". Besides, {}", later)
    gang = report.causes[0].detail
    if isinstance(gang, records.GangElsewhere) and is_counted(gang):
        beside = Safe(" beside the others" if gang.fitting else "")
        # Why that one finds none has been said.
        words = plain_words(gang.words, brief=True) or safe(gang.words.rstrip(". "))
        says = fmt(". {} says: {}", gang.system, words) if gang.words else Safe("")
        return fmt(". {} finds none{}: {}{}", gang.lacking, beside, later, says)
    if isinstance(gang, records.GangElsewhere) and gang.waiting > 1 and gang.fitting is not None:
        one = fmt(". {} finds none beside the others", gang.lacking) if gang.fitting else Safe("")
        return fmt("{}: {}", one, later)
    return fmt(". By the default scheduler's rules: {}", later)


def _unread_beside(report: PendingReport, reason: Safe) -> Safe:
    """What keeps the page from saying more than the scheduler; nothing where its words leave nothing open."""
    free = free_but_for_taints(report)
    if free:
        text = (
            " As far as could be read, they are free on {}: probably a DeviceTaintRule taints them, and these rules "
            "could not be read."
        )
        return fmt(text, names_of(free))
    there = free_sentence(report.free_nodes, said_of(report))
    known = is_before_devices(report) or named_cause(report) is not None or makes_room(report)
    return there if known else fmt("{} The exact cause is unknown: {}.", there, reason)


def pending_cause(report: PendingReport) -> Safe:
    """The same in a list, where the pod has a column of its own and that it is pending goes without saying."""
    if report.verdict is records.Verdict.SCHEDULABLE and report.code is Code.FITS_NOW:
        return fmt(
            "would fit now{}{}", _fitting(report), Safe("; no scheduler has tried it" if is_untried(report) else "")
        )
    if report.verdict is records.Verdict.SCHEDULABLE and report.code is Code.EVICTED_AT_ONCE:
        return fmt("would be evicted at once{}: {}", _fitting(report), main_reason(report))
    if is_heard_first(report):
        return heard_sentence(report)
    return _under_way(report) or _by_name(report, main_reason(report)) or safe(report.verdict)


def _is_refused(report: PendingReport) -> bool:
    """Whether a pod gets its devices, and something else keeps it from the nodes that fit."""
    if report.verdict is records.Verdict.UNSCHEDULABLE:
        return report.code is Code.OTHER_PLUGIN and bool(_fits(report))
    return report.verdict is records.Verdict.SCHEDULABLE and report.code in (*_OTHER_PLUGINS, Code.DEVICE_VANISHED)


def why_not(report: PendingReport) -> Safe | None:
    """The cause as it follows ``does not fit``; None where the pod's state is another than that it can't be placed."""
    if report.code is Code.NOT_SIMULATED or report.verdict not in _UNPLACED:
        return None
    lead = _although(report) if report.verdict is records.Verdict.SCHEDULER_ERROR else Safe("")
    return fmt("{}: {}", lead, own_rollout(report) or main_reason(report))


def _scheduled(report: PendingReport, pod: Safe, reason: Safe) -> Safe:
    """On its node: nothing has failed so far, or what has."""
    lost = not_started(report.lingering, report.pod)
    if lost is not None:
        return fmt("{} is scheduled to {}, but nothing starts its containers there: {}.", pod, report.node, lost)
    if report.code is not Code.PREPARING:
        said = report.causes[0].detail if report.code is Code.KUBELET_API else None
        version = said.kubelet if isinstance(said, records.KubeletText) else ""
        where = fmt("{} (kubelet {})", report.node, version) if version else safe(report.node)
        absent = fmt(" {}.", idle_sentence(report.idle_drivers[0])) if report.idle_drivers else Safe("")
        down = fmt(": {}", failing_sentence(report.failing)) if names_failing(report) else Safe("")
        ends = lingering_sentence(report.lingering, report.pod.namespace)
        stays = fmt(" {}.", ends) if ends is not None else Safe("")
        return fmt("{} is scheduled to {}, but {}{}.{}{}", pod, where, _by_name(report, reason), down, absent, stays)
    devices = [name.rpartition("/")[2] for name in report.devices]
    held = fmt(", {} {}", Safe("device" if len(devices) == 1 else "devices"), shortened(devices, _DEVICES))
    warned = any(isinstance(cause.detail, records.KubeletText) for cause in report.causes)
    failed = Safe("" if warned else ", and no failure was reported")
    if not warned and any(each.kind == EVENTS for each in report.missing):
        failed = Safe("; whether a failure was reported is unknown, as Event could not be read")
    down = fmt(" The driver does not run there: {}.", failing_sentence(report.failing)) if report.failing else Safe("")
    text = "{} is scheduled: {}{}. Its containers have not started yet{}.{}"
    return fmt(text, pod, report.node, held if devices else Safe(""), failed, down)


def _but_not_start(report: PendingReport) -> Safe:
    """Where the driver that would have to prepare the devices does not run."""
    if not report.failing:
        return Safe("")
    nodes = listed(list(dict.fromkeys(each.node for each in report.failing)))
    states = listed(list(dict.fromkeys(each.state for each in report.failing)))
    return fmt(" But the driver does not run on {} ({}): a pod that is placed there does not start.", nodes, states)


def is_untried(report: PendingReport) -> bool:
    """Whether a pod that fits was tried by no scheduler for longer than one ever needs."""
    detail = report.causes[0].detail if report.causes else None
    return isinstance(detail, records.Retry) and bool(detail.untried_since)


def _untried(report: PendingReport) -> Safe:
    text = " No scheduler has tried it since it was created: kube-scheduler probably does not run."
    return Safe(text if is_untried(report) else "")


def names_failing(report: PendingReport) -> bool:
    """Whether the first line says of the driver's pods that they do not run."""
    return report.code in (Code.DRIVER_NOT_REGISTERED, Code.PREPARING) and bool(report.failing)


def _by_name(report: PendingReport, reason: Safe) -> Safe:
    """The sentence with the driver and the few devices that it could not prepare, where there is one driver."""
    meaning = Safe(Code.DRIVER_FAILED.meaning)
    drivers = {name.partition("/")[0] for name in report.devices}
    if report.code is not Code.DRIVER_FAILED or len(drivers) != 1 or not reason.startswith(meaning):
        return reason
    names = [name.rpartition("/")[2] for name in report.devices]
    devices = (
        Safe("the devices")
        if len(names) > _DEVICES
        else fmt("{} {}", Safe(plural("device", len(names))), listed(names))
    )
    return fmt("driver {} failed to prepare {}{}", drivers.pop(), devices, Safe(reason.removeprefix(meaning)))


def _surroundings(report: PendingReport, reason: Safe) -> Safe:
    """Who keeps devices in vain, whether the driver runs where it publishes nothing, and what an autoscaler does."""
    found = (
        kept_sentence(report, reason),
        older_sentence(report),
        sibling_sentence(report),
        lingering_sentence(report.lingering, report.pod.namespace),
    )
    texts = [text for text in found if text is not None]
    if report.code in _WITHOUT_DEVICES and report.failing:
        states = listed(list(dict.fromkeys(each.state for each in report.failing)))
        texts.append(fmt("The driver does not run: {} ({})", listed([e.pod.name for e in report.failing]), states))
    elif report.idle_drivers:
        texts.append(idle_sentence(report.idle_drivers[0]))
    elif report.verdict is records.Verdict.UNSCHEDULABLE and report.failing:
        texts.append(not_running_sentence(report.failing))
    elif report.verdict is records.Verdict.UNSCHEDULABLE and not (report.autoscaler and report.autoscaler.adds):
        texts += starting_sentence(report.starting)
    texts += _free_for_claims(report)
    # The node that an autoscaler has added may be the one whose driver does not run.
    said = None if report.failing and report.autoscaler and report.autoscaler.adds else report.autoscaler
    if said is not None and not said.old and report.code is not None and report.code.family in _PLACES:
        texts.append(scaling_sentence(said))
    texts += unready_sentence(report.unready, reason)
    return Safe("").join(fmt(". {}", text) for text in texts)


def _free_for_claims(report: PendingReport) -> Iterator[Safe]:
    """Where free devices would do, but no class serves the extended resource that the pod requests."""
    for remedy in report.remedies:
        for action in remedy.actions if remedy.verified and report.code is Code.NODE_RESOURCES else ():
            if isinstance(action, EditClass) and action.field == EXTENDED_NAME:
                text = "{} {} enough free {} devices, but no DeviceClass has the extendedResourceName {}"
                has = Safe(plural("has", len(remedy.nodes)))
                yield fmt(text, shortened(remedy.nodes, 3), has, action.device_class, action.after)


def was_given_up(report: PendingReport) -> bool:
    """Whether the scheduler wrote that it took an earlier allocation back."""
    return report.observed is not None and DEALLOCATED in report.observed.message


def _given_up(report: PendingReport) -> Safe:
    if not was_given_up(report):
        return Safe("")
    return Safe(" An earlier allocation was given up already, so this one may end in the same way.")


def _open(report: PendingReport, pod: Safe, reason: Safe) -> Safe:
    """What the devices decide, where other plugins that are not simulated have a say."""
    ends = next((cause for cause in report.causes if cause.code.family is Family.ABORTED), None)
    if ends is None:
        text = "{} would get its devices{}; whether it can be scheduled is unknown: {}."
        return fmt(text, pod, _fitting(report), reason)
    unless = fmt("unless other plugins reject those nodes ({})", reason)
    return fmt("{} is pending{}: {}, {}.", pod, _although(report), reason_sentence(ends), unless)


def _others_rejected(report: PendingReport) -> Safe:
    """That its controller has made others, which failed as well."""
    detail = report.causes[0].detail
    if not isinstance(detail, records.KubeletRejection) or not detail.others or report.owner is None:
        return Safe("")
    number = counted(detail.others, "other pod")
    return fmt(" {} of {} {} failed for the same reason.", number, report.owner.kind, report.owner.name)


def _not_pending(report: PendingReport, pod: Safe, reason: Safe) -> Safe:
    """Where it runs, or how it has ended."""
    if report.code is Code.KUBELET_REJECTED:
        return fmt("{} has failed: {}.{}", pod, reason, _others_rejected(report))
    unhealthy = runs_with_unhealthy(report, pod)
    if unhealthy is not None:
        return unhealthy
    where = fmt(" on node {}", report.node) if report.node else Safe("")
    waits = next((cause.detail for cause in report.causes if isinstance(cause.detail, records.ContainerWaits)), None)
    if waits is not None and report.verdict is records.Verdict.NOT_PENDING:
        text = "{} is not pending: it has its node {}{}, but its {}."
        return fmt(text, pod, report.node, Safe(" and its devices" if report.devices else ""), unwell(waits))
    if report.verdict is records.Verdict.ENDED:
        return fmt("{} is not pending: it has ended{}.", pod, where)
    runs = fmt(": it runs{}", where) if where else Safe("")
    return fmt("{} is not pending{}{}.", pod, runs, _dropped(report))


def _dropped(report: PendingReport) -> Safe:
    """That it runs without what its manifest requests."""
    if not report.dropped_claims:
        return Safe("")
    claims = fmt("{} {}", Safe(plural("claim", len(report.dropped_claims))), listed(report.dropped_claims, "and"))
    text = (
        ", without the devices that its manifest requests ({}): the API server does not serve resource.k8s.io and has "
        "dropped them; create the pod anew once it does"
    )
    return fmt(text, claims)


def _fits(report: PendingReport) -> Sequence[NodeGroupRecord]:
    return [group for group in report.nodes if group.outcome == records.NodeOutcome.FITS]


def _fitting(report: PendingReport) -> Safe:
    """Where it fits, and which of these nodes the scheduler takes, or why that can't be told."""
    groups, best = _fits(report), report.best_nodes
    if not groups:
        return Safe("")
    number = sum(group.count for group in groups)
    if best and len(best) < number:
        return fmt(" on {}, the best of {} nodes that fit", one_of(best), number)
    text = "; the scheduler takes the best of the first {} that it meets"
    some = fmt(text, report.nodes_compared) if report.nodes_compared else Safe("")
    return fmt(" on {}{}", names_of(groups), some)


def _although(report: PendingReport) -> Safe:
    groups = _fits(report) if report.code not in _WHEREVER else ()
    return fmt(", although it would fit on {}", names_of(groups)) if groups else Safe("")
