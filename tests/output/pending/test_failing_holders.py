"""A pod that crashes again and again keeps its devices: it is named before those that use theirs, and stopped first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import POD, page_of, report_of

CRASHES = {
    "name": "main",
    "ready": False,
    "restartCount": 812,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
    "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}},
}
RUNS = {"name": "main", "ready": True, "state": {"running": {}}}
THREE_DAYS_AGO = (CLOCK.now() - timedelta(days=3)).strftime("%Y-%m-%dT%H:%M:%SZ")


def user(number: int, status: dict[str, Any], owner: str = "") -> list[dict[str, Any]]:
    """A node with one device, which a pod uses."""
    node, name = f"node-{number}", f"user-{number}"
    pod = build.pod(name, claims=[name], node_name=node, phase="Running")
    ready = "True" if status["ready"] else "False"
    pod["status"] |= {
        "containerStatuses": [status],
        "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": THREE_DAYS_AGO}],
    }
    if owner:
        made_by = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}
        pod["metadata"]["ownerReferences"] = [made_by]
    held = build.claim(name, held=[(node, "gpu-0")], by=[name], on=node)
    return [build.node(node), build.slice_(node, build.device("gpu-0")), pod, held]


def replica_set(name: str, replicas: int) -> dict[str, Any]:
    meta = {"name": name, "namespace": build.NAMESPACE, "uid": name}
    return {"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": meta, "spec": {"replicas": replicas}}


def page(*objects: dict[str, Any]) -> str:
    whole = report_of(build.device_class(), *objects, POD, build.claim("claim"))
    return " ".join(page_of(whole).replace("\x1b[1m", "").replace("\x1b[0m", "").split())


def test_the_first_line_names_who_does_not_run_and_why() -> None:
    text = page(*user(1, RUNS), *user(2, CRASHES))
    assert (
        "on node-1, the only one is in use (user-1); on node-2, the only one is in use (user-2: does not run)" in text
    )
    told = "Pod user-2 is in CrashLoopBackOff (812 restarts, last exit code 1; not ready for 3d) and holds its devices"
    assert told in text
    assert "kubectl logs pod/user-2 -n ml --all-containers --previous" in text


def test_of_many_nodes_the_one_whose_device_is_wasted_is_told() -> None:
    full = [each for number in range(1, 9) for each in user(number, RUNS)]
    text = page(*full, *user(9, CRASHES))
    assert "(user-9: does not run)" in text.partition("It requests")[0]


def test_who_starts_is_not_called_failing() -> None:
    starting = {**CRASHES, "restartCount": 0, "state": {"waiting": {"reason": "ContainerCreating"}}, "lastState": {}}
    for status in (RUNS, starting):
        text = page(*user(1, RUNS), *user(2, status))
        assert "does not run" not in text


def test_a_sidecar_that_crashes_is_no_idle_pod() -> None:
    objects = user(2, CRASHES)
    objects[2]["status"]["containerStatuses"].append({**RUNS, "name": "serve"})
    assert "does not run" not in page(*user(1, RUNS), *objects)


def test_a_workload_none_of_whose_pods_runs_is_stopped_before_one_that_serves() -> None:
    text = page(*user(1, RUNS), *user(2, CRASHES, "lab"), replica_set("lab", 1))
    assert "1 scale ReplicaSet ml/lab to 0 (now 1): frees 1 device; its pod node-2 does not run (CrashLoop" in text
    assert "2 delete pod ml/user-1" in text
    assert "delete pod ml/user-2" not in text


def test_a_workload_of_which_a_pod_serves_is_not_stopped() -> None:
    text = page(*user(1, RUNS, "lab"), *user(2, CRASHES, "lab"), replica_set("lab", 2))
    assert "to 0" not in text
    assert "1 scale ReplicaSet ml/lab to 1 (now 2), which ends ml/user-2: frees node-2 1 device" in text
