"""The pods of one trial as their controller would make them: names, owners, tolerations, volumes, one per node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

import msgspec

from kubectl_dra.api.planned import PodPlan
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import MAX_COPIES
from kubectl_dra.diagnosis.pod.volume_claims import with_set_claims
from kubectl_dra.diagnosis.rollouts import REVISION
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET
from kubectl_dra.model.affinity import Affinity, NodeAffinity
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import (
    LabelSelector,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
)
from kubectl_dra.model.supposed import supposed_uid
from kubectl_dra.model.workloads import MakerSpec, WorkloadObject
from kubectl_dra.reports.simulation.present import NEW_REVISION, Present, rolled_out
from kubectl_dra.reports.simulation.records import Counted
from kubectl_dra.reports.simulation.trials import PodTrial
from kubectl_dra.scheduler.daemons import daemon_nodes, daemon_tolerations
from kubectl_dra.scheduler.snapshot import Snapshot

_CONTROLLERS: Final = {
    "Deployment": "ReplicaSet",
    "ReplicaSet": "ReplicaSet",
    "StatefulSet": "StatefulSet",
    "ReplicationController": "ReplicationController",
}
#: Stands for the hash of a template.
_HASH: Final = {"pod-template-hash": "simulated"}
_COUNTED: Final = {
    CountSource.STATED: Counted.STATED,
    CountSource.PER_NODE: Counted.PER_NODE,
    CountSource.ASSUMED: Counted.ASSUMED,
    CountSource.UNKNOWN: Counted.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Copies:
    """How many copies were asked for: None, what the manifests say; ``as_many_as_fit`` instead of a number."""

    number: int | None = None
    as_many_as_fit: bool = False

    @property
    def asked(self) -> bool:
        """Whether the number does not come from the manifests."""
        return self.as_many_as_fit or self.number is not None

    def of(self, planned: int) -> int | None:
        """The copies wanted of something that plans for a number itself; None for as many as fit."""
        if self.as_many_as_fit:
            return None
        return planned if self.number is None else self.number


@dataclass(frozen=True, slots=True)
class Batch:
    """The pods of a trial: ``wanted`` are asked for, None: as many as fit. ``state`` has their volumes."""

    state: ClusterState
    pods: Iterable[Pod]
    wanted: int | None
    counted: Counted


def batch(state: ClusterState, trial: PodTrial, copies: Copies, found: Present | None = None) -> Batch:
    """The pods of a trial, in the order in which they are created; beside those that ``found`` says stay."""
    plan = trial.plan
    if plan.count is CountSource.PER_NODE and not state.evidence.complete("Node"):
        # One that may run anywhere: of how many nodes is not known.
        tolerant = with_spec(plan.pod, tolerations=daemon_tolerations(plan.pod.spec))
        return Batch(state, [_copy(tolerant, "-0")], 1, Counted.UNKNOWN)
    if plan.count is CountSource.PER_NODE:
        daemons = list(_on_every_node(state, plan.pod))
        have = {pod.spec.node_name for pod in found.stay} if found is not None else set()
        new = [pod for node, pod in daemons if node not in have]
        return Batch(state, new, len(daemons), Counted.PER_NODE)
    counted = Counted.ASKED if copies.asked else _COUNTED[plan.count]
    wanted = copies.of(1 if plan.copies is None else plan.copies)
    if found is not None and found.left is not None and wanted is not None and not copies.asked:
        wanted = min(wanted, found.left)
    many = min(MAX_COPIES + 1 if wanted is None else max(wanted - _staying(found), 0), MAX_COPIES + 1)
    single = wanted == 1 and trial.planned.kind == "Pod"
    state, pod = _controlled(state, plan.pod, trial, found)
    suffixes = _suffixes(state, pod, many, _first(trial), single=single)
    pods: Iterable[Pod] = (_copy(pod, suffix) for suffix in suffixes)
    if plan.volume_claims:
        return _with_volumes(state, pods, plan, wanted, counted)
    return Batch(state, pods, wanted, counted)


def _staying(found: Present | None) -> int:
    return len(found.stay) if found is not None else 0


def _first(trial: PodTrial) -> int:
    """The number of the first pod; others than StatefulSets give their pods none that matter."""
    record = trial.planned.record
    return record.spec.ordinals.start if isinstance(record, WorkloadObject) else 0


def _suffixes(state: ClusterState, pod: Pod, many: int, first: int, *, single: bool) -> Iterator[str]:
    """What makes names of copies, none of which the cluster has: a pod there of such a name is another one."""
    if single:
        return iter(("",) * many)
    namespace, name = pod.metadata.namespace, pod.metadata.name
    numbered = (f"-{number}" for number in count(first))
    return islice((each for each in numbered if Key(namespace, name + each) not in state.inventory.pods), many)


def _with_volumes(
    state: ClusterState, pods: Iterable[Pod], plan: PodPlan, wanted: int | None, counted: Counted
) -> Batch:
    inventory, made = state.inventory, list[Pod]()
    for pod in pods:
        inventory, with_volumes = with_set_claims(inventory, pod, plan.volume_claims)
        made.append(with_volumes)
    return Batch(state.changed(inventory), made, wanted, counted)


def _controlled(state: ClusterState, pod: Pod, trial: PodTrial, found: Present | None) -> tuple[ClusterState, Pod]:
    """With the controller that a workload's pods have, by whose selector they are spread, and what rolls it out.

    A Deployment makes a ReplicaSet that selects its own pods alone, by a hash that only they have (upstream:
    pkg/controller/deployment/sync.go, getNewReplicaSet).
    """
    planned = trial.planned
    kind = _CONTROLLERS.get(planned.kind)
    if kind is None:
        return state, pod
    if found is not None and found.stay and not found.old:
        return state, _beside(pod, found.stay[0])
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    owner = OwnerReference(version, kind, planned.name, f"simulated-{planned.name}", controller=True)
    meta = msgspec.structs.replace(pod.metadata, owner_references=(owner,))
    made = planned.record if isinstance(planned.record, WorkloadObject) else WorkloadObject()
    if kind != planned.kind:
        meta = msgspec.structs.replace(meta, labels={**meta.labels, **_HASH})
        made = WorkloadObject(spec=MakerSpec(selector=LabelSelector(match_labels=_HASH)))
    namespace = pod.metadata.namespace
    workloads = {(kind, namespace, planned.name): made}
    if planned.kind == "Deployment" and found is not None and found.old:
        whole = rolled_out(planned, found)
        owned = OwnerReference("apps/v1", planned.kind, planned.name, whole.metadata.uid, controller=True)
        own = ObjectMeta(
            planned.name, namespace, uid=owner.uid, annotations={REVISION: NEW_REVISION}, owner_references=(owned,)
        )
        made = msgspec.structs.replace(made, metadata=own)
        workloads = {(kind, namespace, planned.name): made, (planned.kind, namespace, planned.name): whole}
    state = state.changed(state.inventory.replace(workloads={**state.inventory.workloads, **workloads}))
    return state, msgspec.structs.replace(pod, metadata=meta)


def _beside(pod: Pod, running: Pod) -> Pod:
    """A pod that the controller of one that runs adds, with the same hash of their template."""
    hashed = {key: value for key, value in running.metadata.labels.items() if key in _HASH}
    owners, labels = running.metadata.owner_references, {**pod.metadata.labels, **hashed}
    return msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, labels=labels, owner_references=owners)
    )


def _copy(pod: Pod, suffix: str) -> Pod:
    name = f"{pod.metadata.name}{suffix}"
    uid = supposed_uid(pod.metadata.namespace, name)
    meta = msgspec.structs.replace(pod.metadata, name=name, uid=uid, creation_timestamp=None)
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(pod, metadata=meta, spec=spec, status=PodStatus(phase="Pending"))


def nodes_of_daemons(state: ClusterState, pod: Pod) -> Iterator[str]:
    """The nodes that a DaemonSet makes pods for."""
    return daemon_nodes(Snapshot(state), with_spec(pod, tolerations=daemon_tolerations(pod.spec)))


def _on_every_node(state: ClusterState, pod: Pod) -> Iterator[tuple[str, Pod]]:
    """One pod per node that the workload's pods may run on, bound to it by its affinity."""
    tolerant = with_spec(pod, tolerations=daemon_tolerations(pod.spec))
    # By its controller a pod is known to be meant for the node that its affinity names.
    owner = OwnerReference("apps/v1", DAEMON_SET, pod.metadata.name, f"simulated-{pod.metadata.name}", controller=True)
    for name in daemon_nodes(Snapshot(state), tolerant):
        copy = _copy(with_spec(tolerant, affinity=_only(name, tolerant.spec.affinity)), f"-{name}")
        meta = msgspec.structs.replace(copy.metadata, owner_references=copy.metadata.owner_references or (owner,))
        yield name, msgspec.structs.replace(copy, metadata=meta)


def _only(node: str, affinity: Affinity | None) -> Affinity:
    field = NodeSelectorRequirement("metadata.name", "In", (node,))
    affinity = affinity or Affinity()
    only = msgspec.structs.replace(
        affinity.node_affinity or NodeAffinity(),
        required_during_scheduling_ignored_during_execution=NodeSelector((NodeSelectorTerm(match_fields=(field,)),)),
    )
    return msgspec.structs.replace(affinity, node_affinity=only)
