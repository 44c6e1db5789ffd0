"""Placing the pods of a group that do not exist yet: all in one cycle, as the scheduler does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.cycles import cycle_of
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.placing import added, made_for, refused_by_quota, shortages_of_new
from kubectl_dra.diagnosis.records import PodDiagnosis, QuotaShortage
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.scheduling import PodGroup, PodGroupResourceClaimStatus
from kubectl_dra.scheduler.gangs.decision import GroupDecision, GroupOutcome
from kubectl_dra.scheduler.gangs.world import with_pod, with_reservations

_API_VERSION = "scheduling.k8s.io/v1beta1"


class GroupPlaced(msgspec.Struct, frozen=True):
    """Where the pods of a group would go. ``failed``: the diagnosis of the first that gets no node.

    ``waiting`` is the cluster in which all of them wait, ``after`` that in which those that fit are bound. Of those
    that a quota refuses, only the one that ``failed`` is about is in ``waiting``.
    """

    waiting: ClusterState
    after: ClusterState
    nodes: Mapping[Key, str] = msgspec.field(default_factory=dict)
    failed: PodDiagnosis | None = None


def place_group(state: ClusterState, group: Key, pods: Sequence[Pod]) -> GroupPlaced:
    """Place ``pods``, which are to be created, with those of the group that wait already.

    One that a quota refuses never comes into being, and the group waits for it as for any that is missing.
    """
    waiting, refused = state.changed(with_shared_claims(state, group)), list[tuple[Pod, tuple[QuotaShortage, ...]]]()
    for pod in pods:
        over = shortages_of_new(waiting, pod)
        if over:
            refused.append((pod, over))
        else:
            waiting = _with(waiting, pod)
    decision = cycle_of(waiting, group)
    nodes, after = _bound(waiting, decision)
    if refused:
        pod, over = refused[0]
        waiting = _with(waiting, pod)
        return GroupPlaced(waiting, after, nodes, refused_by_quota(waiting, key_of(pod.metadata), over))
    first = next((key_of(pod.metadata) for pod in pods if key_of(pod.metadata) not in nodes), None)
    failed = Diagnoser(waiting).pod(first) if first is not None else None
    return GroupPlaced(waiting, after, nodes, failed)


def _with(state: ClusterState, pod: Pod) -> ClusterState:
    return state.changed(added(state.inventory, pod, extended=state.features.extended_resource))


def _bound(waiting: ClusterState, decision: GroupDecision) -> tuple[dict[Key, str], ClusterState]:
    """The nodes of the pods that are bound, and the cluster with them."""
    placed = decision.placed.trial.placed if decision.placed is not None else ()
    if decision.outcome is not GroupOutcome.SCHEDULED or not placed:
        return {}, waiting
    last = placed[-1]
    assert last.attempt is not None  # noqa: S101 - it has a node
    inventory = with_pod(last.attempt, last.node).inventory
    for each in placed:
        inventory = with_reservations(inventory, each.pod)
    return {key_of(each.pod.metadata): each.node for each in placed}, waiting.changed(inventory)


def with_shared_claims(state: ClusterState, key: Key) -> Inventory:
    """With the claims that are made from the templates of a group, one for each entry (controller resourceclaim)."""
    inventory, group = state.inventory, state.inventory.groups.pod_groups[key]
    if not state.features.workload_resource_claims:
        return inventory
    known = {status.name for status in group.status.resource_claim_statuses}
    claims, statuses = dict(inventory.claims), list(group.status.resource_claim_statuses)
    owner = OwnerReference(_API_VERSION, "PodGroup", key.name, group.metadata.uid, controller=True)
    for entry in group.spec.resource_claims:
        template = inventory.templates.get(Key(key.namespace, entry.resource_claim_template_name or ""))
        if template is None or entry.name in known:
            continue
        made = made_for(template, entry.name, owner)
        claims[key_of(made.metadata)] = made
        statuses.append(PodGroupResourceClaimStatus(entry.name, made.metadata.name))
    return _with_group(inventory.replace(claims=claims), key, group, statuses)


def _with_group(
    inventory: Inventory, key: Key, group: PodGroup, statuses: Sequence[PodGroupResourceClaimStatus]
) -> Inventory:
    groups = inventory.groups
    status = msgspec.structs.replace(group.status, resource_claim_statuses=tuple(statuses))
    changed = {**groups.pod_groups, key: msgspec.structs.replace(group, status=status)}
    return inventory.replace(groups=type(groups)(changed, groups.workloads, groups.composites))
