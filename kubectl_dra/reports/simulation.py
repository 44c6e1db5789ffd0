"""What would become of objects that don't exist yet: what admission says of each, and how many copies of a pod fit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from kubectl_dra.api.planned import Planned
from kubectl_dra.api.validate import NO_LABELS, validate
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import missing, needs, quota
from kubectl_dra.diagnosis.open_plugins import open_plugins
from kubectl_dra.diagnosis.placing import MAX_COPIES, Placed, place
from kubectl_dra.diagnosis.records import Certainty, Missing, ObjectRef, OpenPlugin, Verdict
from kubectl_dra.diagnosis.remedies.records import EditClaim, EditPod, RemoveGates
from kubectl_dra.model.affinity import Affinity, NodeAffinity
from kubectl_dra.model.base import Record
from kubectl_dra.model.classic import (
    ClassicClaim,
    ClassicResourceClaim,
    ResourceClaimParameters,
    ResourceClass,
    ResourceClassParameters,
)
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
from kubectl_dra.model.inventory import ClassicObjects, Inventory, key_of
from kubectl_dra.model.meta import (
    LocalObject,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
)
from kubectl_dra.model.resource import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kubectl_dra.reports.admitted import admitted, with_stored
from kubectl_dra.reports.base import Fits, ReadRecord, ReportRecord, feature_record, reads_of
from kubectl_dra.reports.pending import PendingReport, pending_report, unseen_entries
from kubectl_dra.reports.remedies import FoundRemedies, find_remedies
from kubectl_dra.scheduler.claims import sources
from kubectl_dra.scheduler.daemons import daemon_nodes
from kubectl_dra.scheduler.snapshot import Snapshot

#: Changes of the manifests themselves: nothing that a command could be applied to exists yet.
_IN_THE_FILE: Final = (EditClaim, EditPod, RemoveGates)
#: The admission plugin that adds overhead, node selector and tolerations.
_RUNTIME_CLASS: Final = "RuntimeClass"
_NAMESPACE: Final = "Namespace"
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


class Correction(ReportRecord, frozen=True):
    """One mistake in a manifest: where, what, and whether it was corrected before anything was tried."""

    path: str
    message: str
    corrected: bool


class ManifestReport(ReportRecord, frozen=True):
    """One object of the file. ``refused`` are the API server's words; ``exists``: the cluster's own object counts.

    ``error``: it could not be read. ``ignored``: its kind plays no part. ``corrected`` is the manifest as it was tried,
    None if nothing was corrected.
    """

    object: ObjectRef
    findings: tuple[Correction, ...] = ()
    refused: tuple[str, ...] = ()
    error: str = ""
    exists: bool = False
    ignored: bool = False
    corrected: msgspec.Raw | None = None


class NodeCopies(ReportRecord, frozen=True):
    """Copies on one node."""

    node: str
    copies: int


class PodSimulation(ReportRecord, frozen=True):
    """Copies of one pod. ``wanted`` None: as many as fit. ``capped``: more than ``copies`` may fit.

    ``subject`` is what the pods are made from: a pod, a workload, or a claim or template that was tried with a bare
    pod. ``pending`` tells of the first copy that does not fit. ``open``: what decides as well and is not simulated, so
    that ``copies`` are at most what fits. ``unseen``: entries of ``spec.resourceClaims`` that no container names.
    """

    subject: ObjectRef
    wanted: int | None
    copies: int
    capped: bool
    nodes: tuple[NodeCopies, ...]
    pending: PendingReport | None
    open: tuple[OpenPlugin, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def lacks(self) -> bool:
        """Whether less than what was wanted fits; without a number, not even one."""
        return self.copies < (1 if self.wanted is None else self.wanted)

    @property
    def fits(self) -> Fits:
        """Whether all that was wanted fits, and nothing else decides."""
        if self.lacks:
            known = self.pending is not None and self.pending.verdict is not Verdict.UNKNOWN
            return Fits.NO if known else Fits.UNKNOWN
        return Fits.UNKNOWN if self.open else Fits.YES

    @property
    def unread(self) -> tuple[Missing, ...]:
        """What could not be read, where that leaves open whether it fits."""
        if self.pending is None or self.pending.verdict is not Verdict.UNKNOWN:
            return ()
        return tuple(each for each in self.pending.missing if each.decides)


class SimulationReport(ReportRecord, frozen=True):
    """The whole file. ``fits``: nothing is refused or unreadable, and all copies fit."""

    fits: Fits
    manifests: tuple[ManifestReport, ...]
    pods: tuple[PodSimulation, ...]
    certainty: Certainty
    missing: tuple[Missing, ...]
    features: Mapping[str, bool | int | str]
    read: tuple[ReadRecord, ...]

    @property
    def bad(self) -> bool:
        """Whether something is refused or unreadable, or certainly does not fit."""
        refused = any(each.refused or each.error for each in self.manifests)
        return refused or any(
            each.lacks and each.pending is not None and each.pending.verdict is not Verdict.UNKNOWN
            for each in self.pods
        )

    @property
    def unread(self) -> tuple[Missing, ...]:
        """What could not be read, where that leaves open whether something fits."""
        return tuple(dict.fromkeys(each for pod in self.pods for each in pod.unread))

    @property
    def answered(self) -> bool:
        """Whether of any pod, or of any manifest, something could be said."""
        said = self.bad or any(each.copies or each.fits is not Fits.UNKNOWN or not each.unread for each in self.pods)
        return said or not self.pods

    @property
    def partial(self) -> bool:
        """Whether evidence is missing that decides, or something is not simulated, or more copies are not tried."""
        untried = any(each.open or (each.capped and each.wanted is not None) for each in self.pods)
        return untried or any(each.decides for each in self.missing)


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


def simulation_report(world: ClusterState, objects: Sequence[Planned], copies: Copies) -> SimulationReport:
    """Simulate the creation of all ``objects`` in their order; every pod finds what those before it left."""
    namespace = next((each.namespace for each in objects if each.namespace), "")
    namespaces = [each for each in objects if each.kind == _NAMESPACE]
    with_namespaces = _with_objects(world, namespaces)
    manifests = tuple(_manifests(world, with_namespaces, objects))
    usable = [each for each, found in zip(objects, manifests, strict=True) if not (found.refused or found.error)]
    with_all = _with_objects(world, usable)
    pods = tuple(_simulated(with_all, admitted(with_all.inventory, usable), copies))
    lacking = missing.missing(world.evidence, needs.POD, namespace)
    return SimulationReport(
        fits=_all_fit(manifests, pods),
        manifests=manifests,
        pods=pods,
        certainty=missing.certainty(world.evidence),
        missing=lacking,
        features=feature_record(world.features),
        read=reads_of(world.evidence),
    )


def _all_fit(manifests: Iterable[ManifestReport], pods: Iterable[PodSimulation]) -> Fits:
    verdicts = {pod.fits for pod in pods}
    if Fits.NO in verdicts or any(each.refused or each.error for each in manifests):
        return Fits.NO
    return Fits.UNKNOWN if Fits.UNKNOWN in verdicts else Fits.YES


# --- what admission says --------------------------------------------------------------------------------------------


def _manifests(
    world: ClusterState, with_namespaces: ClusterState, objects: Iterable[Planned]
) -> Iterator[ManifestReport]:
    """What is said of each; a claim that is created leaves less of its quotas to those after it."""
    for planned in objects:
        found = _manifest(world, with_namespaces, planned)
        if not (found.refused or found.error or found.exists) and isinstance(planned.record, ResourceClaim):
            with_namespaces = with_namespaces.changed(_charged(with_namespaces, planned.record))
        yield found


def _charged(world: ClusterState, claim: ResourceClaim) -> Inventory:
    inventory = world.inventory
    charge = quota.usage(claim.spec, inventory.classes, world.features.extended_resource)
    return inventory.replace(quotas=quota.charged(inventory.quotas, claim.metadata.namespace, charge))


def _over_quota(world: ClusterState, claim: ResourceClaim) -> str:
    inventory, namespace = world.inventory, claim.metadata.namespace
    charge = quota.usage(claim.spec, inventory.classes, world.features.extended_resource)
    return quota.refusal(quota.exceeded(inventory.quotas.values(), namespace, charge))


def _manifest(world: ClusterState, with_namespaces: ClusterState, planned: Planned) -> ManifestReport:
    ref = ObjectRef(planned.kind, planned.namespace or _namespace(planned), planned.name)
    findings = tuple(Correction(f.path, f.message, f.corrected) for f in planned.findings)
    exists = _existing(world.inventory, planned) is not None
    ignored = planned.record is None and not planned.error
    refused = () if planned.record is None else tuple(_refusals(with_namespaces, planned))
    corrected = msgspec.Raw(planned.corrected) if planned.corrected is not None else None
    return ManifestReport(ref, findings, refused, planned.error, exists, ignored, corrected)


def _namespace(planned: Planned) -> str:
    return planned.record.metadata.namespace if planned.record is not None else ""  # type: ignore[attr-defined]


def _refusals(world: ClusterState, planned: Planned) -> Iterator[str]:
    assert planned.record is not None  # noqa: S101
    namespaces, namespace = world.inventory.namespaces, _namespace(planned)
    if not planned.name:
        yield "metadata.name: Required value: name or generateName is required"
    if namespace and namespace not in namespaces and namespaces and world.evidence.complete("Namespace"):
        yield f'namespaces "{namespace}" not found'
    known = namespaces.get(namespace)
    labels = known.metadata.labels if known is not None else NO_LABELS
    invalid = tuple(map(str, validate(planned.record, labels)))
    yield from invalid
    # Admission by quota comes last.
    if not invalid and isinstance(planned.record, ResourceClaim) and _existing(world.inventory, planned) is None:
        over = _over_quota(world, planned.record)
        if over:
            yield f'resourceclaims.resource.k8s.io "{planned.name}" is forbidden: {over}'


def _existing(inventory: Inventory, planned: Planned) -> object | None:
    key = Key(_namespace(planned), planned.name)
    match planned.record:
        case ResourceClaim():
            return inventory.claims.get(key)
        case ResourceClaimTemplate():
            return inventory.templates.get(key)
        case Pod():
            return inventory.pods.get(key)
        case LocalObject():
            return inventory.workloads.get((planned.kind, *key))
    return None


# --- the cluster with the objects -----------------------------------------------------------------------------------


def _with_objects(world: ClusterState, objects: Iterable[Planned]) -> ClusterState:
    """Everything but pods and workloads. Claims and templates that exist stay: their specs can't be changed."""
    inventory = world.inventory
    for planned in objects:
        record, name = planned.record, planned.name
        match record:
            case ResourceClaim():
                if key_of(record.metadata) not in inventory.claims:
                    inventory = _charged(world.changed(inventory), record)
                claims = {key_of(record.metadata): _fresh(record), **inventory.claims}
                inventory = inventory.replace(claims=claims)
            case ResourceClaimTemplate():
                inventory = inventory.replace(templates={key_of(record.metadata): record, **inventory.templates})
            case DeviceClass():
                inventory = inventory.replace(classes={**inventory.classes, name: record})
            case ResourceSlice():
                inventory = inventory.replace(slices={**inventory.slices, name: record})
            case DeviceTaintRule():
                inventory = inventory.replace(taint_rules={**inventory.taint_rules, name: record})
            case ResourceClass() | ResourceClaimParameters() | ResourceClassParameters():
                inventory = inventory.replace(classic=_with_classic(inventory.classic, record))
            case LocalObject() if planned.kind == _NAMESPACE:
                inventory = inventory.replace(namespaces={**inventory.namespaces, name: record})
            case Record():
                inventory = with_stored(inventory, record)
    return world.changed(inventory)


def _fresh(claim: ResourceClaim) -> ResourceClaim:
    """A claim as it is when it has been created: whatever status the manifest has is dropped."""
    fresh = ResourceClaim(metadata=claim.metadata, spec=claim.spec)
    if not isinstance(claim, ClassicResourceClaim):
        return fresh
    old = claim.classic
    classic = ClassicClaim(
        resource_class_name=old.resource_class_name,
        parameters_ref=old.parameters_ref,
        allocation_mode=old.allocation_mode,
        controller=old.controller,
    )
    return ClassicResourceClaim(fresh.metadata, fresh.spec, fresh.status, classic)


def _with_classic(known: ClassicObjects, record: Record) -> ClassicObjects:
    """With a class or parameters of v1alpha2."""
    match record:
        case ResourceClass():
            return replace(known, classes={**known.classes, record.metadata.name: record})
        case ResourceClaimParameters():
            return replace(known, claim_parameters={**known.claim_parameters, key_of(record.metadata): record})
        case ResourceClassParameters():
            return replace(known, class_parameters={**known.class_parameters, key_of(record.metadata): record})
    return known


# --- pods -----------------------------------------------------------------------------------------------------------


def _simulated(world: ClusterState, objects: Sequence[Planned], copies: Copies) -> Iterator[PodSimulation]:
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
        key = _namespace(planned), planned.name
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
    ref = ObjectRef(planned.kind, _namespace(planned), planned.name)
    nodes = tuple(NodeCopies(name, placed.nodes[name]) for name in world.inventory.nodes if name in placed.nodes)
    left_open = tuple(_left_open(world, planned)) if wanted != 0 else ()
    unseen = unseen_entries(planned.pod) if planned.pod is not None else ()
    return PodSimulation(ref, wanted, placed.copies, placed.capped, nodes, pending, left_open, unseen)


def _left_open(world: ClusterState, planned: Planned) -> Iterator[OpenPlugin]:
    """Plugins of the scheduler, and of the API server: a RuntimeClass may add to what the pod asks for."""
    pod = planned.pod
    assert pod is not None  # noqa: S101
    yield from open_plugins(pod)
    if pod.spec.runtime_class_name and not pod.spec.overhead:
        yield OpenPlugin(_RUNTIME_CLASS, ("spec.runtimeClassName",))


def _of_the_cluster(found: FoundRemedies) -> FoundRemedies:
    """Without commands for what is only in the file."""
    remedies = tuple(
        msgspec.structs.replace(each, steps=()) if any(isinstance(a, _IN_THE_FILE) for a in each.actions) else each
        for each in found.remedies
    )
    return FoundRemedies(remedies, found.no_pair_helps)
