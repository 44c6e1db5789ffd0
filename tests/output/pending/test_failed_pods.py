"""Pods that have ended: how, and of those that a kubelet did not take why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Verdict
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7f", "uid": "replicas", "controller": True}


def failed(
    name: str = "pod", reason: str = "TopologyAffinityError", message: str = "", **fields: Any
) -> dict[str, Any]:
    pod = build.pod(name, node_name="node-1", phase="Failed")
    pod["metadata"]["ownerReferences"] = [OWNER]
    words = message or "Pod was rejected: Resources cannot be allocated with Topology locality"
    pod["status"] |= {"reason": reason, "message": words, **fields}
    return pod


def test_a_pod_that_the_kubelet_rejected_has_failed() -> None:
    report = report_of(build.node(), failed(), failed("other"), failed("evicted", "Evicted"))
    assert report.code is Code.KUBELET_REJECTED
    assert first_line(report) == (
        "Pod ml/pod has failed: the kubelet of node-1 rejected it: Resources cannot be allocated with Topology "
        "locality (TopologyAffinityError). 1 other pod of ReplicaSet web-7f failed for the same reason."
    )
    assert "No NUMA node of node-1 has at once what it requests" in page_of(report)


def test_a_pod_that_was_evicted_tells_why() -> None:
    report = report_of(build.node(), failed("pod", "Evicted", "The node was low on resource: memory."))
    assert "the kubelet of node-1 evicted it: The node was low on resource: memory (Evicted)." in first_line(report)


ALLOCATE = "Pod was rejected: Allocate failed due to {}, which is unexpected"
UNHEALTHY = ALLOCATE.format("no healthy devices present; cannot allocate unhealthy devices rdma/hca_shared")
TOO_FEW = ALLOCATE.format("requested number of devices unavailable for rdma/hca_shared. Requested: 1, Available: 0")


@pytest.mark.parametrize(
    ("reason", "message", "told"),
    [
        ("UnexpectedAdmissionError", UNHEALTHY, "The device plugin of rdma/hca_shared on node-1 reports none of its"),
        ("UnexpectedAdmissionError", TOO_FEW, "The kubelet of node-1 has fewer devices of rdma/hca_shared left than"),
        ("UnexpectedAdmissionError", "", "The log of the kubelet of node-1 says what failed."),
        ("OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu", "Another pod took it after"),
        ("Evicted", "The node was low on resource: memory.", "node-1 ran short of what the message names."),
        ("NodeAffinity", "Pod was rejected: Predicate NodeAffinity failed", "The labels of node-1 no longer match"),
        ("Terminated", "Pod was terminated in response to imminent node shutdown.", "node-1 was being shut down."),
    ],
)
def test_the_advice_is_about_the_reason_alone(reason: str, message: str, told: str) -> None:
    page = " ".join(page_of(report_of(build.node(), failed("pod", reason, message))).split())
    assert f"What usually helps: {told}" in page
    assert "Read the reason." not in page


def test_yunikorn_ends_pods_that_have_no_node_yet() -> None:
    words = "application 'abl-001' rejected, cannot create queue 'root.research' without placement rules"
    pod = failed("pod", "ApplicationRejected", words)
    pod["spec"].pop("nodeName")
    report = report_of(build.node(), pod)
    assert first_line(report) == f"Pod ml/pod has failed: YuniKorn rejected it: {words} (ApplicationRejected)."
    page = " ".join(page_of(report).split())
    assert "Correct what its words name: its labels queue and applicationId" in page
    assert "TopologyAffinityError" not in page


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_pod_that_has_ended_does_not_run(phase: str) -> None:
    report = report_of(build.node(), build.pod(node_name="node-1", phase=phase))
    assert (report.code, report.verdict) == (None, Verdict.ENDED)
    assert first_line(report) == "Pod ml/pod is not pending: it has ended on node node-1."


def test_a_workload_whose_pods_are_all_rejected_is_not_without_findings(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    meta = {"name": "web-7f", "namespace": "ml", "uid": "replicas"}
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": {"replicas": 1}}
    pods = [{"apiVersion": "v1", **failed(name)} for name in ("web-1", "web-2")]
    node = {"apiVersion": "v1", **build.node()}
    path = tmp_path / "cluster.json"
    path.write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, replica_set, *pods]}), encoding="utf-8"
    )
    command = ["why-pending", "rs/web-7f", "-n", "ml", "--from", str(path), "--color", "never", "--exit-code"]
    assert run(command) == 3
    assert "web-2 has failed: the kubelet of node-1 rejected it" in " ".join(capfd.readouterr().out.split())
