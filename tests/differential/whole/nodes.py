"""Random nodes: labels, taints, room, images and declared features."""

from __future__ import annotations

from typing import Final

from tests.differential.whole.draw import Draw, Object

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
HOST: Final = "kubernetes.io/hostname"
ZONES: Final = ("zone-a", "zone-b", "zone-c")
RACKS: Final = ("r1", "r2", "r3")
APPS: Final = ("web", "db", "cache")
DONGLE: Final = "example.com/dongle"
CARD: Final = "example.com/card"
HUGE: Final = "hugepages-2Mi"
DECLARED: Final = (
    *("GuaranteedQoSPodCPUResize", "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"),
)
TAINTS: Final = (
    {"key": "dedicated", "value": "batch", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "level", "value": "5", "effect": "NoSchedule"},
    {"key": "level", "value": "7", "effect": "NoSchedule"},
    {"key": "spot", "value": "true", "effect": "PreferNoSchedule"},
    {"key": "spot", "effect": "PreferNoSchedule"},
    {"key": "example.com/maintenance", "value": "true", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
)


def node(draw: Draw, name: str) -> Object:
    """A node."""
    spec: Object = {}
    if draw.about("taints", 3, "taint"):
        spec["taints"] = draw.some(TAINTS, 1, 3)
    if draw.about("taints", 5, "unschedulable"):
        spec["unschedulable"] = True
    room = _room(draw)
    status: Object = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    if draw.rarely(3, "images on nodes"):
        status["images"] = [
            {"names": [f"registry.example.com/{app}:v1"], "sizeBytes": draw.one((30_000_000, 400_000_000, 900_000_000))}
            for app in draw.some(APPS, 1)
        ]
    if draw.about("declared features", 2, "declared features of a node"):
        status["declaredFeatures"] = draw.some(DECLARED, 1)
    return {"metadata": draw.metadata(name, labels=_labels(draw, name)), "spec": spec, "status": status}


def _labels(draw: Draw, name: str) -> Object:
    labels = {HOST: name, REGION: "region-1", "kubernetes.io/arch": draw.one(("amd64", "amd64", "arm64"))}
    if draw.rarely(12, "node without hostname label"):
        del labels[HOST]
    if not draw.rarely(6, "node without zone"):
        labels[ZONE] = draw.one(ZONES)
    if draw.rarely(2, "node with rack"):
        labels["rack"] = draw.one(RACKS)
    labels["disk"] = draw.one(("ssd", "hdd"))
    labels["generation"] = draw.one(("1", "2", "10", "x", ""))
    return labels


def _room(draw: Draw) -> Object:
    tight = "resources" in draw.topics or "preemption" in draw.topics
    room = {
        "cpu": draw.one(("1", "2", "3920m") if tight else ("8", "16")),
        "memory": draw.one(("2Gi", "4Gi", "7800Mi") if tight else ("16Gi", "32Gi")),
        "ephemeral-storage": draw.one(("20Gi", "95551679124")),
        "pods": draw.one(("3", "4", "8", "110") if tight else ("8", "110")),
    }
    if draw.about("resources", 2, "extended resource on a node"):
        room[DONGLE] = draw.one(("0", "1", "4"))
    if draw.about("resources", 3, "huge pages on a node"):
        room[HUGE] = draw.one(("0", "64Mi", "512Mi"))
    if draw.about("devices", 5, "device plugin for a class's extended resource"):
        room[CARD] = draw.one(("0", "2"))
    return room
