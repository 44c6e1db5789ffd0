"""What keeps work in a queue of Kueue: the queue, the quota, the flavors, admission checks, or nothing any more.

Kueue decides, and says why in the conditions of its Workload: since v0.17 with a reason (upstream: apis/kueue/v1beta2,
WorkloadQuotaReservedReason…), before that in words only. Whether the devices would be there is another question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.cohorts import circle_above
from kubectl_dra.diagnosis.gates.quota_excess import QuotaExcess, excesses
from kubectl_dra.diagnosis.gates.quota_holders import QuotaHolders, holders
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import Condition
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.queues import (
    COHORT,
    FLAVOR,
    KINDS,
    POD_SET_LABEL,
    WORKLOAD_ANNOTATION,
    ClusterQueue,
    LocalQueue,
    PodSet,
    PodSetAssignment,
    QueuedWorkload,
    QueueObjects,
    RequeueState,
)


class HeldBy(StrEnum):
    """Who has to do something before the work can start."""

    QUOTA = "Quota"  # what its queue may use is used by others
    QUOTA_TOO_SMALL = "QuotaTooSmall"  # it asks for more than its queue may ever use
    FLAVOR = "Flavor"  # its node selector, affinity or tolerations match no flavor of its queue
    TOPOLOGY = "Topology"  # no place in the topology that it asks for
    DEVICES = "Devices"  # Kueue can't count the devices that it asks for
    NO_QUEUE = "NoQueue"  # the queue that it names, or the one behind that, does not exist
    STOPPED = "Stopped"  # the queue is stopped
    COHORT_CIRCLE = "CohortCircle"  # the cohorts above the queue are each other's parents
    DEACTIVATED = "Deactivated"  # the work itself is switched off, by somebody or by Kueue
    NAMESPACE = "Namespace"  # the ClusterQueue does not take work of this namespace
    CHECKS = "AdmissionChecks"  # it has its quota, admission checks are open
    OTHER_CLUSTER = "OtherCluster"  # MultiKueue runs it in another cluster
    OFFERED = "Offered"  # MultiKueue has offered it to other clusters, none of which has admitted it
    OTHERS = "Others"  # Kueue waits for other work to be ready or gone
    BACKOFF = "Backoff"  # Kueue has evicted it, and puts it in the queue again later
    ADMITTED = "Admitted"  # by Kueue it may start
    INCOMPLETE = "Incomplete"  # its group has fewer pods than it says, so that Kueue makes nothing of it
    NO_WORKLOAD = "NoWorkload"  # Kueue has made nothing of it
    NO_KUEUE = "NoKueue"  # the cluster has no Kueue
    UNKNOWN = "Unknown"


class FlavorQuota(ReportRecord, frozen=True):
    """What a ClusterQueue may use of a resource in a flavor, and what is reserved; ``borrows``: more of its cohort."""

    flavor: str
    resource: str
    nominal: str
    reserved: str
    borrows: bool


class Queued(ReportRecord, frozen=True):
    """Work in a queue. ``message`` has Kueue's words; ``others``: the queues that the namespace has.

    ``unread``: kinds of Kueue that could not be read; with ``held_by`` Unknown they are why. ``uncounted``: of work
    that does not exist yet, the DeviceClasses whose devices were compared with no quota, because how Kueue counts them
    is not known. ``workload``: the name of Kueue's object for it, empty where there is none or it was not read.
    ``clusters``: where MultiKueue runs it, or has offered it. ``requeued_at``: when Kueue queues it again that it has
    evicted, ``evictions`` times by now. ``holders``: who has the quota of which it lacks some. ``excesses``: by how
    much it requests more than the queue can ever have, by flavor and resource.
    """

    queue: str
    held_by: HeldBy = HeldBy.UNKNOWN
    cluster_queue: str = ""
    message: str = ""
    quota: tuple[FlavorQuota, ...] = ()
    pending: int | None = None
    others: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()
    workload: str = ""
    clusters: tuple[str, ...] = ()
    requeued_at: str = ""
    evictions: int = 0
    holders: QuotaHolders | None = None
    excesses: tuple[QuotaExcess, ...] = ()

    def quota_of(self, excess: QuotaExcess) -> FlavorQuota | None:
        """The quota that an excess is of; None where the queue was not read."""
        place = excess.resource, excess.flavor
        return next((row for row in self.quota if (row.resource, row.flavor) == place), None)


_REASONS: Final[Mapping[str, HeldBy]] = {
    "NoMatchingFlavor": HeldBy.FLAVOR,
    "WaitingForQuota": HeldBy.QUOTA,
    "ExceedsMaxQuota": HeldBy.QUOTA_TOO_SMALL,
    "TopologyPlacementFailed": HeldBy.TOPOLOGY,
    "WaitingForPreemptedWorkloads": HeldBy.OTHERS,
    "WaitingForPodsReady": HeldBy.OTHERS,
}
#: Words of Kueue, of which the first that occurs counts; before there were reasons nothing else told.
_WORDS: Final[tuple[tuple[str, HeldBy], ...]] = (
    ("insufficient unused quota", HeldBy.QUOTA),
    ("insufficient matching devices", HeldBy.DEVICES),
    ("is not mapped in DRA configuration", HeldBy.DEVICES),
    ("insufficient quota", HeldBy.QUOTA_TOO_SMALL),
    ("doesn't match ClusterQueue selector", HeldBy.NAMESPACE),
    ("doesn't match node affinity", HeldBy.FLAVOR),
    ("untolerated taint", HeldBy.FLAVOR),
    ("topology", HeldBy.TOPOLOGY),
    ("doesn't exist", HeldBy.NO_QUEUE),
    ("is inactive", HeldBy.STOPPED),
)
#: Upstream: Kueue's pkg/scheduler/flavorassigner, of one pod set, one flavor and one resource.
_MISSING: Final = re.compile(
    r"couldn't assign flavors to pod set \S+: insufficient unused quota for (?P<resource>\S+) in flavor "
    r"(?P<flavor>\S+), (?P<more>\S+) more needed"
)
#: What the reasons of an eviction begin with after which Kueue admits it no more (upstream: pkg/workload, Deactivate).
_DEACTIVATED: Final = "Deactivated"
#: Upstream: Kueue's pkg/controller/admissionchecks/multikueue/workload.go; status.clusterName is newer.
_RESERVED_ON: Final = re.compile(r'The workload got reservation on "(?P<cluster>[^"]+)"')
_STOPPING: Final = ("Hold", "HoldAndDrain")


def queued(state: ClusterState, queue: str, namespace: str, owner: tuple[str, str]) -> Queued:
    """What is known of the work that ``owner`` (kind, name) stands for, in ``queue`` of ``namespace``."""
    return _queued(state, queue, namespace, _workload_of(state.inventory.queues, namespace, owner))


def queued_pod(state: ClusterState, queue: str, pod: Pod) -> Queued:
    """The same of the work that a pod is, or is part of."""
    return _queued(state, queue, pod.metadata.namespace, _workload_of_pod(state.inventory.queues, pod))


def _queued(state: ClusterState, queue: str, namespace: str, work: QueuedWorkload | None) -> Queued:
    objects = state.inventory.queues
    local = objects.local_queues.get(Key(namespace, queue))
    name = local.spec.cluster_queue if local is not None else ""
    if work is not None and work.status.admission is not None:
        name = work.status.admission.cluster_queue or name
    cluster = objects.cluster_queues.get(name)
    held, message = _held(objects, queue, (local, name, cluster), work)
    if held is HeldBy.UNKNOWN and work is None and "Workload" in objects.complete:
        held = HeldBy.NO_WORKLOAD
    told = _told(objects, queue, namespace, (held, message), (name, cluster))
    if work is None:
        return told
    again = work.status.requeue_state if held is HeldBy.BACKOFF else RequeueState()
    told = msgspec.structs.replace(
        told,
        workload=work.metadata.name,
        clusters=_clusters(work)[1],
        requeued_at=again.requeue_at,
        evictions=again.count,
        excesses=excesses(message, work) if held is HeldBy.QUOTA_TOO_SMALL else (),
    )
    short = short_of_quota(told)
    if short is None or told.cluster_queue not in objects.cluster_queues:
        return told
    found = holders(objects, told.cluster_queue, short[0].flavor, short[0].resource)
    return msgspec.structs.replace(told, holders=found)


def evicted(state: ClusterState, namespace: str, owner: tuple[str, str]) -> tuple[str, Condition] | None:
    """The Workload that Kueue has evicted, and its words; None where it has not, or its objects were not read."""
    work = _workload_of(state.inventory.queues, namespace, owner)
    said = next((each for each in work.status.conditions if each.type == "Evicted"), None) if work is not None else None
    return (work.metadata.name, said) if work is not None and said is not None and _is_true(said) else None


def flavors_that_select(state: ClusterState, pod: Pod) -> tuple[tuple[str, ...], frozenset[str]]:
    """The flavors that Kueue put a pod on, and the keys of its node selector that these add; both empty if none does.

    Upstream: Kueue's pkg/podset, FromAssignment (the flavor's nodeLabels), and Merge, which adds them to the template
    of whatever makes the pods, and to pods that are their own work.
    """
    meta, work = pod.metadata, _workload_of_pod(state.inventory.queues, pod)
    given = work.status.admission if work is not None else None
    if work is None or given is None or (_said(work) or (None,))[0] is not HeldBy.ADMITTED:
        return (), frozenset()
    named, only = meta.labels.get(POD_SET_LABEL, ""), len(given.pod_set_assignments) == 1
    assigned = next((each for each in given.pod_set_assignments if only or each.name == named), None)
    flavors = sorted(set(assigned.flavors.values())) if assigned is not None else []
    own = next((each.template.spec.node_selector for each in work.spec.pod_sets if _is(each, assigned)), {})
    added = frozenset(key for key, value in pod.spec.node_selector.items() if own.get(key) != value)
    return (tuple(flavors), added) if flavors and added else ((), frozenset())


def _is(pods: PodSet, assigned: PodSetAssignment | None) -> bool:
    return assigned is not None and pods.name == assigned.name


def queue_of(state: ClusterState, queue: str, namespace: str) -> Queued:
    """The same of work that does not exist yet; whether there is quota for it is another question."""
    objects = state.inventory.queues
    local = objects.local_queues.get(Key(namespace, queue))
    name = local.spec.cluster_queue if local is not None else ""
    cluster = objects.cluster_queues.get(name)
    held = _held(objects, queue, (local, name, cluster), None)
    return _told(objects, queue, namespace, held, (name, cluster))


def short_of_quota(found: Queued) -> tuple[FlavorQuota, str] | None:
    """The quota that Kueue's words are about and how much is missing; None where they are about several, or none."""
    short = _MISSING.fullmatch(found.message) if found.held_by is HeldBy.QUOTA else None
    if short is None or not found.cluster_queue:
        return None
    rows = (row for row in found.quota if (row.resource, row.flavor) == (short["resource"], short["flavor"]))
    row = next(rows, None)
    return (row, short["more"]) if row is not None and not row.borrows else None


def _told(
    objects: QueueObjects, queue: str, namespace: str, held: tuple[HeldBy, str], place: tuple[str, ClusterQueue | None]
) -> Queued:
    name, cluster = place
    return Queued(
        queue,
        held[0],
        name,
        held[1],
        tuple(_quota(cluster)) if cluster is not None else (),
        cluster.status.pending_workloads if cluster is not None else None,
        tuple(sorted(key.name for key in objects.local_queues if key.namespace == namespace)),
        tuple(
            kind for kind in KINDS if kind not in (FLAVOR, COHORT) and kind not in objects.complete - objects.refused
        ),
    )


def _workload_of(objects: QueueObjects, namespace: str, owner: tuple[str, str]) -> QueuedWorkload | None:
    """The Workload of a job or pod, the newest of several: a finished one of the same name may be left."""
    found = objects.workloads_by_owner.get((namespace, *owner), ())
    return max(found, key=lambda work: work.metadata.creation_timestamp or "", default=None)


def _workload_of_pod(objects: QueueObjects, pod: Pod) -> QueuedWorkload | None:
    """The Workload that a pod is part of: the one that Kueue names on it, its own, or that of its controller.

    Upstream: Kueue's apis/kueue/v1beta1/topology_types.go, WorkloadAnnotation, which it sets where it places pods by
    topology: their gate is removed once the Workload of their job is admitted.
    """
    meta, controller = pod.metadata, pod.metadata.controller
    named = objects.workloads.get(Key(meta.namespace, meta.annotations.get(WORKLOAD_ANNOTATION, "")))
    if named is not None:
        return named
    owners = [("Pod", meta.name), *([(controller.kind, controller.name)] if controller is not None else [])]
    found = (_workload_of(objects, meta.namespace, owner) for owner in owners)
    return next((work for work in found if work is not None), None)


def _held(
    objects: QueueObjects,
    queue: str,
    places: tuple[LocalQueue | None, str, ClusterQueue | None],
    work: QueuedWorkload | None,
) -> tuple[HeldBy, str]:
    local, name, cluster = places
    if objects.absent:
        return HeldBy.NO_KUEUE, ""
    if work is not None and (said := _said(work)) is not None:
        return said
    if local is None and "LocalQueue" in objects.complete:
        return HeldBy.NO_QUEUE, f"LocalQueue {queue} doesn't exist"
    if local is not None and cluster is None and "ClusterQueue" in objects.complete:
        return HeldBy.NO_QUEUE, f"ClusterQueue {name} doesn't exist"
    stopped = next(filter(None, (_stopped(local), _stopped(cluster))), None)
    if stopped is not None:
        return HeldBy.STOPPED, stopped
    if cluster is not None and (circle := circle_above(objects, cluster)):
        return HeldBy.COHORT_CIRCLE, ", ".join(circle)
    return HeldBy.UNKNOWN, ""


def _said(work: QueuedWorkload) -> tuple[HeldBy, str] | None:
    """What Kueue says of a Workload; None where it has said nothing yet."""
    conditions = {each.type: each for each in work.status.conditions}
    off = conditions.get("Evicted")
    off = off if _is_true(off) and off is not None and off.reason.startswith(_DEACTIVATED) else None
    if work.spec.active is False or (off is not None and not _is_true(conditions.get("Admitted"))):
        return HeldBy.DEACTIVATED, off.message if off is not None else ""
    elsewhere, _ = _clusters(work)
    if elsewhere is not None and _is_true(conditions.get("QuotaReserved")):
        return elsewhere, ""
    if _is_true(conditions.get("Admitted")):
        return HeldBy.ADMITTED, ""
    reserved = conditions.get("QuotaReserved")
    if _is_true(reserved):
        checks = (each for each in work.status.admission_checks if each.state != "Ready")
        told = "; ".join(f"{each.name} is {each.state}{f': {each.message}' if each.message else ''}" for each in checks)
        return HeldBy.CHECKS, told
    evicted, later = conditions.get("Evicted"), conditions.get("Requeued")
    waits = later is not None and not _is_true(later) and bool(work.status.requeue_state.requeue_at)
    if waits and evicted is not None and _is_true(evicted):
        return HeldBy.BACKOFF, evicted.message
    for each in (reserved, evicted):
        if each is not None and each.message and (each is reserved or _is_true(each)):
            return _classified(each), each.message
    return None


def _clusters(work: QueuedWorkload) -> tuple[HeldBy | None, tuple[str, ...]]:
    """Where MultiKueue runs a Workload, or has offered it; the check of the former stays Pending on purpose."""
    said = (_RESERVED_ON.search(each.message) for each in work.status.admission_checks)
    runs = work.status.cluster_name or next((found["cluster"] for found in said if found is not None), "")
    offered = work.status.nominated_cluster_names
    if runs:
        return HeldBy.OTHER_CLUSTER, (runs,)
    return (HeldBy.OFFERED, offered) if offered else (None, ())


def _classified(condition: Condition) -> HeldBy:
    known = _REASONS.get(condition.reason)
    return known or next((held for words, held in _WORDS if words in condition.message), HeldBy.UNKNOWN)


def _is_true(condition: Condition | None) -> bool:
    return condition is not None and condition.status == "True"


def _stopped(place: LocalQueue | ClusterQueue | None) -> str | None:
    """Why a queue takes nothing; None if it does, or is not known."""
    if place is None:
        return None
    what = f"{type(place).__name__} {place.metadata.name}"
    if place.spec.stop_policy in _STOPPING:
        return f"spec.stopPolicy of {what} is {place.spec.stop_policy}"
    active = next((each for each in place.status.conditions if each.type == "Active"), None)
    return f"{what} is not active: {active.message}" if active is not None and active.status == "False" else None


def _quota(queue: ClusterQueue) -> Iterator[FlavorQuota]:
    used = {
        (flavor.name, resource.name): resource.total
        for flavor in queue.status.flavors_reservation
        for resource in flavor.resources
    }
    in_cohort = bool(queue.spec.cohort or queue.spec.cohort_name)
    for flavor in (flavor for group in queue.spec.resource_groups for flavor in group.flavors):
        for each in flavor.resources:
            reserved = used.get((flavor.name, each.name))
            borrows = in_cohort and (each.borrowing_limit is None or each.borrowing_limit.unscaled > 0)
            yield FlavorQuota(flavor.name, each.name, _text(each.nominal_quota), _text(reserved), borrows)


def _text(amount: Quantity | None) -> str:
    return str(amount) if amount is not None else "0"
