"""Of a claim that no pod uses, the workloads of its namespace are read; of others nobody asks for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.fake_api import FakeApi, serve_cluster, write_kubeconfig

LIST = f"/apis/apps/v1/namespaces/{build.NAMESPACE}/deployments"


def answer(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str], *more: dict[str, Any]) -> str:
    serve_cluster(api, [build.node(), build.device_class(), build.namespace(), build.claim("claim"), *more])
    flags = ["--kubeconfig", str(write_kubeconfig(tmp_path, api.url)), "-n", build.NAMESPACE, "--color", "never"]
    assert run(["why-pending", "claim/claim", *flags]) == 0
    return " ".join("".join(capfd.readouterr()).split())


def deployment() -> dict[str, Any]:
    entry = {"name": "gpu", "resourceClaimName": "claim"}
    pod = {"containers": [{"name": "main", "image": "i"}], "resourceClaims": [entry]}
    meta = {"name": "notebook", "namespace": build.NAMESPACE, "uid": "n"}
    return {"metadata": meta, "spec": {"replicas": 0, "template": {"spec": pod}}}


def serve_deployments(api: FakeApi) -> None:
    api.serve_foreign("apps", "v1", deployments=[deployment()], statefulsets=[])
    api.routes[LIST] = api.routes["/apis/apps/v1/deployments"]


def test_the_deployment_that_names_it(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    serve_deployments(api)
    assert "Deployment notebook names it and has 0 replicas." in answer(api, tmp_path, capfd)


def test_of_a_claim_that_a_pod_wants_nobody_asks(
    api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    serve_deployments(api)
    assert "notebook" not in answer(api, tmp_path, capfd, build.pod(claims=["claim"]))
    assert not api.asked(LIST)
