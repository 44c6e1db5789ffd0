"""The cluster with the objects of the manifests in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.api.planned import Planned
from kubectl_dra.api.validate import validate
from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Edit, Put, edited, find
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET, absent_daemon_pods, daemon_set_of
from kubectl_dra.model.admin_access import ALLOWED, lacking_label, needed_label
from kubectl_dra.model.classic import ClassicClaim, ClassicResourceClaim
from kubectl_dra.model.core import Node, Pod, ResourceQuota
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import LocalObject, ObjectMeta
from kubectl_dra.model.names import is_label
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate
from kubectl_dra.reports.admitted import stored
from kubectl_dra.reports.pending.remedies import FileEdit

_NAMESPACE: Final = "Namespace"
#: The label that every namespace has.
_NAME_LABEL: Final = "kubernetes.io/metadata.name"
#: What the files say about these counts, also where the cluster has an object of the name.
_REPLACED: Final = frozenset(
    {
        "Node",
        "DeviceClass",
        "ResourceSlice",
        "DeviceTaintRule",
        "ResourceClass",
        "ResourceClaimParameters",
        "ResourceClassParameters",
        "Service",
        "LimitRange",
        "RuntimeClass",
        "HorizontalPodAutoscaler",
    }
)
#: Of these an object that exists already counts: its spec can't be changed, or what it is is known better there.
_KEPT: Final = frozenset(
    {
        "ResourceClaimTemplate",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
        "VolumeAttachment",
        "PriorityClass",
        "PodDisruptionBudget",
        "PodGroup",
        "Workload",
        "CompositePodGroup",
    }
)


def new_namespaces(state: ClusterState, objects: Sequence[Planned]) -> tuple[str, ...]:
    """The namespaces of ``objects`` that neither the cluster nor the files have, if all of these are known."""
    known = state.inventory.namespaces
    if not known or not state.evidence.complete(_NAMESPACE):
        return ()
    made = {each.name for each in objects if each.kind == _NAMESPACE}
    wanted = (each.key.namespace for each in objects)
    return tuple(dict.fromkeys(name for name in wanted if is_label(name) and name not in known and name not in made))


def with_namespaces(state: ClusterState, objects: Iterable[Planned], missing: Iterable[str]) -> ClusterState:
    """The cluster with the namespaces of the files and those that are ``missing``."""
    labelled = (LocalObject("v1", _NAMESPACE, ObjectMeta(name, labels={_NAME_LABEL: name})) for name in missing)
    written = (each.record for each in objects if each.kind == _NAMESPACE and each.record is not None)
    return edited(state, (Put(_NAMESPACE, record) for record in (*labelled, *written)))


def _lacks_label(state: ClusterState, planned: Planned) -> bool:
    if not isinstance(planned.record, ResourceClaim | ResourceClaimTemplate):
        return False
    lacking = lacking_in(state, planned.key.namespace)
    return bool(lacking) and len(validate(planned.record)) < len(validate(planned.record, lacking=lacking))


def lacking_in(state: ClusterState, namespace: str) -> str:
    """The label for admin access that a namespace of objects of the files lacks; one that is made for them has none."""
    known = state.inventory.namespaces.get(namespace)
    return lacking_label(known.metadata.labels if known is not None else {}, state.features)


def with_admin_labels(state: ClusterState, objects: Iterable[Planned]) -> tuple[ClusterState, tuple[str, ...]]:
    """The cluster with the label for admin access on namespaces of claims and templates that are refused without it.

    And the names of these. Upstream: pkg/registry/resource/resourceclaim/strategy.go (AuthorizedForAdmin).
    """
    names = tuple(dict.fromkeys(each.key.namespace for each in objects if _lacks_label(state, each)))
    there = {name: state.inventory.namespaces.get(name) for name in names}
    metas = (ObjectMeta(name) if known is None else known.metadata for name, known in there.items())
    label = {needed_label(state.features): ALLOWED}
    labelled = (msgspec.structs.replace(meta, labels={**meta.labels, **label}) for meta in metas)
    return edited(state, (Put(_NAMESPACE, LocalObject("v1", _NAMESPACE, meta)) for meta in labelled)), names


def admin_labels(objects: Iterable[Planned], names: Collection[str], label: str) -> Iterator[FileEdit]:
    """The ``label`` for admin access in namespaces of the files with these ``names``, which lack it."""
    for each in objects:
        if each.kind == _NAMESPACE and each.name in names:
            yield FileEdit(ObjectRef(_NAMESPACE, "", each.name), each.origin, "metadata.labels", {label: ALLOWED})


def with_objects(state: ClusterState, objects: Iterable[Planned]) -> ClusterState:
    """The cluster with everything but pods and workloads; claims that come into being are charged to their quotas."""
    objects = list(objects)
    state = _with_quotas(state, objects)
    inventory = state.inventory
    for planned in objects:
        if isinstance(planned.record, ResourceClaim) and existing(inventory, planned) is None:
            inventory = charged(state.changed(inventory), planned.record)
    # Claims of volumes depend on the classes beside them.
    late = [each for each in objects if each.kind == "PersistentVolumeClaim"]
    after = edited(state.changed(inventory), _edits(inventory, (each for each in objects if each not in late)))
    after = edited(after, _edits(after.inventory, late))
    return edited(after, (Put("Pod", pod) for pod in _daemon_pods(after, new_nodes(state, objects), objects)))


def new_nodes(state: ClusterState, objects: Iterable[Planned]) -> tuple[str, ...]:
    """The nodes of the files that the cluster does not have."""
    named = (each.name for each in objects if isinstance(each.record, Node))
    return tuple(dict.fromkeys(name for name in named if name not in state.inventory.nodes))


def _daemon_pods(after: ClusterState, nodes: Iterable[str], objects: Iterable[Planned]) -> Iterator[Pod]:
    """What the cluster's DaemonSets put on new nodes first; those of the files are tried."""
    own = {each.key for each in objects if each.kind == DAEMON_SET}
    return (pod for name in nodes for pod in absent_daemon_pods(after, name) if daemon_set_of(pod) not in own)


def _with_quotas(state: ClusterState, objects: Iterable[Planned]) -> ClusterState:
    """The cluster with the quotas of the files, once what is in their namespaces has been counted."""
    found = (each.record for each in objects if isinstance(each.record, ResourceQuota))
    return edited(state, (Put(quota.KIND, quota.recounted(each, state.inventory, state.features)) for each in found))


def _edits(inventory: Inventory, objects: Iterable[Planned]) -> Iterator[Edit]:
    for planned in objects:
        record = planned.record
        if record is None:
            continue
        if planned.kind in _REPLACED:
            yield Put(planned.kind, record)
        elif isinstance(record, ResourceClaim) and existing(inventory, planned) is None:
            yield Put(planned.kind, _fresh(record))
        elif planned.kind in _KEPT and existing(inventory, planned) is None:
            yield Put(planned.kind, stored(record, inventory))


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


def charge_of(state: ClusterState, record: ResourceClaim | Pod) -> dict[str, int]:
    """What the creation of a claim, or of a pod with extended resources, is charged."""
    if isinstance(record, Pod):
        return quota.pod_usage(record)
    return quota.usage(record.spec, state.inventory.classes, state.features.extended_resource)


def charged(state: ClusterState, record: ResourceClaim | Pod) -> Inventory:
    """The Inventory with the quotas after a claim or a pod was created."""
    quotas = _charged(state.inventory.quotas, state, record)
    return state.inventory.replace(quotas=quotas)


def charged_to(one: ResourceQuota, state: ClusterState, record: ResourceClaim | Pod) -> ResourceQuota:
    """One quota after a claim or a pod was created."""
    (after,) = _charged({key_of(one.metadata): one}, state, record).values()
    return after


def _charged(
    quotas: Mapping[Key, ResourceQuota], state: ClusterState, record: ResourceClaim | Pod
) -> Mapping[Key, ResourceQuota]:
    pod = record if isinstance(record, Pod) else None
    return quota.charged(quotas, record.metadata.namespace, charge_of(state, record), pod)


def existing(inventory: Inventory, planned: Planned) -> object | None:
    """The object of the cluster that has the same kind, namespace and name."""
    return None if planned.record is None else find(inventory, planned.kind, planned.key)
