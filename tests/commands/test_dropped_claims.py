"""A pod that lost its claims on a server without Dynamic Resource Allocation: what its manifest requested is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.kit.clock import PassingClock
from tests.kit.fake_api import Answer, FakeApi, running, write_kubeconfig

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SPEC = {
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}, {"name": "nic", "resourceClaimName": "n"}]
}
TEMPLATE = {"template": {"spec": SPEC}}
DROPPED = "without the devices that its manifest requests"


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    monkeypatch.setenv("NO_COLOR", "1")
    with running(FakeApi()) as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
        api.routes = {path: route for path, route in api.routes.items() if "resource.k8s.io" not in path}
        yield api


def pod(applied: str = "", owner: str = "", **spec: Any) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": "web", "namespace": "ml", "uid": "u"}
    if applied:
        meta["annotations"] = {APPLIED: applied}
    if owner:
        meta["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": owner, "controller": True}]
    containers = [{"name": "main", "image": "x"}]
    return {
        "metadata": meta,
        "spec": {"nodeName": "n1", "containers": containers, **spec},
        "status": {"phase": "Running"},
    }


def said(api: FakeApi, capfd: Any, *items: dict[str, Any], words: tuple[str, ...] = ()) -> str:
    api.serve("Pod", list(items))
    run(("why-pending", "web", *words), PassingClock())
    return " ".join(capfd.readouterr().out.split())


def test_of_the_pod_itself(api: FakeApi, capfd: Any) -> None:
    text = said(api, capfd, pod(json.dumps({"kind": "Pod", "spec": SPEC})))
    assert f"Pod ml/web is not pending: it runs on node n1, {DROPPED} (claims gpu and nic): the API server" in text
    document = json.loads(said(api, capfd, pod(json.dumps({"spec": SPEC})), words=("-o", "json")))
    assert document["droppedClaims"] == ["gpu", "nic"]


def test_of_what_makes_it(api: FakeApi, capfd: Any) -> None:
    applied = json.dumps({"kind": "Job", "spec": TEMPLATE})
    job = {
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "ml", "annotations": {APPLIED: applied}},
        "spec": {},
    }
    api.routes["/apis/batch/v1/namespaces/ml/jobs/train"] = Answer(job)
    assert f"{DROPPED} (claims gpu and nic)" in said(api, capfd, pod(owner="train"))


@pytest.mark.parametrize(
    "applied",
    [
        "",
        "{",
        "[]",
        "null",
        json.dumps({"spec": {}}),
        json.dumps({"spec": {"resourceClaims": ["x", {"name": 3}]}}),
        "[" * 9999,
    ],
    ids=range(7),
)
def test_nothing_is_said_of_other_manifests(api: FakeApi, capfd: Any, applied: str) -> None:
    text = said(api, capfd, pod(applied))
    assert "Pod ml/web is not pending: it runs on node n1." in text


def test_where_the_api_is_served_nothing_was_dropped(api: FakeApi, capfd: Any) -> None:
    api.routes |= FakeApi().routes
    text = said(api, capfd, pod(json.dumps({"spec": SPEC})))
    assert DROPPED not in text
