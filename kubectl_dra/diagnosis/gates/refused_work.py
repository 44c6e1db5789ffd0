"""Workloads whose controllers are refused the pods that they are to make: no pod tells of those."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.makers import made_by, refusal_of
from kubectl_dra.diagnosis.gates.pending import wants_devices
from kubectl_dra.diagnosis.pod.workloads import ReadOwner, WhyUnread
from kubectl_dra.diagnosis.records import MakerRefusal, ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.scheduler.extended import served_resources

#: Controllers that write such events, and the version of their API.
_KINDS: Final = {
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "ReplicaSet": "apps/v1",
    "ReplicationController": "v1",
    "StatefulSet": "apps/v1",
}
_REPLICAS: Final = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
#: So many controllers are read, one request for each.
_READ: Final = 10


class RefusedWorkload(msgspec.Struct, frozen=True):
    """``workload``: by the name that people gave it, a Deployment rather than its ReplicaSet."""

    workload: ObjectRef
    refusal: MakerRefusal


def refused_workloads(state: ClusterState, namespace: str, read: ReadOwner | None) -> Iterator[RefusedWorkload]:
    """The controllers of a namespace (empty: of all) that are refused pods with devices, by their names.

    What was not read is read, of the first few that were refused; of the others it is not known whether they have any.
    """
    known = {*state.inventory.events_by_object, *state.inventory.workloads}
    about = (key for key in known if key[0] in _KINDS and namespace in ("", key[1]))
    left, made = _READ, made_by(state.inventory.pods.values())
    for key in sorted(about, key=lambda each: (each[1], each[2], each[0])):
        ref = ObjectRef(*key)
        found = refusal_of(state, ref, made.get(ref, ()))
        workload = state.inventory.workloads.get(key)
        if found is None:
            continue
        if workload is None and read is not None and left:
            left -= 1
            workload = _read(read, ref)
        if workload is not None and _lacks(workload, ref, made.get(ref, ())) and _with_devices(state, workload, ref):
            owner = workload.metadata.controller
            top = ObjectRef(owner.kind, ref.namespace, owner.name) if owner is not None else ref
            yield RefusedWorkload(top, found)


def _read(read: ReadOwner, ref: ObjectRef) -> WorkloadObject | None:
    found = read(ref.namespace, OwnerReference(_KINDS[ref.kind], ref.kind, ref.name))
    return None if isinstance(found, WhyUnread) else found


def _lacks(workload: WorkloadObject, ref: ObjectRef, made: Collection[Pod]) -> bool:
    """Whether it still wants more pods than it has, where it says how many."""
    there = sum(not is_terminal(pod) for pod in made)
    return ref.kind not in _REPLICAS or there < (1 if workload.spec.replicas is None else workload.spec.replicas)


def _with_devices(state: ClusterState, workload: WorkloadObject, ref: ObjectRef) -> bool:
    found = workload.template_of(ref.kind, Pod())
    pod = Pod(spec=found[1].spec) if found is not None else Pod()
    return wants_devices(pod, served_resources(state))
