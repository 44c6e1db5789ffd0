"""What a pod of a live cluster names and is not where it is looked for: a template of another namespace, a scheduler
without pods."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.kit.clock import PassingClock
from tests.kit.fake_api import Answer, FakeApi, Request, chunk_of, running, serve_cluster, write_kubeconfig

TEMPLATES = "/apis/resource.k8s.io/v1/resourceclaimtemplates"
DEPLOYMENTS = "/apis/apps/v1/deployments"


def template(namespace: str, name: str) -> dict[str, Any]:
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", "count": 3}}]
    meta = {"name": name, "namespace": namespace}
    return {"kind": "ResourceClaimTemplate", "metadata": meta, "spec": {"spec": {"devices": {"requests": requests}}}}


def pod(**spec: Any) -> dict[str, Any]:
    meta = {"name": "web", "namespace": "ml", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]
    containers = [{"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}]
    return {"kind": "Pod", "metadata": meta, "spec": {"resourceClaims": claims, "containers": containers, **spec}}


def waiting() -> dict[str, Any]:
    """For a scheduler of its own, and nothing else."""
    return pod(schedulerName="packer", resourceClaims=[{"name": "gpu", "resourceClaimName": "own"}])


CLAIM = {
    "kind": "ResourceClaim",
    "metadata": {"name": "own", "namespace": "ml"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
}


def deployment(namespace: str, replicas: int | None, name: str = "packer") -> dict[str, Any]:
    spec = {"selector": {}, "template": {}, **({} if replicas is None else {"replicas": replicas})}
    return {"kind": "Deployment", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    monkeypatch.setenv("NO_COLOR", "1")
    with running(FakeApi()) as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
        yield api


def serve(api: FakeApi, *items: dict[str, Any]) -> None:
    versions = {"Pod": "v1", "Node": "v1", "Deployment": "apps/v1"}
    whole = [{"apiVersion": versions.get(item["kind"], "resource.k8s.io/v1"), **item} for item in items]
    serve_cluster(api, [item for item in whole if item["kind"] != "Deployment"])
    made = [item for item in whole if item["kind"] == "Deployment"]
    api.routes[DEPLOYMENTS] = lambda request: chunk_of(request, "Deployment", made, "apps/v1")
    api.routes["/apis/apps/v1/statefulsets"] = lambda request: chunk_of(request, "StatefulSet", [], "apps/v1")


def said(capfd: Any, *words: str) -> str:
    clock = PassingClock()
    run(("why-pending", "web", *words), clock)
    return " ".join(capfd.readouterr().out.split())


def test_a_template_of_another_namespace_is_named(api: FakeApi, capfd: Any) -> None:
    serve(api, pod(), template("lab", "gpus"), template("lab", "others"))
    api.routes["/apis/resource.k8s.io/v1/namespaces/ml/resourceclaimtemplates"] = Answer(
        {"kind": "ResourceClaimTemplateList", "items": []}
    )
    text = said(capfd)
    told = 'it needs ResourceClaimTemplate "gpus", which does not exist in its namespace (there is one in lab,'
    assert told in text
    assert "count: 3" in text
    assert "others" not in text
    (asked,) = api.asked(TEMPLATES)
    assert asked.query["fieldSelector"] == "metadata.name=gpus"


def test_where_other_namespaces_may_not_be_read_nothing_is_said_of_them(api: FakeApi, capfd: Any) -> None:
    serve(api, pod(), template("lab", "gpus"))
    api.routes["/apis/resource.k8s.io/v1/namespaces/ml/resourceclaimtemplates"] = Answer(
        {"kind": "ResourceClaimTemplateList", "items": []}
    )
    api.forbid(TEMPLATES)
    text = said(capfd)
    assert 'it needs ResourceClaimTemplate "gpus", which does not exist.' in text
    assert "lab" not in text


def test_a_template_that_is_there_is_not_looked_for_elsewhere(api: FakeApi, capfd: Any) -> None:
    serve(api, pod(), template("ml", "gpus"))
    said(capfd)
    assert not api.asked(TEMPLATES)
    assert not api.asked(DEPLOYMENTS)


@pytest.mark.parametrize(
    ("made", "stopped"),
    [
        ([deployment("platform", 0)], True),
        ([deployment("platform", 1)], False),
        ([deployment("platform", None)], False),
        ([deployment("platform", 0, "packers")], False),
        ([deployment("platform", 0), deployment("other", 2)], False),
        ([], False),
    ],
)
def test_a_scheduler_whose_deployment_is_to_have_no_pods(
    api: FakeApi, capfd: Any, made: list[dict[str, Any]], stopped: bool
) -> None:
    serve(api, waiting(), CLAIM, *made)
    text = said(capfd)
    told = 'it names the scheduler "packer", and Deployment platform/packer, which is called like it, has 0 replicas'
    assert (told in text) is stopped, text
    start = "kubectl scale deployment/packer -n platform --replicas=1 --context fake"
    assert (start in text) is stopped
    assert ("What is called like it" in text) is not stopped
    asked: list[Request] = api.asked(DEPLOYMENTS)
    assert [request.query["fieldSelector"] for request in asked] == ["metadata.name=packer"]


def test_the_stopped_scheduler_stands_in_the_document(api: FakeApi, capfd: Any) -> None:
    serve(api, waiting(), CLAIM, deployment("platform", 0))
    document = said(capfd, "-o", "json")
    detail = json.loads(document)["causes"][0]["detail"]
    assert detail["stopped"] == {"kind": "Deployment", "namespace": "platform", "name": "packer"}


def test_the_pod_of_a_driver_that_does_not_run_is_named_by_the_page_of_its_node(api: FakeApi, capfd: Any) -> None:
    """It has no claims: of others like it only the sums per node are kept."""
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "plugin", "uid": "o", "controller": True}
    meta = {"name": "gpu-example-com-kubeletplugin-x", "namespace": "drivers", "uid": "d", "ownerReferences": [owner]}
    driver = {
        "kind": "Pod",
        "metadata": meta,
        "spec": {"nodeName": "n1", "containers": [{"name": "plugin", "image": "gpu-example-com-kubeletplugin"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "plugin", "restartCount": 9, "state": state}]},
    }
    spec = {"driver": "gpu.example.com", "nodeName": "n1", "devices": [{"name": "gpu-0"}]}
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    slice_ = {"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {**spec, "pool": pool}}
    serve(api, driver, {"kind": "Node", "metadata": {"name": "n1"}}, slice_)
    run(("describe-node", "n1"), PassingClock())
    text = " ".join(capfd.readouterr().out.split())
    assert "gpu-example-com-kubeletplugin-x" in text, text
    assert "CrashLoopBackOff" in text or "crash" in text, text
