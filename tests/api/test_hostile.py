"""Malformed and hostile objects of every generation: each is read, or named with its path; nothing else happens."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kubectl_dra.api.convert import convert
from kubectl_dra.api.decode import decode_any, decode_items, decode_page
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import BY_NAME, RESOURCE_CLAIM
from kubectl_dra.api.lint import lint
from kubectl_dra.api.sources import Source
from kubectl_dra.api.validate import validate
from kubectl_dra.model.evidence import BadObject
from tests.api.test_generations import ALL_OBJECTS
from tests.kit import sample
from tests.oracle.admission.cases import bases

pytestmark = pytest.mark.one_in(4)

OBJECTS = ALL_OBJECTS + list(bases().values())
HOSTILE = ["\x1b[31m", "\u202e", "\ud800", "\x00", "a" * 300, "../../x", "1e999", "-0", "\u200b", "=cmd()"]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(HOSTILE),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
RELAXED = settings(
    max_examples=100 if sample.leaves_out_rows else 300, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def _paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield from _paths(child, (*path, key))


def _replaced(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(tree)
    node = changed
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return changed


PATHS = [[path for path in _paths(obj) if path and path[0] not in ("apiVersion", "kind")] for obj in OBJECTS]


@st.composite
def broken_objects(draw: st.DrawFn) -> dict[str, Any]:
    """An object of some generation with one or two values replaced by something else."""
    number = draw(st.integers(0, len(OBJECTS) - 1))
    obj = OBJECTS[number]
    for path in draw(st.lists(st.sampled_from(PATHS[number]), min_size=1, max_size=2)):
        if path in set(_paths(obj)):
            obj = _replaced(obj, path, draw(VALUES))
    return obj


def _everything(data: bytes) -> None:
    """All that can happen to an object, from reading to writing."""
    found = decode_any(data)
    lint(data)
    (conversion,) = convert([Source(data)])
    for made in conversion.objects:
        lint(made)
    if not isinstance(found, tuple):
        assert found is None or conversion.error == found.error
        return
    kind, record = found
    assert all(str(error) for error in validate(defaulted(record)))
    version = json.loads(data.decode("utf-8", "replace")).get("apiVersion") or kind.api_version
    again = decode_any(encode(record, kind, version))
    assert isinstance(again, tuple)
    assert encode(again[1], kind, version) == encode(record, kind, version)


@RELAXED
@given(broken_objects())
def test_objects_with_wrong_values(obj: dict[str, Any]) -> None:
    data = json.dumps(obj).encode()
    found = decode_any(data)
    if isinstance(found, BadObject):
        assert found.error
        assert obj["kind"] in (found.kind, "DeviceClaim", "DevicePool", "DeviceClass")
        name = obj["metadata"].get("name") if isinstance(obj["metadata"], dict) else None
        # The name is told unless the metadata themselves are broken.
        assert found.name == name or "metadata" in found.error or not isinstance(name, str) or "\ud800" in name
    _everything(data)


@RELAXED
@given(st.sampled_from(OBJECTS), st.integers(0, 5000), st.binary(max_size=4))
@example(OBJECTS[0], 0, b"\xff\xfe")
@example(OBJECTS[2], 40, b"")
def test_objects_with_wrong_bytes(obj: dict[str, Any], position: int, put: bytes) -> None:
    data = json.dumps(obj).encode()
    position %= len(data)
    broken = data[:position] + put + data[position + len(put) + (not put) :]
    found = decode_any(broken)
    lint(broken)
    (conversion,) = convert([Source(broken)])
    if isinstance(found, BadObject):
        assert conversion.objects == (broken,) and conversion.error


@RELAXED
@given(st.lists(broken_objects(), max_size=4))
def test_bad_items_cost_only_themselves(objects: list[dict[str, Any]]) -> None:
    import msgspec

    good = bases()["claim"]
    items = [msgspec.Raw(json.dumps(obj).encode()) for obj in [*objects, good]]
    outcomes = list(decode_items(items, "resource.k8s.io/v1", RESOURCE_CLAIM))
    assert len(outcomes) == len(items)
    assert not isinstance(outcomes[-1], BadObject)


def test_the_path_of_what_is_wrong_is_named() -> None:
    for obj, path, error in (
        (
            bases()["claim"],
            ("spec", "devices", "requests", 0, "exactly", "count"),
            "spec.devices.requests[0].exactly.count",
        ),
        (
            bases()["slice"],
            ("spec", "devices", 0, "capacity", "memory", "value"),
            "spec.devices[0].capacity.memory.value",
        ),
        (bases()["slice"], ("spec", "devices", 1), "spec.devices[1]"),
    ):
        found = decode_any(json.dumps(_replaced(obj, path, ["x"])).encode())
        assert isinstance(found, BadObject)
        assert found.error.startswith(f"{error}: expected ")
        assert (found.kind, found.name) == (obj["kind"], obj["metadata"]["name"])


OLD_PATHS = [
    ("v1alpha2", "ResourceClaim", ("status", "allocation", "resourceHandles", 0, "driverName")),
    ("v1alpha2", "ResourceClaim", ("spec", "parametersRef", "kind")),
    ("v1alpha2", "ResourceClaimTemplate", ("spec", "spec", "resourceClassName")),
    ("v1alpha2", "ResourceClass", ("suitableNodes", "nodeSelectorTerms", 0, "matchExpressions", 0, "key")),
    ("v1alpha2", "ResourceClaimParameters", ("driverRequests", 0, "requests", 0, "namedResources", "selector")),
    ("v1alpha2", "ResourceClassParameters", ("filters", 0, "namedResources", "selector")),
    ("v1alpha2", "ResourceSlice", ("namedResources", "instances", 0, "attributes", 0, "name")),
    ("v1alpha2", "PodSchedulingContext", ("status", "resourceClaims", 0, "unsuitableNodes", 0)),
    ("v1alpha3", "ResourceClaim", ("spec", "controller")),
    ("v1alpha3", "DeviceClass", ("spec", "suitableNodes", "nodeSelectorTerms", 0, "matchFields", 0, "operator")),
    ("v1alpha3", "ResourceSlice", ("spec", "devices", 0, "basic", "attributes")),
    ("v1alpha3", "ResourcePoolStatusRequest", ("spec", "driver")),
    ("v1beta1", "ResourceClaim", ("spec", "devices", "requests", 0, "deviceClassName")),
    ("v1beta1", "ResourceSlice", ("spec", "devices", 0, "basic", "capacity")),
]


@pytest.mark.parametrize(
    ("version", "kind", "path"), OLD_PATHS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_old_generations_name_the_path_as_it_was_written(version: str, kind: str, path: tuple[str | int, ...]) -> None:
    """The path is the old object's, not that of the record that it becomes; what stands beside it is still read."""
    obj = next(
        obj
        for obj in ALL_OBJECTS
        if (obj["apiVersion"], obj["kind"]) == (f"resource.k8s.io/{version}", kind) and path in set(_paths(obj))
    )
    broken = json.dumps(_replaced(obj, path, [["x"]])).encode()
    found = decode_any(broken)
    assert isinstance(found, BadObject)
    written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]
    assert found.error.startswith(written), found.error
    assert (found.kind, found.name) == (kind, obj["metadata"]["name"])
    page = decode_page(json.dumps({"items": [json.loads(broken), obj]}).encode(), obj["apiVersion"], BY_NAME[kind])
    assert (len(page.records), [bad.name for bad in page.bad_objects]) == (1, [obj["metadata"]["name"]])


def test_broken_text_in_raw_parts_is_read_like_everywhere_else() -> None:
    class_ = b'{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"c"},"spec":{"config":[%s]}}'
    config = b'{"opaque":{"driver":"d.example.com","parameters":{"a":"\xff"}}}'
    found = decode_any(class_ % config)
    assert isinstance(found, tuple)
    assert json.loads(encode(found[1], found[0]))["spec"]["config"][0]["opaque"]["parameters"] == {"a": "\ufffd"}
    assert validate(found[1]) == ()


def test_nesting_without_end_is_an_error_and_no_crash() -> None:
    deep = (
        b'{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":' + b'{"a":' * 100000
    )
    assert isinstance(decode_any(deep), BadObject)
    lint(deep)
    assert convert([Source(deep)])[0].error
