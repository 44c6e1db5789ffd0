"""What to do about a scheduler that refuses what would fit, or that puts pods on nodes and allocates no claims."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.gangs.elsewhere import KAI, VOLCANO, YUNIKORN
from kubectl_dra.diagnosis.records import BoundBy, GangElsewhere, ObjectRef, SchedulerName
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.output.pending.gang_words import JOBS
from kubectl_dra.output.pending.queue_limits import limit_advice, limit_commands, limit_of
from kubectl_dra.output.safe import Safe, command, command_line, fmt, quote
from kubectl_dra.output.words import listed, plural
from kubectl_dra.reports.invocations import changing, kubectl, of, reading
from kubectl_dra.reports.pending.pending import PendingReport

#: Namespace and Deployment by the name of a scheduler, as its Helm chart installs it.
_INSTALLED: Final = {
    **dict.fromkeys(VOLCANO.schedulers, ("volcano-system", "volcano-scheduler")),
    **dict.fromkeys(KAI.schedulers, ("kai-scheduler", "kai-scheduler-default")),
    **dict.fromkeys(YUNIKORN.schedulers, ("yunikorn", "yunikorn-scheduler")),
}
#: Upstream: Volcano's proportion and capacity plugins, JobEnqueueable.
_VOLCANO_QUEUE: Final = "queue resource quota insufficient"
#: Upstream: Volcano's gang plugin, which says how many of a group have to start together.
_AT_LEAST: Final = re.compile(r"\b(?P<number>\d+) minAvailable\b")
#: Limits that a scheduler has of its own, whatever is free on nodes.
_OWN_LIMITS: Final = re.compile(r"quota|queue|limit|capability", re.IGNORECASE)
#: Upstream: Volcano's gang plugin, and KAI's pkg/scheduler/api/podgroup_info.
_NEEDED: Final = re.compile(r"\b(\d+) minAvailable\b|\bwhile (\d+) are required\b")
#: Upstream: volcano, pkg/scheduler/plugins/predicates (DynamicResourceAllocationEnable, off by default).
_VOLCANO: Final = Safe(
    "A cluster administrator can turn on DRA in Volcano: in ConfigMap volcano-scheduler-configmap give plugin "
    "predicates the argument predicate.DynamicResourceAllocationEnable: true, and restart volcano-scheduler."
)
_KUBERNETES: Final = Safe(
    "A cluster administrator has to start kube-scheduler with feature gate DynamicResourceAllocation and with plugin "
    "DynamicResources in its profile."
)
_ONE_AT_A_TIME: Final = (
    "There is room for one of the groups {} at a time. Suspend or delete the others until it runs, or give it a higher "
    "priority; a queue (Kueue) or devices for all of them keep this from happening again."
)
_OTHER: Final = (
    "{} has to support DRA and have it turned on, which its documentation says; where it can't, remove schedulerName "
    "from the template of the pod, so that the default scheduler places it and allocates."
)


def would_fit(gang: GangElsewhere) -> bool:
    """Whether all waiting pods of a gang would find a node, and its scheduler refuses them for want of one."""
    if not gang.name or gang.fitting is None or gang.fitting < gang.waiting or _OWN_LIMITS.search(gang.words):
        return False
    # Pods that do not exist, or were not read, may be those that find no node.
    needed = _NEEDED.search(gang.words)
    return gang.members > 1 and (needed is None or int(needed[1] or needed[2]) <= gang.members)


def fit_advice(gang: GangElsewhere) -> Safe:
    """Nothing has to be freed: either the words are of before, or the scheduler's own view is off."""
    text = (
        "By the objects of the cluster there is room for all of its pods, so nothing has to be freed or added. If {} "
        "goes on saying so, its log says which nodes it rejects and why; its own view of devices may be outdated, "
        "which a restart of it corrects."
    )
    return fmt(text, gang.system)


def least_of(gang: GangElsewhere) -> Safe:
    """The field that says how many pods start together.

    What a Volcano Job says replaces what stands in its group (pkg/controllers/job, createOrUpdatePodGroup).
    """
    if gang.job:
        return fmt("spec.minAvailable of Job {}", gang.job)
    return fmt("spec.minMember of PodGroup {}", gang.name)


def fewer_commands(detail: ReportRecord | None, namespace: str, address: Address) -> Iterator[Safe]:
    """What lets a gang of Volcano's start with the pods that find a node."""
    if (
        not isinstance(detail, GangElsewhere)
        or detail.system != VOLCANO.name
        or not (detail.lacking and detail.fitting)
    ):
        return
    if detail.present or detail.queue_state:
        return
    number = detail.fitting + detail.members - detail.waiting
    field = "minAvailable" if detail.job else "minMember"
    group = of(JOBS if detail.job else detail.resource, detail.job or detail.name, namespace)
    patch = f'{{"spec":{{"{field}":{number}}}}}'
    words = kubectl("patch", group, "--type=merge", "-p", patch) if group is not None else None
    pods = Safe(plural("pod", number))
    yield from command_line("If the program runs with {} {}: {}", changing(words, address), number, pods)


def scheduler_log(detail: ReportRecord | None, namespace: str, address: Address) -> Iterator[Safe]:
    """The log of a scheduler that has written something, and where it shows what its queues have."""
    if isinstance(detail, GangElsewhere):
        yield from limit_commands(detail, namespace, address)
    if isinstance(detail, GangElsewhere) and detail.system == YUNIKORN.name:
        # As its Helm chart installs it; the port is that of its web pages.
        words = kubectl("port-forward", of("service", "yunikorn-service", "yunikorn"), "9889")
        yield from command_line("Its queues and applications, at http://localhost:9889: {}", reading(words, address))
    if not isinstance(detail, GangElsewhere | SchedulerName) or not detail.words:
        return
    name = detail.scheduler if isinstance(detail, GangElsewhere) else detail.name
    found = _INSTALLED.get(name)
    if found is None:
        yield from where_it_runs(name, address)
        return
    namespace, deployment = found
    words = kubectl("logs", of("deployment", deployment, namespace), "--since=10m")
    yield from command_line("Its log: {}", reading(words, address))


def where_it_runs(name: str, address: Address) -> Iterator[Safe]:
    """What is called like a scheduler: what runs it mostly is."""
    line, word = command(reading(kubectl("get", "deployments,statefulsets,pods", "-A"), address)), quote(name)
    if line is not None and word is not None and not name.startswith("-"):
        yield fmt("What is called like it: {} | grep {}", line, word)


def starting_again(stopped: ObjectRef, address: Address) -> Iterator[Safe]:
    """The command for whoever runs it, who may have stopped it on purpose."""
    workload = of(stopped.kind.lower(), stopped.name, stopped.namespace)
    words = kubectl("scale", workload, "--replicas=1") if workload is not None else None
    yield from command_line("Whoever runs it can start it again: {}", changing(words, address))


def gang_advice(gang: GangElsewhere) -> Safe:
    """What a gang scheduler's words ask for: room in its queue, or on nodes for the pods of the group."""
    if gang.queue_state:
        return fmt("Whoever closed queue {} opens it again, or use another one: spec.queue of the group.", gang.queue)
    if would_fit(gang) and gang.rivals:
        return fmt(_ONE_AT_A_TIME, listed([gang.name, *gang.rivals], "and"))
    if (limit := limit_of(gang)) is not None:
        return limit_advice(gang, limit)
    if would_fit(gang):
        return fit_advice(gang)
    if is_queue_short(gang):
        named = fmt("the queue that spec.queue of PodGroup {} names", gang.name)
        queue = fmt("queue {}", gang.queue) if gang.queue else named
        text = "Wait until other work of {} ends, or have whoever manages the queue raise its spec.capability."
        return fmt(text, queue)
    least = _AT_LEAST.search(gang.words)
    fewer = fmt(", or lower {}, if the program runs with fewer pods", least_of(gang))
    text = (
        "Free or add what the rest of the group lacks{}. Do not give pods of a group to the default scheduler one by "
        "one."
    )
    return fmt(text, Safe("") if least is not None and int(least["number"]) <= 1 else fewer)


def is_queue_short(gang: GangElsewhere) -> bool:
    """Whether the quota of a queue of Volcano is used up: the group is not tried on nodes before it has room there."""
    return _VOLCANO_QUEUE in gang.words or bool(gang.queue_state)


def volcano_queue(gang: GangElsewhere, address: Address) -> Iterator[Safe]:
    """What a queue may use and what it uses: by its name, where the pod has it, else among all queues."""
    queues = "queues.scheduling.volcano.sh"
    words = kubectl("get", of(queues, gang.queue), "-o", "yaml") if gang.queue else kubectl("get", queues, "-o", "yaml")
    yield from command_line("Its capability, and what is allocated: {}", reading(words, address))


def allocating_advice(report: PendingReport, bound: BoundBy) -> Safe:
    """Who can make the scheduler allocate, and that the pod has to be made anew then."""
    match bound.scheduler:
        case "volcano":
            first = _VOLCANO
        case name if name == DEFAULT_SCHEDULER:
            first = _KUBERNETES
        case name:
            first = fmt(_OTHER, name)
    owner = report.owner
    again = fmt("{} {} makes it again", owner.kind, owner.name) if owner is not None else Safe("and create it again")
    return fmt("{} Then delete the pod{}{}.", first, Safe(": " if owner is not None else ", "), again)


def allocating_commands(report: PendingReport, address: Address) -> Iterator[Safe]:
    """The commands for it, of a scheduler whose names are known."""
    detail = report.causes[0].detail
    if not isinstance(detail, BoundBy):
        return
    steps = [kubectl("delete", of("pod", report.pod.name, report.pod.namespace))] if report.owner is not None else []
    if detail.scheduler == "volcano":
        where = "volcano-system"
        edit = kubectl("edit", of("configmap", "volcano-scheduler-configmap", where))
        steps = [edit, kubectl("rollout", "restart", of("deployment", "volcano-scheduler", where)), *steps]
    for words in steps:
        yield from command_line("  {}", changing(words, address))
