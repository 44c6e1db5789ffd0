"""What ``simulate --drain`` foresees of each pod is what the real scheduler does once the node is drained."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.controlplane import Client
from tests.controlplane.client import Object, object_path, wait_for
from tests.e2e.conftest import Explain
from tests.e2e.situations import (
    bound_to,
    clear,
    create,
    node_object,
    pod_object,
    scheduled_condition,
    without_preemption,
)

pytestmark = pytest.mark.controlplane

DRIVER = "drain.example.com"
SITUATIONS = 20
NAMESPACE = "e2e-drain"
DRAINED = "drain-a"


def slice_object(node: str, devices: int) -> Object:
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{DRIVER}"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{number}"} for number in range(devices)],
        },
    }


def template_object(count: int) -> Object:
    exactly = {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": count}
    spec = {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}
    return {"kind": "ResourceClaimTemplate", "metadata": {"name": f"gpus-{count}"}, "spec": {"spec": spec}}


@pytest.mark.parametrize("number", range(SITUATIONS))
def test_pods_of_a_drained_node_go_where_it_was_foreseen(client: Client, explain: Explain, number: int) -> None:
    draw = random.Random(f"drain-{number}")
    clear(client)
    if client.get("Namespace", NAMESPACE) is None:
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, "")
    expression = f'device.driver == "{DRIVER}"'
    device_class = {"metadata": {"name": DRIVER}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}
    create(client, {"kind": "DeviceClass", **device_class}, "")
    for count in (1, 2):
        create(client, template_object(count), NAMESPACE)
    pods = _run_on_the_node(client, draw)
    for name in ("drain-b", "drain-c", "drain-d")[: draw.randint(1, 3)]:
        taints = [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}] if draw.random() < 0.15 else []
        create(client, node_object(name, cpu=draw.choice(("1", "2", "4", "8")), taints=taints), "")
        create(client, slice_object(name, draw.randint(0, 3)), "")
    report = explain("simulate", "--drain", DRAINED)
    foreseen = {each["pod"]["name"]: each for each in report["whatIf"]["displaced"]}
    assert set(foreseen) == set(pods)
    client.request("PATCH", object_path("v1", "Node", "", DRAINED), {"spec": {"unschedulable": True}})
    for name in pods:
        client.delete("v1", "Pod", name, NAMESPACE)
    wait_for(lambda: not client.list("resource.k8s.io/v1", "ResourceClaim"), "the claims of the pods are gone")
    for name in sorted(pods):
        create(client, pods[name], NAMESPACE)
        condition = wait_for(lambda n=name: scheduled_condition(client, NAMESPACE, n), "the scheduler has a verdict")
        told = foreseen[name]
        if told["fate"] == "pending":
            assert without_preemption(condition["message"]) == told["message"]
            continue
        assert told["fate"] == "moves"
        node = wait_for(lambda n=name: bound_to(client, NAMESPACE, n), "the pod is bound")
        assert node in {told["node"], *told["equal"]}
        assert told["devices"]
        if node != told["node"]:
            # Of several nodes as good the scheduler took another one: what follows was foreseen for the first.
            break


def _run_on_the_node(client: Client, draw: random.Random) -> dict[str, Any]:
    """Pods on the node that is drained, of a controller; as they are made again."""
    create(client, node_object(DRAINED, cpu="8"), "")
    create(client, slice_object(DRAINED, 4), "")
    namespace = client.get("Namespace", NAMESPACE)
    assert namespace is not None
    uid = namespace["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": NAMESPACE, "uid": uid, "controller": True}
    pods = {}
    for index in range(draw.randint(1, 2)):
        name, requests = f"pod-{index}", {"cpu": draw.choice(("500m", "1", "2"))}
        body = pod_object(name, template=f"gpus-{draw.randint(1, 2)}", requests=requests)
        body["metadata"]["ownerReferences"] = [owner]
        create(client, body, NAMESPACE)
        wait_for(lambda n=name: bound_to(client, NAMESPACE, n), "the pod runs on the node that is drained")
        pods[name] = body
    return pods
