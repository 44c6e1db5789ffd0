"""What to do where no change is verified: what was tried, what usually helps, and whose log says more."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.diagnosis.codes import Code, Family
from kubectl_dra.diagnosis.records import (
    BindingProblem,
    BoundBy,
    ClaimEntry,
    ClassOffer,
    ContainerWaits,
    ExtendedResource,
    GangElsewhere,
    KubeletText,
    NodeTaint,
    Verdict,
    VolumeTrouble,
)
from kubectl_dra.diagnosis.records.nodes import tells_of_node
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.invocation import Address, flag
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.besides_devices import is_of_devices, kept_meanwhile
from kubectl_dra.output.pending.driver_pods import driver_advice, idle_advice, idle_commands, known_cure, why_words
from kubectl_dra.output.pending.headline import was_given_up
from kubectl_dra.output.pending.health import unhealthy_lines
from kubectl_dra.output.pending.heard import heard_advice, is_heard_first
from kubectl_dra.output.pending.lingering import lingering_commands, not_started
from kubectl_dra.output.pending.logs import last_words, log_lines, unwell_lines
from kubectl_dra.output.pending.made import is_told_above, refused_advice, refused_of
from kubectl_dra.output.pending.older_template import older_lines
from kubectl_dra.output.pending.other_schedulers import allocating_commands
from kubectl_dra.output.pending.passed_over import passed_over_commands
from kubectl_dra.output.pending.queues import cluster_lines, queue_commands
from kubectl_dra.output.pending.said_advice import (
    advice_on_words,
    has_way_out,
    is_about_configuration,
    plugin_commands,
    right_advice,
    right_commands,
    right_lacked,
)
from kubectl_dra.output.pending.siblings import sibling_commands
from kubectl_dra.output.pending.unready import unready_steps
from kubectl_dra.output.pending.usual_advice import label_commands, page_advice, usual_advice
from kubectl_dra.output.pending.volumes import volume_step_lines
from kubectl_dra.output.safe import Safe, command, command_line, fmt, safe
from kubectl_dra.output.unread import left_out_text, unread_sentence
from kubectl_dra.output.words import age, ago, counted, listed, plural
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, reading, within
from kubectl_dra.reports.pending.idle_daemons import IdleDaemonSet
from kubectl_dra.reports.pending.missing_objects import Existing
from kubectl_dra.reports.pending.pending import PendingReport

#: After so long containers that have not started are held up by something.
_LONG: Final = timedelta(minutes=2)
#: How long the scheduler waits for binding conditions. Upstream: BindingTimeout of DynamicResourcesArgs, its default.
_BINDING: Final = timedelta(minutes=10)
_NEVER: Final = (Verdict.NOT_PENDING, Verdict.ENDED, Verdict.SCHEDULABLE, Verdict.UNKNOWN)
_NEVER_READY: Final = Safe(
    "Waiting longer is unlikely to help: the driver, or the controller that attaches the devices, has to set the "
    "condition in the claim's status, and its log says why it does not. Until then the scheduler releases the devices "
    "after each timeout (10 minutes unless configured) and tries again."
)
_NOT_YET_READY: Final = (
    "The scheduler waits about {} longer (10 minutes in all unless configured), then releases the devices and tries "
    "again. Until then the driver, or the controller that attaches the devices, has to set the condition in the "
    "claim's status; its log says why it has not done so yet."
)
_NEVER_MADE: Final = Safe(
    "What usually helps: Check that kube-controller-manager runs, and read its log for resource-claim-controller."
)
_END_CONSUMERS: Final = Safe("Or end consumers of this claim: ")
#: What the scheduler's words tell where nothing else decides.
_OF_THE_SCHEDULER: Final = (
    Code.API_ERROR_AT_BINDING,
    Code.SCORING_FAILED,
    Code.EXTENDED_RESOURCE_IGNORED,
    Code.VOLUMES_AT_BINDING,
    Code.REFUSED_BY_ANOTHER,
    Code.ALLOCATION_IN_FLIGHT,
)
#: Kinds whose objects can be looked for; an extended resource is not an object of the API.
_KINDS_OF_API: Final = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
#: Nothing helps but a driver that publishes devices.
WITHOUT_DEVICES: Final = (Code.NO_DEVICE_IN_CLASS, Code.DEVICES_OF_GONE_NODES)
_OF_DRIVERS: Final = (
    Code.POOL_INCOMPLETE,
    Code.POOL_INVALID,
    Code.POOL_OUTDATED,
    Code.ALL_MODE_POOL,
    Code.BINDING_CONDITIONS,
    Code.BINDING_FAILED,
)


def advice_lines(report: PendingReport, now: datetime, address: Address) -> Iterator[Safe]:
    """What was tried without success, and the advice of the reason's page."""
    code, right = report.code, right_lacked(report)
    if right is not None:
        yield from wrapped(fmt("What usually helps: {}", right_advice(right)))
        yield from right_commands(right, address)
        return
    if code is Code.CONSUMERS_FULL and any(remedy.verified for remedy in report.remedies):
        yield from wrapped(fmt("{}{}", _END_CONSUMERS, safe(page_advice(report, code).partition(_END_CONSUMERS)[2])))
    if is_heard_first(report):
        yield from heard_advice(report, address)
        return
    if code is None or any(remedy.verified for remedy in report.remedies) or is_told_above(report):
        return
    told = code is Code.EVICTED_AT_ONCE or (report.verdict is Verdict.UNKNOWN and code in _OF_THE_SCHEDULER)
    if report.verdict in _NEVER and not told:
        return
    # What exists under the name, or nearly, is offered already, and so is to make what is missing.
    offered = {each.kind for each in report.remedies}
    if code.family is Family.ON_THE_NODE or RemedyKind.NAME_OBJECT in offered:
        return
    if code in (Code.CLAIM_MISSING, Code.TEMPLATE_MISSING) and RemedyKind.CREATE_OBJECT in offered:
        return
    if code is Code.POOL_OUTDATED and RemedyKind.REPAIR_POOL in offered:
        return
    # Drivers are there, and only a class is missing.
    found = report.existing
    if RemedyKind.CREATE_OBJECT in offered and found is not None and (found.published or _is_there(found)):
        return
    added = any(each.verified for each in report.additions)
    if not added and (report.tried.ended or (report.no_pair_helps and report.tried.singles)):
        yield from wrapped(_tried(report))
    if code in WITHOUT_DEVICES and report.failing:
        yield from driver_advice(report.failing[0])
        return
    if report.idle_drivers:
        yield from idle_advice(report.idle_drivers[0])
        return
    if is_binding_overdue(report, now):
        yield from wrapped(_binding_advice(report, now))
        return
    if overdue_claim(report) is not None:
        yield from wrapped(_NEVER_MADE)
        return
    yield from wrapped(fmt("What usually helps: {}", usual_advice(report, code)))


def is_binding_overdue(report: PendingReport, now: datetime) -> bool:
    """Whether the devices had time enough: in an earlier allocation, which was given up, or in this one."""
    detail = report.causes[0].detail if report.causes else None
    if report.code is not Code.BINDING_CONDITIONS or not isinstance(detail, BindingProblem):
        return False
    since = parse_time(detail.since)
    return was_given_up(report) or (since is not None and now - since > _LONG)


def _binding_advice(report: PendingReport, now: datetime) -> Safe:
    """What is left of the time that the scheduler waits; to wait is in vain near its end, or after an earlier one."""
    detail = report.causes[0].detail
    since = parse_time(detail.since) if isinstance(detail, BindingProblem) else None
    left = _BINDING - (now - since) if since is not None else timedelta()
    if was_given_up(report) or left <= _LONG:
        return _NEVER_READY
    return fmt(_NOT_YET_READY, counted(round(left / timedelta(minutes=1)), "minute"))


def _tried(report: PendingReport) -> Safe:
    """How many changes were checked without success."""
    singles, pairs = counted(report.tried.singles, "single change"), counted(report.tried.pairs, "pair")
    rest = Safe("; the search was ended there, and others may help") if report.tried.ended else Safe("")
    unread = [each for each in report.missing if each.decides]
    if unread:
        text = "Whether a change would make it fit is unknown: {}. {} and {} of changes were checked{}."
        return fmt(text, unread_sentence(unread), singles, pairs, rest)
    return fmt("No change was found that would make it fit: {} and {} of changes were checked{}.", singles, pairs, rest)


def _is_there(found: Existing) -> bool:
    """Whether the driver of a missing class publishes devices."""
    return found.comes_with is not None and bool(found.comes_with.devices)


def existing_lines(report: PendingReport) -> Iterator[Safe]:
    """The names that could be used instead of the missing one."""
    found = report.existing
    if found is None:
        return
    where = fmt(" in namespace {}", found.namespace) if found.namespace else Safe("")
    entry = report.causes[0].detail if report.causes else None
    if not found.count and isinstance(entry, ClaimEntry) and entry.similar:
        return  # the first line names one that can be had
    if not found.count:
        whose = listed([f"{counted(number, 'device')} of {driver}" for driver, number in found.published.items()])
        unselected = fmt(", although {} are published", whose) if found.published else Safe("")
        if found.left_out:
            yield from wrapped(left_out_text(BY_NAME[found.kind], unselected), indent=2, first=0)
        elif found.kind in _KINDS_OF_API:
            yield from wrapped(fmt("No {} exists{}{}.", found.kind, where, unselected), indent=2, first=0)
        return
    if found.count == len(found.names) and set(found.names) <= _similar(report):
        return  # all of them are told as those of a similar name
    more = fmt(" and {} more", found.count - len(found.names)) if found.count > len(found.names) else Safe("")
    kind, verb = Safe(plural(found.kind, found.count)), Safe("exists" if found.count == 1 else "exist")
    lead = fmt("{} that {}{}", kind, verb, where)
    names = list(map(safe, found.names))
    if found.devices:
        numbers = (counted(number, "device") if number else Safe("no devices") for number in found.devices)
        names = [fmt("{} ({})", name, number) for name, number in zip(names, numbers, strict=True)]
    yield from wrapped(fmt("{}: {}{}", lead, Safe(", ").join(names), more), indent=2, first=0)


def _similar(report: PendingReport) -> set[str]:
    detail = report.causes[0].detail if report.causes else None
    return set(detail.similar) if isinstance(detail, ExtendedResource) else set()


def overdue_claim(report: PendingReport) -> ClaimEntry | None:
    """The entry whose claim is not made for longer than the controller ever needs."""
    detail = report.causes[0].detail if report.causes else None
    return detail if isinstance(detail, ClaimEntry) and detail.overdue else None


def overdue_lines(report: PendingReport, now: datetime) -> list[Safe]:
    """A claim that is not made for long: to wait is no advice any more."""
    entry = overdue_claim(report)
    if entry is None:
        return []
    text = "The pod is {} old, and the controller usually makes a claim within a second"
    if entry.kept is None:
        text += ": it does not run, or the API server refuses its requests."
        return wrapped(fmt(text, age(report.created, now)))
    text += (
        ". Nor has it ended the reservation of claim {} for a pod that is gone or has finished. So it probably does "
        "not run; Deployments and Jobs, whose pods it makes too, stand still then."
    )
    return wrapped(fmt(text, age(report.created, now), str(entry.kept.key)))


def _about_the_claim(report: PendingReport, address: Address, now: datetime) -> Iterator[Safe]:
    """The first command where prose alone says what to do about a claim."""
    claim, words, text = report.causes[0].claim, None, ""
    if report.code is Code.CLAIM_NOT_OWNED:
        yield from _pod_anew(report, address)
    elif report.code is Code.CONSUMERS_FULL and claim is not None:
        where = within(claim.namespace)
        text, words = "Who uses it: {}", reading(dra("describe-claim", claim.name, where), address)
    elif overdue_claim(report) is not None:
        where = within("kube-system")
        text = "The controller's pods, where the cluster runs it as pods: {}"
        words = reading(kubectl("get", "pods", where, "-l", "component=kube-controller-manager"), address)
    yield from command_line(text, words)


def _pod_anew(report: PendingReport, address: Address) -> Iterator[Safe]:
    """Deletion is enough where something owns the pod; else nothing would be left of it."""
    pod = of("pod", report.pod.name, report.pod.namespace)
    read = command(reading(kubectl("get", pod, "-o", "yaml"), address))
    replace = command(changing(kubectl("replace", "--force", "-f", "-"), address))
    if report.owner is not None:
        yield from command_line("To delete the pod: {}", changing(kubectl("delete", pod), address))
    elif read is not None and replace is not None:
        yield fmt("To create the pod again: {} | {}", read, replace)


def next_step_lines(report: PendingReport, address: Address, now: datetime) -> Iterator[Safe]:
    """Where to look next: the events of a pod that is on its node, and the log of the driver there."""
    code = report.code
    if code is None:
        return
    if report.verdict is Verdict.NOT_PENDING:
        yield from unhealthy_lines(report, address)
        yield from unwell_lines(report, address)
        return
    yield from older_lines(report, address)
    yield from lingering_commands(report.lingering, address)
    yield from sibling_commands(report, address)
    yield from plugin_commands(report, address)
    yield from label_commands(report, address)
    yield from passed_over_commands(report, address)
    detail = report.causes[0].detail
    if isinstance(detail, GangElsewhere) and detail.waits is not None:
        yield from queue_commands(detail.waits, report.pod.namespace, address)
        yield from cluster_lines(detail.waits, report.pod)
    yield from _about_the_claim(report, address, now)
    refused = refused_of(report.causes[0])
    yield from refused_advice(refused, address) if refused is not None else ()
    if code.family is Family.ON_THE_NODE:
        yield from _on_the_node(report, code, address, now)
    elif isinstance(report.causes[0].detail, NodeTaint) and tells_of_node(report.causes[0].detail.taint):
        yield from unready_steps(report.unready, address) if report.unready else _node_state(report, address)
    elif isinstance(report.causes[0].detail, VolumeTrouble):
        yield from volume_step_lines(report.causes[0].detail, address)
    elif report.unready and report.autoscaler is not None and report.autoscaler.adds:
        # The node that it waits for is there, and not ready.
        yield from unready_steps(report.unready, address)
    elif code in WITHOUT_DEVICES:
        yield from _find_driver(report, address)
    elif report.idle_drivers and has_way_out(report):
        yield from _where_the_driver_runs(report.idle_drivers[0], address)
    elif report.idle_drivers:
        yield from idle_commands(report.idle_drivers[0], address)
    elif any(cause.code in _OF_DRIVERS for cause in report.causes):
        yield from log_lines(report, address)


def _node_state(report: PendingReport, address: Address) -> Iterator[Safe]:
    """Where the conditions of the first node stand, with their times."""
    for name in [each for each in report.causes[0].nodes if each not in report.in_files.nodes][:1]:
        yield from command_line(
            "Its conditions, and since when: {}", reading(kubectl("describe", of("node", name)), address)
        )


def _find_driver(report: PendingReport, address: Address) -> Iterator[Safe]:
    """Why the driver's pods fail, or where a driver of which nothing is published may be found."""
    for each in report.failing[:1]:
        yield from command_line("Why it does not run: {}", reading(why_words(each), address))
    if report.failing or report.idle_drivers:
        yield from (line for each in report.idle_drivers[:1] for line in idle_commands(each, address))
        return
    detail = report.causes[0].detail
    if isinstance(detail, ClassOffer) and detail.meant:
        return  # the driver runs, and what it has to change stands above
    gone = detail.nodes[:1] if report.code is Code.DEVICES_OF_GONE_NODES and isinstance(detail, ClassOffer) else ()
    of_gone = [word for name in gone for word in flag("--field-selector", f"spec.nodeName={name}")]
    steps = [
        ("Which drivers are installed: {}", reading(kubectl("get", "daemonsets", "-A"), address)),
        ("What is published: {}", reading(kubectl("get", "resourceslices", *of_gone), address)),
    ]
    if of_gone:
        steps.append(("To delete that: {}", changing(kubectl("delete", "resourceslices", *of_gone), address)))
    for text, words in steps:
        yield from command_line(text, words)


def _failed_on_the_node(report: PendingReport, code: Code, address: Address) -> Iterator[Safe]:
    """What the words of the failure ask for; a numbered way out has said what else would be advised."""
    told = known_cure(report.failing) or advice_on_words(report)
    if told is None and code is Code.DRIVER_NOT_REGISTERED and report.failing:
        told = Safe("Repair what the log of the driver's pod says; once it runs, the kubelet tries again by itself.")
    if told is None and not has_way_out(report):
        told = page_advice(report, code)
    if told is not None:
        yield from wrapped(fmt("What usually helps: {}", told))
    yield from last_words(report, address)
    yield from allocating_commands(report, address)


def _quotes_events(report: PendingReport) -> bool:
    """Whether the page has what the newest event says: the kubelet's words, or those of a container's state."""
    detail = report.causes[0].detail
    return isinstance(detail, KubeletText | BoundBy) or (isinstance(detail, ContainerWaits) and bool(detail.message))


def _where_the_driver_runs(found: IdleDaemonSet, address: Address) -> Iterator[Safe]:
    """What brings a driver to a node that it does not run on."""
    yield from idle_advice(found)
    yield from idle_commands(found, address)


def _on_the_node(report: PendingReport, code: Code, address: Address, now: datetime) -> Iterator[Safe]:
    if not_started(report.lingering, report.pod) is not None:
        return
    if report.idle_drivers:
        yield from _where_the_driver_runs(report.idle_drivers[0], address)
        return
    events = reading(kubectl("describe", of("pod", report.pod.name, report.pod.namespace)), address)
    if code is Code.PREPARING:
        seen = report.observed
        since = parse_time(seen.time) if seen is not None and seen.status == "True" else None
        lead = Safe("If this lasts more than a minute")
        if since is not None and now - since > _LONG:
            lead = fmt("It was scheduled {}, and something holds it up", ago(since.isoformat(), now))
        yield from command_line("{}: {}", events, lead)
    else:
        yield from _failed_on_the_node(report, code, address)
        if is_about_configuration(report) and report.configured is not None:
            ref = report.configured.ref
            words = kubectl("get", of(ref.kind.lower(), ref.name, ref.namespace), "-o", "yaml")
            yield from command_line("Its manifest: {}", reading(words, address))
            return
        if has_way_out(report):
            return
        if isinstance(waits := report.causes[0].detail, ContainerWaits) and waits.initializes:
            return
        if not _quotes_events(report):
            yield from command_line("Its events: {}", events)
    if code is Code.KUBELET_API:
        yield from command_line(
            "To keep pods off that node: {}", changing(kubectl("cordon", of("node", report.node)), address)
        )
        return
    if not is_of_devices(report.causes[0]):
        yield from kept_meanwhile(report)
        return
    named = code is Code.PREPARING or not _quotes_events(report)
    yield from log_lines(report, address, events_named=named)
