"""Everything that a plugin of the scheduler reads survives reading and writing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import BY_NAME, NODE, POD, Kind
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.storage import (
    CLASS_ANNOTATION,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
)
from kubectl_dra.model.volumes import PersistentVolumeClaimSpec
from kubectl_dra.reports.snapshot import objects_of
from tests.kit.state import build_inventory

SELECTOR: dict[str, Any] = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}
TERM: dict[str, Any] = {
    "topologyKey": "zone",
    "labelSelector": SELECTOR,
    "namespaces": ["a"],
    "namespaceSelector": {"matchLabels": {"env": "prod"}},
    "matchLabelKeys": ["version"],
    "mismatchLabelKeys": ["tenant"],
}
PODS = {
    "requiredDuringSchedulingIgnoredDuringExecution": [TERM],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm": TERM}],
}
NODES = {"weight": 3, "preference": SELECTOR}
SPREAD = {
    "maxSkew": 2,
    "topologyKey": "zone",
    "whenUnsatisfiable": "ScheduleAnyway",
    "labelSelector": SELECTOR,
    "matchLabelKeys": ["version"],
    "minDomains": 3,
    "nodeAffinityPolicy": "Ignore",
    "nodeTaintsPolicy": "Honor",
}
VOLUMES = [
    {"name": "a", "awsElasticBlockStore": {"volumeID": "aws://eu-1/vol-1", "readOnly": True}},
    {"name": "b", "azureDisk": {"diskURI": "/disks/b", "kind": "Managed"}},
    {"name": "c", "azureFile": {}},
    {"name": "d", "cinder": {"volumeID": "d"}},
    {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}},
    {"name": "g", "gcePersistentDisk": {"pdName": "g", "readOnly": True}},
    {"name": "i", "iscsi": {"iqn": "iqn.2026", "readOnly": True}},
    {"name": "m", "image": {"reference": "registry.example.com/model:v1"}},
    {"name": "p", "persistentVolumeClaim": {"claimName": "p"}},
    {"name": "r", "rbd": {"monitors": ["10.0.0.1"], "image": "r", "pool": "rbd", "readOnly": True}},
    {"name": "v", "vsphereVolume": {}},
    {"name": "w", "portworxVolume": {"volumeID": "w"}},
]
POD_OBJECT = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "a"},
    "spec": {
        "affinity": {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [NODES]},
            "podAffinity": PODS,
            "podAntiAffinity": PODS,
        },
        "containers": [{"name": "c", "image": "registry.example.com/c:v1"}],
        "ephemeralContainers": [{"name": "debug", "volumeMounts": [{"bindMountOptions": ["noexec"]}]}],
        "preemptionPolicy": "Never",
        "priority": 1000,
        "priorityClassName": "high",
        "topologySpreadConstraints": [SPREAD],
        "volumes": VOLUMES,
    },
    "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"},
}
NODE_OBJECT = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"images": [{"names": ["registry.example.com/c:v1"], "sizeBytes": 30000000}]},
}


@pytest.mark.parametrize(("kind", "written"), [(POD, POD_OBJECT), (NODE, NODE_OBJECT)], ids=["Pod", "Node"])
def test_what_plugins_read_survives(kind: Kind, written: dict[str, Any]) -> None:
    record = decode_object(json.dumps(written).encode(), "v1", kind)
    assert json.loads(encode(record, kind)) == written


def of_kind(name: str, api_version: str = "storage.k8s.io/v1", namespace: str = "", **content: Any) -> dict[str, Any]:
    metadata = {"name": "x", **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": name, "metadata": metadata, **content}


SOURCES: dict[str, Any] = {
    "csi": {"driver": "d.example.com", "volumeHandle": "h"},
    **{name: source for volume in VOLUMES for name, source in volume.items() if name in ("cinder", "vsphereVolume")},
}
OTHERS = [
    of_kind(
        "PersistentVolume",
        "v1",
        spec={
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": "a", "name": "c", "uid": "u"},
            "storageClassName": "fast",
            "volumeMode": "Block",
            "volumeAttributesClassName": "gold",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [SELECTOR]}},
            **SOURCES,
        },
        status={"phase": "Bound"},
    ),
    of_kind(
        "PersistentVolumeClaim",
        "v1",
        "a",
        spec={
            "accessModes": ["ReadWriteOncePod"],
            "selector": SELECTOR,
            "resources": {"requests": {"storage": "5Gi"}},
            "volumeName": "pv",
            "storageClassName": "",
            "volumeMode": "Filesystem",
            "volumeAttributesClassName": "gold",
        },
        status={"phase": "Lost"},
    ),
    of_kind(
        "StorageClass",
        provisioner="d.example.com",
        volumeBindingMode="WaitForFirstConsumer",
        allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
    ),
    of_kind("CSINode", spec={"drivers": [{"name": "d.example.com", "allocatable": {"count": 0}}]}),
    of_kind("CSIDriver", spec={"storageCapacity": False, "preventPodSchedulingIfMissing": True}),
    of_kind(
        "CSIStorageCapacity",
        namespace="a",
        storageClassName="fast",
        nodeTopology={},
        capacity="0",
        maximumVolumeSize="1Ti",
    ),
    of_kind(
        "VolumeAttachment",
        spec={"attacher": "d.example.com", "nodeName": "n", "source": {"persistentVolumeName": "pv"}},
    ),
    of_kind(
        "PriorityClass",
        "scheduling.k8s.io/v1",
        value=-5,
        globalDefault=True,
        preemptionPolicy="Never",
    ),
    of_kind(
        "PodDisruptionBudget",
        "policy/v1",
        "a",
        spec={"selector": SELECTOR},
        status={"disruptionsAllowed": 2, "disruptedPods": {"p": "2026-01-01T00:00:00Z"}},
    ),
]


@pytest.mark.parametrize("written", OTHERS, ids=[each["kind"] for each in OTHERS])
def test_what_plugins_read_of_other_kinds_survives(written: dict[str, Any]) -> None:
    kind = BY_NAME[written["kind"]]
    record = decode_object(json.dumps(written).encode(), written["apiVersion"], kind)
    assert json.loads(encode(record, kind)) == written
    inventory = build_inventory([(kind, record)])
    assert [found for each, found in objects_of(inventory) if each is kind] == [record]


def test_the_annotation_of_a_class_wins() -> None:
    meta = ObjectMeta("x", annotations={CLASS_ANNOTATION: "old"})
    claim = PersistentVolumeClaim(meta, PersistentVolumeClaimSpec(storage_class_name="new"))
    volume = PersistentVolume(meta, PersistentVolumeSpec(storage_class_name="new"))
    assert (claim.class_name, volume.class_name) == ("old", "old")
    assert PersistentVolumeClaim().class_name == PersistentVolume().class_name == ""
