"""Reading recorded clusters, and building small ones, for the tests of diagnosis."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from kubectl_dra.model.core import Event, Node, Pod, ResourceQuota
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import NEWEST_MINOR
from kubectl_dra.model.inventory import GroupObjects, Inventory, StorageObjects, key_of
from kubectl_dra.model.meta import LocalObject
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubectl_dra.model.scheduling import CompositePodGroup, PodGroup, Workload
from kubectl_dra.model.storage import CsiDriver, CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_dra.model.usage import usage_by_node
from kubectl_dra.model.workloads import WorkloadObject

SCENARIOS = Path(__file__).parent.parent / "scenarios"
KINDS: dict[str, type[Any]] = {
    "Node": Node,
    "Pod": Pod,
    "Namespace": LocalObject,
    "ResourceClaim": ResourceClaim,
    "ResourceClaimTemplate": ResourceClaimTemplate,
    "DeviceClass": DeviceClass,
    "ResourceSlice": ResourceSlice,
    "DeviceTaintRule": DeviceTaintRule,
    "ResourceQuota": ResourceQuota,
    "Event": Event,
    "PersistentVolumeClaim": PersistentVolumeClaim,
    "PersistentVolume": PersistentVolume,
    "StorageClass": StorageClass,
    "CSINode": CsiNode,
    "CSIDriver": CsiDriver,
    "PodGroup": PodGroup,
    "Workload": Workload,
    "CompositePodGroup": CompositePodGroup,
}
#: Kinds of which there are none.
NONE = (
    *("CSIStorageCapacity", "VolumeAttachment", "PriorityClass", "PodDisruptionBudget"),
    "Service",
)
WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob")


def scenario(name: str) -> tuple[Inventory, dict[str, Any]]:
    """The objects of a recorded scenario and what the real control plane said about them."""
    folder = SCENARIOS / name
    items = json.loads((folder / "snapshot.json").read_text(encoding="utf-8"))["items"]
    return inventory(items), json.loads((folder / "result.json").read_text(encoding="utf-8"))


def inventory(items: Iterable[dict[str, Any]]) -> Inventory:
    """An Inventory of API objects in their v1 shape."""
    by_kind: dict[str, list[Any]] = {}
    for item in items:
        by_kind.setdefault(item["kind"], []).append(_decode(item, KINDS.get(item["kind"], WorkloadObject)))
    pods = by_kind.get("Pod", [])
    return Inventory(
        nodes=_by_name(by_kind.get("Node", [])),
        namespaces=_by_name(by_kind.get("Namespace", [])),
        pods=_by_key(pods),
        usage=usage_by_node(pods),
        claims=_by_key(by_kind.get("ResourceClaim", [])),
        templates=_by_key(by_kind.get("ResourceClaimTemplate", [])),
        classes=_by_name(by_kind.get("DeviceClass", [])),
        slices=_by_name(by_kind.get("ResourceSlice", [])),
        taint_rules=_by_name(by_kind.get("DeviceTaintRule", [])),
        events=tuple(by_kind.get("Event", [])),
        quotas=_by_key(by_kind.get("ResourceQuota", [])),
        storage=StorageObjects(
            claims=_by_key(by_kind.get("PersistentVolumeClaim", [])),
            volumes=_by_name(by_kind.get("PersistentVolume", [])),
            classes=_by_name(by_kind.get("StorageClass", [])),
            csi_nodes=_by_name(by_kind.get("CSINode", [])),
            csi_drivers=_by_name(by_kind.get("CSIDriver", [])),
        ),
        groups=GroupObjects(
            pod_groups=_by_key(by_kind.get("PodGroup", [])),
            workloads=_by_key(by_kind.get("Workload", [])),
            composites=_by_key(by_kind.get("CompositePodGroup", [])),
        ),
        workloads={(kind, *key_of(record.metadata)): record for kind in WORKLOADS for record in by_kind.get(kind, [])},
    )


def evidence(*withheld: str, time: str = "") -> Evidence:
    """Everything was read, except for the kinds that are ``withheld``."""
    kinds = (*KINDS, *NONE, *WORKLOADS)
    return Evidence(
        tuple(
            Read(kind, coverage=Coverage.FORBIDDEN if kind in withheld else Coverage.COMPLETE, time=time)
            for kind in kinds
        ),
        server_version=(1, NEWEST_MINOR),
    )


def without(facts: Inventory, kind: str) -> Inventory:
    """The Inventory of somebody who may not read ``kind``."""
    fields = {
        "Node": "nodes",
        "Namespace": "namespaces",
        "ResourceClaim": "claims",
        "ResourceClaimTemplate": "templates",
        "DeviceClass": "classes",
        "ResourceSlice": "slices",
        "DeviceTaintRule": "taint_rules",
        "ResourceQuota": "quotas",
    }
    if kind == "Event":
        return facts.replace(events=())
    if kind == "Pod":
        return facts.replace(usage={})
    return facts.replace(**{fields[kind]: {}})


def _decode(item: dict[str, Any], record: type[Any]) -> Any:
    return msgspec.json.decode(json.dumps(item), type=record, dec_hook=_hook, strict=False)


def _hook(kind: type[Any], value: Any) -> Any:
    assert kind is Quantity, f"a recorded object holds a {kind}"
    return Quantity.parse(str(value))


def _by_name(records: Iterable[Any]) -> dict[str, Any]:
    return {record.metadata.name: record for record in records}


def _by_key(records: Iterable[Any]) -> dict[Any, Any]:
    return {key_of(record.metadata): record for record in records}


def evidence_of_namespace(kind: str, namespace: str) -> Evidence:
    """Everything was read, but ``kind`` in one namespace only."""
    refused = Read(kind, coverage=Coverage.FORBIDDEN)
    others = tuple(read for read in evidence().reads if read.kind != kind)
    return Evidence((*others, refused, Read(kind, namespace)))
