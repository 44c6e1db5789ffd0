"""Gangs of Kubernetes 1.35: pods name a group of a Workload, and each is tried by itself.

Too few of them keep all out of the queue; those that find a node wait there (Permit) until enough have one.

Upstream, release-1.35: plugins/gangscheduling/gangscheduling.go (PreEnqueue, Permit), backend/workloadmanager.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.members import MemberFinding
from kubectl_dra.diagnosis.gangs.one_by_one import Placed, place_one_by_one
from kubectl_dra.diagnosis.gangs.templates import WORKLOAD
from kubectl_dra.diagnosis.gates import makers
from kubectl_dra.diagnosis.gates.gates import own_causes
from kubectl_dra.diagnosis.records import Cause, ObjectRef, Verdict, WorkloadGang
from kubectl_dra.model.core import Pod, WorkloadRef
from kubectl_dra.model.features import WORKLOAD_REF_MINOR
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.scheduling import PodGroupTemplate, Workload
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.scheduler.gangs.group import queue_order

#: What a pod waits for at the end of its cycle is given up after five minutes; upstream: schedule_one.go, bindingCycle.
LATE: Final = "0/1 nodes are available: 1 rejected due to timeout after waiting 5m0s at plugin GangScheduling."
#: What it says of the pod until then, in events.
WAITING: Final = "waiting for minCount pods from a gang to be scheduled"


class WorkloadPolicy(msgspec.Struct, frozen=True):
    """What a pod's group of a Workload says: ``least`` of its pods start at once, or none."""

    workload: Key
    ref: WorkloadRef
    least: int


def is_in_force(state: ClusterState, pod: Pod) -> bool:
    """Whether this scheduler heeds the Workload that a pod names."""
    features = state.features
    return pod.spec.workload_ref is not None and features.minor == WORKLOAD_REF_MINOR and features.gang_scheduling


def policy_of(state: ClusterState, pod: Pod, workloads: Mapping[Key, Workload] | None = None) -> WorkloadPolicy | None:
    """The gang of a pod; None for a pod in none, or of which it is not known. ``workloads``: instead of those read."""
    ref = pod.spec.workload_ref
    if ref is None or not is_in_force(state, pod):
        return None
    key = Key(pod.metadata.namespace, ref.name)
    known = state.inventory.groups.workloads if workloads is None else workloads
    found = _template(known[key], ref) if key in known else None
    gang = found.scheduling_policy.gang if found is not None else None
    return WorkloadPolicy(key, ref, gang.min_count) if gang is not None else None


def _template(workload: Workload, ref: WorkloadRef) -> PodGroupTemplate | None:
    return next((each for each in workload.spec.pod_group_templates if each.name == ref.pod_group), None)


# --- before the queue -------------------------------------------------------------------------------------------------


def kept_out(state: ClusterState, pod: Pod) -> MemberFinding | None:
    """Why a pod is not tried: its Workload, the group there, or pods of the group are missing. None where it is."""
    ref = pod.spec.workload_ref
    if ref is None or not is_in_force(state, pod):
        return None
    key, known = Key(pod.metadata.namespace, ref.name), state.inventory.groups.workloads
    detail = WorkloadGang(ObjectRef.of(WORKLOAD, key), ref.pod_group, ref.pod_group_replica_key)
    if key not in known:
        if not state.evidence.complete(WORKLOAD, key.namespace):
            return MemberFinding(Verdict.UNKNOWN, unread=(WORKLOAD,))
        names = similar(key.name, (each.name for each in known if each.namespace == key.namespace))
        return _missing(msgspec.structs.replace(detail, absent=True, similar=tuple(names)))
    if _template(known[key], ref) is None:
        names = similar(ref.pod_group, (each.name for each in known[key].spec.pod_group_templates))
        return _missing(msgspec.structs.replace(detail, similar=tuple(names)))
    policy, members = policy_of(state, pod), members_of(state, pod)
    if policy is None or len(members) >= policy.least or not state.evidence.complete("Pod", key.namespace):
        return None
    refused = makers.refusal(state, members)
    found = msgspec.structs.replace(detail, min_count=policy.least, known=len(members), refused=refused)
    return MemberFinding(Verdict.GATED, (Cause(Code.POD_GROUP_INCOMPLETE, found),))


def _missing(detail: WorkloadGang) -> MemberFinding:
    return MemberFinding(Verdict.GATED, (Cause(Code.POD_GROUP_MISSING, detail),))


@derived("pods")
def _members(state: ClusterState) -> Mapping[tuple[str, WorkloadRef], tuple[Pod, ...]]:
    found: dict[tuple[str, WorkloadRef], list[Pod]] = {}
    for pod in state.inventory.pods.values():
        if pod.spec.workload_ref is not None and not is_terminal(pod):
            found.setdefault((pod.metadata.namespace, pod.spec.workload_ref), []).append(pod)
    return {key: tuple(sorted(pods, key=queue_order)) for key, pods in found.items()}


def members_of(state: ClusterState, pod: Pod) -> tuple[Pod, ...]:
    """The pods of a pod's group that are not finished, in the order in which they are tried."""
    ref = pod.spec.workload_ref
    return _members(state).get((pod.metadata.namespace, ref), ()) if ref is not None else ()


# --- at the end of the attempt ----------------------------------------------------------------------------------------


class Shortage(msgspec.Struct, frozen=True):
    """Too few pods of a group find a node for any to start; ``placed`` None: too many to be tried."""

    detail: WorkloadGang
    placed: Placed | None


@derived()
def _shortages(_state: ClusterState) -> dict[tuple[str, WorkloadRef], Shortage | None]:
    return {}


def shortage(state: ClusterState, pod: Pod) -> Shortage | None:
    """Why a pod that finds a node does not start there; None where enough of its group find one beside it."""
    policy = policy_of(state, pod)
    if policy is None:
        return None
    known, asked = _shortages(state), (pod.metadata.namespace, policy.ref)
    if asked not in known:
        known[asked] = _shortage(state, pod, policy)
    return known[asked]


def _shortage(state: ClusterState, pod: Pod, policy: WorkloadPolicy) -> Shortage | None:
    members = members_of(state, pod)
    running = sum(bool(each.spec.node_name) for each in members)
    waiting = [each for each in members if not each.spec.node_name]
    held = {key_of(each.metadata): why for each in waiting if (why := _held(state, each))}
    detail = WorkloadGang(
        ObjectRef.of(WORKLOAD, policy.workload),
        policy.ref.pod_group,
        policy.ref.pod_group_replica_key,
        policy.least,
        len(members),
        running,
    )
    if running >= policy.least:
        return None
    placed = place_one_by_one(
        state, policy.workload.namespace, [each for each in waiting if key_of(each.metadata) not in held]
    )
    if placed is None:
        return Shortage(detail, None)
    if running + placed.number >= policy.least:
        return None
    lacking = placed.lacking or next(iter(held), None)
    found = msgspec.structs.replace(
        detail,
        placed=placed.number,
        lacking=ObjectRef.of("Pod", lacking) if lacking is not None else None,
        because=held.get(lacking, ())[:1] if lacking is not None else (),
    )
    return Shortage(found, placed)


def _held(state: ClusterState, pod: Pod) -> tuple[Cause, ...]:
    entries = resolve(state.inventory, state.evidence, state.features, pod)
    return tuple(own_causes(state, pod, entries))
