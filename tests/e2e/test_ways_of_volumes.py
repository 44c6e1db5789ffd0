"""Volumes that are to be made away from the devices: the way out is carried out literally, and the pod is bound.

No storage driver runs here. One is played: it makes the volume where the scheduler has asked for it, as a provisioner
does (upstream: sig-storage-lib-external-provisioner, provisionClaimOperation).
"""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import Object, wait_for
from tests.e2e.conftest import Explain
from tests.e2e.situations import Case, bound_to, bring_about, create, pod_object, scheduled_condition
from tests.e2e.test_remedies import kubelet, printed_commands

pytestmark = pytest.mark.controlplane

ZONE: Final = "topology.kubernetes.io/zone"
SELECTED: Final = "volume.kubernetes.io/selected-node"
STORED: Final = (("v1", "PersistentVolumeClaim"), ("v1", "PersistentVolume"), ("storage.k8s.io/v1", "StorageClass"))
#: node-1 in zone a has the device, node-2 in zone b has none.
NODES: Final = {"node-1": {"labels": {ZONE: "a"}}, "node-2": {"labels": {ZONE: "b"}}}
DEVICES: Final[tuple[Object, ...]] = (
    {"kind": "DeviceClass", "metadata": {"name": "gpu.example.com"}, "spec": {}},
    {
        "kind": "ResourceSlice",
        "metadata": {"name": "node-1-gpu"},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "node-1",
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}],
        },
    },
    {
        "kind": "ResourceClaim",
        "metadata": {"name": "claim"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
    },
)


def storage_class(*zones: str) -> Object:
    """A class of volumes that are made where the pod goes, or in some zones only."""
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": list(zones)}]}] if zones else []
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "s"},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        **({"allowedTopologies": terms} if terms else {}),
    }


def volume_claim(selected: str = "") -> Object:
    """A claim for such a volume, perhaps with the node of an earlier attempt."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", **({"annotations": {SELECTED: selected}} if selected else {})},
        "spec": {
            "storageClassName": "s",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


#: What the scheduler says of node-1.
SAID: Final = "1 node(s) didn't find available persistent volumes to bind"
#: The volume claim and its class, and the command of the way out.
CASES: Final[dict[str, tuple[Object, Object, str]]] = {
    "selected-node-without-the-device": (
        volume_claim("node-2"),
        storage_class(),
        f"annotate persistentvolumeclaim/data -n {{}} {SELECTED}-",
    ),
    "class-for-other-zones": (
        volume_claim(),
        storage_class("b", "c"),
        "patch storageclass/s --type=json",
    ),
}


@pytest.fixture(autouse=True)
def without_volumes(client: Client) -> Iterator[None]:
    """The cases of other files know nothing of volumes."""
    clear(client)
    yield
    clear(client)


def clear(client: Client) -> None:
    client.clear("v1", "Pod")
    for version, kind in STORED:
        client.clear(version, kind)


@pytest.mark.parametrize("name", CASES)
def test_the_volume_is_made_where_the_device_is(
    plane: ControlPlane, client: Client, explain: Explain, name: str
) -> None:
    claim, class_, command = CASES[name]
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    case = Case(name, NODES, {"claims": ["claim"], "volumes": volumes}, "", (*DEVICES, class_, claim))
    condition = bring_about(client, case)
    assert condition is not None
    report = explain("why-pending", "pod/pod", "-n", case.namespace)
    assert (report["verdict"], report["agreement"]) == ("Unschedulable", "agrees"), condition["message"]
    assert SAID in condition["message"]
    (way,) = [each for each in report["remedies"] if each["verified"]]
    assert way["nodes"] == ["node-1"]
    script = printed_commands(_page(plane, case))
    assert command.format(case.namespace) in script
    with kubelet(client, case.namespace):
        done = subprocess.run(
            ["bash", "-eu"], input=script, env=_environment(plane), capture_output=True, encoding="utf-8", timeout=60
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        wait_for(lambda: _selected(client, case) == "node-1", f"a volume for node-1 is asked for after\n{script}", 60)
        _provision(client, case)
        wait_for(lambda: bound_to(client, case.namespace, "pod") == "node-1", "the pod is bound", 60)


def test_a_volume_in_another_zone_is_made_anew(client: Client, explain: Explain) -> None:
    """What is done is what a person does around copying the data."""
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    objects = (*DEVICES, storage_class(), volume_claim("node-2"))
    case = Case("volume-elsewhere", NODES, {"claims": ["claim"], "volumes": volumes}, "", objects)
    bring_about(client, case)
    _provision(client, case)
    wait_for(lambda: _claim(client, case).get("status", {}).get("phase") == "Bound", "the claim is bound")
    conflict = "1 node(s) didn't match PersistentVolume's node affinity"

    def refused() -> bool:
        condition = scheduled_condition(client, case.namespace, "pod")
        return condition is not None and conflict in condition["message"]

    wait_for(refused, "the scheduler has seen where the volume is", 60)
    report = explain("why-pending", "pod/pod", "-n", case.namespace)
    assert (report["verdict"], report["agreement"]) == ("Unschedulable", "agrees")
    (way,) = [each for each in report["remedies"] if each["verified"]]
    assert (way["kind"], way["nodes"]) == ("moveVolume", ["node-1"])
    with kubelet(client, case.namespace):
        client.clear("v1", "Pod")
        client.clear("v1", "PersistentVolumeClaim")
        create(client, volume_claim(), case.namespace)
        create(client, pod_object("pod", **case.pod), case.namespace)
        wait_for(lambda: _selected(client, case) == "node-1", "a volume for node-1 is asked for", 60)
        _provision(client, case)
        wait_for(lambda: bound_to(client, case.namespace, "pod") == "node-1", "the pod is bound", 60)


def _page(plane: ControlPlane, case: Case) -> str:
    asked = ["kubectl", "dra", "why-pending", "pod/pod", "-n", case.namespace, "--remedies"]
    return subprocess.run(asked, env=_environment(plane), capture_output=True, encoding="utf-8", check=True).stdout


def _environment(plane: ControlPlane) -> dict[str, str]:
    environment = plane_environment(plane, "admin")
    found = f"{plane.binaries}{os.pathsep}{sysconfig.get_path('scripts')}{os.pathsep}{environment.get('PATH', '')}"
    return {**environment, "PATH": found}


def _claim(client: Client, case: Case) -> Object:
    found = client.get("PersistentVolumeClaim", "data", case.namespace)
    assert found is not None
    return found


def _selected(client: Client, case: Case) -> str:
    annotations: dict[str, str] = _claim(client, case)["metadata"].get("annotations", {})
    return annotations.get(SELECTED, "")


def _provision(client: Client, case: Case) -> None:
    """Make the volume in the zone of the node that the scheduler has selected."""
    claim = _claim(client, case)
    zone = NODES[_selected(client, case)]["labels"][ZONE]
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    wanted = {"namespace": case.namespace, "name": "data", "uid": claim["metadata"]["uid"]}
    spec: dict[str, Any] = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "s",
        "persistentVolumeReclaimPolicy": "Retain",
        "csi": {"driver": "disk.example.com", "volumeHandle": "disk-1"},
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **wanted},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    name = f"pv-{claim['metadata']['uid']}"
    client.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec})
