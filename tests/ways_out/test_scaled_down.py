"""Workloads that are scaled down for a pod, on the real controllers: they end the pod that the page names."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest

from tests.controlplane import ControlPlane, binaries
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import wait_for
from tests.controlplane.helpers import run_kwok
from tests.ways_out.clusters import WAITING, Workload, request
from tests.ways_out.test_rollouts import kubectl, prepared
from tests.ways_out.trial import pods

pytestmark = pytest.mark.controlplane
_NODE = "node-1"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(binaries(), backoff_seconds=1) as running:
        run_kwok(running)
        yield running


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet"])
@pytest.mark.parametrize("anywhere", [True, False])
def test_the_pod_that_goes_makes_room(plane: ControlPlane, kind: str, anywhere: bool) -> None:
    """Four pods have the devices of two nodes; only those of one node are of use to a pod that selects it."""
    client, namespace = plane.client(), f"scaled-{kind.lower()}-{'any' if anywhere else 'one'}"
    selects = {} if anywhere else {"nodeSelector": {"kubernetes.io/hostname": _NODE}}
    waiting = Workload(WAITING, "Pod", 1, request(), spec=selects)
    prepared(client, namespace, 2, 2, Workload("serve", kind, 4, request()), waiting)
    before = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods(client, namespace) if _serves(pod)}
    assert sorted(before.values()) == ["node-0", "node-0", _NODE, _NODE]
    asked = ("dra", "why-pending", f"pod/{WAITING}", "-n", namespace)
    ways = json.loads(kubectl(plane, *asked, "--remedies", "-o", "json"))["remedies"]
    number = next(n for n, way in enumerate(ways, 1) if way["actions"][-1]["type"] == "ScaleDown")
    down = ways[number - 1]["actions"][-1]
    assert (down["replicas"], down["to"], bool(down["pods"])) == (4, 3, not anywhere)
    script = kubectl(plane, *asked, "--remedy", str(number))
    environment = plane_environment(plane)
    words = ["bash", "-eu"]
    ran = subprocess.run(words, input=script, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, f"{script}\n{ran.stderr}"

    def bound() -> str:
        found = client.get("Pod", WAITING, namespace) or {}
        return str(found.get("spec", {}).get("nodeName", ""))

    wait_for(bound, f"the pod has a node after\n{script}", 30)
    left = {pod["metadata"]["name"] for pod in pods(client, namespace) if _serves(pod)}
    assert left <= set(before)
    (gone,) = set(before) - left
    assert before[gone] == bound()
    assert anywhere or [gone] == [each["name"] for each in down["pods"]]


def _serves(pod: dict[str, dict[str, object]]) -> bool:
    return pod["metadata"]["name"] != WAITING
