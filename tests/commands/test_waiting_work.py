"""Lists name the work that waits in queues of Kueue and Volcano and has no pods yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.kit import build

NS = build.NAMESPACE
KUEUE = "kueue.x-k8s.io/v1beta2"


def work(name: str, kind: str = "Job", requests: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    owner = {"apiVersion": "batch/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}
    meta = {"name": f"job-{name}", "namespace": NS, "ownerReferences": [owner]}
    container = {"name": "main", "resources": {"requests": requests or {}}}
    claims = {} if requests else {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}
    sets = [{"name": "main", "count": 1, "template": {"spec": {"containers": [container], **claims}}}]
    quota = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "the queue is being drained"}
    status = {"conditions": [quota], **fields}
    spec = {"queueName": "team", "podSets": sets}
    return {"apiVersion": KUEUE, "kind": "Workload", "metadata": meta, "spec": spec, "status": status}


def group(name: str, phase: str, queue: str = "research") -> dict[str, Any]:
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": name, "uid": "u", "controller": True}
    meta = {"name": f"{name}-group", "namespace": NS, "ownerReferences": [owner]}
    conditions = [{"type": "Unschedulable", "status": "True", "message": "queue resource quota insufficient"}]
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": meta,
        "spec": {"minMember": 2, "queue": queue},
        "status": {"phase": phase, "conditions": conditions},
    }


def pod_of(name: str) -> dict[str, Any]:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"uid-{name}", "controller": True}
    pod = build.pod(f"{name}-0", node_name="node-a", phase="Running")
    pod["metadata"]["ownerReferences"] = [owner]
    return {"apiVersion": "v1", **pod}


def told(capfd: pytest.CaptureFixture[str], path: Path, *objects: dict[str, Any], words: tuple[str, ...] = ()) -> str:
    node = {"apiVersion": "v1", **build.node("node-a")}
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, *objects]}), encoding="utf-8")
    assert run(["why-pending", "-n", NS, "--from", str(path), *words]) == 0
    return " ".join(capfd.readouterr().out.split())


def test_work_in_a_queue_of_kueue(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = told(capfd, tmp_path / "all.json", work("a"), work("b", "RayJob"))
    assert out.startswith("No pod with device claims is pending in namespace ml.")
    head = "2 workloads without pods yet wait in a queue in namespace ml:"
    assert f"{head} Job a, RayJob b (queue team): the queue is being drained" in out
    assert "more: kubectl dra why-pending job/a -n ml" in out


@pytest.mark.parametrize(
    "objects",
    [
        (work("a", conditions=[{"type": "Admitted", "status": "True"}]),),
        (work("a", conditions=[{"type": "Finished", "status": "True"}]),),
        (work("a", requests={"cpu": "4"}),),  # no devices
        (work("a", "Pod"),),  # a pod is told by itself
        (work("a"), pod_of("a")),
        (group("a", "Running"),),
    ],
)
def test_what_does_not_wait_or_has_pods(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, objects: tuple[dict[str, Any], ...]
) -> None:
    assert "without pods yet" not in told(capfd, tmp_path / "all.json", *objects)


def test_work_in_a_queue_of_volcano(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = told(capfd, tmp_path / "all.json", group("train", "Pending"))
    assert "Job train (queue research): queue resource quota insufficient" in out


def test_programs_get_it_as_an_item(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = json.loads(told(capfd, tmp_path / "all.json", work("a"), work("b"), words=("-o", "json")))
    assert document["summary"] == "2 workloads without pods yet wait in a queue in namespace ml."
    assert [(each["kind"], each["workload"]["name"], each["verdict"]) for each in document["items"]] == [
        ("WorkloadPendingReport", "a", "Queued"),
        ("WorkloadPendingReport", "b", "Queued"),
    ]
