"""Evidence about the pod itself: what keeps it out of the queue, what happens to it on its node or at its end."""

from __future__ import annotations

from kubectl_dra.diagnosis.gates.queues import Queued
from kubectl_dra.diagnosis.records.objects import Evidence, Missing, ObjectRef
from kubectl_dra.diagnosis.records.requests import HeldFor
from kubectl_dra.model.base import ReportRecord


class Gates(Evidence, frozen=True):
    """``spec.schedulingGates``."""

    names: tuple[str, ...]


class SchedulerName(Evidence, frozen=True):
    """``spec.schedulerName``; ``words``: what it wrote last about the pod, how often, and when last and first.

    ``silent_since``: when the pod was created, where certainly nothing was written about it. ``fitting``: 1 where
    it would find a node by the default scheduler's rules, else 0; None where that is not known. ``stopped``: the
    workload of that name, where it is to have no pods.
    """

    name: str
    words: str = ""
    time: str = ""
    times: int = 1
    first: str = ""
    silent_since: str = ""
    fitting: int | None = None
    stopped: ObjectRef | None = None


class PodGroupName(Evidence, frozen=True):
    """``spec.schedulingGroup.podGroupName``; ``similar`` are existing names where there is no such group.

    ``workloads``: those of the pod's controller, from whose templates it makes groups.
    """

    name: str
    similar: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()


class TaskGroup(ReportRecord, frozen=True):
    """A task group of a YuniKorn application: so many of its pods start at once; None where that is not written."""

    name: str
    least: int | None = None


class QueueLimit(ReportRecord, frozen=True):
    """What a queue may have of a resource at ``most``, what it has ``used`` of it, and what a group in it needs."""

    resource: str
    most: str
    used: str
    needed: str


class GangElsewhere(Evidence, frozen=True):
    """A gang of another program: ``system`` decides, and its object ``resource``/``name`` shows what.

    ``scheduler``: ``spec.schedulerName``; ``gates``: the scheduling gates by which a queue holds the pod. Of the gang
    ``members`` exist (``expected``: how many there are to be), ``waiting`` have no node, and ``fitting`` of these would
    find one by the default scheduler's rules, None where that is not known. ``waits``: what Kueue's objects say, where
    they were read; ``says``: the words of its plugin in the scheduler's message. ``words``: what the scheduler of the
    gang wrote last about the pod or its group, ``times`` from ``first`` to ``time``. ``present``: the pods of a group
    that lacks some. ``lacking``: the first waiting pod that would find no node. ``queue_state``: of a queue that takes
    no group. ``job``: the Volcano Job that makes its pods. ``application`` and ``task_group`` are YuniKorn's.
    ``limits``: of a group that its queue has not let go, the resources of which the queue may not have so much more.
    ``rivals``: other gangs that gave up waiting for their rest as this one did, and do not all fit beside it.
    """

    system: str
    resource: str
    name: str = ""
    scheduler: str = ""
    gates: tuple[str, ...] = ()
    queue: str = ""
    expected: int | None = None
    members: int = 1
    waiting: int = 1
    fitting: int | None = None
    waits: Queued | None = None
    says: str = ""
    words: str = ""
    time: str = ""
    times: int = 1
    first: str = ""
    present: tuple[str, ...] = ()
    lacking: str = ""
    queue_state: str = ""
    job: str = ""
    application: str = ""
    task_group: TaskGroup | None = None
    limits: tuple[QueueLimit, ...] = ()
    rivals: tuple[str, ...] = ()


class VolumeHeld(ReportRecord, frozen=True):
    """A volume that is still attached to other ``nodes``, and the pods that use it there, as far as there are any.

    ``claim``: the PersistentVolumeClaim by which the pod names it; empty where that is not known.
    """

    volume: str
    claim: str = ""
    users: tuple[ObjectRef, ...] = ()
    nodes: tuple[str, ...] = ()


class KubeletText(Evidence, frozen=True):
    """What the kubelet said about preparing devices; ``kubelet``: its version, where that may be the reason.

    ``times``: how often it said so from ``first`` to ``time``. ``reason``: of an event about something else, which
    ``held`` explains where another node has the volume.
    """

    text: str
    driver: str = ""
    detail: str = ""
    time: str = ""
    kubelet: str = ""
    times: int = 1
    first: str = ""
    reason: str = ""
    held: VolumeHeld | None = None


class BoundBy(Evidence, frozen=True):
    """A scheduler that put the pod on its node without allocating its claim; ``said``: what the kubelet says of it."""

    scheduler: str
    said: KubeletText | None = None


class KubeletRejection(Evidence, frozen=True):
    """Why a pod has failed, by its status; ``others``: pods of the same controller that failed for the same reason."""

    reason: str
    message: str
    others: int = 0


class Health(Evidence, frozen=True):
    """Health of a device according to the pod's status."""

    device: str
    health: str
    container: str
    message: str = ""


class ContainerWaits(Evidence, frozen=True):
    """A container's ``state.waiting``; ``reason`` is empty for one that runs and is not ready.

    ``restarts``: how often it was started again; ``ended``: how it ended last, ``OOMKilled`` or ``exit code 1``.
    ``initializes``: an init container that runs, ``since`` when, and for the end of which the others wait.
    """

    container: str
    reason: str
    message: str = ""
    restarts: int = 0
    ended: str = ""
    initializes: bool = False
    since: str = ""


class HeldTaint(ReportRecord, frozen=True):
    """A taint of a device that a pod has, and the rule that sets it; empty where the driver does."""

    device: str
    taint: str
    rule: str = ""


class Departure(Evidence, frozen=True):
    """A pod that goes away: since when it is deleted (None: it is about to be), and who evicts it.

    ``reason``, ``message`` and ``time`` are those of the condition DisruptionTarget. ``finalizers`` hold a deleted pod.
    """

    deleted: str = ""
    reason: str = ""
    message: str = ""
    time: str = ""
    finalizers: tuple[str, ...] = ()
    taints: tuple[HeldTaint, ...] = ()


class Refusal(Evidence, frozen=True):
    """What the scheduler could not write: the words behind the plugin's name, the whole message, when it was last said.

    ``order_known``: nothing that it depends on has changed since; else that is not known. ``earlier``: something else
    is in the way by now. ``plugin``: who speaks, where that is none of the default profile, and ``point``: where it was
    asked (``PreBind``).
    """

    text: str
    message: str
    time: str = ""
    order_known: bool = True
    earlier: bool = False
    plugin: str = ""
    point: str = ""


class AllocationInFlight(Evidence, frozen=True):
    """A claim that the scheduler finds in the process of being allocated: how often, first and last (RFC 3339).

    ``group``: the pod's PodGroup, where another pod of it shares the claim. ``order_known``: nothing that it depends on
    has changed since; else that is not known.
    """

    group: str = ""
    times: int = 1
    first_time: str = ""
    last_time: str = ""
    order_known: bool = True


class HeardReason(ReportRecord, frozen=True):
    """A reason of the scheduler's message, and of how many nodes it says so; ``plugin``: whose words these are.

    ``resource``: of which the pod requests ``requested`` (milli-cores or base units), where nodes have too little.
    ``of_all``: said of the pod, before any node was tried. ``wish``: what of the pod these nodes do not meet, or have
    in use (labels, host ports, volume claims), and ``users``: pods of its namespace that use it, ``NAME on NODE``.
    """

    text: str
    nodes: int
    plugin: str = ""
    resource: str = ""
    requested: int = 0
    of_all: bool = False
    wish: str = ""
    users: tuple[str, ...] = ()


class DeviceUser(ReportRecord, frozen=True):
    """A pod, or a claim that no pod or several use, as ``NAMESPACE/NAME``, and how many devices it has.

    ``own``: it is another pod of the same controller.
    """

    name: str
    devices: int
    own: bool = False


class AllocatedOnNode(ReportRecord, frozen=True):
    """So many ``devices`` of a class are in use on a node, by the claims that were read.

    ``nodes``: of how many nodes it is the sum; then none is named.
    """

    node: str
    device_class: str
    devices: int
    users: tuple[DeviceUser, ...]
    nodes: int = 1


class OwnHolder(ReportRecord, frozen=True):
    """A pod of the waiting pod's namespace, or a claim there that no pod uses, with devices of one of its classes.

    ``again``: the controller that makes the pod anew once it is deleted.
    """

    holder: ObjectRef
    device_class: str
    devices: int
    node: str
    held_for: HeldFor
    again: ObjectRef | None = None


class MissingEvidence(Evidence, frozen=True):
    """What could not be read. ``heard``: what the scheduler, who reads everything, says of ``heard_nodes`` nodes.

    ``allocated``: devices of the pod's classes that are in use all the same, where slices are what could not be read.
    ``own``: who of the pod's namespace has some; those that need them least come first. ``claims``: those of the pod
    that could not be read.
    """

    missing: tuple[Missing, ...]
    heard: tuple[HeardReason, ...] = ()
    heard_nodes: int = 0
    allocated: tuple[AllocatedOnNode, ...] = ()
    own: tuple[OwnHolder, ...] = ()
    claims: tuple[str, ...] = ()


class Retry(Evidence, frozen=True):
    """Why a pod that fits is still pending: when the scheduler last wrote, what makes it try again.

    ``untried_since``: when the pod was made, if no scheduler has written anything of it for longer than one ever needs.
    """

    last_message_time: str = ""
    triggers: tuple[str, ...] = ()
    fallback_seconds: int = 300
    untried_since: str = ""
