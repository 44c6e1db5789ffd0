"""Rollouts that wait for themselves, on the real controllers; the printed command lets them go on."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.controlplane import Client, ControlPlane, binaries
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import wait_for
from tests.controlplane.helpers import run_kwok
from tests.e2e.situations import create
from tests.ways_out.clusters import Cluster, Workload, random_cluster, request
from tests.ways_out.trial import bring_about, pods, settle

pytestmark = pytest.mark.controlplane
_APP = "web"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(binaries(), backoff_seconds=1) as running:
        run_kwok(running)
        yield running


def prepared(client: Client, namespace: str, nodes: int, devices: int, *workloads: Workload) -> None:
    """Nodes with so many devices each, which the first of the workloads uses; the others wait."""
    base = random_cluster(0).base
    node, slice_ = (next(item for item in base if item["kind"] == kind) for kind in ("Node", "ResourceSlice"))
    made = [item for item in base if item["kind"] not in ("Node", "ResourceSlice")]
    for name in (f"node-{number}" for number in range(nodes)):
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        published = [{**slice_["spec"]["devices"][0], "name": f"gpu-{number}"} for number in range(devices)]
        spec = {**slice_["spec"], "nodeName": name, "pool": pool, "devices": published}
        labels = {**node["metadata"]["labels"], "kubernetes.io/hostname": name}
        made.append({**node, "metadata": {**node["metadata"], "name": name, "labels": labels}})
        made.append({**slice_, "metadata": {"name": f"{name}-gpu"}, "spec": spec})
    bring_about(client, Cluster(0, "rollout", made, [*workloads[:1]], [], [], [*workloads[1:]]), namespace)


def changed(client: Client, namespace: str, kind: str, replicas: int, **spec: Any) -> None:
    """A workload that has all devices, with another template then."""
    for body in Workload(_APP, "Deployment", replicas, request()).objects():
        if body["kind"] == "Deployment":
            body["kind"] = kind
            body["spec"] |= spec
            if kind == "DaemonSet":
                del body["spec"]["replicas"]
        create(client, body, namespace)
    wait_for(lambda: done(client, namespace, kind, replicas), "all pods are available", 60)
    path = f"/apis/apps/v1/namespaces/{namespace}/{kind.lower()}s/{_APP}"
    client.request("PATCH", path, {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}})
    settle(client, namespace)


def done(client: Client, namespace: str, kind: str, replicas: int) -> bool:
    found = client.get(kind, _APP, namespace, "apps/v1") or {}
    status = found.get("status", {})
    names = (
        ("updatedNumberScheduled", "numberAvailable", "desiredNumberScheduled")
        if kind == "DaemonSet"
        else ("updatedReplicas", "availableReplicas", "replicas")
    )
    observed = status.get("observedGeneration") == found.get("metadata", {}).get("generation")
    return bool(observed and all(status.get(name) == replicas for name in names))


def waiting(client: Client, namespace: str) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods(client, namespace) if not pod["spec"].get("nodeName")]


def kubectl(plane: ControlPlane, *words: str) -> str:
    command = [str(plane.kubectl), *words]
    environment = plane_environment(plane)
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True).stdout


def check(plane: ControlPlane, client: Client, namespace: str, kind: str, replicas: int) -> None:
    """It does not go on by itself, the page says so, and after the printed command it does."""
    names = waiting(client, namespace)
    time.sleep(3)
    assert names
    assert names == waiting(client, namespace)
    asked = ("dra", "why-pending", f"pod/{names[0]}", "-n", namespace)
    report = json.loads(kubectl(plane, *asked, "--remedies", "-o", "json"))
    assert report["remedies"][0]["kind"] == "editRollout"
    assert f"of its own {kind}" in report["summary"]
    script = kubectl(plane, *asked, "--remedy", "1")
    words = ["bash", "-eu"]
    environment = plane_environment(plane)
    ran = subprocess.run(words, input=script, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, f"{script}\n{ran.stderr}"
    wait_for(lambda: done(client, namespace, kind, replicas), f"the rollout is done after\n{script}", 90)


@pytest.mark.parametrize(
    ("replicas", "limits"),
    [(1, {}), (3, {"maxSurge": 1, "maxUnavailable": 0}), (2, {"maxSurge": "25%", "maxUnavailable": "25%"})],
)
def test_a_deployment_that_waits_for_its_old_pod(plane: ControlPlane, replicas: int, limits: dict[str, Any]) -> None:
    client, namespace = plane.client(), f"rollout-{replicas}"
    prepared(client, namespace, 1, replicas)
    strategy = {"type": "RollingUpdate", **({"rollingUpdate": limits} if limits else {})}
    changed(client, namespace, "Deployment", replicas, strategy=strategy)
    check(plane, client, namespace, "Deployment", replicas)


def test_a_daemon_set_with_a_surge_waits_on_each_node(plane: ControlPlane) -> None:
    client, namespace = plane.client(), "rollout-daemons"
    prepared(client, namespace, 2, 1)
    limits = {"maxSurge": 1, "maxUnavailable": 0}
    changed(client, namespace, "DaemonSet", 2, updateStrategy={"type": "RollingUpdate", "rollingUpdate": limits})
    check(plane, client, namespace, "DaemonSet", 2)


def test_a_deployment_that_may_miss_a_pod_goes_on(plane: ControlPlane) -> None:
    client, namespace = plane.client(), "rollout-by-itself"
    prepared(client, namespace, 1, 2)
    limits = {"maxSurge": 1, "maxUnavailable": 1}
    changed(client, namespace, "Deployment", 2, strategy={"type": "RollingUpdate", "rollingUpdate": limits})
    wait_for(lambda: done(client, namespace, "Deployment", 2), "the rollout is done", 90)
