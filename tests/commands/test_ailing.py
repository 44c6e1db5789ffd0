"""A workload whose pods all have their nodes and do not do their work: what ails them, and that it is no device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.clock import PassingClock

CRASHES = {
    "name": "main",
    "ready": False,
    "restartCount": 7,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
    "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
}
UNREADY = {"name": "main", "ready": False, "restartCount": 0, "state": {"running": {}}}
RUNS = {**UNREADY, "ready": True}


def workload(kind: str, statuses: list[dict[str, Any]], replicas: int, **metadata: Any) -> list[dict[str, Any]]:
    meta = {"name": "work", "namespace": "ml", "uid": "work"}
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "work", "uid": "work", "controller": True}
    objects = [{"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": {"replicas": replicas}}]
    for number, status in enumerate(statuses):
        name = f"work-{number}"
        pod = build.pod(name, claims=[name], node_name="node-1", phase="Running")
        pod["metadata"] |= {"ownerReferences": [owner], **metadata}
        pod["status"]["containerStatuses"] = [status]
        objects += [pod, build.claim(name, held=[("node-1", f"gpu-{number}")], by=[name], on="node-1")]
    return objects


def told(capfd: pytest.CaptureFixture[str], folder: Path, objects: list[dict[str, Any]], *words: str) -> str:
    devices = [build.device(f"gpu-{number}") for number in range(4)]
    items = [build.node(), build.device_class(), build.slice_("node-1", *devices), *objects]
    versions = {
        "ResourceClaim": "resource.k8s.io/v1",
        "DeviceClass": "resource.k8s.io/v1",
        "ResourceSlice": "resource.k8s.io/v1",
    }
    for each in items:
        each.setdefault("apiVersion", versions.get(each["kind"], "v1"))
    path = folder / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), encoding="utf-8")
    assert run(["why-pending", *words, "--from", str(path), "--color", "never"], PassingClock()) == 0
    return " ".join("".join(capfd.readouterr()).split())


def test_a_workload_that_crashes(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, workload("ReplicaSet", [CRASHES, RUNS], 2), "replicaset/work", "-n", "ml")
    assert text.startswith(
        "ReplicaSet ml/work: 1 of 2 pods ready. Pod ml/work-0 is not pending: it has its node node-1 and its "
        "devices, but its container main is in CrashLoopBackOff (7 restarts, last OOMKilled)."
    )
    assert "Devices are not what it waits for." in text
    assert "kubectl logs pod/work-0 -n ml -c main --previous" in text
    assert "has no pending pods" not in text


def test_a_pod_that_is_gone_is_told_by_its_last_event_with_the_one_in_its_place(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    objects = workload("ReplicaSet", [RUNS], 2)
    owner = objects[1]["metadata"]["ownerReferences"]
    waits = build.pod("work-new", claims=["new"])
    waits["metadata"]["ownerReferences"] = owner
    said = build.event("work-old", "Preempted", "Preempted by pod 0f2b on node node-1")
    claim = build.claim("new", build.request(count=9))
    items = [{"apiVersion": "v1", **each} for each in (waits, said)] + [{"apiVersion": "resource.k8s.io/v1", **claim}]
    path = tmp_path / "cluster.json"
    for each in objects:
        each.setdefault("apiVersion", "resource.k8s.io/v1" if each["kind"] == "ResourceClaim" else "v1")
    node = {"apiVersion": "v1", **build.node()}
    listed = {"kind": "List", "apiVersion": "v1", "items": [node, *objects, *items]}
    path.write_text(json.dumps(listed), encoding="utf-8")
    command = ["why-pending", "work-old", "-n", "ml", "--from", str(path), "--color", "never"]
    assert run(command, PassingClock()) == 1
    text = " ".join(capfd.readouterr().err.split())
    assert 'pods "work-old" not found in namespace "ml": it is gone; its last event, ' in text
    assert "ago: Preempted by pod 0f2b on node node-1 try: kubectl dra why-pending pod/work-new -n ml" in text
    command[1] = "work-other"
    assert run(command, PassingClock()) == 1
    assert "it is gone" not in capfd.readouterr().err


def test_pods_with_the_same_trouble_are_told_once(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, workload("ReplicaSet", [CRASHES, CRASHES], 2), "replicaset/work", "-n", "ml")
    assert text.count("CrashLoopBackOff") == 1
    assert "The same holds for 1 other pod: work-1." in text


def test_a_probe_that_fails(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    event = build.event("work-0", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")
    text = told(capfd, tmp_path, [*workload("StatefulSet", [UNREADY], 3), event], "sts/work", "-n", "ml")
    assert text.startswith("StatefulSet ml/work: 0 of 3 pods ready, 2 not created. It makes a pod again when")
    assert (
        "container main runs, but is not ready (Readiness probe failed: HTTP probe failed with statuscode: 503)" in text
    )
    assert "kubectl describe pod/work-0 -n ml" in text


@pytest.mark.parametrize(
    ("kind", "policy", "rule"),
    [("StatefulSet", "", True), ("StatefulSet", "Parallel", False), ("ReplicaSet", "", False)],
)
def test_pods_that_do_not_exist_are_counted_above_those_that_wait(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, kind: str, policy: str, *, rule: bool
) -> None:
    first, *others = workload(kind, [RUNS, RUNS], 5)
    first["spec"]["podManagementPolicy"] = policy
    others[2] = build.pod("work-1", claims=["work-1"]) | {"metadata": others[2]["metadata"]}
    others[3] = build.claim("work-1")
    taken = [build.claim(f"t{number}", held=[("node-1", f"gpu-{number}")], by=["x"]) for number in (1, 2, 3)]
    text = told(capfd, tmp_path, [first, *others, *taken], f"{kind}/work", "-n", "ml")
    assert text.startswith(f"{kind} ml/work: 1 of 5 pods ready, 1 pending, 3 not created.")
    assert ("the next when those before are ready" in text) is rule
    more = "it is to create 3 more"
    one_by_one = f"{more}, one by one as those before are ready."
    assert (one_by_one if rule else f"{more}.") in text
    assert (one_by_one if rule else f"{more}.") in told(capfd, tmp_path, [first, *others, *taken], "work-1", "-n", "ml")
    quota = 'pods "work-2" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2'
    refused = build.event("work", "FailedCreate", f"Error creating: {quota}", kind=kind)
    text = told(capfd, tmp_path, [first, *others, *taken, refused], f"{kind}/work", "-n", "ml")
    assert f'{kind} work cannot create more pods: ResourceQuota "few" forbids the pod' in text
    assert "kubectl describe resourcequota/few -n ml" in text


def test_pods_that_wait_for_the_same_and_all_exist_need_no_count(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first, *others = workload("ReplicaSet", [RUNS, RUNS], 2)
    for number in (0, 1):
        others[2 * number] = build.pod(f"work-{number}", claims=[f"work-{number}"]) | {
            "metadata": others[2 * number]["metadata"]
        }
        others[2 * number + 1] = build.claim(f"work-{number}", build.request(count=5))
    text = told(capfd, tmp_path, [first, *others], "replicaset/work", "-n", "ml")
    assert text.startswith("Pod ml/work-0 is pending")
    # Wanting different things, each has its page.
    others[3] = build.claim("work-1", build.request(count=6))
    text = told(capfd, tmp_path, [first, *others], "replicaset/work", "-n", "ml")
    assert text.startswith("ReplicaSet ml/work: 0 of 2 pods ready, 2 pending. Pod ml/work-0 is pending")


def test_a_workload_that_runs_is_still_none_that_waits(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, workload("ReplicaSet", [RUNS], 1), "replicaset/work", "-n", "ml")
    assert "ReplicaSet ml/work has no pending pods" in text


def test_one_pod_that_crashes(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, workload("ReplicaSet", [CRASHES], 1), "work-0", "-n", "ml")
    assert text.startswith(
        "Pod ml/work-0 is not pending: it has its node node-1 and its devices, but its container main"
    )


def rejected(name: str, reason: str, message: str, created: str, claims: tuple[str, ...]) -> dict[str, Any]:
    pod = build.pod(name, claims=claims, node_name="node-1", phase="Failed")
    pod["metadata"]["creationTimestamp"] = created
    pod["status"] |= {"reason": reason, "message": message}
    return pod


def test_the_overview_tells_of_pods_that_their_nodes_did_not_take(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = "Pod was rejected: Allocate failed due to no healthy devices, which is unexpected"
    reason, day = "UnexpectedAdmissionError", "2026-11-20T13:00:00Z"
    pods = [rejected(f"eval-{n}", reason, f"{words} {n}", f"2026-11-2{n}T13:00:00Z", ("a",)) for n in range(2)]
    others = [rejected("web", reason, words, day, ()), rejected("old", "Evicted", "low on memory", day, ("a",))]
    text = told(capfd, tmp_path, [*pods, *others], "-n", "ml")
    assert "No pod with device claims is pending in namespace ml." in text
    assert "2 pods with device claims were not taken by their nodes:" in text
    assert f"DRA-618 {reason}: 2 pods (eval-1, eval-0), the newest created" in text
    assert f"{words} 1" in text
    assert f"{words} 0" not in text
    assert "more: kubectl dra why-pending pod/eval-1 -n ml" in text
    assert "were not taken" not in told(capfd, tmp_path, others, "-n", "ml")
