"""A workload without pods says who holds them back, and whether devices would be there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.corpus.shapes import CLUSTERS, NAMESPACE, devices, pod_spec, request, template, workload

EXAMPLE = "gpu.example.com"
QUEUE = {"kueue.x-k8s.io/queue-name": "user-queue"}


def job(labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    body = pod_spec(templates=["template"], restartPolicy="Never")
    meta = {"labels": labels} if labels else {}
    return workload("batch/v1", "Job", {"template": {"spec": body}, **spec}, **meta)


def told(capfd: pytest.CaptureFixture[str], tmp_path: Path, body: dict[str, Any], count: int = 1) -> str:
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE, count))), body]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    kind = body["kind"].lower()
    assert run(["why-pending", f"{kind}/work", "-n", NAMESPACE, "--from", str(path), "--color", "never"]) == 0
    return " ".join(capfd.readouterr().err.split())


def test_a_job_in_a_queue_whose_devices_are_there(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, job(QUEUE, suspend=True))
    assert "Job demo/work is suspended and waits in queue user-queue" in text
    assert "kubectl get workloads.kueue.x-k8s.io -n demo" in text
    assert "one of its pods would fit now, on dra-example-driver-cluster-worker" in text


def test_a_job_in_a_queue_whose_devices_are_not_there(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "not even one of its pods would fit now: no node has 9" in told(capfd, tmp_path, job(QUEUE, suspend=True), 9)


def test_a_job_that_somebody_suspended(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "it has no pods until spec.suspend is false" in told(capfd, tmp_path, job(suspend=True))


def test_a_deployment_of_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    body = {**job(replicas=0), "apiVersion": "apps/v1", "kind": "Deployment"}
    assert "Deployment demo/work is scaled to 0" in told(capfd, tmp_path, body)


def test_one_that_is_only_idle(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "Job demo/work has no pending pods" in told(capfd, tmp_path, job())
