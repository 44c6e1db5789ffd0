"""What ``kubectl dra simulate`` foresees of a pod is what the real scheduler writes once the pod is created."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path

import pytest

from tests.controlplane import Client
from tests.controlplane.client import Object, wait_for
from tests.e2e.conftest import Explain
from tests.e2e.situations import bring_about, cases, pod_object, scheduled_condition, without_preemption

pytestmark = pytest.mark.controlplane

FORESEEN = ("too-few-devices", "selector-with-another-spelling", "every-node-has-another-reason", "extended-resource")


@pytest.mark.parametrize("name", FORESEEN)
def test_the_scheduler_writes_what_was_foreseen(client: Client, explain: Explain, tmp_path: Path, name: str) -> None:
    case = cases()[name]
    # The situation with a pod that nobody schedules; the one in question is simulated and then created.
    bring_about(client, dataclasses.replace(case, pod={"schedulerName": "nobody"}, silent=True))
    body = pod_object("foreseen", **case.pod)
    path = tmp_path / "pod.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    report = explain("simulate", "-f", str(path), "-n", case.namespace)
    pending = report["pods"][0]["pending"]
    assert (report["fits"], pending["verdict"]) == ("No", case.expect)
    condition = bring_about(client, case)
    assert condition is not None
    assert pending["message"].replace("/foreseen", "/pod") == without_preemption(condition["message"])


def test_a_deployment_that_runs_needs_only_what_changes(client: Client, explain: Explain, tmp_path: Path) -> None:
    case = cases()["too-few-devices"]
    devices = [{"name": f"gpu-{number}"} for number in range(3)]
    pool = {"name": "node-2", "generation": 1, "resourceSliceCount": 1}
    slice_ = {"driver": "gpu.example.com", "nodeName": "node-2", "pool": pool, "devices": devices}
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    objects = [
        *(each for each in case.objects if each["kind"] == "DeviceClass"),
        {"kind": "ResourceSlice", "metadata": {"name": "node-2-gpus"}, "spec": slice_},
        {
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "one"},
            "spec": {"spec": {"devices": {"requests": [request]}}},
        },
    ]
    client.clear("apps/v1", "Deployment")
    bring_about(
        client, dataclasses.replace(case, objects=objects, pod={"schedulerName": "nobody"}, silent=True, fix=())
    )
    try:
        client.create(_deployment(case.namespace, 2, "web:1"))
        _wait_until_ready(client, case.namespace, 2)
        more = _simulated(explain, tmp_path, _deployment(case.namespace, 3, "web:1"))
        assert (more["fits"], more["pods"][0]["present"], more["pods"][0]["copies"]) == ("Yes", 2, 3)
        _change(client, _deployment(case.namespace, 3, "web:1"))
        _wait_until_ready(client, case.namespace, 3)

        renewed = _simulated(explain, tmp_path, _deployment(case.namespace, 3, "web:2"))
        assert (renewed["fits"], renewed["pods"][0]["stuck"], renewed["pods"][0]["replaces"]) == ("No", True, 3)
        _change(client, _deployment(case.namespace, 3, "web:2"))
        wait_for(lambda: _waiting(client, case.namespace), "the new pod finds no device")
        time.sleep(2)
        assert len(_waiting(client, case.namespace)) == 1
        assert len(_placed(client, case.namespace)) == 3
    finally:
        client.clear("apps/v1", "Deployment")


def _deployment(namespace: str, replicas: int, image: str) -> Object:
    spec = pod_object("x", template="one")["spec"]
    spec["containers"] = [{**container, "image": image} for container in spec["containers"]]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
        },
    }


def _simulated(explain: Explain, folder: Path, body: Object) -> Object:
    path = folder / "deployment.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    found: Object = explain("simulate", "-f", str(path))
    return found


def _change(client: Client, body: Object) -> None:
    meta = body["metadata"]
    client.request("PATCH", f"/apis/apps/v1/namespaces/{meta['namespace']}/deployments/{meta['name']}", body)


def _pods(client: Client, namespace: str) -> list[Object]:
    return [pod for pod in client.list("v1", "Pod", namespace) if pod["metadata"].get("labels", {}).get("app") == "web"]


def _placed(client: Client, namespace: str) -> list[Object]:
    return [pod for pod in _pods(client, namespace) if pod["spec"].get("nodeName")]


def _waiting(client: Client, namespace: str) -> list[Object]:
    """Pods that the scheduler has refused."""
    return [
        pod
        for pod in _pods(client, namespace)
        if not pod["spec"].get("nodeName") and scheduled_condition(client, namespace, pod["metadata"]["name"])
    ]


def _wait_until_ready(client: Client, namespace: str, number: int) -> None:
    """All pods have their nodes, and are ready, which a kubelet would say."""
    wait_for(lambda: len(_placed(client, namespace)) == number, f"{number} pods have a node")
    for pod in _placed(client, namespace):
        path = f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}/status"
        ready = {"type": "Ready", "status": "True"}
        kept = [each for each in pod["status"].get("conditions", ()) if each["type"] != "Ready"]
        client.request("PATCH", path, {"status": {"phase": "Running", "conditions": [*kept, ready]}})
    deployment = f"/apis/apps/v1/namespaces/{namespace}/deployments/web"
    wait_for(
        lambda: client.request("GET", deployment)["status"].get("availableReplicas") == number, "all are available"
    )
