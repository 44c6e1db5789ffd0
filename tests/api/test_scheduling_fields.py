"""Everything that a plugin of the scheduler reads of pods and nodes survives reading and writing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import NODE, POD, Kind

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
    {"name": "e", "ephemeral": {}},
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
