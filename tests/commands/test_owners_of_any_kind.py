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


def told(capfd: pytest.CaptureFixture[str], tmp_path: Path, *names: str) -> tuple[int, str]:
    path = tmp_path / "cluster.json"
    items = [*CLUSTERS["example"](), build.claim("x") | {"apiVersion": "resource.k8s.io/v1"}, *PODS]
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
