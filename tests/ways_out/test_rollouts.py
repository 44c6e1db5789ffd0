"""Rollouts that wait for themselves, on the real controllers: how they hang, and that the printed command ends it."""

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


def updated(client: Client, namespace: str, replicas: int, strategy: dict[str, Any]) -> None:
    """A Deployment that has all devices, with another template then."""
    base = random_cluster(0)
    nodes = [item for item in base.base if item["kind"] == "Node"][:1]
    slices = [item for item in base.base if item["kind"] == "ResourceSlice"][:1]
    slices[0]["spec"]["devices"] = slices[0]["spec"]["devices"][:1] * replicas
    slices[0]["spec"]["devices"] = [{**each, "name": f"gpu-{n}"} for n, each in enumerate(slices[0]["spec"]["devices"])]
    others = [item for item in base.base if item["kind"] not in ("Node", "ResourceSlice")]
    bring_about(client, Cluster(0, "rollout", [*nodes, *slices, *others], [], [], [], []), namespace)
    for body in Workload(_APP, "Deployment", replicas, request()).objects():
        if body["kind"] == "Deployment":
            body["spec"]["strategy"] = strategy
        create(client, body, namespace)
    wait_for(lambda: available(client, namespace) == replicas, "all replicas are available", 60)
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{_APP}"
    client.request("PATCH", path, {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}})
    settle(client, namespace)


def available(client: Client, namespace: str) -> int:
    found = client.get("Deployment", _APP, namespace, "apps/v1")
    return int((found or {}).get("status", {}).get("availableReplicas", 0))


def done(client: Client, namespace: str, replicas: int) -> bool:
    status = (client.get("Deployment", _APP, namespace, "apps/v1") or {}).get("status", {})
    return bool(status.get("updatedReplicas") == status.get("availableReplicas") == status.get("replicas") == replicas)


def kubectl(plane: ControlPlane, *words: str) -> str:
    command = [str(plane.kubectl), *words]
    environment = plane_environment(plane)
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True).stdout


@pytest.mark.parametrize(
    ("replicas", "limits"),
    [(1, {}), (3, {"maxSurge": 1, "maxUnavailable": 0}), (2, {"maxSurge": "25%", "maxUnavailable": "25%"})],
)
def test_the_command_ends_what_would_last_for_ever(plane: ControlPlane, replicas: int, limits: dict[str, Any]) -> None:
    client, namespace = plane.client(), f"rollout-{replicas}"
    strategy = {"type": "RollingUpdate", **({"rollingUpdate": limits} if limits else {})}
    updated(client, namespace, replicas, strategy)
    [waiting] = [pod["metadata"]["name"] for pod in pods(client, namespace) if not pod["spec"].get("nodeName")]
    time.sleep(3)
    assert waiting in [pod["metadata"]["name"] for pod in pods(client, namespace) if not pod["spec"].get("nodeName")]
    asked = ("dra", "why-pending", f"pod/{waiting}", "-n", namespace)
    report = json.loads(kubectl(plane, *asked, "--remedies", "-o", "json"))
    assert report["remedies"][0]["kind"] == "editRollout"
    assert "of its own Deployment" in report["summary"]
    script = kubectl(plane, *asked, "--remedy", "1")
    ran = subprocess.run(
        ["bash", "-eu"],
        input=script,
        env=plane_environment(plane),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, f"{script}\n{ran.stderr}"
    wait_for(lambda: done(client, namespace, replicas), f"the rollout is done after\n{script}", 90)


def test_a_rollout_that_goes_on_is_not_told(plane: ControlPlane) -> None:
    client, namespace = plane.client(), "rollout-by-itself"
    updated(client, namespace, 2, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}})
    wait_for(lambda: done(client, namespace, 2), "the rollout is done", 90)
