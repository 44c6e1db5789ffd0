"""Work that MultiKueue runs in another cluster: which one, what to ask there, and nothing of the nodes here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.corpus.shapes import CLUSTERS, NAMESPACE, devices, pod_spec, request, template, workload

EXAMPLE = "gpu.example.com"
QUEUE = {"kueue.x-k8s.io/queue-name": "team"}
MULTIKUEUE = "kueue.x-k8s.io/multikueue"
RESERVED = 'The workload got reservation on "worker-eu"'


def job(labels: dict[str, str] = QUEUE, **spec: Any) -> dict[str, Any]:
    body = pod_spec(templates=["template"], restartPolicy="Never")
    return workload("batch/v1", "Job", {"template": {"spec": body}, **spec}, labels=labels, uid="u")


def queued(kind: str = "Job", state: str = "Pending", message: str = RESERVED, **status: Any) -> dict[str, Any]:
    owner = {"apiVersion": "batch/v1", "kind": kind, "name": "work", "uid": "u", "controller": True}
    reserved = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "Quota reserved"}
    status = {
        "admission": {"clusterQueue": "cq"},
        "admissionChecks": [{"name": "remote", "state": state, "message": message}],
        "conditions": [reserved],
        **status,
    }
    meta = {"name": "job-work-1", "namespace": NAMESPACE, "ownerReferences": [owner]}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": meta, "status": status}


def told(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, *objects: dict[str, Any], name: str = "job/work", code: int = 0
) -> str:
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE, 1))), *objects]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    words = ["why-pending", name, "-n", NAMESPACE, "--from", str(path), "--color", "never", "--exit-code"]
    assert run(words) == code
    return " ".join("".join(capfd.readouterr()).split())


DISPATCHED = (
    f"Job {NAMESPACE}/work runs in another cluster: MultiKueue dispatched it to worker-eu (Workload job-work-1). No "
    "pods of it are created here, and its status is copied from there."
)
THERE = f"kubectl dra why-pending job/work -n {NAMESPACE} --context CONTEXT"


@pytest.mark.parametrize(
    ("spec", "work"),
    [
        ({"managedBy": MULTIKUEUE, "suspend": False}, queued(state="Ready", clusterName="worker-eu")),
        ({"suspend": True}, queued(clusterName="worker-eu")),
        # Before clusterName there were words only.
        ({"suspend": True}, queued()),
    ],
)
def test_a_job_that_was_dispatched(
    spec: dict[str, Any], work: dict[str, Any], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = told(capfd, tmp_path, job(**spec), work)
    assert DISPATCHED in text
    assert THERE in text
    assert "would fit" not in text
    assert "waits in queue" not in text


def test_a_job_that_no_cluster_has_taken_yet(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    work = queued(message="", nominatedClusterNames=["worker-eu", "worker-us"])
    text = told(capfd, tmp_path, job(suspend=True, managedBy=MULTIKUEUE), work, code=3)
    assert "MultiKueue has offered it to the clusters worker-eu and worker-us, and none has admitted it yet" in text
    assert "would fit" not in text


def test_a_job_that_another_controller_manages(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, job({}, managedBy="example.com/remote"))
    assert (
        f"Job {NAMESPACE}/work is managed by example.com/remote (spec.managedBy), so no controller of this cluster "
        "creates pods of it." in text
    )


def test_a_job_set_by_its_own_field(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    jobs = [{"name": "a", "replicas": 1, "template": {"spec": job()["spec"]}}]
    spec = {"replicatedJobs": jobs, "managedBy": MULTIKUEUE}
    made = workload("jobset.x-k8s.io/v1alpha2", "JobSet", spec, labels=QUEUE, uid="u")
    text = told(capfd, tmp_path, made, queued("JobSet", clusterName="worker-eu"), name="jobset/work")
    assert DISPATCHED.replace("Job", "JobSet", 1) in text


def test_a_pod_that_kueue_keeps_as_a_copy(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "work", "namespace": NAMESPACE, "uid": "u", "labels": QUEUE},
        "spec": {**pod_spec(templates=["template"]), "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
        "status": {"phase": "Pending"},
    }
    items = [
        *CLUSTERS["example"](),
        template(devices(request(EXAMPLE, 1))),
        pod,
        queued("Pod", clusterName="worker-eu"),
    ]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    assert run(["why-pending", "work", "-n", NAMESPACE, "--from", str(path), "--color", "never"]) == 0
    text = " ".join("".join(capfd.readouterr()).split())
    assert "MultiKueue runs it in cluster worker-eu; the pod here is a copy that stays gated" in text
    assert "would find" not in text
    assert f"kubectl dra why-pending pod/work -n {NAMESPACE} --context CONTEXT" in text


def test_a_redacted_snapshot_says_the_same(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told(capfd, tmp_path, job(managedBy=MULTIKUEUE), queued(clusterName="worker-eu"))
    shown = tmp_path / "redacted.json"
    assert run(["snapshot", "--redact", "--from", str(tmp_path / "cluster.json"), "-f", str(shown)]) == 0
    text = shown.read_text(encoding="utf-8")
    assert "worker-eu" not in text
    assert MULTIKUEUE in text
