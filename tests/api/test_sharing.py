"""Equal parts of objects are one in memory, unique ones are not kept, and no object changes by it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api import sharing
from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import NODE, POD, RESOURCE_SLICE
from kubectl_dra.model.core import Container, Node, Pod, ResourceRequirements
from kubectl_dra.model.resource import Device, ResourceSlice


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "_places", {})
    monkeypatch.setattr(sharing, "_templates", sharing._Templates())


def device(number: int, memory: str = "80Gi", **capacity: Any) -> dict[str, Any]:
    attributes = {"model": {"string": "H100"}, "uuid": {"string": f"GPU-{number}"}, "half": {"int": number % 2}}
    return {"name": f"gpu-{number}", "attributes": attributes, "capacity": {"memory": {"value": memory, **capacity}}}


def slice_of(*devices: dict[str, Any]) -> ResourceSlice:
    body = {"metadata": {"name": "s"}, "spec": {"driver": "d", "pool": {"name": "p"}, "devices": devices}}
    data = json.dumps(body).encode()
    record = decode_object(data, RESOURCE_SLICE.api_version, RESOURCE_SLICE)
    assert isinstance(record, ResourceSlice)
    assert json.loads(encode(record, RESOURCE_SLICE))["spec"]["devices"] == list(devices)
    return record


def devices(count: int) -> list[Device]:
    return [slice_of(device(number)).spec.devices[0] for number in range(count)]


def test_equal_attributes_and_capacities_are_one() -> None:
    first, second, third = devices(3)
    assert first.attributes["model"] is second.attributes["model"] is third.attributes["model"]
    assert first.attributes["half"] is third.attributes["half"]
    assert first.attributes["half"] is not second.attributes["half"]
    assert first.capacity is second.capacity


def test_what_differs_stays_apart() -> None:
    policy = {"requestPolicy": {"default": "1Gi"}}
    found = slice_of(device(0), device(1, "40Gi"), device(2, **policy), device(3, **policy), device(4)).spec.devices
    assert [str(each.capacity["memory"].value) for each in found] == ["80Gi", "40Gi", "80Gi", "80Gi", "80Gi"]
    assert [each.capacity["memory"].request_policy is None for each in found] == [True, True, False, False, True]
    assert found[0].capacity is found[4].capacity
    whole, text = slice_of(
        {"name": "a", "attributes": {"x": {"int": 1}}}, {"name": "b", "attributes": {"x": {"bool": True}}}
    ).spec.devices
    assert whole.attributes["x"].int_value == 1
    assert text.attributes["x"].bool_value is True


def test_a_place_of_unique_values_is_given_up_and_keeps_nothing() -> None:
    devices(2 * sharing._MAX_VALUES)
    place = sharing._places["uuid"]
    assert not place.open
    assert not place.known
    assert sharing._places["model"].open
    first, second = devices(2)
    assert first.attributes["model"] is second.attributes["model"]


def test_the_number_of_places_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "_MAX_PLACES", 2)
    devices(3)
    assert set(sharing._places) == {"model", "uuid"}


def test_what_nodes_can_hold_is_one() -> None:
    def node(name: str, cpu: str) -> Node:
        status = {"allocatable": {"cpu": cpu, "memory": "1Gi"}, "capacity": {"cpu": cpu, "memory": "1Gi"}}
        data = json.dumps({"metadata": {"name": name}, "status": status}).encode()
        record = decode_object(data, "v1", NODE)
        assert isinstance(record, Node)
        return record

    first, second, other = node("a", "1"), node("b", "1"), node("c", "2")
    assert first.status.allocatable is first.status.capacity is second.status.capacity
    assert [str(each.status.capacity["cpu"]) for each in (first, second, other)] == ["1", "1", "2"]


# --- pods -----------------------------------------------------------------------------------------------------------


def pod(number: int, **changes: Any) -> Pod:
    """One of a ReplicaSet's pods, with what is its own."""
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}
    spec = {
        "nodeName": f"node-{number}",
        "containers": [{"name": "main", "image": "i", "resources": resources, **changes}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}],
    }
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u", "controller": True}
    meta = {"name": f"p-{number}", "namespace": "team", "labels": {"app": "x"}, "ownerReferences": [owner]}
    status = {"phase": "Running", "containerStatuses": [{"name": "main", "ready": True}]}
    body = {"metadata": meta, "spec": spec, "status": status}
    record = decode_object(json.dumps(body).encode(), "v1", POD)
    assert isinstance(record, Pod)
    before = encode(record, POD)
    sharing.share_pod(record)
    assert encode(record, POD) == before
    return record


def test_pods_of_a_template_share_it() -> None:
    first, second = pod(1), pod(2)
    assert first.spec.containers is second.spec.containers
    assert first.spec.tolerations is second.spec.tolerations
    assert first.spec.volumes is second.spec.volumes
    assert first.metadata.labels is second.metadata.labels
    assert first.metadata.owner_references is second.metadata.owner_references
    assert first.status.container_statuses is second.status.container_statuses
    assert first.spec.overhead is second.spec.node_selector
    assert (first.spec.node_name, second.spec.node_name) == ("node-1", "node-2")


@pytest.mark.parametrize(
    "changes",
    [
        {"resources": {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}},
        {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}},
        {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "claims": [{"name": "c"}]}},
        {"resources": {"requests": {"cpu": "1000m", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}},
        {"image": "other"},
        {"name": "other"},
        {"restartPolicy": "Always"},
        {"restartPolicyRules": [{"action": "Restart"}]},
        {"ports": [{"containerPort": 1}]},
        {"volumeMounts": [{"bindMountOptions": ["x"]}]},
    ],
)
def test_other_containers_stay_apart(changes: dict[str, Any]) -> None:
    first, second = pod(1), pod(2, **changes)
    assert first.spec.containers is not second.spec.containers


def test_every_field_of_a_container_tells_containers_apart() -> None:
    """A field that is added must be compared too."""
    assert len(Container.__struct_fields__) == 7
    assert len(ResourceRequirements.__struct_fields__) == 3
