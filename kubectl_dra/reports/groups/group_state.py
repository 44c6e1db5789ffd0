"""describe-podgroup: what a PodGroup asks for, its pods and where they run, the claims they share, what was said of it.

Nothing is simulated here: that is ``why-pending podgroup/NAME`` (``groups``).

get podgroups: one line per PodGroup, with its pods and what the scheduler says of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together
from kubectl_dra.diagnosis.gangs.groups import pods_of, shared_claims
from kubectl_dra.diagnosis.gangs.records import GroupTemplate, SharedClaim
from kubectl_dra.diagnosis.gangs.templates import template_of
from kubectl_dra.diagnosis.records import Missing, ObjectRef, Observed
from kubectl_dra.diagnosis.said.agreement import observed
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import Condition
from kubectl_dra.model.scheduling import INITIALLY_SCHEDULED, PodGroup
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.base import FeatureRecord, ReadRecord, ReportRecord, feature_record, reads_of
from kubectl_dra.reports.devices.holders import ConsumerState, pod_state, waiting_reason
from kubectl_dra.reports.unread import missing_rights

_SHOWN = ("PodGroup", "Pod", "ResourceClaim")
KINDS = (*_SHOWN, "Workload")
_OVER = (ConsumerState.FINISHED, ConsumerState.PENDING)


class GroupPod(ReportRecord, frozen=True):
    """One pod of a group. ``devices``: ``DRIVER/POOL/DEVICE`` of its own claims, not of those that all share.

    ``observed``: what the scheduler wrote on it.
    """

    pod: ObjectRef
    state: ConsumerState
    node: str
    reason: str
    devices: tuple[str, ...]
    observed: Observed | None = None


class GroupReport(ReportRecord, frozen=True):
    """One group as it stands. ``min_count`` is None for a group that is no gang: any number of its pods will do.

    ``placed_together`` False: this cluster's scheduler takes no notice of groups. ``evicted_as_one``: preemption
    evicts all of its pods or none. ``with_node``: pods that are not finished and have a node; ``waiting``: those
    without. ``template``: that of ``workload`` that it was made from.
    """

    namespace: str
    name: str
    uid: str
    created: str
    deleted: str
    finalizers: tuple[str, ...]
    min_count: int | None
    topology_key: str
    evicted_as_one: bool
    priority: int
    priority_class: str
    preemption_policy: str
    workload: ObjectRef | None
    template: GroupTemplate | None
    parent: ObjectRef | None
    placed_together: bool
    with_node: int
    waiting: int
    pods: tuple[GroupPod, ...]
    claims: tuple[SharedClaim, ...]
    conditions: tuple[Condition, ...]
    missing: tuple[Missing, ...]
    features: FeatureRecord
    read: tuple[ReadRecord, ...]
    as_of: str


def group_state(group: PodGroup, state: ClusterState) -> GroupReport:
    """The report of one group of the inventory."""
    meta, spec, gang = group.metadata, group.spec, group.spec.scheduling_policy.gang
    key = key_of(meta)
    pods = tuple(_pods(key, state))
    workload, parent = spec.workload_ref, spec.parent_composite_pod_group_name
    return GroupReport(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        created=meta.creation_timestamp or "",
        deleted=meta.deletion_timestamp or "",
        finalizers=meta.finalizers,
        min_count=gang.min_count if gang is not None else None,
        topology_key=group.topology_key or "",
        evicted_as_one=group.evicted_as_one,
        priority=spec.priority or 0,
        priority_class=spec.priority_class_name,
        preemption_policy=spec.preemption_policy or "",
        workload=ObjectRef("Workload", meta.namespace, workload.workload_name) if workload is not None else None,
        template=template_of(state, group),
        parent=ObjectRef("CompositePodGroup", meta.namespace, parent) if parent else None,
        placed_together=are_placed_together(state),
        with_node=sum(pod.state not in _OVER for pod in pods),
        waiting=sum(pod.state is ConsumerState.PENDING for pod in pods),
        pods=pods,
        claims=shared_claims(state.inventory, group),
        conditions=group.status.conditions,
        missing=missing_rights(state.evidence, _SHOWN, meta.namespace),
        features=feature_record(state.features),
        read=reads_of(state.evidence),
        as_of=state.as_of,
    )


def _pods(group: Key, state: ClusterState) -> Iterator[GroupPod]:
    for pod in pods_of(state, group):
        ref = ObjectRef.of("Pod", key_of(pod.metadata))
        claims = state.inventory.claims_by_user.get(pod.metadata.uid, ())
        mine = sorted((each for each in claims if each.status.reserved_for), key=lambda each: key_of(each.metadata))
        devices = tuple(str(device) for claim in mine for device in devices_of(claim))
        yield GroupPod(ref, pod_state(pod), pod.spec.node_name, waiting_reason(pod), devices, observed(pod, ()))


class GroupRow(ReportRecord, frozen=True):
    """One group. ``min_count`` is None for a group that is no gang; ``state`` is what the scheduler wrote last.

    ``pods`` are those that are not finished, None where pods could not be read; ``running`` of them have a node.
    """

    namespace: str
    name: str
    min_count: int | None
    pods: int | None
    running: int | None
    state: str
    message: str
    topology_key: str
    claims: tuple[str, ...]
    priority: int
    workload: ObjectRef | None
    created: str | None


def group_rows(groups: Iterable[PodGroup], state: ClusterState) -> tuple[GroupRow, ...]:
    """One row per group, by namespace and name."""
    rows = (_row(group, state) for group in groups)
    return tuple(sorted(rows, key=lambda row: (row.namespace, row.name)))


def _row(group: PodGroup, state: ClusterState) -> GroupRow:
    key, spec = key_of(group.metadata), group.spec
    pods = [pod for pod in state.inventory.pods_by_group.get(key, ()) if not is_terminal(pod)]
    known = state.evidence.complete("Pod", key.namespace)
    condition = next((each for each in group.status.conditions if each.type == INITIALLY_SCHEDULED), None)
    made = {status.name: status.resource_claim_name for status in group.status.resource_claim_statuses}
    names = (entry.resource_claim_name or made.get(entry.name) for entry in spec.resource_claims)
    gang, workload = spec.scheduling_policy.gang, spec.workload_ref
    return GroupRow(
        key.namespace,
        key.name,
        gang.min_count if gang is not None else None,
        len(pods) if known else None,
        sum(bool(pod.spec.node_name) for pod in pods) if known else None,
        condition.reason if condition is not None else "",
        condition.message if condition is not None else "",
        group.topology_key or "",
        tuple(name for name in names if name),
        spec.priority or 0,
        ObjectRef("Workload", key.namespace, workload.workload_name) if workload is not None else None,
        group.metadata.creation_timestamp,
    )
