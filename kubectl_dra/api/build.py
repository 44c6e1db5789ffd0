"""From decoded objects to an Inventory."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from kubectl_dra.api.kinds import GROUPS, STORAGE, WORKLOADS, Kind
from kubectl_dra.api.resolve import complete_pools, resolved_claims
from kubectl_dra.api.sharing import share_pod
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import ClassicObjects, GroupObjects, Inventory, StorageObjects, key_of
from kubectl_dra.model.usage import NodeUsage, usage_by_node

_VERSION_DIGITS: Final = 30
_NAME: Final = attrgetter("name")
# About so many names are sorted in one step; of each step so many are looked at to know where the next one begins.
_STEP: Final = 1 << 15
_SAMPLES: Final = 1 << 6


class InventoryBuilder:
    """Collects objects in any order; one that comes twice counts in its newest state, or the last where none is newer.

    ``leave`` takes out of each what nobody will read.

    ``replaced`` are those that came twice, ``by_version`` those of them that resource versions could tell apart.
    """

    def __init__(self, leave: Callable[[Record], None] | None = None) -> None:
        self._leave = leave
        self._objects: dict[str, dict[Key, Any]] = {}
        self.replaced: list[tuple[Kind, Key]] = []
        self.by_version: set[tuple[str, Key]] = set()

    def add(self, kind: Kind, record: Record) -> None:
        self.extend(kind, (record,))

    def extend(self, kind: Kind, records: Iterable[Record], *, finished: bool = False) -> None:
        """Add objects of ``kind``, one at least; those that are ``finished`` are lean and share their parts already."""
        objects = self._objects.setdefault(kind.name, {})
        for record in records:
            if not finished:
                self._finish(record)
            # Every kind's record has metadata, which the common base of all parts of objects has not.
            key = key_of(record.metadata)  # type: ignore[attr-defined]
            if key not in objects or self._is_newer(kind, key, record, objects[key]):
                objects[key] = record

    def _finish(self, record: Record) -> None:
        if self._leave is not None:
            self._leave(record)
        if isinstance(record, Pod):
            share_pod(record)

    def _is_newer(self, kind: Kind, key: Key, record: Record, known: Record) -> bool:
        self.replaced.append((kind, key))
        age = _version(record) - _version(known)
        if age:
            self.by_version.add((kind.name, key))
        return age >= 0

    def kinds(self) -> frozenset[str]:
        """The names of the kinds that occurred."""
        return frozenset(self._objects)

    def inventory(self, usage: Mapping[str, NodeUsage] | None = None) -> Inventory:
        """Everything that was added, with the sums of the pods' requests per node, or known sums of more pods."""
        return inventory_of(self._objects, usage)


def _version(record: Record) -> int:
    """The resource version as a number, as servers since 1.35 promise it; 0 where it is none."""
    text = record.metadata.resource_version  # type: ignore[attr-defined]
    return int(text) if text.isascii() and text.isdecimal() and len(text) < _VERSION_DIGITS else 0


def inventory_of(objects: Mapping[str, Mapping[Key, Any]], usage: Mapping[str, NodeUsage] | None = None) -> Inventory:
    """The Inventory of objects by name of kind and key, with the sums of the pods' requests per node, or ``usage``.

    Who hands mappings over must not change them afterwards.
    """
    fields = inventory_fields(objects, objects)
    found = usage_by_node(objects.get("Pod", {}).values()) if usage is None else usage
    return Inventory(usage=found, **fields)


def inventory_fields(objects: Mapping[str, Mapping[Key, Any]], changed: Collection[str]) -> dict[str, Any]:
    """Those fields of an Inventory of ``objects`` that depend on the kinds that have ``changed``, but for ``usage``."""
    names = {field for kind in changed for field in _FIELDS_OF.get(kind, ())}
    ordered = _Objects(objects)
    return {name: _FIELDS[name](ordered) for name in names}


class _Objects:
    """Objects by name of kind and key, those of a kind in the order of namespace and name.

    Servers list so, files hold them in any order and watches tell what comes last; which node or device is named first
    must not depend on that.
    """

    def __init__(self, objects: Mapping[str, Mapping[Key, Any]]) -> None:
        self._objects = objects
        self._ordered: dict[str, Mapping[Key, Any]] = {}
        self._named: dict[str, dict[str, Any]] = {}

    def of(self, kind: str) -> Mapping[Key, Any]:
        """The objects of a kind; the given mapping itself if it is in order."""
        if kind not in self._ordered:
            objects = self._objects.get(kind, {})
            keys = _in_order(objects)
            self._ordered[kind] = objects if keys == list(objects) else {key: objects[key] for key in keys}
        return self._ordered[kind]

    def by_name(self, kind: str) -> dict[str, Any]:
        """The objects of a kind that has no namespaces, by name."""
        if kind not in self._named:
            self._named[kind] = {key.name: record for key, record in self.of(kind).items()}
        return self._named[kind]


def _in_order(keys: Iterable[Key]) -> list[Key]:
    """Keys by namespace and name, a namespace at a time: names alone are compared three times as fast as pairs."""
    names: dict[str, list[Key]] = {}
    for key in keys:
        names.setdefault(key.namespace, []).append(key)
    found: list[Key] = []
    for namespace in sorted(names):
        for some in _portions(names[namespace]):
            found += sorted(some, key=_NAME)
    return found


def _portions(keys: list[Key]) -> Sequence[list[Key]]:
    """The keys of a namespace in portions, each with names behind those of the one before.

    Nobody hears Ctrl-C while a list is sorted, which takes a quarter of a second for half a million.
    """
    if len(keys) <= _STEP:
        return (keys,)
    samples = sorted(map(_NAME, keys[:: _STEP // _SAMPLES]))
    limits = samples[_SAMPLES::_SAMPLES]
    portions: list[list[Key]] = [[] for _ in range(len(limits) + 1)]
    for key in keys:
        portions[bisect(limits, key.name)].append(key)
    return portions


def _by_key(kind: str) -> Callable[[_Objects], Mapping[Key, Any]]:
    return lambda objects: objects.of(kind)


def _by_name(kind: str) -> Callable[[_Objects], dict[str, Any]]:
    return lambda objects: objects.by_name(kind)


def _claims(objects: _Objects) -> Mapping[Key, Any]:
    return resolved_claims(
        objects.of("ResourceClaim"), objects.by_name("DeviceClass"), objects.by_name("ResourceSlice")
    )


def _workloads(objects: _Objects) -> dict[tuple[str, str, str], Any]:
    return {
        (kind.name, key.namespace, key.name): record
        for kind in WORKLOADS
        for key, record in objects.of(kind.name).items()
    }


def _classic(objects: _Objects) -> ClassicObjects:
    return ClassicObjects(
        _by_name("ResourceClass")(objects),
        *(objects.of(kind) for kind in ("ResourceClassParameters", "ResourceClaimParameters", "PodSchedulingContext")),
    )


def _storage(objects: _Objects) -> StorageObjects:
    return StorageObjects(
        claims=_by_key("PersistentVolumeClaim")(objects),
        volumes=_by_name("PersistentVolume")(objects),
        classes=_by_name("StorageClass")(objects),
        csi_nodes=_by_name("CSINode")(objects),
        csi_drivers=_by_name("CSIDriver")(objects),
        capacities=_by_key("CSIStorageCapacity")(objects),
        attachments=_by_name("VolumeAttachment")(objects),
    )


def _groups(objects: _Objects) -> GroupObjects:
    return GroupObjects(*(objects.of(kind.name) for kind in GROUPS))


_FIELDS: Final[Mapping[str, Callable[[_Objects], Any]]] = {
    "nodes": _by_name("Node"),
    "namespaces": _by_name("Namespace"),
    "pods": _by_key("Pod"),
    "claims": _claims,
    "templates": _by_key("ResourceClaimTemplate"),
    "classes": _by_name("DeviceClass"),
    "slices": lambda objects: complete_pools(_by_name("ResourceSlice")(objects)),
    "taint_rules": _by_name("DeviceTaintRule"),
    "events": lambda objects: tuple(objects.of("Event").values()),
    "quotas": _by_key("ResourceQuota"),
    "workloads": _workloads,
    "pool_statuses": _by_name("ResourcePoolStatusRequest"),
    "classic": _classic,
    "storage": _storage,
    "priority_classes": _by_name("PriorityClass"),
    "budgets": _by_key("PodDisruptionBudget"),
    "services": _by_key("Service"),
    "limit_ranges": _by_key("LimitRange"),
    "runtime_classes": _by_name("RuntimeClass"),
    "autoscalers": _by_key("HorizontalPodAutoscaler"),
    "groups": _groups,
}
_FIELDS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "Node": ("nodes",),
    "Namespace": ("namespaces",),
    "Pod": ("pods",),
    "ResourceClaim": ("claims",),
    "ResourceClaimTemplate": ("templates",),
    # What a claim of the prototype means depends on classes and slices.
    "DeviceClass": ("classes", "claims"),
    "ResourceSlice": ("slices", "claims"),
    "DeviceTaintRule": ("taint_rules",),
    "Event": ("events",),
    "ResourceQuota": ("quotas",),
    **{kind.name: ("workloads",) for kind in WORKLOADS},
    **{kind.name: ("storage",) for kind in STORAGE},
    "PriorityClass": ("priority_classes",),
    "PodDisruptionBudget": ("budgets",),
    "Service": ("services",),
    "LimitRange": ("limit_ranges",),
    "RuntimeClass": ("runtime_classes",),
    "HorizontalPodAutoscaler": ("autoscalers",),
    **{kind.name: ("groups",) for kind in GROUPS},
    "ResourcePoolStatusRequest": ("pool_statuses",),
    "ResourceClass": ("classic",),
    "ResourceClassParameters": ("classic",),
    "ResourceClaimParameters": ("classic",),
    "PodSchedulingContext": ("classic",),
}
