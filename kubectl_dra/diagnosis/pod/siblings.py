"""The other pods of a pod's own workload that hold what it needs, or wait as it does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.autoscalers import KIND, UNSCALED, Bounds, bounds_by_target
from kubectl_dra.diagnosis.pod.workloads import CRON_JOB, Owners
from kubectl_dra.diagnosis.records import Cause, Funnel, NodeGroup, NodeOutcome, ObjectRef, PodDiagnosis, StageName
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.model.workloads import ONE_RUN

#: Where devices that would do are in use, perhaps among others that would not.
_CODES: Final = frozenset(
    {Code.DEVICES_IN_USE, Code.DEVICES_TAINTED, Code.DEVICES_UNUSABLE, Code.ALL_MODE_BLOCKED, Code.CONSTRAINT}
)
#: Of so many controllers of pods that hold devices it is found out what is above them.
_READ: Final = 30
#: Kinds that say themselves how many pods they have.
_SCALABLE: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "Job"})


#: Those that have as many pods as they say.
_REPLICAS: Final = frozenset({"ReplicaSet", "StatefulSet"})


class Siblings(ReportRecord, frozen=True):
    """Pods of the same ``workload``, which one object made all of.

    ``holders`` have ``devices`` of the ``used`` ones that the pod's request could have, were they free. Of all pods of
    its controller ``placed`` have a node, and ``waiting`` have none, this one among them; both 0 where not all pods
    were read, or pods of another controller hold devices. ``scalable``: the number of pods stands in the workload
    itself, which nothing else makes. ``scaled_by``: the bounds of an autoscaler that sets it again;
    ``autoscalers_known``: whether there can be no other. ``planned``: none of the pods exists yet. ``uncreated``: so
    many more its controller is to make; ``one_by_one``: each only when those before it are ready.
    """

    workload: ObjectRef
    holders: tuple[ObjectRef, ...]
    devices: int
    used: int
    placed: int
    waiting: int
    scalable: bool = False
    scaled_by: Bounds | None = None
    autoscalers_known: bool = False
    planned: bool = False
    uncreated: int = 0
    one_by_one: bool = False

    @property
    def hold_all(self) -> bool:
        """Whether they have whatever is in use."""
        return self.devices == self.used > 0

    @property
    def may_be_scaled(self) -> bool:
        """Whether an autoscaler would undo what helps: to let the workload have fewer pods."""
        return self.hold_all and self.scalable and self.workload.kind not in UNSCALED

    def scaled(self, state: ClusterState) -> Siblings:
        """With what the autoscalers of ``state`` say of the workload."""
        known = state.evidence.complete(KIND, self.workload.namespace)
        bounds = bounds_by_target(state.inventory).get(self.workload)
        return msgspec.structs.replace(self, scaled_by=bounds, autoscalers_known=known)


class NextRun(ReportRecord, frozen=True):
    """What a ``cron_job`` does when a run comes due while that of the pod has not ended, by its concurrencyPolicy."""

    cron_job: ObjectRef
    policy: str


def next_run(state: ClusterState, diagnosis: PodDiagnosis, owners: Owners) -> NextRun | None:
    """None for a pod of no CronJob, or of one whose next run starts beside this one, or not at all."""
    pod = state.inventory.pods.get(diagnosis.pod.key)
    top = owners.top(pod) if pod is not None and not is_terminal(pod) else None
    found = top.object.spec if top is not None and top.object is not None and top.ref.kind == CRON_JOB else None
    if top is None or found is None or found.suspend or found.concurrency_policy not in ONE_RUN:
        return None
    return NextRun(top.ref, found.concurrency_policy)


def siblings(state: ClusterState, diagnosis: PodDiagnosis, owners: Owners) -> Siblings | None:
    """None where no sibling holds anything, and no other waits; what makes the holders is read, of some of them."""
    inventory, cause = state.inventory, next(iter(diagnosis.causes), None)
    pod = inventory.pods.get(diagnosis.pod.key)
    if pod is None or pod.metadata.controller is None or cause is None or cause.code not in _CODES:
        return None
    share = _sharing(owners, pod)
    found, used = _in_use(inventory, diagnosis, cause, lambda each: _stays(each) and share(each))
    holders = sorted({key_of(each.metadata) for each in found.values()})
    direct = all(owners.are_siblings(pod, each) for each in found.values())
    placed, waiting = _numbers(state, owners, pod) if direct else (0, 0)
    uncreated, one_by_one = _uncreated(owners, pod, placed + waiting)
    if not holders and waiting < 2 and not uncreated:
        return None
    refs, workload = tuple(ObjectRef.of("Pod", key) for key in holders), _shared(owners, pod, found.values())
    top = owners.top(pod)
    # Of one that was not read, others may set the number: a Deployment that of its ReplicaSet.
    scalable = workload.kind in _SCALABLE and top is not None and top.known and top.ref == workload
    return Siblings(
        workload,
        refs,
        len(found),
        used,
        placed,
        waiting,
        scalable,
        uncreated=uncreated,
        one_by_one=one_by_one,
    )


def _uncreated(owners: Owners, pod: Pod, there: int) -> tuple[int, bool]:
    """How many more pods the controller of a pod is to make, and whether one by one; 0 where that is not known."""
    found = owners.controller(pod)
    if not there or found is None or found.object is None or found.ref.kind not in _REPLICAS:
        return 0, False
    wanted = 1 if found.object.spec.replicas is None else found.object.spec.replicas
    return max(wanted - there, 0), found.object.makes_one_by_one(found.ref.kind)


def _sharing(owners: Owners, pod: Pod) -> Callable[[Pod], bool]:
    """Whether pods are parts of the same workload, or of runs of one CronJob, worked out once for each controller.

    Of other controllers than the first ones only the pod's own counts: each may have to be read from the server.
    """
    known: dict[tuple[str, OwnerReference], bool] = {}

    def is_own(other: Pod) -> bool:
        controller = other.metadata.controller
        if controller is None:
            return False
        key = other.metadata.namespace, controller
        if key not in known:
            if len(known) < _READ:
                known[key] = owners.share_workload(pod, other) or owners.are_of_one_cron_job(pod, other)
            else:
                known[key] = owners.are_siblings(pod, other)
        return known[key]

    return is_own


def taken_by(
    state: ClusterState, diagnosis: PodDiagnosis, subject: ObjectRef, pods: Collection[Key], placed: int
) -> Siblings | None:
    """The same of pods that are made of ``subject`` or beside it, of which ``placed`` have a node.

    Of a group that does not fit the first pod without a node counts; what is in use there its other pods have, too.
    """
    grouped = any(each.code is Code.POD_GROUP_UNPLACED for each in diagnosis.causes[:1])
    cause = next(iter(diagnosis.causes[grouped:]), None)
    if cause is None or cause.code not in _CODES:
        return None

    def is_own(other: Pod) -> bool:
        return key_of(other.metadata) in pods

    if grouped:
        found = _held_there(state.inventory, diagnosis, cause, is_own)
        used = len(found) + 1
    else:
        found, used = _in_use(state.inventory, diagnosis, cause, is_own)
    holders = sorted({key_of(each.metadata) for each in found.values()})
    refs = tuple(ObjectRef.of("Pod", key) for key in holders)
    return Siblings(subject, refs, len(found), used, placed, 1, planned=True).scaled(state) if refs else None


def _in_use(
    inventory: Inventory, diagnosis: PodDiagnosis, cause: Cause, is_own: Callable[[Pod], bool]
) -> tuple[dict[DeviceId, Pod], int]:
    """Who of the pods that are its own has which devices that would do, and how many of such are in use at all.

    Nodes are alike in the number alone: on others, what is in use is taken for these where it is so many.
    """
    held, others = dict[DeviceId, Pod | None](), 0
    for group, funnel in _funnels(diagnosis, cause):
        taken = {device for removal in funnel.stage(StageName.UNUSED).removed for device in removal.devices}
        drivers = {name.partition("/")[0] for name in taken}
        everywhere = _held(inventory, "", drivers, is_own) if taken else {}
        shared = {id_: pod for id_, pod in everywhere.items() if str(id_) in taken}
        for node in group.nodes if taken else ():
            here = _held(inventory, node, drivers, is_own)
            if node == funnel.node:
                here = {id_: pod for id_, pod in here.items() if str(id_) in taken}
            known = node == funnel.node or len(shared) == len(everywhere)
            if known and len(here) + len(shared) == len(taken):
                held |= here
            else:
                others += len(taken) - len(shared)
        held |= shared
    return {id_: pod for id_, pod in held.items() if pod is not None}, len(held) + others


def _held_there(
    inventory: Inventory, diagnosis: PodDiagnosis, cause: Cause, is_own: Callable[[Pod], bool]
) -> dict[DeviceId, Pod]:
    """What pods that are its own have of the drivers of the request, on the nodes that were tried."""
    found = dict[DeviceId, Pod | None]()
    for group, funnel in _funnels(diagnosis, cause):
        taken = {device for removal in funnel.stage(StageName.UNUSED).removed for device in removal.devices}
        drivers = {name.partition("/")[0] for name in taken}
        for node in group.nodes if taken else ():
            found |= _held(inventory, node, drivers, is_own)
    return {id_: pod for id_, pod in found.items() if pod is not None}


def _stays(pod: Pod) -> bool:
    """Whether it is not being deleted: such a pod is waited for, whoever made it."""
    return pod.metadata.deletion_timestamp is None


def _numbers(state: ClusterState, owners: Owners, pod: Pod) -> tuple[int, int]:
    if not state.evidence.complete("Pod", pod.metadata.namespace):
        return 0, 0
    pods = state.inventory.pods.values()
    alike = [each for each in pods if owners.are_siblings(pod, each) and _stays(each) and not is_terminal(each)]
    waiting = sum(not each.spec.node_name for each in alike)
    return len(alike) - waiting, waiting


def _funnels(diagnosis: PodDiagnosis, cause: Cause) -> Iterator[tuple[NodeGroup, Funnel]]:
    """What each kind of nodes that were tried has for the request of a cause."""
    for group in diagnosis.nodes:
        for each in group.requests if group.outcome is NodeOutcome.CANNOT_ALLOCATE else ():
            if (each.claim, each.request) == (cause.claim, cause.request) and each.funnel is not None:
                yield group, each.funnel


def _held(
    inventory: Inventory, node: str, drivers: Container[str], is_own: Callable[[Pod], bool]
) -> dict[DeviceId, Pod | None]:
    """The devices in use that are published for one node (empty: for several), each with a pod that is its own.

    None where others use it as well, or where it is not known who does.
    """
    found: dict[DeviceId, Pod | None] = {}
    for slice_ in inventory.slices_by_node.get(node, ()):
        for device in slice_.spec.devices if slice_.spec.driver in drivers else ():
            id_ = DeviceId(slice_.spec.driver, slice_.spec.pool.name, device.name)
            holdings = [each for each in inventory.holdings_by_device.get(id_, ()) if not each.result.admin_access]
            users = [
                inventory.pods_by_uid.get(user.uid) for each in holdings for user in each.claim.status.reserved_for
            ]
            if holdings:
                own = [each for each in users if each is not None and is_own(each)]
                found[id_] = own[0] if own and len(own) == len(users) else None
    return found


def _shared(owners: Owners, pod: Pod, holders: Iterable[Pod]) -> ObjectRef:
    """The lowest of what made them all, by the name that people gave it: a Deployment rather than its ReplicaSet."""
    chain, above = owners.of(pod), [{owner.uid for owner in owners.of(each)} for each in holders]
    lowest = next((i for i, owner in enumerate(chain) if all(owner.uid in uids for uids in above)), 0)
    owned = chain[lowest].ref.kind == "ReplicaSet" and len(chain) > lowest + 1
    return chain[lowest + owned].ref
