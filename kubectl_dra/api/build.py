"""From decoded objects to an Inventory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_dra.api.kinds import WORKLOADS, Kind
from kubectl_dra.api.resolve import complete_pools, resolved_claims
from kubectl_dra.model.base import Record
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import ClassicObjects, Inventory, key_of
from kubectl_dra.model.usage import usage_by_node


class InventoryBuilder:
    """Collects objects in the order in which they are read; an object that comes twice counts in its last state."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[Key, Any]] = {}
        self.replaced: list[tuple[Kind, Key]] = []

    def add(self, kind: Kind, record: Record) -> None:
        """Add one object of ``kind``."""
        # Every kind's record has metadata, which the common base of all parts of objects has not.
        key = key_of(record.metadata)  # type: ignore[attr-defined]
        objects = self._objects.setdefault(kind.name, {})
        if key in objects:
            self.replaced.append((kind, key))
        objects[key] = record

    def kinds(self) -> frozenset[str]:
        """The names of the kinds that occurred."""
        return frozenset(self._objects)

    def inventory(self) -> Inventory:
        """Everything that was added, with the sums of the pods' requests per node."""
        return inventory_of(self._objects)


def inventory_of(objects: Mapping[str, Mapping[Key, Any]]) -> Inventory:
    """The Inventory of objects by name of kind and key, with the sums of the pods' requests per node.

    Mappings are taken as they are: who hands them over must not change them afterwards.
    """

    def by_key(kind: str) -> Mapping[Key, Any]:
        return objects.get(kind, {})

    def by_name(kind: str) -> dict[str, Any]:
        return {key.name: record for key, record in by_key(kind).items()}

    classes, slices = by_name("DeviceClass"), by_name("ResourceSlice")
    return Inventory(
        nodes=by_name("Node"),
        namespaces=by_name("Namespace"),
        pods=by_key("Pod"),
        usage=usage_by_node(by_key("Pod").values()),
        claims=resolved_claims(by_key("ResourceClaim"), classes, slices),
        templates=by_key("ResourceClaimTemplate"),
        classes=classes,
        slices=complete_pools(slices),
        taint_rules=by_name("DeviceTaintRule"),
        events=tuple(by_key("Event").values()),
        quotas=by_key("ResourceQuota"),
        workloads={
            (kind.name, key.namespace, key.name): record
            for kind in WORKLOADS
            for key, record in by_key(kind.name).items()
        },
        pool_statuses=by_name("ResourcePoolStatusRequest"),
        classic=ClassicObjects(
            by_name("ResourceClass"),
            by_key("ResourceClassParameters"),
            by_key("ResourceClaimParameters"),
            by_key("PodSchedulingContext"),
        ),
    )


def build_inventory(objects: Iterable[tuple[Kind, Record]]) -> Inventory:
    """The Inventory of ``objects``."""
    builder = InventoryBuilder()
    for kind, record in objects:
        builder.add(kind, record)
    return builder.inventory()
