"""The pods that manifests make, and how many of them fit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.open_plugins import open_plugins
from kubectl_dra.diagnosis.placing import MAX_COPIES, Placed, place
from kubectl_dra.diagnosis.records import ObjectRef, OpenPlugin
from kubectl_dra.diagnosis.remedies.records import EditClaim, EditPod, RemoveGates
from kubectl_dra.model.affinity import Affinity, NodeAffinity
from kubectl_dra.model.core import (
    Container,
    ContainerClaim,
    Pod,
    PodResourceClaim,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Toleration,
)
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
)
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate
from kubectl_dra.reports.pending import pending_report, unseen_entries
from kubectl_dra.reports.remedies import FoundRemedies, find_remedies
from kubectl_dra.reports.simulation.existing import namespace_of
from kubectl_dra.reports.simulation.records import NodeCopies, PodSimulation
from kubectl_dra.scheduler.claims import sources
from kubectl_dra.scheduler.daemons import daemon_nodes
from kubectl_dra.scheduler.snapshot import Snapshot

#: Changes of the manifests themselves: nothing that a command could be applied to exists yet.
_IN_THE_FILE: Final = (EditClaim, EditPod, RemoveGates)
#: The admission plugin that adds overhead, node selector and tolerations.
_RUNTIME_CLASS: Final = "RuntimeClass"
_CONTROLLERS: Final = {
    "Deployment": "ReplicaSet",
    "ReplicaSet": "ReplicaSet",
    "StatefulSet": "StatefulSet",
    "ReplicationController": "ReplicationController",
}
_DAEMON_SET: Final = "DaemonSet"
#: The DaemonSet controller lets its pods onto nodes with these taints.
_DAEMON_TOLERATIONS: Final = tuple(
    Toleration(f"node.kubernetes.io/{key}", "Exists", "", effect)
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)


@dataclass(frozen=True, slots=True)
class Copies:
    """How many copies were asked for: None, what the manifests say; ``as_many_as_fit`` instead of a number."""

    number: int | None = None
    as_many_as_fit: bool = False

    def of(self, planned: int) -> int | None:
        """The copies wanted of something that plans for a number itself; None for as many as fit."""
        if self.as_many_as_fit:
            return None
        return planned if self.number is None else self.number


def simulated(world: ClusterState, objects: Sequence[Planned], copies: Copies) -> Iterator[PodSimulation]:
    """Every pod in the order of the manifests, each finding what those before it left."""
    simulated: set[Key] = set()
    for planned in (*objects, *_bare_pods(objects)):
        if planned.pod is None:
            continue
        wanted, pods = _copies_of(world, planned, copies)
        placed = place(world, pods)
        simulated |= placed.world.inventory.pods.keys() - world.inventory.pods.keys()
        yield _pod_simulation(world, planned, wanted, placed, simulated)
        world = placed.world


def _copies_of(world: ClusterState, planned: Planned, copies: Copies) -> tuple[int | None, Iterable[Pod]]:
    assert planned.pod is not None  # noqa: S101
    if planned.kind == _DAEMON_SET:
        pods = list(_on_every_node(world, planned.pod))
        return len(pods), pods
    wanted = copies.of(1 if planned.copies is None else planned.copies)
    many = MAX_COPIES + 1 if wanted is None else wanted
    single = wanted == 1 and planned.kind == "Pod"
    pod = _controlled(planned.pod, planned)
    return wanted, (_copy(pod, "" if single else f"-{number}") for number in range(many))


def _controlled(pod: Pod, planned: Planned) -> Pod:
    """With the controller that a workload's pods have: its pods are spread."""
    kind = _CONTROLLERS.get(planned.kind)
    if kind is None:
        return pod
    owner = OwnerReference("apps/v1", kind, planned.name, f"simulated-{planned.name}", controller=True)
    meta = msgspec.structs.replace(pod.metadata, owner_references=(owner,))
    return msgspec.structs.replace(pod, metadata=meta)


def _copy(pod: Pod, suffix: str) -> Pod:
    name = f"{pod.metadata.name or pod.metadata.generate_name}{suffix}"
    meta = msgspec.structs.replace(pod.metadata, name=name, uid=f"simulated-{pod.metadata.namespace}-{name}")
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(pod, metadata=meta, spec=spec, status=PodStatus(phase="Pending"))


def _on_every_node(world: ClusterState, pod: Pod) -> Iterator[Pod]:
    """One pod per node that the workload's pods may run on, bound to it by its affinity."""
    tolerant = _with_spec(pod, tolerations=(*pod.spec.tolerations, *_DAEMON_TOLERATIONS))
    for name in daemon_nodes(Snapshot(world), tolerant):
        yield _copy(_with_spec(tolerant, affinity=_only(name, tolerant.spec.affinity)), f"-{name}")


def _with_spec(pod: Pod, **fields: object) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, **fields))


def _only(node: str, affinity: Affinity | None) -> Affinity:
    field = NodeSelectorRequirement("metadata.name", "In", (node,))
    affinity = affinity or Affinity()
    only = msgspec.structs.replace(
        affinity.node_affinity or NodeAffinity(),
        required_during_scheduling_ignored_during_execution=NodeSelector((NodeSelectorTerm(match_fields=(field,)),)),
    )
    return msgspec.structs.replace(affinity, node_affinity=only)


def _bare_pods(objects: Sequence[Planned]) -> Iterator[Planned]:
    """A pod for every claim and template that no pod of the file names."""
    named = {
        (pod.metadata.namespace, name)
        for each in objects
        if (pod := each.pod) is not None
        for entry in pod.spec.resource_claims
        for name in sources(entry)
    }
    for planned in objects:
        key = namespace_of(planned), planned.name
        if key in named or not isinstance(planned.record, ResourceClaim | ResourceClaimTemplate):
            continue
        shared = isinstance(planned.record, ResourceClaim)
        entry = PodResourceClaim(
            name="devices",
            resource_claim_name=planned.name if shared else None,
            resource_claim_template_name=None if shared else planned.name,
        )
        container = Container(name="main", resources=ResourceRequirements(claims=(ContainerClaim(entry.name),)))
        spec = PodSpec(scheduler_name="default-scheduler", containers=(container,), resource_claims=(entry,))
        pod = Pod(metadata=ObjectMeta(name=planned.name, namespace=key[0]), spec=spec)
        yield replace(planned, pod=pod, copies=1)


def _pod_simulation(
    world: ClusterState, planned: Planned, wanted: int | None, placed: Placed, simulated: Collection[Key]
) -> PodSimulation:
    failed = placed.failed
    pending = None
    if failed is not None:
        after = placed.world
        # Who asks how many fit has not asked for more.
        asked = wanted is not None or not placed.copies
        found = _of_the_cluster(find_remedies(after, failed, keep=simulated)) if asked else FoundRemedies()
        pending = pending_report(
            failed,
            after,
            remedies=found.remedies,
            no_pair_helps=found.no_pair_helps,
        )
    ref = ObjectRef(planned.kind, namespace_of(planned), planned.name)
    nodes = tuple(NodeCopies(name, placed.nodes[name]) for name in world.inventory.nodes if name in placed.nodes)
    left_open = tuple(_left_open(world, planned)) if wanted != 0 else ()
    unseen = unseen_entries(planned.pod) if planned.pod is not None else ()
    return PodSimulation(ref, wanted, placed.copies, placed.capped, nodes, pending, left_open, unseen)


def _left_open(world: ClusterState, planned: Planned) -> Iterator[OpenPlugin]:
    """Plugins of the scheduler, and of the API server: a RuntimeClass may add to what the pod asks for."""
    pod = planned.pod
    assert pod is not None  # noqa: S101
    yield from open_plugins(world, pod)
    if pod.spec.runtime_class_name and not pod.spec.overhead:
        yield OpenPlugin(_RUNTIME_CLASS, ("spec.runtimeClassName",))


def _of_the_cluster(found: FoundRemedies) -> FoundRemedies:
    """Without commands for what is only in the file."""
    remedies = tuple(
        msgspec.structs.replace(each, steps=()) if any(isinstance(a, _IN_THE_FILE) for a in each.actions) else each
        for each in found.remedies
    )
    return FoundRemedies(remedies, found.no_pair_helps)
