"""Remedies that create, name, delete or label objects, or wait for those who do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.claim.reserved import never_ends
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.cycles import group_of
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.actions import LabelNamespace
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, pod_edit
from kubectl_dra.diagnosis.remedies.pod_edits import naming
from kubectl_dra.diagnosis.remedies.queue_ways import queue_ways
from kubectl_dra.diagnosis.remedies.records import (
    CreateObject,
    EditPod,
    RaiseQuota,
    RemedyKind,
    RemoveGates,
    RepairPool,
    Uncordon,
    Wait,
)
from kubectl_dra.model.admin_access import ALLOWED, needed_label
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import LocalObject, ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.scheduler.claims import sources
from kubectl_dra.scheduler.plugins.taint_toleration import untolerated

_WAITS: Final = {
    Code.CLAIM_NOT_CREATED: "resource-claim-controller",
    Code.BINDING_CONDITIONS: "driver",
    Code.BINDING_IN_PROGRESS: "kube-scheduler",
    Code.PREPARING: "kubelet",
    Code.FITS_NOW: "kube-scheduler",
    Code.EXTENDED_CLAIM_LEFT_OVER: "kube-scheduler",
    Code.CLAIM_BEING_DELETED: "consumers",
}
_MAX_NODES: Final = 3
_SCHEDULER: Final = "kube-scheduler"


def candidates(case: Case) -> Iterator[Candidate]:
    for code, whom in _WAITS.items():
        if any(not _waits_for_ever(case, cause) for cause in case.causes(code)):
            yield Candidate(RemedyKind.WAIT, (Wait(whom),), 0)
    yield from _released(case)
    for cause in case.diagnosis.causes:
        yield from _for_cause(case, cause)


def _waits_for_ever(case: Case, cause: records.Cause) -> bool:
    """Whether nobody uses the claim any more, or a pod on a node whose kubelet does not report does.

    One that the scheduler itself deletes: whether it has done so, and what else is to happen is not its turn.
    """
    if cause.code is Code.EXTENDED_CLAIM_LEFT_OVER:
        return cause.detail is not None
    if cause.code is not Code.CLAIM_BEING_DELETED or not isinstance(cause.detail, records.ClaimEntry):
        return False
    inventory, users = case.state.inventory, cause.detail.consumers
    pods = (inventory.pods.get(each.key) for each in users if each.kind == "Pod")
    return not users or any(never_ends(inventory, pod) for pod in pods if pod is not None)


def _released(case: Case) -> Iterator[Candidate]:
    """Wait for the attempt after which the scheduler releases the claims that are in the way and that nobody uses.

    Upstream: plugins/dynamicresources, PostFilter and PodGroupPostFilter, which does nothing for a group with a
    topology constraint.
    """
    claims = tuple(cause.claim for cause in case.causes(Code.CLAIM_IDLE) if cause.claim is not None)
    # What did not bind may be allocated once more, and does not bind then either.
    if any(cause.claim in claims for cause in case.causes(Code.BINDING_FAILED)):
        return
    group = group_of(case.state, case.pod)
    constrained = group is not None and group.topology_key is not None
    if claims and not (constrained and case.state.features.topology_aware_workloads):
        released = tuple(changes.released_claim(claim.key) for claim in claims)
        yield Candidate(RemedyKind.WAIT, (Wait(_SCHEDULER, claims),), 0, released)


def _for_cause(case: Case, cause: records.Cause) -> Iterator[Candidate]:
    match cause.code, cause.detail:
        case Code.SCHEDULING_GATES, records.Gates(names=names):
            action = RemoveGates(case.diagnosis.pod, names)
            yield Candidate(RemedyKind.REMOVE_GATE, (action,), 10, (_pod_change(case, _without_gates),))
        case Code.CLAIM_MISSING | Code.TEMPLATE_MISSING, records.ClaimEntry():
            yield from _missing(case, cause, cause.detail)
        case Code.CLAIM_NAMED_TWICE, _:
            yield from _named_once(case, cause)
        case Code.CLASS_MISSING, records.ClassProblem(device_class=name):
            yield Candidate(RemedyKind.CREATE_OBJECT, (CreateObject(records.ObjectRef("DeviceClass", "", name)),), 22)
        case Code.POD_GROUP_INCOMPLETE, records.GroupWaits(refused=refused) if refused is not None:
            yield from _room_for_more(case, cause.detail, refused.shortages)
        case Code.QUEUED, records.GangElsewhere(waits=waits) if waits is not None:
            yield from queue_ways(case, waits)
        case ((Code.ADMIN_LABEL_MISSING | Code.ADMIN_LABEL_AT_BINDING), _):
            yield _label(case)
        case Code.NODE_UNSCHEDULABLE, _:
            for node in _only_cordoned_first(case, cause.nodes)[:_MAX_NODES]:
                change = changes.edit_object("nodes", node, _schedulable)
                yield Candidate(RemedyKind.UNCORDON, (Uncordon(node),), 50, (change,), only=(node,))
        case ((Code.POOL_INCOMPLETE | Code.POOL_INVALID), records.PoolProblem(pool=pool)):
            yield _repair(case, pool)
        case Code.POOL_OUTDATED, records.PoolProblem(pool=pool):
            # What the driver will publish in the new generation can't be known.
            yield Candidate(RemedyKind.REPAIR_POOL, (RepairPool(pool),), 70)
        case ((Code.ALL_MODE_POOL | Code.POOL_INVALID), records.FatalError(owner=owner)):
            yield _repair(case, owner.removeprefix("pool "))


def _only_cordoned_first(case: Case, names: Sequence[str]) -> Sequence[str]:
    """Those first whose other taints the pod tolerates: to uncordon the others is not enough."""

    def closed(name: str) -> bool:
        node, comparison = case.state.inventory.nodes[name], case.state.features.toleration_comparison
        return any(True for _ in untolerated(_schedulable(node).spec.taints, case.pod.spec.tolerations, comparison))

    return sorted(names, key=closed)


def _room_for_more(
    case: Case, waits: records.GroupWaits, shortages: Sequence[records.QuotaShortage]
) -> Iterator[Candidate]:
    """The limits that keep a controller from the pods that are missing, as high as these need."""
    more = max(waits.min_count - waits.known, 1)
    needed = [_higher(case, each, more) for each in shortages]
    raised = tuple(each for each in needed if Quantity.parse(each.by).unscaled > 0)
    if raised:
        yield Candidate(RemedyKind.RAISE_QUOTA, raised, 30)


def _higher(case: Case, found: records.QuotaShortage, times: int) -> RaiseQuota:
    quota = records.ObjectRef("ResourceQuota", case.pod.metadata.namespace, found.quota)
    needed = Quantity.parse(found.used)
    for _ in range(times):
        needed = needed.add(Quantity.parse(found.requested))
    by = needed.sub(Quantity.parse(found.hard))
    return RaiseQuota(quota, found.resource, str(by), found.hard, str(needed))


# --- missing objects ------------------------------------------------------------------------------------------------


def _missing(case: Case, cause: records.Cause, detail: records.ClaimEntry) -> Iterator[Candidate]:
    """Name an existing object of the namespace, or create the one that is named."""
    namespace = case.pod.metadata.namespace
    kind = "ResourceClaim" if cause.code is Code.CLAIM_MISSING else "ResourceClaimTemplate"
    name = cause.claim.name if cause.claim is not None else detail.template
    for ref in detail.similar:
        if ref.kind != kind:
            # The entry with the other of its two sources, of which there is one of that name.
            source = "claim" if ref.kind == "ResourceClaim" else "template"
            yield _naming(case, f"resourceClaims.{source}", detail.entry, ref.name, ref, 20)
        elif ref.namespace == namespace and ref.name != name:
            # A claim of a name that looks alike is rather another pod's; a template is for many.
            yield _naming(case, "resourceClaims", detail.entry, name, ref, 24 if kind == "ResourceClaim" else 21)
    yield Candidate(RemedyKind.CREATE_OBJECT, (CreateObject(records.ObjectRef(kind, namespace, name)),), 22)


def _naming(case: Case, field: str, entry: str, before: str, ref: records.ObjectRef, cost: int) -> Candidate:
    """An entry that names an object which exists; what would be made of a template can't be tried."""
    action = EditPod(case.diagnosis.pod, f"{field}[{entry}]", before, ref.name, case.workload)
    change = _pod_change(case, naming(action, entry))
    return Candidate(RemedyKind.NAME_OBJECT, (action,), cost, (change,) if ref.kind == "ResourceClaim" else ())


def _named_once(case: Case, cause: records.Cause) -> Iterator[Candidate]:
    """Without the second entry; its containers use the first one."""
    assert cause.claim is not None  # noqa: S101 - it is about one
    name = cause.claim.name
    entries = [entry.name for entry in case.pod.spec.resource_claims if sources(entry)[0] == name]
    if len(entries) == 2:
        yield pod_edit(case, f"resourceClaims[{entries[1]}]", name, "", 24)


def _without_gates(pod: Pod) -> Pod:
    return with_spec(pod, scheduling_gates=())


def _pod_change(case: Case, edit: Callable[[Pod], Pod]) -> changes.Change:
    return changes.PodEdit(case.diagnosis.pod.key, edit)


# --- others ---------------------------------------------------------------------------------------------------------


def _label(case: Case) -> Candidate:
    namespace, label = case.pod.metadata.namespace, needed_label(case.state.features)

    def change(inventory: Inventory) -> Inventory:
        known = inventory.namespaces.get(namespace, LocalObject(metadata=ObjectMeta(name=namespace)))
        labels = {**known.metadata.labels, label: ALLOWED}
        labelled = msgspec.structs.replace(known, metadata=msgspec.structs.replace(known.metadata, labels=labels))
        return inventory.replace(namespaces=changes.put(inventory.namespaces, namespace, labelled))

    # A claim that was never created can't be tried.
    exists = all(sources(entry)[0] for entry in case.pod.spec.resource_claims)
    action = LabelNamespace(namespace, label, ALLOWED)
    return Candidate(RemedyKind.LABEL_NAMESPACE, (action,), 20, (change,) if exists else ())


def _schedulable(node: Node) -> Node:
    """The node uncordoned; the controller then removes the taint of the same meaning."""
    taints = tuple(taint for taint in node.spec.taints if taint.key != "node.kubernetes.io/unschedulable")
    return with_spec(node, unschedulable=False, taints=taints)


def _repair(case: Case, pool: str) -> Candidate:
    """The pool is tried with the slices that are there, each device taken once."""
    driver, _, name = pool.partition("/")
    change = changes.repaired_pool(driver, name)
    action = RepairPool(pool, *_published_twice(case, PoolId(driver, name)))
    return Candidate(RemedyKind.REPAIR_POOL, (action,), 70, (change,))


def _published_twice(case: Case, pool: PoolId) -> tuple[str, str, str]:
    """The first device that two slices of the newest generation publish: its name, the later slice, the earlier one.

    Empty where none is.
    """
    slices = case.state.inventory.slices_by_pool.get(pool, ())
    newest = max((each.spec.pool.generation for each in slices), default=0)
    seen: dict[str, str] = {}
    current = [each for each in slices if each.spec.pool.generation == newest]
    for each in sorted(current, key=lambda one: (one.metadata.creation_timestamp or "", one.metadata.name)):
        for device in each.spec.devices:
            first = seen.setdefault(device.name, each.metadata.name)
            if first != each.metadata.name:
                return device.name, each.metadata.name, first
    return "", "", ""
