"""The kubectl commands that docs/reasons shows are ones that the real kubectl and server understand."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest

from tests.controlplane import Client, ControlPlane, StatusError
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import Object, wait_for

pytestmark = pytest.mark.controlplane
PAGES = Path(__file__).parents[2] / "docs" / "reasons"
NAME = "documented"
PLACEHOLDERS = re.compile(r"\b(POD|CLAIM|NODE|NAMESPACE|RULE|NAME|CLASS)\b")
# Kinds of 1.30 and 1.31, an alpha that is off, and a program that is not installed.
ELSEWHERE = re.compile(r"podschedulingcontext|resourceclass|resourceclaimparam|podgroups|workloads\.scheduling|kueue")
REPLICAS = {
    "replicas": 0,
    "selector": {"matchLabels": {"app": NAME}},
    "template": {
        "metadata": {"labels": {"app": NAME}},
        "spec": {"containers": [{"name": "c", "image": "first"}]},
    },
}
OBJECTS = [
    ("/api/v1/namespaces", {"kind": "Namespace"}),
    ("/api/v1/nodes", {"kind": "Node"}),
    (
        "/apis/storage.k8s.io/v1/csinodes",
        {"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "spec": {"drivers": []}},
    ),
    (
        f"/api/v1/namespaces/{NAME}/pods",
        {"kind": "Pod", "spec": {"schedulerName": "nobody", "containers": [{"name": "c", "image": "i"}]}},
    ),
    (
        f"/api/v1/namespaces/{NAME}/persistentvolumeclaims",
        {
            "kind": "PersistentVolumeClaim",
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
    ),
    (f"/apis/apps/v1/namespaces/{NAME}/deployments", {"kind": "Deployment", "apiVersion": "apps/v1", "spec": REPLICAS}),
    (
        f"/apis/apps/v1/namespaces/{NAME}/statefulsets",
        {"kind": "StatefulSet", "apiVersion": "apps/v1", "spec": {"serviceName": NAME} | REPLICAS},
    ),
    (
        f"/apis/batch/v1/namespaces/{NAME}/jobs",
        {
            "kind": "Job",
            "apiVersion": "batch/v1",
            "spec": {
                "suspend": True,
                "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}},
            },
        },
    ),
    (
        f"/apis/resource.k8s.io/v1/namespaces/{NAME}/resourceclaims",
        {"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "spec": {}},
    ),
    (
        "/apis/resource.k8s.io/v1/deviceclasses",
        {"kind": "DeviceClass", "apiVersion": "resource.k8s.io/v1", "spec": {}},
    ),
    (
        "/apis/resource.k8s.io/v1/resourceslices",
        {
            "kind": "ResourceSlice",
            "apiVersion": "resource.k8s.io/v1",
            "spec": {
                "driver": "documented.example.com",
                "pool": {"name": NAME, "generation": 1, "resourceSliceCount": 1},
                "allNodes": True,
                "devices": [{"name": "device-0"}],
            },
        },
    ),
    (
        "/apis/resource.k8s.io/v1beta2/devicetaintrules",
        {
            "kind": "DeviceTaintRule",
            "apiVersion": "resource.k8s.io/v1beta2",
            "spec": {
                "deviceSelector": {"driver": "documented.example.com"},
                "taint": {"key": "documented", "effect": "None"},
            },
        },
    ),
]


def commands() -> list[str]:
    """What blocks and backticks say, without what other programs do with it; what deletes comes last."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md")))
    found = re.findall(r"^(kubectl (?!dra ).*)$|`(kubectl (?!dra )[a-z-]+ [^`\n]*)`", text, re.MULTILINE)
    shown = {(block or quoted).partition(" | ")[0] for block, quoted in found}
    return sorted(shown, key=lambda line: (line.startswith("kubectl delete "), line))


@pytest.fixture
def objects(client: Client) -> Iterator[None]:
    for path, body in OBJECTS:
        client.request("POST", path, {"apiVersion": "v1"} | body | {"metadata": {"name": NAME}})
    roll_out_again(client)
    yield
    for path, _ in reversed(OBJECTS[1:]):
        try:
            client.request("DELETE", f"{path}/{NAME}")
        except StatusError as error:
            # A page shows how to delete it.
            assert error.code == HTTPStatus.NOT_FOUND


def roll_out_again(client: Client) -> None:
    """A second version of the Deployment: a rollout can only be undone where there was one before."""

    def at(revision: str) -> Object | None:
        found = client.get("Deployment", NAME, NAME, "apps/v1") or {"metadata": {}}
        annotations = found["metadata"].get("annotations", {})
        return found if annotations.get("deployment.kubernetes.io/revision") == revision else None

    deployment = wait_for(lambda: at("1"), "the first version is rolled out")
    assert deployment
    # Its controller writes to it as well; without a version the write can't conflict.
    del deployment["metadata"]["resourceVersion"]
    deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "second"
    client.request("PUT", f"/apis/apps/v1/namespaces/{NAME}/deployments/{NAME}", deployment)
    wait_for(lambda: at("2"), "the second version is rolled out")


@pytest.mark.usefixtures("objects")
def test_kubectl_understands_them(plane: ControlPlane) -> None:
    shown = commands()
    assert len(shown) > 40
    for line in shown:
        command = PLACEHOLDERS.sub(NAME, line.replace(" --watch", "")).replace("kubectl", str(plane.kubectl), 1)
        # `kubectl edit` of somebody who changes nothing.
        environment = {**plane_environment(plane), "KUBE_EDITOR": "true"}
        done = subprocess.run(
            ["bash", "-c", command], env=environment, capture_output=True, encoding="utf-8", check=False
        )
        if ELSEWHERE.search(line):
            assert "the server doesn't have a resource type" in done.stderr, (line, done)
        else:
            # `auth can-i` ends with 1 for no.
            assert done.returncode == 0 or done.stdout == "no\n", (line, done)
