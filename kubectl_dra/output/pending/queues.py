"""The words about work in a queue of Kueue: what it waits for, whose quota, and Kueue's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.queues import FlavorQuota, HeldBy, Queued, short_of_quota
from kubectl_dra.diagnosis.records import ObjectRef, Verdict
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.quota_excess import excess_lines, excess_reason
from kubectl_dra.output.safe import Safe, command, command_line, fmt, safe
from kubectl_dra.output.words import listed, plural
from kubectl_dra.reports.invocations import (
    UNKNOWN_CONTEXT,
    changing,
    dra,
    kubectl,
    of,
    of_administrator,
    reading,
    within,
)
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.queue_admission import QueueAdmission

#: What it waits for; ``{}`` is the queue whose quota it needs.
_WAITS: Final[Mapping[HeldBy, str]] = {
    HeldBy.QUOTA: "the quota of {} is in use by other work",
    HeldBy.QUOTA_TOO_SMALL: "it requests more than the quota of {} can ever hold",
    HeldBy.FLAVOR: "no flavor of {} matches its node selector, affinity and tolerations",
    HeldBy.TOPOLOGY: "no part of the topology in {} has room for all of its pods",
    HeldBy.DEVICES: "Kueue cannot account the devices that it requests against {}",
    HeldBy.NAMESPACE: "{} does not accept workloads of this namespace",
    HeldBy.CHECKS: "its quota in {} is reserved; admission checks are not finished",
    HeldBy.OTHERS: "Kueue waits for other workloads of {} to start or to stop",
    HeldBy.ADMITTED: "Kueue has admitted it to {}, so its controller creates the pods",
    HeldBy.NO_WORKLOAD: "Kueue has not created a Workload for it",
    HeldBy.NO_KUEUE: "but the cluster does not serve Kueue's API, so nothing will start it",
}
#: Who does what about it; ``{}`` is the ClusterQueue.
_NEXT: Final[Mapping[HeldBy, str]] = {
    HeldBy.DEVICES: (
        "An administrator of Kueue maps the DeviceClass to a resource in deviceClassMappings of its Configuration "
        "(ConfigMap kueue-manager-config in namespace kueue-system), gives ClusterQueue {} a quota of that resource, "
        "and restarts Deployment kueue-controller-manager, which reads its Configuration only once."
    ),
    HeldBy.QUOTA_TOO_SMALL: "Request less, or ask whoever manages ClusterQueue {} for more quota.",
    HeldBy.QUOTA: "It is admitted as soon as other work of ClusterQueue {} ends, or its quota is raised.",
    HeldBy.COHORT_CIRCLE: "Whoever manages the Cohorts above ClusterQueue {} removes spec.parentName of one of them.",
    HeldBy.NAMESPACE: "Whoever manages ClusterQueue {} adds the namespace to its namespaceSelector.",
    HeldBy.BACKOFF: (
        "Kueue evicts it again if not all of its pods are ready in time then, and deactivates it after its last try."
    ),
    HeldBy.TOPOLOGY: (
        "Start fewer pods, wait until other work there ends, or let the pods be in several parts: in their template "
        "the annotation kueue.x-k8s.io/podset-preferred-topology in place of kueue.x-k8s.io/podset-required-topology."
    ),
    HeldBy.FLAVOR: "Change node selector, affinity or tolerations of the work, or add a flavor to ClusterQueue {}.",
}
#: What helps where no quota is short, as advice on the page of a pod.
_ADVICE: Final[Mapping[HeldBy, str]] = {
    HeldBy.ADMITTED: (
        "Kueue removes the gate within seconds. Where the gate stays, the log of Deployment kueue-controller-manager "
        "in namespace kueue-system says why."
    ),
    HeldBy.CHECKS: (
        "Its quota is reserved, so more quota does not help: the controller of the admission check has to finish it, "
        "and its log says what it waits for."
    ),
    HeldBy.DEACTIVATED: (
        "End what it was deactivated for, then set spec.active of the Workload to true: Kueue does not try it again "
        "by itself."
    ),
    HeldBy.OTHER_CLUSTER: "Nothing has to be done here: look at the pod in that cluster.",
    HeldBy.OFFERED: "It waits for quota in one of these clusters; Kueue's Workload of the same name there says why.",
    HeldBy.OTHERS: "Wait: Kueue goes on once the other workloads have started or stopped.",
    HeldBy.STOPPED: "Whoever stopped the queue starts it again; until then Kueue admits nothing from it.",
    HeldBy.NO_WORKLOAD: (
        "Check that Kueue runs (Deployment kueue-controller-manager in namespace kueue-system) and manages this kind: "
        "integrations.frameworks of its Configuration."
    ),
}
#: What Kueue's words about it begin with.
_TWO: Final = 2
_SAYS_SO: Final = "The workload is deactivated"
_HANDS_OFF: Final = "Do not remove the gate by hand: Kueue then stops the pods or counts them wrongly."
_QUOTA_SHOWN: Final = 8
_OF_QUOTA: Final = frozenset({HeldBy.QUOTA, HeldBy.QUOTA_TOO_SMALL, HeldBy.UNKNOWN})
_AGAIN: Final = (
    "Kueue chose {}, and does not count devices that pods outside its queues hold. To let it choose again (this evicts "
    "all pods of the Workload, and it may choose the same node):"
)
_EVICTED: Final = (
    "Devices that become free now do not help this pod: Kueue has to admit its Workload again first. Resolve what "
    "ended the admission."
)
_FLAVOR: Final = (
    "Kueue put it on {} {}, and adds the node labels of a flavor to the node selector of the pods, however often they "
    "are created. For another flavor, create the {} again with a node selector in its pod template that only nodes of "
    "that flavor match, or have the order of flavors in ClusterQueue {} changed."
)
#: Upstream: Kueue's pkg/cache/scheduler/tas_flavor_snapshot.go, notFitMessage.
_ROOM: Final = re.compile(
    r'topology "(?P<topology>[^"]+)" (?:allows to fit only (?P<fit>\d+) out of (?P<of>\d+)|'
    r"doesn't allow to fit any of (?P<all>\d+)) (?P<unit>pod|slice)\(s\)"
    r"(?:\. Total nodes: (?P<nodes>\d+); excluded: (?P<excluded>.+))?"
)
_EXCLUDED: Final = re.compile(r'(?P<what>[A-Za-z]+)(?: "(?P<name>[^"]+)")?: (?P<number>\d+)')
#: What nodes are left out for, by the words of its tasExclusionStats.
_LEFT_OUT: Final[Mapping[str, str]] = {
    "resource": "{} without enough {}",
    "taint": "{} with taint {}",
    "nodeSelector": "{} by its node selector",
    "affinity": "{} by its affinity",
}
_SMALLER: Final = (
    "Wait until other work there ends, or make the slices smaller (annotation kueue.x-k8s.io/podset-slice-size in the "
    "template): the pods of a slice have to be in one part of the topology."
)
#: Of work that is no pod: what Kueue does not do by itself.
_OF_WORK: Final = (HeldBy.DEACTIVATED, HeldBy.CHECKS, HeldBy.STOPPED, HeldBy.OTHERS, HeldBy.NO_WORKLOAD)
_WAITING: Final = (Verdict.UNSCHEDULABLE, Verdict.SCHEDULABLE)


def queue_reason(found: Queued) -> Safe:
    """What the work waits for, as the end of a sentence."""
    if found.held_by is HeldBy.NO_QUEUE or _is_unknown(found):
        return safe(found.message.rstrip(". "))
    if found.held_by is HeldBy.COHORT_CIRCLE:
        text = "the parents of the cohort of ClusterQueue {} form a circle ({}), and Kueue admits nothing from it"
        return fmt(text, found.cluster_queue, found.message)
    if found.held_by is HeldBy.STOPPED:
        return fmt("the queue is stopped: {}", found.message)
    if found.held_by is HeldBy.DEACTIVATED:
        said = found.message.rstrip(". ")
        rest = said.removeprefix(_SAYS_SO)
        why = safe(rest) if rest != said else fmt(": {}", said) if said else Safe(" (spec.active is false)")
        return fmt("its Workload {} is deactivated{}", found.workload, why)
    if found.held_by is HeldBy.BACKOFF:
        often = fmt(", eviction {}", found.evictions) if found.evictions > 1 else Safe("")
        said = found.message.rstrip(". ")
        return fmt("Kueue has evicted it ({}{}) and queues it again at {}", said, often, found.requeued_at)
    if found.held_by is HeldBy.CHECKS and found.message:
        where = fmt(" in ClusterQueue {}", found.cluster_queue) if found.cluster_queue else Safe("")
        return fmt("its quota{} is reserved, but admission check {}", where, found.message.rstrip(". "))
    if (short := short_of_quota(found)) is not None:
        row, more = short
        text = "{} of {} {} (flavor {}) of ClusterQueue {} are reserved, and it needs {} more than are left"
        return fmt(text, row.reserved, row.nominal, row.resource, row.flavor, found.cluster_queue, more)
    if found.excesses:
        return excess_reason(found)
    if found.held_by is HeldBy.OTHER_CLUSTER:
        return fmt("MultiKueue runs it in cluster {}; the pod here is a copy that stays gated", listed(found.clusters))
    if found.held_by is HeldBy.OFFERED:
        noun = Safe(plural("cluster", len(found.clusters)))
        text = "MultiKueue has offered it to the {} {}, and none has admitted it yet"
        return fmt(text, noun, listed(found.clusters))
    if found.held_by is HeldBy.NO_WORKLOAD and found.message:
        return fmt("Kueue cannot create a Workload for it: {}", found.message.rstrip(". "))
    if found.held_by is HeldBy.TOPOLOGY and (room := _ROOM.search(found.message)) is not None:
        return _room_in(room, found)
    words = _WAITS.get(found.held_by)
    where = fmt("ClusterQueue {}", found.cluster_queue) if found.cluster_queue else Safe("its ClusterQueue")
    if words is None:
        return Safe("it starts once Kueue admits it")
    return fmt(words, where) if "{}" in words else Safe(words)


def _room_in(room: re.Match[str], found: Queued) -> Safe:
    """How many of its pods find room in the part of the topology that they have to be in."""
    queue = fmt(" (ClusterQueue {})", found.cluster_queue) if found.cluster_queue else Safe("")
    units, out = Safe(plural(room["unit"], 2)), _excluded(room)
    if room["all"]:
        text = "topology {}{} has no room for any of its {} {}{}"
        return fmt(text, room["topology"], queue, room["all"], units, out)
    text = "topology {}{} has room for only {} of its {} {}{}"
    return fmt(text, room["topology"], queue, room["fit"], room["of"], units, out)


def _is_all_of_room(found: Queued) -> bool:
    """Whether Kueue's words are about one set of pods, and each reason for which it leaves out nodes is told."""
    room = _ROOM.search(found.message) if found.held_by is HeldBy.TOPOLOGY else None
    whole = room is not None and room.end() == len(found.message) and found.message.count("pod set ") < _TWO
    return whole and room is not None and (not room["excluded"] or bool(_excluded(room)))


def _excluded(room: re.Match[str]) -> Safe:
    """`` (of 6 nodes it leaves out 3 without enough nvidia.com/gpu and 1 with taint a=b:NoSchedule)``."""
    found = list(_EXCLUDED.finditer(room["excluded"] or ""))
    if not found or any(each["what"] not in _LEFT_OUT for each in found):
        return Safe("")
    texts = [fmt(_LEFT_OUT[each["what"]], *filter(None, (each["number"], each["name"]))) for each in found]
    return fmt(" (of {} nodes it leaves out {})", room["nodes"], listed(texts))


def _is_unknown(found: Queued) -> bool:
    """Whether Kueue's words are none of the known ones: they are the reason then, and no quota is blamed."""
    return found.held_by is HeldBy.UNKNOWN and bool(found.message)


def _is_told(found: Queued) -> bool:
    """Whether the reason has all that Kueue's words say."""
    said = (HeldBy.NO_QUEUE, HeldBy.STOPPED, HeldBy.COHORT_CIRCLE, HeldBy.DEACTIVATED, HeldBy.CHECKS, HeldBy.BACKOFF)
    return (
        found.held_by in said
        or (found.held_by is HeldBy.NO_WORKLOAD and bool(found.message))
        or _is_unknown(found)
        or short_of_quota(found) is not None
        or (bool(found.excesses) and "; " not in found.message)
        or _is_all_of_room(found)
    )


def queue_advice(found: Queued) -> Safe | None:
    """What helps where Kueue has said what it waits for; None where the words about quota of the reason's page do."""
    if short_of_quota(found) is not None or found.held_by in _NEXT:
        return Safe(_HANDS_OFF)
    if _is_unknown(found):
        return Safe(f"Correct what Kueue's words name, and create the work again. {_HANDS_OFF}")
    if found.held_by is HeldBy.NO_WORKLOAD and found.message:
        return Safe(f"Correct what Kueue's words name. {_HANDS_OFF}")
    text = _ADVICE.get(found.held_by)
    return Safe(f"{text} {_HANDS_OFF}") if text is not None else None


def work_lines(found: Queued, namespace: str, address: Address) -> Iterator[Safe]:
    """The same about work without pods, where no quota is what it waits for."""
    if found.held_by in _OF_WORK:
        yield from wrapped(Safe(_ADVICE[found.held_by]), indent=2)
        yield from queue_commands(found, namespace, address)


def queue_commands(found: Queued, namespace: str, address: Address) -> Iterator[Safe]:
    """The first command of that advice."""
    text, words = "", None
    work = of("workload.kueue.x-k8s.io", found.workload, namespace) if found.workload else None
    if found.held_by is HeldBy.DEACTIVATED and work is not None:
        patch = kubectl("patch", work, "--type=merge", "-p", '{"spec":{"active":true}}')
        text, words = "To let Kueue try it again: {}", changing(patch, address)
    elif found.held_by is HeldBy.CHECKS and work is not None:
        text, words = "What the checks say: {}", reading(kubectl("describe", work), address)
    elif found.held_by in (HeldBy.ADMITTED, HeldBy.NO_WORKLOAD):
        where = within("kueue-system")
        text = "Kueue's log: {}"
        words = reading(kubectl("logs", "deployment/kueue-controller-manager", where), address)
    yield from command_line(text, words)


def cluster_lines(found: Queued, work: ObjectRef) -> Iterator[Safe]:
    """What to run in the cluster that has it, or may get it; which context leads there is not known here."""
    if found.held_by not in (HeldBy.OTHER_CLUSTER, HeldBy.OFFERED):
        return
    asked = of(work.kind.lower(), work.name, work.namespace)
    line = command((*words, "--context", UNKNOWN_CONTEXT)) if (words := dra("why-pending", asked)) else None
    if line is not None:
        which = Safe("that cluster" if len(found.clusters) == 1 else "each of these clusters")
        yield from wrapped(fmt("Ask {} ({} is its context in your kubeconfig):", which, Safe(UNKNOWN_CONTEXT)))
        yield fmt("  {}", line)


def queue_lines(
    found: Queued,
    namespace: str,
    address: Address = HERE,
    *,
    work: ObjectRef | None = None,
    numbered: bool = False,
    facts_only: bool = False,
) -> Iterator[Safe]:
    """The evidence, indented; commands are for the cluster of ``address``. ``numbered``: ways out stand below.

    ``work``: what waits, where a command can change it.
    """
    told = _is_told(found)
    if found.message and not told:
        yield from wrapped(fmt("Kueue: {}", found.message), indent=2)
    if found.held_by is HeldBy.NO_QUEUE and found.others:
        yield from wrapped(fmt("LocalQueues of namespace {}: {}", namespace, listed(found.others)), indent=2)
    several = found.held_by is HeldBy.QUOTA and len(found.quota) > 1
    if found.quota and found.held_by in _OF_QUOTA and (several or not told):
        shown = Safe(", ").join(map(_row, found.quota[:_QUOTA_SHOWN]))
        more = fmt(" and {} more", len(found.quota) - _QUOTA_SHOWN) if len(found.quota) > _QUOTA_SHOWN else Safe("")
        yield from wrapped(fmt("reserved in {}: {}{}", found.cluster_queue, shown, more), indent=2)
    yield from _holder_lines(found, address)
    if found.uncounted:
        text = "not compared with a quota: devices of {}; how Kueue counts them is in deviceClassMappings of its {}"
        config = "Configuration, which was not read or does not name them (-f FILE adds it)"
        yield from wrapped(fmt(text, listed(found.uncounted), Safe(config)), indent=2)
    if found.others and found.queue not in found.others and found.held_by is HeldBy.UNKNOWN:
        yield from wrapped(
            fmt("{} is not among the LocalQueues that were read: {}", found.queue, listed(found.others)), indent=2
        )
    if found.unread and found.held_by is HeldBy.UNKNOWN:
        kinds = listed([f"{kind.lower()}s.kueue.x-k8s.io" for kind in found.unread])
        yield from wrapped(fmt("not read: {}", kinds), indent=2)
        words = kubectl("get", "workloads.kueue.x-k8s.io", within(namespace))
        if address.live and "Workload" in found.unread:
            # Whoever was refused it once is refused again.
            text = "  What Kueue waits for, as whoever may read it: {}"
            yield from command_line(text, changing(words, of_administrator(address)))
        else:
            yield from command_line("  What Kueue waits for: {}", reading(words, address))
    if not facts_only and not (numbered and short_of_quota(found) is not None):
        yield from excess_lines(found, work, address, numbered=numbered) if found.excesses else _next_lines(found)


def _holder_lines(found: Queued, address: Address) -> Iterator[Safe]:
    """Who has the quota, and how one of them gives it back."""
    held = found.holders
    if held is None or not (held.first or held.rest):
        return
    named = [fmt("{} {}/{} {}", each.kind, each.namespace, each.name, each.amount) for each in held.first]
    more = held.number - len(held.first)
    named += [fmt("{} more", more)] if more else []
    # Live only the Workloads of the namespace that is asked about are read.
    others = "{} by workloads that were not read" if held.first else "all {} by workloads that were not read"
    named += [fmt(others, held.rest)] if held.rest else []
    yield from wrapped(fmt("In use: {}", Safe(", ").join(named)), indent=2)
    if held.rest:
        words = kubectl("get", "workloads.kueue.x-k8s.io", "-A")
        yield from command_line("  All of them: {}", reading(words, address))
    for each in held.first[:1]:
        target = of("workload.kueue.x-k8s.io", each.workload, each.namespace)
        patch = kubectl("patch", target, "--type=merge", "-p", '{"spec":{"active":false}}') if target else None
        text = "  To have {} {} give it back (Kueue ends its pods; active: true lets it queue again): {}"
        yield from command_line(text, changing(patch, address), each.kind, each.name)


def _next_lines(found: Queued) -> Iterator[Safe]:
    """Who can end the waiting, and how; nothing where the queue is not known."""
    text = _NEXT.get(found.held_by)
    room = _ROOM.search(found.message) if found.held_by is HeldBy.TOPOLOGY else None
    if room is not None and room["unit"] == "slice":
        text = _SMALLER
    if text is not None and found.cluster_queue:
        yield from wrapped(fmt(text, found.cluster_queue) if "{}" in text else Safe(text), indent=2)


def _row(row: FlavorQuota) -> Safe:
    borrows = Safe(" (may borrow)" if row.borrows else "")
    return fmt("{} of {} {} in flavor {}{}", row.reserved, row.nominal, row.resource, row.flavor, borrows)


def evicted_clause(report: PendingReport) -> Safe | None:
    """Behind ``Pod X is pending``: that Kueue has taken its admission back; None where it has not."""
    found = report.admission
    if found is None or not found.evicted or report.verdict not in _WAITING:
        return None
    name = found.workload.name if found.workload is not None else ""
    words = fmt(": {}", found.words.rstrip(". ")) if found.words else Safe("")
    return fmt(", and Kueue has evicted its Workload {} ({}{}), which ends this pod", name, found.evicted, words)


def by_flavor(found: QueueAdmission | None) -> Safe:
    """Behind where a pod may run: that Kueue chose so, by adding to its node selector; empty where it has not."""
    if found is None or not found.flavors or found.assigned:
        return Safe("")
    return fmt(", as Kueue put it on {} {}", Safe(plural("flavor", len(found.flavors))), listed(found.flavors))


def admission_lines(report: PendingReport, address: Address) -> Iterator[Safe]:
    """What waiting costs, and how Kueue is made to choose again; nothing for a pod that fits now."""
    found = report.admission
    if evicted_clause(report) is not None:
        yield from wrapped(Safe(_EVICTED))
        return
    if found is None or report.verdict is not Verdict.UNSCHEDULABLE:
        return
    if found.cluster_queue and found.owner is not None:
        text = "Kueue has admitted {} {}: its quota in ClusterQueue {} stays in use while it waits."
        yield from wrapped(fmt(text, found.owner.kind, found.owner.name, found.cluster_queue))
    if found.flavors and not found.assigned and found.owner is not None and _selects(report):
        noun = Safe(plural("flavor", len(found.flavors)))
        yield from wrapped(fmt(_FLAVOR, noun, listed(found.flavors), found.owner.kind, found.cluster_queue))
    if not (found.assigned and found.workload is not None):
        return
    target = of("workload.kueue.x-k8s.io", found.workload.name, found.workload.namespace)
    lines = []
    for active in ("false", "true"):
        patch = f'{{"spec":{{"active":{active}}}}}'
        lines.append(command(changing(kubectl("patch", target, "--type=merge", "-p", patch), address) or ()))
    if target is None or None in lines:
        return
    yield from wrapped(fmt(_AGAIN, found.assigned))
    yield from (fmt("  {}", line) for line in lines if line is not None)


def _selects(report: PendingReport) -> bool:
    """Whether the node selector, to which Kueue adds, keeps the pod from nodes."""
    return any(cause.code is Code.NODE_AFFINITY for cause in report.causes)
