"""A driver whose pod fails on a node: the pages of the node, of its claims and of the pods there say so alike."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.clock import CLOCK, PassingClock

NOW = CLOCK.moment
WORDS = "failed to initialize NVML: Driver/library version mismatch"
CRASHES = {
    "name": "plugin",
    "ready": False,
    "restartCount": 41,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
    "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": WORDS}},
}
RUNS = {"name": "plugin", "ready": True, "state": {"running": {}}}


def driver(status: dict[str, Any], node: str = "node-1") -> dict[str, Any]:
    found = build.pod(f"gpu-dra-plugin-{node}", node_name=node, phase="Running")
    found["metadata"]["ownerReferences"] = [
        {"kind": "DaemonSet", "name": "gpu-dra-plugin", "uid": "d", "apiVersion": ""}
    ]
    found["status"]["containerStatuses"] = [status]
    return found


def user(name: str, device: str, **fields: Any) -> list[dict[str, Any]]:
    pod = build.pod(name, claims=[name], node_name="node-1", **{"phase": "Running", **fields})
    return [pod, build.claim(name, held=[("node-1", device)], by=[name], on="node-1")]


def ago(seconds: int) -> str:
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def cluster(*more: dict[str, Any]) -> list[dict[str, Any]]:
    found = build.node()
    found["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": ago(99_000)}]
    devices = [build.device(f"gpu-{number}") for number in range(3)]
    return [found, build.device_class(), build.slice_("node-1", *devices), *more]


def told(capfd: pytest.CaptureFixture[str], folder: Path, items: list[dict[str, Any]], *words: str) -> str:
    for each in items:
        each["apiVersion"] = BY_NAME[each["kind"]].api_version
    path = folder / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), encoding="utf-8")
    run([*words, "--from", str(path), "--color", "never"], PassingClock())
    return " ".join(capfd.readouterr().out.split())


def test_a_node_says_first_that_its_driver_does_not_run(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, cluster(driver(CRASHES)), "describe-node", "node-1")
    assert text.startswith(
        "Node node-1 has 3 devices of its own: 3 free. Driver gpu.example.com does not run there: its pod "
        f"ml/gpu-dra-plugin-node-1 is in CrashLoopBackOff (41 restarts: {WORDS})."
    )
    assert "pods that are placed here with its devices hang in ContainerCreating" in text
    assert "reboot the node" in text
    assert "kubectl logs pod/gpu-dra-plugin-node-1 -n ml --all-containers --previous" in text
    assert "kubectl cordon node/node-1" in text


def test_a_node_whose_driver_runs_says_nothing_of_it(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for status, node in ((RUNS, "node-1"), (CRASHES, "node-2")):
        text = told(capfd, tmp_path, cluster(driver(status, node)), "describe-node", "node-1")
        assert "Driver gpu.example.com" not in text
        assert "cordon" not in text


def test_the_kubelet_that_does_not_know_a_driver_has_its_failing_pod_beside_it(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    items = user("web", "gpu-0", phase="Pending")
    words = "Failed to prepare dynamic resources: DRA driver gpu.example.com is not registered"
    items.append(build.event("web", "FailedPrepareDynamicResources", words))
    text = told(capfd, tmp_path, cluster(driver(CRASHES), *items), "why-pending", "web", "-n", "ml")
    assert text.startswith(
        "Pod ml/web is scheduled to node-1, but driver gpu.example.com is not registered at the kubelet of the node: "
        f"its pod ml/gpu-dra-plugin-node-1 is in CrashLoopBackOff (41 restarts: {WORDS})."
    )
    assert text.count(WORDS) == 1
    assert "kubectl logs pod/gpu-dra-plugin-node-1 -n ml --all-containers --previous" in text
    assert "--since=1h" not in text


def test_who_holds_a_device_says_that_it_ends_or_crashes(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    items = [*user("old", "gpu-0"), *user("lab", "gpu-1"), *user("web", "gpu-2")]
    items[0]["metadata"]["deletionTimestamp"] = ago(7200)
    items[2]["status"]["containerStatuses"] = [{**CRASHES, "restartCount": 812}]
    items[4]["status"]["containerStatuses"] = [RUNS]
    text = told(capfd, tmp_path, cluster(*items), "describe-node", "node-1")
    assert "pod ml/old (being deleted for 120m), claim old" in text
    assert "pod ml/lab (CrashLoopBackOff, 812 restarts), claim lab" in text
    assert "pod ml/web, claim web" in text
    text = told(capfd, tmp_path, cluster(*items), "describe-claim", "old", "-n", "ml")
    assert "pod ml/old on node-1 (being deleted for 120m)" in text
    assert "(running)" not in text
    text = told(capfd, tmp_path, cluster(*items), "get", "devices")
    assert "pod ml/old (being deleted)" in text
    assert "pod ml/lab (CrashLoopBackOff)" in text
    text = told(capfd, tmp_path, cluster(*items), "get", "claims", "-n", "ml", "-o", "wide")
    assert "pod ml/old on node-1 (being deleted for 120m)" in text


def test_a_node_that_is_not_ready_says_since_when(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for status, words in (
        ("Unknown", "NotReady for 38m (its kubelet has stopped reporting)"),
        ("False", "NotReady for 38m"),
    ):
        items = cluster()
        items[0]["status"]["conditions"] = [{"type": "Ready", "status": status, "lastTransitionTime": ago(2280)}]
        assert f"1 device of its own: 1 free. {words}" in told(
            capfd, tmp_path, [*items[:2], build.slice_("node-1", build.device("gpu-0"))], "describe-node", "node-1"
        )


def test_a_pod_that_fits_where_the_driver_does_not_run_hears_that_it_would_not_start(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    waits = [build.pod("new", claims=["new"]), build.claim("new")]
    text = told(capfd, tmp_path, cluster(driver(CRASHES), *waits), "why-pending", "new", "-n", "ml")
    assert text.startswith(
        "Pod ml/new is pending, but would fit now on node-1. But the driver does not run on node-1 (CrashLoopBackOff): "
        "a pod that is placed there does not start."
    )
    assert WORDS in text
    text = told(capfd, tmp_path, cluster(driver(RUNS), *waits), "why-pending", "new", "-n", "ml")
    assert text.startswith("Pod ml/new is pending, but would fit now on node-1. ")
    assert "does not run" not in text
