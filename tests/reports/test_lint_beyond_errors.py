"""What lint finds in an object of which a value can't be read: the API server stops at the first one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from kubectl_dra.api.first_error import place_of, without
from kubectl_dra.api.planned import read_planned
from kubectl_dra.api.sources import Source
from kubectl_dra.reports.lint.objects import findings
from tests.kit import build

V1 = "resource.k8s.io/v1"


def paths(*devices: dict[str, Any], **more: Any) -> list[str]:
    """Where something is wrong in a slice with these devices, in the order in which it is found."""
    body = {"apiVersion": V1, **build.slice_("node-1"), **more}
    body["spec"] = {**body["spec"], "devices": list(devices)}
    planned = read_planned(Source(json.dumps(body).encode()), "ml")
    found = list(findings(planned))
    assert not found or planned.error or not planned.rest
    return [each.path for each in found]


def device(name: str = "gpu-0", value: Any = "80Gi", **attributes: Any) -> dict[str, Any]:
    return {"name": name, "capacity": {"memory": {"value": value}}, "attributes": attributes}


def test_everything_else_is_found_too() -> None:
    wrong = device("GPU_0", "80 GiB", model={"string": "a", "int": 1})
    assert paths(device("GPU_0", model={"string": "a", "int": 1})) == [
        "spec.devices[0].name",
        "spec.devices[0].attributes[model]",
    ]
    assert paths(wrong) == [
        "spec.devices[0].capacity.memory.value",
        "spec.devices[0].name",
        "spec.devices[0].attributes[model]",
    ]


def test_each_value_that_cannot_be_read_is_told() -> None:
    found = paths(device("gpu-0", "80 GiB"), device("gpu-1", "80GB"), device("gpu-2", cores={"int": "four"}))
    assert found == [
        "spec.devices[0].capacity.memory.value",
        "spec.devices[1].capacity.memory.value",
        "spec.devices[2].attributes.cores.int",
    ]


def test_nothing_is_said_of_what_follows_from_it() -> None:
    """Without its number the attribute has no type, and without its amount the capacity has none."""
    policy = {"validRange": {"min": "1Gi", "max": "80Gi"}, "default": "8Gi"}
    shared = device(value="eighty", cores={"int": "four"}) | {"allowMultipleAllocations": True}
    shared["capacity"]["memory"]["requestPolicy"] = policy
    told = ["spec.devices[0].attributes.cores.int", "spec.devices[0].capacity.memory.value"]
    assert sorted(paths(shared)) == told


def test_of_very_many_only_the_first_are_told() -> None:
    """Each is read again without the one before."""
    assert len(paths(*(device(f"gpu-{number}", "x") for number in range(60)))) == 21


@pytest.mark.parametrize(
    ("error", "path"),
    [
        (
            'spec.devices[0].capacity["a.b/c"].value: "x" is not a valid quantity: y',
            'spec.devices[0].capacity["a.b/c"].value',
        ),
        ("metadata.labels.a: expected a string, got a number", "metadata.labels.a"),
        ("not JSON: x", ""),
        ("", ""),
    ],
)
def test_where_an_error_is(error: str, path: str) -> None:
    assert place_of(error) == path


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ('spec.a["x.y"]', {"spec": {"a": {"x.y": None}, "b": [1, 2]}}),
        ("spec.b[1]", {"spec": {"a": {"x.y": 1}, "b": [1, None]}}),
        ("spec.b[7]", None),
        ("spec.c", None),
        ("spec.b.c", None),
    ],
)
def test_an_object_without_a_value(path: str, left: Any) -> None:
    tree: dict[str, Any] = {"spec": {"a": {"x.y": 1}, "b": [1, 2]}}
    assert without(tree, path) == left
    assert tree == {"spec": {"a": {"x.y": 1}, "b": [1, 2]}}


@pytest.mark.parametrize("wrong", [[], 1, "x", [None], {"a": []}])
def test_any_place_may_have_any_value(wrong: Sequence[Any]) -> None:
    for spec in ({"devices": wrong}, {"pool": wrong}, {"nodeName": wrong}, {"sharedCounters": wrong}):
        body = {"apiVersion": V1, **build.slice_("node-1")}
        body["spec"] = {**body["spec"], **spec}
        list(findings(read_planned(Source(json.dumps(body).encode()), "ml")))
