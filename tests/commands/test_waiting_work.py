"""Lists name the work that has no pods yet: in queues of Kueue and Volcano, or refused by the API server."""

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


QUOTA = 'pods "x" is forbidden: exceeded quota: team, requested: requests.cpu=32, used: {}, limited: requests.cpu=100'


def refused_set(name: str, replicas: int = 2, *, devices: bool = True, made: int = 0) -> list[dict[str, Any]]:
    """A ReplicaSet of a Deployment, and what it was answered."""
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": f"of-{name}", "controller": True}
    meta = {"name": f"{name}-5c9", "namespace": NS, "uid": f"uid-{name}", "ownerReferences": [owner]}
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one"}] if devices else []
    template = {"spec": {"containers": [{"name": "main"}], "resourceClaims": claims}}
    spec = {"replicas": replicas, "template": template}
    words = f"Error creating: {QUOTA.format('requests.cpu=96')}"
    event = {"apiVersion": "v1", **build.event(f"{name}-5c9", "FailedCreate", words, kind="ReplicaSet")}
    pods = [pod_of(name) for _ in range(made)]
    for pod in pods:
        mine = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-5c9", "controller": True}
        pod["metadata"]["ownerReferences"] = [mine]
    return [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": spec}, event, *pods]


def test_work_that_is_refused_its_pods(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = told(capfd, tmp_path / "all.json", *refused_set("llm", made=1), work("a"))
    assert out.startswith("No pod with device claims is pending in namespace ml.")
    assert (
        "1 workload in namespace ml cannot create pods with devices: Deployment llm: ReplicaSet llm-5c9 cannot create "
        'more pods: ResourceQuota "team" forbids the pod: 96 of 100 requests.cpu are used, and it requests 32 more '
        "more: kubectl dra why-pending deployment/llm -n ml"
    ) in out
    assert "1 workload without pods yet waits in a queue in namespace ml:" in out
    document = told(capfd, tmp_path / "all.json", *refused_set("llm"), work("a"), words=("-o", "json"))
    summary = json.loads(document)["summary"]
    assert summary.endswith(
        "cannot create pods with devices; 1 workload without pods yet waits in a queue in namespace ml."
    )


@pytest.mark.parametrize(
    "objects",
    [
        refused_set("llm", devices=False),
        refused_set("llm", replicas=1, made=1),  # scaled down since
        refused_set("llm")[1:],  # what it makes is not known
        [{**refused_set("llm")[0]}],
    ],
)
def test_other_refusals_are_not_listed(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, objects: list[dict[str, Any]]
) -> None:
    assert "cannot create" not in told(capfd, tmp_path / "all.json", *objects)


def beside(capfd: pytest.CaptureFixture[str], folder: Path, *words: str) -> str:
    """What the overview says of two pods whose resource no class serves, one that has its node, and one without."""
    asked = {"nvidia.com/gpu": "1"}
    bound = build.pod("starts", requests=asked, node_name="node-1")
    pods = [build.pod("first", requests=asked), build.pod("second", requests=asked), bound]
    objects = [build.node(), build.device_class(), *pods, build.pod("plain", requests={"cpu": "100"})]
    versions = {"DeviceClass": "resource.k8s.io/v1"}
    items = [{"apiVersion": versions.get(each["kind"], "v1"), **each} for each in objects]
    path = folder / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), encoding="utf-8")
    assert run(["why-pending", *words, "--from", str(path), "--color", "never"]) == 0
    return " ".join(capfd.readouterr().out.split())


def test_pods_that_ask_for_what_no_class_serves_are_named(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = beside(capfd, tmp_path, "-A")
    assert text.startswith(
        "No pod with device claims is pending. "
        "2 pending pods without device claims (ml/first, ml/second) request nvidia.com/gpu, "
        "which no DeviceClass serves."
    )
    assert "more: kubectl dra why-pending pod/first -n ml --from" in text


def test_they_are_named_where_they_are_looked_for(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "2 pending pods without device claims (first, second) request" in beside(capfd, tmp_path, "-n", "ml")
    assert "without device claims" not in beside(capfd, tmp_path, "-A", "-l", "app=none")


def ending(name: str, ended: str | None = "2026-11-21T11:00:00Z", **fields: Any) -> list[dict[str, Any]]:
    """A pod that should have ended, and its claim of a device that its driver publishes no longer."""
    pod = build.pod(name, claims=[f"{name}-gpu"], node_name="node-a", phase="Running", **fields)
    if ended is not None:
        pod["metadata"]["deletionTimestamp"] = ended
    claim = build.claim(f"{name}-gpu", held=[("node-a", f"gpu-{name}")], by=[name])
    return [{"apiVersion": "v1", **pod}, {"apiVersion": "resource.k8s.io/v1", **claim}]


def test_pods_that_do_not_end(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pods = [ending(f"old-{n}", f"2026-11-21T1{n}:00:00Z") for n in range(6)]
    out = told(capfd, tmp_path / "all.json", *(each for pod in pods for each in pod), *ending("runs", None))
    assert out.startswith("No pod with device claims is pending in namespace ml.")
    assert "6 pods should have ended and still hold devices: Pod old-0 should have ended" in out
    assert "but driver gpu.example.com, which has to release its devices, publishes them no longer" in out
    assert "and 2 more more: kubectl dra why-pending pod/old-0 -n ml" in out
    assert "runs" not in out


@pytest.mark.parametrize(
    "changed",
    [
        # Its kubelet may be about to end it, it holds nothing, or is among those that wait.
        {"metadata": {"deletionTimestamp": "2999-01-01T00:00:00Z"}},
        {"metadata": {"uid": "another"}},
        {"status": {"phase": "Pending"}},
        # It has ended, and a finalizer keeps its object.
        {"status": {"phase": "Succeeded"}},
    ],
)
def test_pods_that_are_about_to_end(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, changed: dict[str, dict[str, str]]
) -> None:
    objects = ending("old")
    for part, values in changed.items():
        objects[0][part] |= values
    assert "should have ended and still" not in told(capfd, tmp_path / "all.json", *objects)
