"""The cluster with the objects of the manifests in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Edit, Put, edited, find
from kubectl_dra.diagnosis import quota
from kubectl_dra.model.classic import ClassicClaim, ClassicResourceClaim
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.admitted import stored

#: Of these an object that exists already counts: their specs can't be changed, or what they are is known better there.
_REPLACED: Final = frozenset({"Node", "Namespace", "DeviceClass", "ResourceSlice", "DeviceTaintRule"})
_CLASSIC: Final = frozenset({"ResourceClass", "ResourceClaimParameters", "ResourceClassParameters"})
_STORED: Final = frozenset(
    {
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
        "PriorityClass",
        "PodDisruptionBudget",
    }
)


def with_objects(world: ClusterState, objects: Iterable[Planned]) -> ClusterState:
    """The cluster with everything but pods and workloads; claims that come into being are charged to their quotas."""
    objects = list(objects)
    inventory = world.inventory
    for planned in objects:
        if isinstance(planned.record, ResourceClaim) and existing(inventory, planned) is None:
            inventory = charged(world.changed(inventory), planned.record)
    return edited(world.changed(inventory), _edits(inventory, objects))


def _edits(inventory: Inventory, objects: Iterable[Planned]) -> Iterator[Edit]:
    for planned in objects:
        record = planned.record
        if record is None:
            continue
        if planned.kind in _REPLACED | _CLASSIC:
            yield Put(planned.kind, record)
        elif isinstance(record, ResourceClaim) and existing(inventory, planned) is None:
            yield Put(planned.kind, _fresh(record))
        elif planned.kind in _STORED | {"ResourceClaimTemplate"} and existing(inventory, planned) is None:
            yield Put(planned.kind, stored(record))


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


def charged(world: ClusterState, claim: ResourceClaim) -> Inventory:
    """The Inventory with the quotas after a claim was created."""
    inventory = world.inventory
    charge = quota.usage(claim.spec, inventory.classes, world.features.extended_resource)
    return inventory.replace(quotas=quota.charged(inventory.quotas, claim.metadata.namespace, charge))


def namespace_of(planned: Planned) -> str:
    """The namespace of an object that could be read; empty for one without."""
    return planned.record.metadata.namespace if planned.record is not None else ""  # type: ignore[attr-defined]


def existing(inventory: Inventory, planned: Planned) -> object | None:
    """The object of the cluster that has the same kind, namespace and name."""
    key = Key(namespace_of(planned), planned.name)
    return None if planned.record is None else find(inventory, planned.kind, key)
