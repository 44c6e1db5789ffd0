"""Objects that a real API server stored decode, lose nothing that the model has, and encode back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api import decode
from kubectl_dra.api.decode import DecodeError, decode_any, decode_object, decode_page
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import EVENT, KINDS, POD, RESOURCE_CLAIM, RESOURCE_SLICE
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import ResourceClaim, ResourceSlice
from tests.scenario_files import NAMES, snapshot_items

SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {"driver": "d", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}},
}


def as_bytes(value: object) -> bytes:
    return json.dumps(value).encode()


def paths(value: Any, prefix: str = "") -> dict[str, Any]:
    """Leaf path to value; absent and empty values don't count."""
    if isinstance(value, dict):
        return {k: v for key, item in value.items() for k, v in paths(item, f"{prefix}.{key}").items()}
    if isinstance(value, list):
        return {k: v for i, item in enumerate(value) for k, v in paths(item, f"{prefix}[{i}]").items()}
    return {} if value in (None, "", 0, False) and value is not False else {prefix: value}


@pytest.mark.parametrize("name", NAMES)
def test_stored_objects_round_trip(name: str) -> None:
    for item in snapshot_items(name):
        decoded = decode_any(as_bytes(item))
        assert decoded is not None, item["kind"]
        assert not isinstance(decoded, BadObject), decoded
        kind, record = decoded
        assert kind.name == item["kind"]
        again = encode(record, kind)
        assert decode_any(again) == (kind, record)
        written = paths(json.loads(again))
        original = paths(item)
        assert written.items() <= original.items(), "encoding wrote something that the server did not"


@pytest.mark.parametrize("name", NAMES)
def test_resource_objects_lose_nothing(name: str) -> None:
    for item in snapshot_items(name):
        if item["apiVersion"] != "resource.k8s.io/v1":
            continue
        kind, record = decode_any(as_bytes(item))  # type: ignore[misc]
        written = paths({part: json.loads(encode(record, kind)).get(part) for part in ("spec", "status")})
        original = paths({part: item.get(part) for part in ("spec", "status")})
        assert {path: value for path, value in original.items() if "lastProbeTime" not in path} == written


@pytest.mark.parametrize("name", NAMES)
def test_stored_objects_are_already_defaulted(name: str) -> None:
    for item in snapshot_items(name):
        _, record = decode_any(as_bytes(item))  # type: ignore[misc]
        assert defaulted(record) == record


def test_an_object_of_another_kind_is_none() -> None:
    assert decode_any(as_bytes({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})) is None
    assert decode_any(as_bytes({"apiVersion": "example.com/v1", "kind": "Pod", "metadata": {"name": "s"}})) is None


def test_items_of_a_typed_list_need_no_kind() -> None:
    items = [{key: value for key, value in SLICE.items() if key not in ("apiVersion", "kind")}]
    data = as_bytes({"metadata": {"resourceVersion": "17", "continue": "abc"}, "items": items})
    page = decode_page(data, "resource.k8s.io/v1", RESOURCE_SLICE)
    assert [record.metadata.name for record in page.records] == ["s"]  # type: ignore[attr-defined]
    assert (page.metadata.resource_version, page.metadata.continue_) == ("17", "abc")


@pytest.mark.parametrize("items", [b"null", b"[]"])
def test_an_empty_list(items: bytes) -> None:
    page = decode_page(b'{"items":' + items + b',"metadata":null}', "v1", POD)
    assert page.records == ()
    assert page.bad_objects == ()


def test_a_bad_object_costs_only_itself_and_is_named() -> None:
    bad = json.loads(as_bytes(SLICE))
    bad["metadata"] = {"name": "broken", "namespace": "ns"}
    bad["spec"]["pool"]["generation"] = "seven"
    page = decode_page(as_bytes({"items": [SLICE, bad, SLICE]}), "resource.k8s.io/v1", RESOURCE_SLICE)
    assert len(page.records) == 2
    error = "spec.pool.generation: expected an integer, got a string"
    assert page.bad_objects == (BadObject("ResourceSlice", "ns", "broken", error, "item 1"),)


def test_a_broken_list_is_an_error() -> None:
    for data in (b"", b"[]", b'{"items": 5}', b'{"items": [{]}', b"not json"):
        with pytest.raises(DecodeError):
            decode_page(data, "v1", POD)


def test_an_object_needs_a_name() -> None:
    with pytest.raises(DecodeError, match=r"metadata\.name: missing"):
        decode_object(b'{"metadata":{}}', "v1", POD)


def test_an_unknown_version_says_so() -> None:
    decoded = decode_any(as_bytes({**SLICE, "apiVersion": "resource.k8s.io/v9"}))
    assert isinstance(decoded, BadObject)
    assert "resource.k8s.io/v9" in decoded.error


def test_equal_quantities_are_one_object() -> None:
    devices = [{"name": f"d{i}", "capacity": {"memory": {"value": "80Gi"}}} for i in range(2)]
    _, record = decode_any(as_bytes({**SLICE, "spec": {**SLICE["spec"], "devices": devices}}))  # type: ignore[misc, dict-item]
    assert isinstance(record, ResourceSlice)
    first, second = (device.capacity["memory"].value for device in record.spec.devices)
    assert first is second
    assert first == Quantity.parse("80Gi")


@pytest.mark.parametrize(("number", "text"), [("5", "5"), ("1.5", "1500m"), ("1e3", "1e3"), ("12e-1", "1200e-3")])
def test_numbers_stand_for_quantities(number: str, text: str) -> None:
    """Quantity.UnmarshalJSON takes the literal without quotes."""
    data = as_bytes(SLICE)[:-2] + b',"devices":[{"name":"d","capacity":{"m":{"value":' + number.encode() + b"}}}]}}"
    _, record = decode_any(data)  # type: ignore[misc]
    assert isinstance(record, ResourceSlice)
    assert str(record.spec.devices[0].capacity["m"].value) == text


def test_opaque_parameters_keep_their_bytes() -> None:
    parameters = b'{"b": 1.50, "a": null, "n": 1e400}'
    data = (
        b'{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},'
        b'"spec":{"devices":{"config":[{"opaque":{"driver":"d","parameters":' + parameters + b"}}]}}}"
    )
    kind, record = decode_any(data)  # type: ignore[misc]
    assert kind is RESOURCE_CLAIM
    assert isinstance(record, ResourceClaim)
    assert parameters in encode(record, kind)


def test_events_of_both_groups_are_events() -> None:
    new = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "n"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "n"},
        "note": "text",
        "reportingController": "x",
    }
    kind, record = decode_any(as_bytes(new))  # type: ignore[misc]
    assert kind is EVENT
    assert isinstance(record, Event)
    assert (record.regarding.name, record.note) == ("p", "text")  # type: ignore[union-attr]


def test_the_nested_claim_source_of_old_servers_is_flattened() -> None:
    entries = [
        {"name": "a", "source": {"resourceClaimName": "c"}},
        {"name": "b", "source": {"resourceClaimTemplateName": "t"}},
        {"name": "d", "resourceClaimName": "e"},
    ]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"resourceClaims": entries}}
    _, record = decode_any(as_bytes(pod))  # type: ignore[misc]
    assert isinstance(record, Pod)
    found = [(e.resource_claim_name, e.resource_claim_template_name, e.source) for e in record.spec.resource_claims]
    assert found == [("c", None, None), (None, "t", None), ("e", None, None)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_decodes_in_its_best_version(kind: Any) -> None:
    data = as_bytes({"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "x"}, "spec": {}})
    found, record = decode_any(data)  # type: ignore[misc]
    assert found is kind
    assert type(record) is kind.record
    assert json.loads(encode(record, kind))["kind"] == kind.name


# --- lists at once --------------------------------------------------------------------------------------------------


def page_of(items: list[Any], **metadata: Any) -> bytes:
    return json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items}).encode()


def one_by_one(data: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[decode.ListPage, int]:
    """The list, and how many of its objects were decoded alone."""
    alone: list[bytes] = []

    def counted(data: bytes, api_version: str, kind: Any) -> Any:
        alone.append(data)
        return decode_object(data, api_version, kind)

    monkeypatch.setattr(decode, "decode_object", counted)
    return decode_page(data, "v1", POD), len(alone)


def test_a_list_of_whole_objects_is_decoded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [{"metadata": {"name": f"p{number}", "labels": {"é": "ü"}}} for number in range(20)]
    data = page_of(items, resourceVersion="7", **{"continue": "more", "remainingItemCount": 3})
    page, alone = one_by_one(data, monkeypatch)
    assert alone == 0
    monkeypatch.setattr(decode, "_AT_ONCE", 0)
    same, alone = one_by_one(data, monkeypatch)
    assert alone == 20
    assert page == same
    assert (page.metadata.resource_version, page.metadata.continue_, page.metadata.remaining_item_count) == (
        *("7", "more"),
        3,
    )


@pytest.mark.parametrize("broken", [{"metadata": {}}, {"metadata": {"name": 5}}, {"spec": 1}, 7, None])
def test_a_list_with_one_that_is_not_is_looked_at_singly(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    good = [{"metadata": {"name": f"p{number}"}} for number in range(4)]
    page, alone = one_by_one(page_of([*good[:2], broken, *good[2:]]), monkeypatch)
    assert alone == 5
    assert [record.metadata.name for record in page.records] == ["p0", "p1", "p2", "p3"]  # type: ignore[attr-defined]
    assert len(page.bad_objects) == 1
