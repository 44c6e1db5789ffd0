"""describe-podgroup: what a PodGroup asks for, its pods and where they run, the claims they share, what was said of it.

Nothing is simulated here: that is ``why-pending podgroup/NAME`` (``groups``).
"""

from __future__ import annotations

from collections.abc import Iterator

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
from kubectl_dra.model.scheduling import PodGroup
from kubectl_dra.reports.base import FeatureRecord, ReadRecord, ReportRecord, feature_record, reads_of
from kubectl_dra.reports.devices.holders import ConsumerState, pod_state, waiting_reason
from kubectl_dra.reports.rights import missing_rights

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


def group_state(group: PodGroup, facts: ClusterState) -> GroupReport:
    """The report of one group of the inventory."""
    meta, spec, gang = group.metadata, group.spec, group.spec.scheduling_policy.gang
    key = key_of(meta)
    pods = tuple(_pods(key, facts))
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
        template=template_of(facts, group),
        parent=ObjectRef("CompositePodGroup", meta.namespace, parent) if parent else None,
        placed_together=are_placed_together(facts),
        with_node=sum(pod.state not in _OVER for pod in pods),
        waiting=sum(pod.state is ConsumerState.PENDING for pod in pods),
        pods=pods,
        claims=shared_claims(facts.inventory, group),
        conditions=group.status.conditions,
        missing=missing_rights(facts.evidence, _SHOWN, meta.namespace),
        features=feature_record(facts.features),
        read=reads_of(facts.evidence),
        as_of=facts.as_of,
    )


def _pods(group: Key, facts: ClusterState) -> Iterator[GroupPod]:
    for pod in pods_of(facts, group):
        ref = ObjectRef.of("Pod", key_of(pod.metadata))
        claims = facts.inventory.claims_by_user.get(pod.metadata.uid, ())
        mine = sorted((each for each in claims if each.status.reserved_for), key=lambda each: key_of(each.metadata))
        devices = tuple(str(device) for claim in mine for device in devices_of(claim))
        yield GroupPod(ref, pod_state(pod), pod.spec.node_name, waiting_reason(pod), devices, observed(pod, ()))
