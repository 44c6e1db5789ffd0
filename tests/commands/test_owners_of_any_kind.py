"""TYPE/NAME of kinds that are not known here: the pods that belong to it, by their owners; else whose pods exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.corpus.shapes import CLUSTERS, NAMESPACE, pod_spec
from tests.kit import build


def pod(name: str, kind: str, owner: str, api: str) -> dict[str, Any]:
    owners = [{"apiVersion": api, "kind": kind, "name": owner, "uid": f"{kind}-{owner}", "controller": True}]
    meta = {"name": name, "namespace": NAMESPACE, "uid": name, "ownerReferences": owners}
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "missing"}]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**pod_spec(), **claims}}
    return {**body, "status": {"phase": "Pending"}}


PODS = (
    pod("virt-launcher-vm-gpu-x7k2p", "VirtualMachineInstance", "vm-gpu", "kubevirt.io/v1"),
    pod("t-worker-0", "Job", "t", "batch.volcano.sh/v1alpha1"),
)


def told(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, *names: str, more: tuple[dict[str, Any], ...] = ()
) -> tuple[int, str]:
    path = tmp_path / "cluster.json"
    items = [*CLUSTERS["example"](), build.claim("x") | {"apiVersion": "resource.k8s.io/v1"}, *PODS, *more]
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    code = run(["why-pending", *names, "-n", NAMESPACE, "--from", str(path), "--color", "never"])
    return code, " ".join("".join(capfd.readouterr()).split())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("vmi/vm-gpu", "virt-launcher-vm-gpu-x7k2p"),
        ("virtualmachineinstances/vm-gpu", "virt-launcher-vm-gpu-x7k2p"),
        ("vm/vm-gpu", "virt-launcher-vm-gpu-x7k2p"),
        ("vcjob/t", "t-worker-0"),
        ("jobs.batch.volcano.sh/t", "t-worker-0"),
    ],
)
def test_the_pods_of_an_owner(name: str, said: str, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, text = told(capfd, tmp_path, name)
    assert code == 0
    assert f"Pod {NAMESPACE}/{said} is pending" in text


def test_a_name_that_owns_no_pod(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, text = told(capfd, tmp_path, "vmi/other")
    assert code == 1
    assert f'no pod in namespace "{NAMESPACE}" belongs to vmi "other"' in text
    assert "the pods there belong to Job t, VirtualMachineInstance vm-gpu" in text
    assert f"kubectl dra why-pending -n {NAMESPACE}" in text


def test_a_typing_error_is_said_before_anything_is_read(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, text = told(capfd, tmp_path, "deplyoment/t")
    assert code == 2
    assert 'did you mean "deployment"' in text


def volcano(kind: str, name: str, spec: dict[str, Any], status: dict[str, Any], **meta: Any) -> dict[str, Any]:
    head = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": kind, "metadata": {"name": name, **meta}}
    return {**head, "spec": spec, "status": status}


@pytest.mark.parametrize("phase", ["Pending", "Inqueue"])
def test_a_job_of_volcano_that_is_not_enqueued_has_no_pods(
    phase: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its controller makes them later; what the PodGroup and the Queue say is all there is."""
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "big", "uid": "b", "controller": True}
    words = {
        "type": "Unschedulable",
        "status": "True",
        "message": "queue resource quota insufficient: insufficient cpu",
    }
    spec = {"minMember": 3, "queue": "nlp", "minResources": {"cpu": "196", "memory": "1Ti"}}
    status = {"phase": phase, "conditions": [words]}
    group = volcano("PodGroup", "big-b", spec, status, namespace=NAMESPACE, ownerReferences=[owner])
    queue = volcano("Queue", "nlp", {"capability": {"cpu": "160", "memory": "3Ti"}}, {"state": "Open"})
    code, text = told(capfd, tmp_path, "vcjob/big", more=(group, queue))
    assert code == 1
    if phase == "Inqueue":
        assert "belongs to vcjob" in text
        return
    assert f"Volcano Job {NAMESPACE}/big has no pods yet" in text
    assert "its PodGroup big-b leaves phase Pending" in text
    assert "it requests 196 cpu (minResources), and Queue nlp may have 160 in all" in text
    assert "It says: queue resource quota insufficient: insufficient cpu" in text
    assert "memory" not in text
