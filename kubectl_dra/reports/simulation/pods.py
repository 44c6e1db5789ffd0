"""The pods of one trial as their controller would make them: names, owners, tolerations, volumes, one per node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from kubectl_dra.api.planned import PodPlan
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import MAX_COPIES
from kubectl_dra.diagnosis.pod.volume_claims import with_set_claims
from kubectl_dra.model.affinity import Affinity, NodeAffinity
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.meta import (
    LabelSelector,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    OwnerReference,
)
from kubectl_dra.model.workloads import MakerSpec, WorkloadObject
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
    """The pods of a trial: ``wanted`` are asked for, None: as many as fit. ``world`` has their volumes."""

    world: ClusterState
    pods: Iterable[Pod]
    wanted: int | None
    counted: Counted


def batch(world: ClusterState, trial: PodTrial, copies: Copies) -> Batch:
    """The pods of a trial, in the order in which they are created."""
    plan = trial.plan
    if plan.count is CountSource.PER_NODE and not world.evidence.complete("Node"):
        # One that may run anywhere: of how many nodes is not known.
        tolerant = with_spec(plan.pod, tolerations=daemon_tolerations(plan.pod.spec))
        return Batch(world, [_copy(tolerant, "-0")], 1, Counted.UNKNOWN)
    if plan.count is CountSource.PER_NODE:
        daemons = list(_on_every_node(world, plan.pod))
        return Batch(world, daemons, len(daemons), Counted.PER_NODE)
    counted = Counted.ASKED if copies.asked else _COUNTED[plan.count]
    wanted = copies.of(1 if plan.copies is None else plan.copies)
    many = min(MAX_COPIES + 1 if wanted is None else wanted, MAX_COPIES + 1)
    single = wanted == 1 and trial.planned.kind == "Pod"
    world, pod = _controlled(world, plan.pod, trial)
    pods: Iterable[Pod] = (_copy(pod, "" if single else f"-{number}") for number in range(many))
    if plan.volume_claims:
        return _with_volumes(world, pods, plan, wanted, counted)
    return Batch(world, pods, wanted, counted)


def _with_volumes(
    world: ClusterState, pods: Iterable[Pod], plan: PodPlan, wanted: int | None, counted: Counted
) -> Batch:
    inventory, made = world.inventory, list[Pod]()
    for pod in pods:
        inventory, with_volumes = with_set_claims(inventory, pod, plan.volume_claims)
        made.append(with_volumes)
    return Batch(world.changed(inventory), made, wanted, counted)


def _controlled(world: ClusterState, pod: Pod, trial: PodTrial) -> tuple[ClusterState, Pod]:
    """With the controller that a workload's pods have, by whose selector they are spread.

    A Deployment makes a ReplicaSet that selects its own pods alone, by a hash that only they have (upstream:
    pkg/controller/deployment/sync.go, getNewReplicaSet).
    """
    planned = trial.planned
    kind = _CONTROLLERS.get(planned.kind)
    if kind is None:
        return world, pod
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    owner = OwnerReference(version, kind, planned.name, f"simulated-{planned.name}", controller=True)
    meta = msgspec.structs.replace(pod.metadata, owner_references=(owner,))
    made = planned.record if isinstance(planned.record, WorkloadObject) else WorkloadObject()
    if kind != planned.kind:
        meta = msgspec.structs.replace(meta, labels={**meta.labels, **_HASH})
        made = WorkloadObject(spec=MakerSpec(selector=LabelSelector(match_labels=_HASH)))
    key = kind, pod.metadata.namespace, planned.name
    world = world.changed(world.inventory.replace(workloads={**world.inventory.workloads, key: made}))
    return world, msgspec.structs.replace(pod, metadata=meta)


def _copy(pod: Pod, suffix: str) -> Pod:
    name = f"{pod.metadata.name}{suffix}"
    uid = f"simulated-{pod.metadata.namespace}-{name}"
    meta = msgspec.structs.replace(pod.metadata, name=name, uid=uid, creation_timestamp=None)
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(pod, metadata=meta, spec=spec, status=PodStatus(phase="Pending"))


def _on_every_node(world: ClusterState, pod: Pod) -> Iterator[Pod]:
    """One pod per node that the workload's pods may run on, bound to it by its affinity."""
    tolerant = with_spec(pod, tolerations=daemon_tolerations(pod.spec))
    for name in daemon_nodes(Snapshot(world), tolerant):
        yield _copy(with_spec(tolerant, affinity=_only(name, tolerant.spec.affinity)), f"-{name}")


def _only(node: str, affinity: Affinity | None) -> Affinity:
    field = NodeSelectorRequirement("metadata.name", "In", (node,))
    affinity = affinity or Affinity()
    only = msgspec.structs.replace(
        affinity.node_affinity or NodeAffinity(),
        required_during_scheduling_ignored_during_execution=NodeSelector((NodeSelectorTerm(match_fields=(field,)),)),
    )
    return msgspec.structs.replace(affinity, node_affinity=only)
