"""From decoded objects to an Inventory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubectl_dra.api.kinds import Kind
from kubectl_dra.api.resolve import complete_pools, resolved_claims
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Event
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import ClassicObjects, Inventory, key_of
from kubectl_dra.model.usage import usage_by_node


class InventoryBuilder:
    """Collects objects in the order in which they are read; an object that comes twice counts in its last state."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[Key, Any]] = {}
        self._workloads: dict[tuple[str, str, str], Any] = {}
        self.replaced: list[tuple[Kind, Key]] = []

    def add(self, kind: Kind, record: Record) -> None:
        """Add one object of ``kind``."""
        # Every kind's record has metadata, which the common base of all parts of objects has not.
        key = key_of(record.metadata)  # type: ignore[attr-defined]
        objects = self._objects.setdefault(kind.name, {})
        if key in objects:
            self.replaced.append((kind, key))
        objects[key] = record
        if kind.workload:
            self._workloads[(kind.name, key.namespace, key.name)] = record

    def kinds(self) -> frozenset[str]:
        """The names of the kinds that occurred."""
        return frozenset(self._objects)

    def inventory(self) -> Inventory:
        """Everything that was added, with the sums of the pods' requests per node."""
        pods = self._objects.get("Pod", {})
        classes, slices = self._by_name("DeviceClass"), self._by_name("ResourceSlice")
        return Inventory(
            nodes=self._by_name("Node"),
            namespaces=self._by_name("Namespace"),
            pods=pods,
            usage=usage_by_node(pods.values()),
            claims=resolved_claims(self._objects.get("ResourceClaim", {}), classes, slices),
            templates=self._objects.get("ResourceClaimTemplate", {}),
            classes=classes,
            slices=complete_pools(slices),
            taint_rules=self._by_name("DeviceTaintRule"),
            events=self._events(),
            quotas=self._objects.get("ResourceQuota", {}),
            workloads=self._workloads,
            pool_statuses=self._by_name("ResourcePoolStatusRequest"),
            classic=ClassicObjects(
                self._by_name("ResourceClass"),
                self._objects.get("ResourceClassParameters", {}),
                self._objects.get("ResourceClaimParameters", {}),
                self._objects.get("PodSchedulingContext", {}),
            ),
        )

    def _by_name(self, kind: str) -> dict[str, Any]:
        return {key.name: record for key, record in self._objects.get(kind, {}).items()}

    def _events(self) -> tuple[Event, ...]:
        return tuple(self._objects.get("Event", {}).values())


def build_inventory(objects: Iterable[tuple[Kind, Record]]) -> Inventory:
    """The Inventory of ``objects``."""
    builder = InventoryBuilder()
    for kind, record in objects:
        builder.add(kind, record)
    return builder.inventory()
