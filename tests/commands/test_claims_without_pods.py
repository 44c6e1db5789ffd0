"""A claim that no pod uses: which workload names it and has no pods; and names that are of another kind than pods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.corpus.shapes import CLUSTERS, NAMESPACE, pod_spec, template, workload
from tests.kit import build

NAMED = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]}


def deployment(replicas: int, **meta: Any) -> dict[str, Any]:
    spec = {"replicas": replicas, "template": {"spec": {**pod_spec(), **NAMED}}}
    return workload("apps/v1", "Deployment", spec, "notebook", **meta)


def told(capfd: pytest.CaptureFixture[str], tmp_path: Path, name: str, *objects: dict[str, Any]) -> str:
    claim = build.claim("shared")
    claim |= {"apiVersion": "resource.k8s.io/v1", "metadata": {"name": "shared", "namespace": NAMESPACE}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other", "namespace": NAMESPACE}, "spec": pod_spec()}
    path = tmp_path / "cluster.json"
    items = [*CLUSTERS["example"](), claim, pod, *objects]
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    run(["why-pending", name, "-n", NAMESPACE, "--from", str(path), "--color", "never"])
    return " ".join("".join(capfd.readouterr()).split())


def test_the_workload_that_names_it_and_is_scaled_to_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, "claim/shared", deployment(0))
    assert (
        "no pod uses the ResourceClaim; devices are allocated when one does. Deployment notebook names it and has 0 "
        "replicas." in text
    )
    assert f"kubectl scale deployment/notebook -n {NAMESPACE} --replicas=1" in text
    assert text.count("no pod uses the ResourceClaim") == 1


def test_one_that_is_suspended(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = {"suspend": True, "template": {"spec": {**pod_spec(), **NAMED}}}
    text = told(capfd, tmp_path, "claim/shared", workload("batch/v1", "Job", spec, "train"))
    assert "Job train names it and is suspended (spec.suspend)." in text
    assert f"kubectl dra why-pending job/train -n {NAMESPACE}" in text
    assert "kubectl scale" not in text


def test_a_workload_that_names_another_claim_is_not_told(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = deployment(0)
    other["spec"]["template"]["spec"]["resourceClaims"][0] = {"name": "gpu", "resourceClaimName": "another"}
    assert "notebook" not in told(capfd, tmp_path, "claim/shared", other)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("shared", f"kubectl dra why-pending claim/shared -n {NAMESPACE}"),
        ("notebook", f"kubectl dra why-pending deployment/notebook -n {NAMESPACE}"),
        ("dra-example-driver-cluster-worker", "kubectl dra describe-node dra-example-driver-cluster-worker"),
    ],
)
def test_a_name_that_is_no_pods(name: str, command: str, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, name, deployment(0), template({"devices": {}}))
    assert f'pods "{name}" not found' in text
    assert command in text
