"""Equal parts of objects are one in memory, unique ones are not kept, and no object changes by it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api import sharing
from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import NODE, RESOURCE_SLICE
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import Device, ResourceSlice


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "_places", {})


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
