"""Sentences about pods that are placed together: clauses that can follow "Pod X cannot be scheduled:"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.records import GroupTemplate, TemplateState
from kubectl_dra.diagnosis.gates.queues import HeldBy
from kubectl_dra.diagnosis.remedies.actions import EditGroup
from kubectl_dra.diagnosis.remedies.records import PinPods
from kubectl_dra.model.invocation import HERE, Address, Words
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.gang_words import incomplete_sentence, mixed_sentence, workload_sentence
from kubectl_dra.output.pending.made import refused_sentence
from kubectl_dra.output.pending.queue_limits import limit_of, words_of
from kubectl_dra.output.pending.queues import queue_lines, queue_reason
from kubectl_dra.output.safe import Safe, command, fmt, safe
from kubectl_dra.output.words import counted, did_you_mean, listed
from kubectl_dra.reports.groups.group_state import GroupReport
from kubectl_dra.reports.groups.placed_group import PlacedGroup
from kubectl_dra.reports.invocations import kubectl, of, reading, within
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.still_blocked import StillBlocked

GROUP_CODES: Final = (
    Code.POD_GROUP,
    Code.POD_GROUP_MISSING,
    Code.POD_GROUP_INCOMPLETE,
    Code.POD_GROUP_MIXED,
    Code.POD_GROUP_ABORTED,
    Code.POD_GROUP_UNPLACED,
)
_COLUMN: Final = 13
Sentence = Callable[[records.Cause], Safe]


def group_sentence(cause: records.Cause, say: Sentence) -> Safe:
    """The clause; ``say`` makes that of what is in the way of another pod."""
    match cause.detail:
        case records.PodGroupName() as group:
            return (
                fmt('it waits for PodGroup "{}", which does not exist', group.name)
                + _similar(group)
                + _described(group)
            )
        case records.GroupWaits() as waits:
            return _waits(waits, say)
        case records.GroupShortage() as shortage:
            return _shortage(shortage, say)
        case records.GroupError() as error:
            return _error(error, say)
        case records.WorkloadGang() as gang:
            return workload_sentence(gang, say)
        case records.GangElsewhere() as gang:
            return incomplete_sentence(gang)
    return Safe(cause.code.meaning)


def gang_reason(report: PendingReport, say: Callable[[StillBlocked], Safe], *, whole: bool = False) -> Safe | None:
    """The clause about a group, on the page of any of its pods; ``whole``: with the namespace of the group.

    ``say`` tells of the pod that is in the way what its own page would; None where no single pod is.
    """
    group = report.group
    if group is None or group.blocking is None or len(report.causes) < 2:
        return None
    cause = with_whole_name(report.causes[0]) if whole else report.causes[0]
    blocking = StillBlocked(report.causes[1:], report.nodes, group.asks, group.extended)
    return group_sentence(cause, lambda _first: say(blocking))


def with_whole_name(cause: records.Cause) -> records.Cause:
    """The cause with the namespace of its group."""
    match cause.detail:
        case records.GroupWaits() | records.GroupShortage() | records.GroupError() as found:
            group = msgspec.structs.replace(found.group, name=str(found.group.key))
            return msgspec.structs.replace(cause, detail=msgspec.structs.replace(found, group=group))
    return cause


def _similar(group: records.PodGroupName) -> Safe:
    return did_you_mean(group.similar, " (", ")")


def _described(group: records.PodGroupName) -> Safe:
    """A Workload that says what the group is to be, though nobody has made it."""
    if not group.workloads:
        return Safe("")
    text = "; Workload {} of its controller has the templates, but the controller has made no group of this name"
    return fmt(text, Safe(" or ").join(map(safe, group.workloads)))


def _waits(waits: records.GroupWaits, say: Sentence) -> Safe:
    name = waits.group.name
    if not waits.held:
        verb = Safe("exists" if waits.known == 1 else "exist")
        needed = counted(waits.min_count, "pod")
        text = fmt("PodGroup {} needs {} at the same time, and only {} {}", name, needed, waits.known, verb)
        return fmt("{}. {}", text, refused_sentence(waits.refused)) if waits.refused is not None else text
    others = fmt(" and {} more", len(waits.held) - 1) if len(waits.held) > 1 else Safe("")
    text = fmt("all pods of PodGroup {} wait for {}{}", name, waits.held[0].name, others)
    return fmt("{}: {}", text, say(waits.because[0])) if waits.because else text


def _shortage(found: records.GroupShortage, say: Sentence) -> Safe:
    where = fmt(" in one {}", found.topology_key) if found.topology_key else Safe("")
    text = _how_many(found, where)
    if found.first is None:
        return text
    pod = found.first.name
    if not found.because:
        return fmt("{}; {} finds none", text, pod)
    return fmt("{}. For {}: {}", text, pod, say(found.because[0]))


def _how_many(found: records.GroupShortage, where: Safe) -> Safe:
    name = found.group.name
    there = found.running + found.placed
    if found.min_count <= found.running or found.min_count == 1:
        return fmt("no other pod of PodGroup {} finds a node{}", name, where) if found.running else _none(name, where)
    needs = fmt("PodGroup {} needs {}{} at the same time", name, counted(found.min_count, "pod"), where)
    if found.running + found.waiting < found.min_count:
        number = found.running + found.waiting
        return fmt("{}, and only {} can be tried: the others are being deleted", needs, number)
    if found.running and not found.placed:
        has = Safe("has a node" if found.running == 1 else "have nodes")
        return fmt("{}: {} already {}, and no other finds one", needs, found.running, has)
    has = Safe("has" if found.running == 1 else "have")
    running = fmt(" ({} of them already {} one)", found.running, has) if found.running else Safe("")
    if there == 0:
        return fmt("{}, and none finds a node", needs)
    return fmt("{}, and only {} {} a node{}", needs, there, Safe("finds" if there == 1 else "find"), running)


def _none(name: str, where: Safe) -> Safe:
    return fmt("no pod of PodGroup {} finds a node{}", name, where)


def _error(error: records.GroupError, say: Sentence) -> Safe:
    if error.differing:
        return mixed_sentence(error)
    if error.pod is None:
        return fmt("PodGroup {} is refused as a whole: {}", error.group.name, error.text)
    why = say(error.because[0]) if error.because else safe(error.text)
    return fmt("an error about {} ends the attempt for all of PodGroup {}: {}", error.pod.name, error.group.name, why)


def elsewhere_sentence(gang: records.GangElsewhere, _cause: records.Cause) -> Safe:
    """Whose decision it is, and how many pods of the gang there are."""
    queue = fmt(" in queue {}", gang.queue) if gang.queue else Safe("")
    if gang.waits is not None and gang.waits.held_by is HeldBy.ADMITTED:
        text = "{} has admitted it{}, and has not yet removed its scheduling gate {}{}"
        return fmt(text, gang.system, queue, listed(gang.gates), _members(gang))
    if gang.present:
        return incomplete_sentence(gang)
    if gang.waits is not None:
        return fmt("{} holds it{}: {}{}", gang.system, queue, queue_reason(gang.waits), _members(gang))
    if gang.gates:
        return fmt("{} holds it{} (scheduling gate {}){}", gang.system, queue, listed(gang.gates), _members(gang))
    if gang.says:
        return fmt("the {} plugin says: {}{}", gang.system, gang.says, _members(gang))
    by = fmt('{} (scheduler "{}"){}', gang.system, gang.scheduler, queue)
    if gang.application:
        return _application(gang, by)
    if gang.queue_state:
        text = '{} (scheduler "{}") starts no group of queue {} before it is open again: it is {}'
        return fmt(text, gang.system, gang.scheduler, gang.queue, gang.queue_state)
    # Why one of them finds no node comes before what the scheduler says of it.
    below = gang.lacking and is_counted(gang)
    says = fmt(" and says: {}", words_of(gang)) if gang.words and not below else Safe("")
    if not is_counted(gang):
        members = Safe("") if gang.members == 1 and limit_of(gang) is not None else _members(gang)
        return fmt("{} has to place it{}{}", by, says, members)
    text = "{} places its group {} as a whole{} the default scheduler's rules {}"
    between = fmt("{}. By", says) if says else Safe(", and by")
    return fmt(text, by, gang.name, between, _finding(gang)) + _beside_rivals(gang)


def _finding(gang: records.GangElsewhere) -> Safe:
    """``only 1 of its 2 waiting pods finds a node now``."""
    few = 0 < (gang.fitting or 0) < gang.waiting
    number = fmt("only {}", gang.fitting) if few else gang.fitting or Safe("none")
    pods = fmt("{} of its {}", number, counted(gang.waiting, "waiting pod"))
    if gang.fitting == gang.waiting > 2:
        pods = fmt("all {} of its waiting pods", gang.waiting)
    return fmt("{} {} a node now", pods, Safe("finds" if gang.fitting == 1 else "find"))


def _beside_rivals(gang: records.GangElsewhere) -> Safe:
    """That other gangs wait for the same."""
    if not gang.rivals or few_fit(gang):
        return Safe("")
    text = ", but not together with those of {} {}, which {} as well: as long as each gets a part, none can start"
    group, wait = ("group", "waits") if len(gang.rivals) == 1 else ("groups", "wait")
    return fmt(text, Safe(group), listed(gang.rivals), Safe(wait))


def few_fit(gang: records.GangElsewhere) -> bool:
    """Whether some of its waiting pods find no node, whoever else waits."""
    return gang.fitting is None or gang.fitting < gang.waiting


def _application(gang: records.GangElsewhere, by: Safe) -> Safe:
    """Of YuniKorn, which has no object for an application."""
    group, tasks = gang.task_group, Safe("")
    if group is not None:
        starts = fmt(" of {} that start together", counted(group.least, "pod")) if group.least else Safe("")
        tasks = fmt(", task group {}{}", group.name, starts)
    says = fmt(" and says: {}", words_of(gang)) if gang.words else Safe("")
    number = Safe("")
    if gang.waiting > 1 and gang.fitting is not None:
        number = fmt(". By the default scheduler's rules {}", _finding(gang))
    return fmt("{} has to place it (application {}{}){}{}", by, gang.application, tasks, says, number)


def is_counted(gang: records.GangElsewhere) -> bool:
    """Whether the sentence about a group says how many of its pods find a node."""
    held = gang.gates or gang.waits is not None or gang.says
    return not held and bool(gang.name) and gang.waiting > 1 and gang.fitting is not None


def _members(gang: records.GangElsewhere) -> Safe:
    if not gang.name:
        return Safe("")
    if gang.members == 1 and gang.expected is None:
        return fmt(". It is the only unfinished pod of its group {}", gang.name)
    of = fmt(" of {}", gang.expected) if gang.expected is not None else Safe("")
    text = ". Of its group {}, {}{} pods exist, {} of them without a node"
    return fmt(text, gang.name, gang.members, of, gang.waiting)


def elsewhere_lines(gang: records.GangElsewhere, namespace: str, address: Address = HERE) -> Iterator[Safe]:
    """Which object shows the decision, and what the default scheduler would make of the pods."""
    if gang.present and gang.waits is None:
        return
    if gang.waits is not None:
        yield from queue_lines(gang.waits, namespace, address, numbered=True)
    wanted = of(gang.resource, gang.name, namespace) if gang.resource and gang.name else None
    words = kubectl("get", wanted, "-o", "yaml") if wanted is not None else _all_of(gang, namespace)
    line = command(reading(words, address)) if words is not None and gang.resource else None
    if line is not None and (gang.waits is None or gang.waits.held_by is HeldBy.UNKNOWN):
        yield fmt("  {} decides, and its object says what it waits for:", gang.system)
        yield fmt("    {}", line)
    for limit in gang.limits:
        text = "Queue {} may have {} {} (spec.capability): {} are allocated, and the group needs {} (minResources)."
        yield from wrapped(fmt(text, gang.queue, limit.most, limit.resource, limit.used, limit.needed), indent=2)
    told = is_counted(gang) or (gang.application and gang.waiting > 1)
    if gang.fitting is not None and not told and not (gang.waits is not None and gang.waits.clusters):
        yield from wrapped(_fitting(gang), indent=2)


def _fitting(gang: records.GangElsewhere) -> Safe:
    if gang.waiting == 1 and gang.waits is not None and not gang.fitting:
        text = "Once {} lets it go, it waits for a node: by the default scheduler's rules it would find none now."
        return fmt(text, gang.system)
    if gang.waiting == 1:
        return fmt(
            "By the default scheduler's rules it would find {} now.", Safe("a node" if gang.fitting else "no node")
        )
    text = "By the default scheduler's rules {} of {} would find a node now, one beside the other."
    return fmt(text, gang.fitting, counted(gang.waiting, "waiting pod"))


def _all_of(gang: records.GangElsewhere, namespace: str) -> Words | None:
    return kubectl("get", gang.resource, within(namespace))


def origin(workload: records.ObjectRef, template: GroupTemplate | None) -> Safe:
    """The Workload and template that a group was made from, and how far these still say the same."""
    name = fmt("Workload {}", workload.name)
    if template is None:
        return name
    match template.state:
        case TemplateState.NO_WORKLOAD:
            return fmt("{} (template {}), which does not exist", name, template.name)
        case TemplateState.NO_TEMPLATE:
            return fmt("{}, which has no template {}", name, template.name)
        case TemplateState.DIFFERS if template.min_count is None:
            return fmt("{} (template {}, which has no minCount)", name, template.name)
        case TemplateState.DIFFERS:
            text = "{} (template {}: minCount {}, which groups made later have again)"
            return fmt(text, name, template.name, template.min_count)
    return fmt("{} (template {})", name, template.name)


_PODS_SHOWN: Final = 8


def group_edit(action: EditGroup) -> Safe:
    """Another field of a group."""
    return fmt("lower {} of PodGroup {} from {} to {}", action.field, action.group.name, action.before, action.after)


def pinned_pods(action: PinPods) -> Safe:
    """An assignment that the scheduler does not find."""
    shown = Safe(", ").join(fmt("{} on {}", each.pod.name, each.node) for each in action.pods[:_PODS_SHOWN])
    more = fmt(" and {} more", len(action.pods) - _PODS_SHOWN) if len(action.pods) > _PODS_SHOWN else Safe("")
    return fmt("bind the pods to other nodes than the scheduler tries, by their node affinity: {}{}", shown, more)


def needs_of_group(group: PlacedGroup, *, whole: bool) -> Iterator[Safe]:
    """What a group that waits needs: pods at the same time, one domain, claims that all share.

    ``whole`` False: without what the first line of a pod's page has.
    """
    if group.verdict is records.Verdict.NOT_PENDING:
        return
    if whole:
        yield from how_many(group)
    yield from domain_of_group(group)
    for claim in group.claims:
        made = fmt(" (from template {})", claim.template) if claim.template else Safe("")
        state = listed(claim.devices) if claim.devices else Safe("no devices yet")
        name = claim.claim.name if claim.claim is not None else "not created yet"
        yield from _titled(Safe("shared"), fmt("{}: claim {}{}, {}", claim.name, name, made, state))
    if group.workload is not None:
        yield from _titled(Safe("made from"), origin(group.workload, group.template))


def _titled(title: Safe, text: Safe) -> Iterator[Safe]:
    """A line of a list with titles, and those that it takes more."""
    first, *more = wrapped(text, indent=_COLUMN)
    yield Safe(f"  {title}".ljust(_COLUMN)) + Safe(first[_COLUMN:])
    yield from more


def how_many(group: GroupReport | PlacedGroup) -> Iterator[Safe]:
    """How many pods at the same time."""
    if group.min_count is None:
        yield Safe("  policy     basic: pods are placed together, but any number of them will do")
    else:
        yield fmt("  minCount   {} at the same time", counted(group.min_count, "pod"))


def domain_of_group(group: GroupReport | PlacedGroup) -> Iterator[Safe]:
    """What the nodes of the pods share."""
    if group.topology_key:
        yield fmt("  topology   all on nodes with the same {}", group.topology_key)


@dataclass(frozen=True, slots=True)
class WholeGroup:
    """Blocks of a page about a whole group, which stand where its pods have their own."""

    about: list[list[Safe]]
    other_assignment: list[Safe]
    words: list[Safe]


def with_blocking(report: PendingReport) -> PendingReport:
    """The report as of the pod that keeps its group waiting, whose nodes and further causes it has."""
    group = report.group
    if group is None or group.blocking is None or len(report.causes) < 2:
        return report
    return msgspec.structs.replace(report, asks=group.asks, extended=group.extended, causes=report.causes[1:])


def about_group(report: PendingReport) -> Iterator[list[Safe]]:
    """What the group of a pod needs beyond the number of pods, which the first line has."""
    group = report.group
    if group is not None:
        yield list(needs_of_group(group, whole=False))


def whose_requests(report: PendingReport, *, of_group: bool) -> Iterator[Safe]:
    """Whose requests follow, where that is not the pod of the page."""
    blocking = report.group.blocking if report.group is not None else None
    if blocking is not None and (of_group or blocking != report.pod):
        yield fmt("{}:", blocking.name)
