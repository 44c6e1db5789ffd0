"""Recorded clusters, small ones, and what was read of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import NEWEST_MINOR
from kubectl_dra.model.inventory import Inventory
from tests.kit.state import inventory_of as inventory

__all__ = ("inventory",)

SCENARIOS = Path(__file__).parent.parent / "scenarios"
#: Kinds that small clusters are made of.
KINDS = (
    *("Node", "Pod", "Namespace", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"),
    *("DeviceTaintRule", "ResourceQuota", "Event", "PersistentVolumeClaim", "PersistentVolume", "StorageClass"),
    *("CSINode", "CSIDriver", "PodGroup", "Workload", "CompositePodGroup"),
)
#: Kinds of which there are none.
NONE = (
    *("CSIStorageCapacity", "VolumeAttachment", "PriorityClass", "PodDisruptionBudget"),
    *("Service", "LimitRange", "RuntimeClass", "HorizontalPodAutoscaler"),
)
WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob")


def scenario(name: str) -> tuple[Inventory, dict[str, Any]]:
    """The objects of a recorded scenario and what the real control plane said about them."""
    folder = SCENARIOS / name
    items = json.loads((folder / "snapshot.json").read_text(encoding="utf-8"))["items"]
    return inventory(items), json.loads((folder / "result.json").read_text(encoding="utf-8"))


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


def evidence_of_namespace(kind: str, namespace: str) -> Evidence:
    """Everything was read, but ``kind`` in one namespace only."""
    refused = Read(kind, coverage=Coverage.FORBIDDEN)
    others = tuple(read for read in evidence().reads if read.kind != kind)
    return Evidence((*others, refused, Read(kind, namespace)))
