"""Gangs of other programs, by what these leave on pods: Kueue, Volcano, the coscheduling plugin, KAI, YuniKorn.

What they decide can't be told from here. Whose decision it is can, which object shows it, how many pods of the gang
exist, and how many of these would fit by the default scheduler's rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.gangs.one_by_one import Placed, place_one_by_one
from kubectl_dra.diagnosis.gates.queues import HeldBy, queued_pod
from kubectl_dra.diagnosis.records import Cause, GangElsewhere, PluginText, QueueLimit, TaskGroup
from kubectl_dra.diagnosis.said import foreign
from kubectl_dra.model.core import Pod
from kubectl_dra.model.gang_objects import SCHEDULER_PLUGINS, OtherGroup, OtherQueue
from kubectl_dra.model.gang_objects import VOLCANO as OF_VOLCANO
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.queues import NO_QUEUES, QUEUE_LABEL
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler import reasons

_OF_VOLCANO_JOBS: Final = "batch.volcano.sh/"
#: Volcano's own queue, and the states of queues that take no group.
_DEFAULT_QUEUE: Final = "default"
_SHUT: Final = ("Closed", "Closing")


class _Written(msgspec.Struct, rename={"least": "minMember"}, frozen=True):
    """One of the task groups in the annotation of a pod."""

    name: str = ""
    least: int | None = None


_task_groups: Final = msgspec.json.Decoder(list[_Written])


class System(msgspec.Struct, frozen=True):
    """One program. ``labels`` and ``annotations`` name the gang, the first that is there counts.

    ``resource``: what to look at, as kubectl takes it; ``named``: that object is called like the gang. ``gates`` are
    the scheduling gates by which it holds pods, ``schedulers`` the names of its own schedulers. ``own_pods``: only pods
    of these are its, whatever labels others have.
    """

    name: str
    resource: str
    labels: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    total: str = ""
    gates: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    named: bool = True
    own_pods: bool = False


KUEUE: Final = System(
    "Kueue",
    "workloads.kueue.x-k8s.io",
    labels=("kueue.x-k8s.io/pod-group-name",),
    queues=(QUEUE_LABEL,),
    total="kueue.x-k8s.io/pod-group-total-count",
    gates=("kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"),
)
VOLCANO: Final = System(
    "Volcano",
    "podgroups.scheduling.volcano.sh",
    annotations=("scheduling.k8s.io/group-name",),
    queues=("volcano.sh/queue-name", "scheduling.volcano.sh/queue-name"),
    schedulers=("volcano",),
)
COSCHEDULING: Final = System(
    "coscheduling",
    "podgroups.scheduling.x-k8s.io",
    labels=(
        "scheduling.x-k8s.io/pod-group",
        "pod-group.scheduling.sigs.k8s.io/name",
        "pod-group.scheduling.sigs.k8s.io",
    ),
)
KAI: Final = System(
    "KAI",
    "podgroups.scheduling.run.ai",
    annotations=("pod-group-name",),
    queues=("kai.scheduler/queue", "runai/queue"),
    schedulers=("kai-scheduler", "runai-scheduler"),
)
#: Upstream: yunikorn-k8shim, pkg/common/constants, and pkg/common/utils (GetApplicationIDFromPod).
YUNIKORN: Final = System(
    "YuniKorn",
    "",
    labels=("yunikorn.apache.org/app-id", "applicationId", "spark-app-selector"),
    annotations=("yunikorn.apache.org/app-id",),
    queues=("yunikorn.apache.org/queue", "queue"),
    schedulers=("yunikorn",),
    named=False,
    own_pods=True,
)
#: The task groups of an application, of which each starts ``minMember`` pods at once, and the one of a pod.
_TASK_GROUPS: Final = "yunikorn.apache.org/task-groups"
_TASK_GROUP: Final = "yunikorn.apache.org/task-group-name"
#: So many gangs are named that wait for the same as one, of so many that are tried beside it.
_RIVALS, _BESIDE = 3, 8
_SCHEDULERS: Final = (YUNIKORN, VOLCANO, KAI, COSCHEDULING)
#: Public names by which these programs are recognised: they say nothing about a cluster that its pods do not say.
PUBLIC_NAMES: Final = frozenset(
    name for system in (KUEUE, *_SCHEDULERS) for name in (*system.gates, *system.schedulers)
)


def is_held_by_queue(pods: Iterable[Pod], namespace: str = "") -> bool:
    """Whether a queue holds any of the pods in the namespace (empty: in any) by a scheduling gate."""
    return any(
        gate.name in KUEUE.gates
        for pod in pods
        if namespace in ("", pod.metadata.namespace)
        for gate in pod.spec.scheduling_gates
    )


def held_by_queue(state: ClusterState, pod: Pod) -> GangElsewhere | None:
    """The queue that holds a pod by a scheduling gate; None if none is known to."""
    gates = [gate.name for gate in pod.spec.scheduling_gates if gate.name in KUEUE.gates]
    if not gates:
        return None
    found, queues = _told(state, KUEUE, pod, tuple(gates)), state.inventory.queues
    if queues is NO_QUEUES or not found.queue:
        return found
    waits = queued_pod(state, found.queue, pod)
    if waits.held_by is not HeldBy.NO_WORKLOAD:
        return msgspec.structs.replace(found, waits=waits)
    members = _members_of(state, KUEUE, pod)
    short = found.expected is not None and len(members) < found.expected
    # Without all pods of the namespace, those that were not read may be the missing ones.
    known = state.evidence.complete("Pod", pod.metadata.namespace)
    waits = msgspec.structs.replace(
        waits,
        held_by=HeldBy.INCOMPLETE if short and known else HeldBy.NO_WORKLOAD,
        message=foreign.composing(state.inventory, members),
    )
    present = tuple(each.metadata.name for each in members) if short and known else ()
    return msgspec.structs.replace(found, waits=waits, present=present)


def left_to(state: ClusterState, pod: Pod) -> GangElsewhere | None:
    """The gang scheduler that a pod of another scheduler is left to; None if that is none that is known."""
    for system in _SCHEDULERS:
        if _is_of(system, pod):
            found = _told(state, system, pod, ())
            return _of_volcano(state, pod, found) if system is VOLCANO else found
    return None


def coscheduling_label(pod: Pod) -> str:
    """The label by which the coscheduling plugin, if the pod's scheduler has it, knows the pod's gang; else empty."""
    return next((label for label in COSCHEDULING.labels if pod.metadata.labels.get(label)), "")


def incomplete(state: ClusterState, pod: Pod) -> GangElsewhere | None:
    """The gang of a pod, where the coscheduling plugin lets none of its pods be tried, as too few of them exist.

    Upstream: scheduler-plugins, pkg/coscheduling/core/core.go (PreFilter): all pods with the label count, finished ones
    too. Whether a scheduler has the plugin is not written anywhere: what it wrote about a pod of the gang tells, or
    that its controller has written a phase.
    """
    label, namespace = coscheduling_label(pod), pod.metadata.namespace
    gang = pod.metadata.labels.get(label, "")
    group = state.inventory.gangs.groups.get((SCHEDULER_PLUGINS, Key(namespace, gang)))
    if group is None or not state.evidence.complete("Pod", namespace):
        return None
    there = [each for each in _all_members(state, COSCHEDULING, pod) if each.metadata.labels.get(label) == gang]
    if len(there) >= group.spec.min_member or not (group.status.phase or any(map(_is_told_of_gang, there))):
        return None
    names = tuple(sorted(each.metadata.name for each in there))
    return msgspec.structs.replace(_told(state, COSCHEDULING, pod, ()), expected=group.spec.min_member, present=names)


def _is_told_of_gang(pod: Pod) -> bool:
    """Whether the scheduler's message about a pod has words of the plugin."""
    said = (each.message for each in pod.status.conditions if each.type == "PodScheduled")
    return any(reasons.TOO_FEW_SIBLINGS in each for each in said)


def gangs_to_read(inventory: Inventory, namespace: str) -> frozenset[str]:
    """The groups of the API whose gangs say why pods of the namespace (empty: of any) wait."""
    waiting = [
        pod
        for pod in inventory.pods.values()
        if namespace in ("", pod.metadata.namespace) and not (pod.spec.node_name or is_terminal(pod))
    ]
    return frozenset(group for pod in waiting for group in gang_groups(pod))


def gang_groups(pod: Pod) -> Iterator[str]:
    """The groups of the API that have the gang of a pod."""
    if coscheduling_label(pod):
        yield SCHEDULER_PLUGINS
    if _is_of(VOLCANO, pod):
        yield OF_VOLCANO


def _is_of(system: System, pod: Pod) -> bool:
    return pod.spec.scheduler_name in system.schedulers or (not system.own_pods and bool(_gang(system, pod)))


def with_gang(state: ClusterState, pod: Pod, cause: Cause) -> Cause:
    """A cause that is the coscheduling plugin's words: with the gang that it speaks of."""
    text = cause.detail
    if not isinstance(text, PluginText) or text.plugin != reasons.COSCHEDULING or not coscheduling_label(pod):
        return cause
    found = msgspec.structs.replace(_told(state, COSCHEDULING, pod, ()), says=text.text)
    return msgspec.structs.replace(cause, detail=found)


def _told(state: ClusterState, system: System, pod: Pod, gates: tuple[str, ...]) -> GangElsewhere:
    gang, metadata = _gang(system, pod), pod.metadata
    total = metadata.annotations.get(system.total, "")
    members = _members_of(state, system, pod)
    waiting = [each for each in members if not each.spec.node_name]
    placed = _placed(state, system.name, key_of(metadata), gang, waiting)
    return GangElsewhere(
        system.name,
        system.resource,
        gang if system.named else "",
        scheduler=pod.spec.scheduler_name,
        gates=gates,
        queue=next((value for key in system.queues if (value := _either(pod, key))), ""),
        expected=int(total) if total.isdecimal() else None,
        members=len(members),
        waiting=len(waiting),
        fitting=placed.number if placed is not None else None,
        job=_volcano_job(pod),
        application=gang if system is YUNIKORN else "",
        task_group=_task_group(members, pod) if system is YUNIKORN else None,
        lacking=placed.lacking.name if placed is not None and placed.lacking is not None else "",
        rivals=_rivals(state, pod, waiting) if system is COSCHEDULING and placed is not None else (),
    )


def _rivals(state: ClusterState, pod: Pod, waiting: Sequence[Pod]) -> tuple[str, ...]:
    """The other gangs of the namespace that gave up waiting, as this one did, and do not fit beside it; the first few.

    Upstream: scheduler-plugins, pkg/coscheduling (Permit): all are rejected when scheduleTimeoutSeconds are over.
    """
    mine, found = _gang(COSCHEDULING, pod), list[str]()
    there = _that_gave_up(state).get((pod.metadata.namespace, pod.spec.scheduler_name), {})
    for gang in list(there)[: _BESIDE + 1] if mine in there else ():
        if gang != mine and len(found) < _RIVALS:
            both = [*waiting, *there[gang]]
            placed = _placed(state, COSCHEDULING.name, key_of(pod.metadata), f"{mine}+{gang}", both)
            found += [gang] if placed is not None and placed.number < len(both) else []
    return tuple(found)


@derived("pods")
def _that_gave_up(state: ClusterState) -> Mapping[tuple[str, str], Mapping[str, Sequence[Pod]]]:
    """By namespace and scheduler the gangs of which a pod gave up, with those of their pods that wait, by name."""
    found: dict[tuple[str, str], dict[str, list[Pod]]] = {}
    for (system, namespace, gang), pods in sorted(_members(state).items()):
        waiting = [each for each in pods if not (each.spec.node_name or is_terminal(each))]
        schedulers = {each.spec.scheduler_name for each in waiting}
        if system == COSCHEDULING.name and len(schedulers) == 1 and any(map(_has_given_up, waiting)):
            found.setdefault((namespace, schedulers.pop()), {})[gang] = waiting
    return found


def _has_given_up(pod: Pod) -> bool:
    """Whether the last thing that was said of a pod is that the rest of its gang found no place in time."""
    said = (each.message for each in pod.status.conditions if each.type == "PodScheduled")
    return any(text in each for each in said for text in reasons.GAVE_UP)


def _of_volcano(state: ClusterState, pod: Pod, found: GangElsewhere) -> GangElsewhere:
    """With what its PodGroup and Queue say, where they were read.

    Upstream: volcano, pkg/scheduler/plugins/gang (JobValidFn; ValidTaskNum counts all pods but those that have failed)
    and plugins/proportion (JobEnqueueableFn: only groups that are not enqueued yet ask for an open queue).
    """
    gangs, namespace = state.inventory.gangs, pod.metadata.namespace
    group = gangs.groups.get((OF_VOLCANO, Key(namespace, _gang(VOLCANO, pod))))
    if group is None:
        return found
    queue = group.spec.queue or found.queue or _DEFAULT_QUEUE
    known = gangs.queues.get(queue)
    waits = group.status.phase in ("", "Pending")
    closed = known.status.state if known is not None and waits and known.status.state in _SHUT else ""
    limits = tuple(_beyond(known, group)) if known is not None and waits else ()
    found = msgspec.structs.replace(found, queue=queue, queue_state=closed, limits=limits)
    there = [each for each in _all_members(state, VOLCANO, pod) if each.status.phase != "Failed"]
    if not state.evidence.complete("Pod", namespace) or len(there) >= group.spec.min_member:
        return found
    names = tuple(sorted(each.metadata.name for each in there))
    return msgspec.structs.replace(found, expected=group.spec.min_member, present=names)


def _beyond(queue: OtherQueue, group: OtherGroup) -> Iterator[QueueLimit]:
    """The resources that the group needs beyond what its queue may have.

    Upstream: volcano, pkg/scheduler/plugins/proportion and capacity (JobEnqueueableFn), which also count the groups
    that are let go already, and leave out what running groups have beyond their least number of pods.
    """
    for name, needed in sorted(group.spec.min_resources.items()):
        most, used = queue.spec.capability.get(name), queue.status.allocated.get(name, Quantity.parse("0"))
        if most is not None and used.add(needed).cmp(most) > 0:
            yield QueueLimit(name, str(most), str(used), str(needed))


def _task_group(members: Sequence[Pod], pod: Pod) -> TaskGroup | None:
    """The task group of a pod, with the number that the first pod of the application says of it."""
    name = pod.metadata.annotations.get(_TASK_GROUP, "")
    written = (each.metadata.annotations.get(_TASK_GROUPS, "") for each in members)
    for text in filter(None, written):
        try:
            found = _task_groups.decode(text)
        except (msgspec.MsgspecError, UnicodeError):
            continue
        least = next((each.least for each in found if each.name == name), None)
        if least is not None:
            return TaskGroup(name, least)
    return TaskGroup(name) if name else None


def _volcano_job(pod: Pod) -> str:
    owner = pod.metadata.controller
    volcano = owner is not None and owner.kind == "Job" and owner.api_version.startswith(_OF_VOLCANO_JOBS)
    return owner.name if owner is not None and volcano else ""


def _gang(system: System, pod: Pod) -> str:
    labels, annotations = pod.metadata.labels, pod.metadata.annotations
    named = (*(labels.get(key, "") for key in system.labels), *(annotations.get(key, "") for key in system.annotations))
    return next(filter(None, named), "")


def _either(pod: Pod, key: str) -> str:
    return pod.metadata.labels.get(key) or pod.metadata.annotations.get(key, "")


def _members_of(state: ClusterState, system: System, pod: Pod) -> tuple[Pod, ...]:
    """The pods of a pod's gang, or the pod itself where it has none."""
    return tuple(each for each in _all_members(state, system, pod) if not is_terminal(each)) or (pod,)


def _all_members(state: ClusterState, system: System, pod: Pod) -> tuple[Pod, ...]:
    """The same with those that are finished; none where it has no gang."""
    return _members(state).get((system.name, pod.metadata.namespace, _gang(system, pod)), ())


@derived("pods")
def _members(state: ClusterState) -> Mapping[tuple[str, str, str], tuple[Pod, ...]]:
    """The pods of each gang, the oldest first."""
    found: dict[tuple[str, str, str], list[Pod]] = {}
    for pod in state.inventory.pods.values():
        for system in (KUEUE, *_SCHEDULERS):
            gang = _gang(system, pod)
            if gang and (not system.own_pods or _is_of(system, pod)):
                found.setdefault((system.name, pod.metadata.namespace, gang), []).append(pod)
    return {key: tuple(sorted(pods, key=_age)) for key, pods in found.items()}


@derived("pods")
def volcano_gangs(state: ClusterState) -> frozenset[Key]:
    """The groups of Volcano's that have pods, finished ones too."""
    return frozenset(Key(namespace, gang) for system, namespace, gang in _members(state) if system == VOLCANO.name)


def _age(pod: Pod) -> tuple[str, str]:
    return pod.metadata.creation_timestamp or "", pod.metadata.name


@derived()
def _known(_state: ClusterState) -> dict[tuple[str, Key], Placed | None]:
    return {}


def placed_of(state: ClusterState, pod: Pod) -> Placed | None:
    """What becomes of the pods of a gang, or of one that is in none, by the default scheduler's rules.

    None if that can't be told.
    """
    system = next((each for each in _SCHEDULERS if _is_of(each, pod)), None)
    key, gang = key_of(pod.metadata), _gang(system, pod) if system is not None else ""
    waiting = [each for each in _members_of(state, system, pod) if not each.spec.node_name] if system else [pod]
    return _placed(state, system.name if system is not None else "", key, gang, waiting)


def _placed(state: ClusterState, system: str, pod: Key, gang: str, waiting: Sequence[Pod]) -> Placed | None:
    known = _known(state)
    asked = system, Key(pod.namespace, gang) if gang else pod
    if asked not in known:
        known[asked] = place_one_by_one(state, pod.namespace, waiting)
    return known[asked]
