"""The slow path reads what Go's JSON reads, and says exactly what is wrong with the rest."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.encode import encode
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.resource import ResourceSlice
from tests.scenario_files import NAMES, snapshot_items

HEAD = b'{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":'


def slice_of(spec: bytes) -> ResourceSlice:
    decoded = decode_any(HEAD + spec + b"}")
    assert isinstance(decoded, tuple), decoded
    assert isinstance(decoded[1], ResourceSlice)
    return decoded[1]


def error_of(spec: bytes) -> str:
    decoded = decode_any(HEAD + spec + b"}")
    assert isinstance(decoded, BadObject), decoded
    assert (decoded.kind, decoded.name) == ("ResourceSlice", "s")
    return decoded.error


def test_null_is_absent() -> None:
    spec = b'{"driver":null,"pool":null,"devices":[{"name":"d","attributes":null,"capacity":{"m":{"value":null}}}]}'
    record = slice_of(spec)
    assert record.spec.driver == ""
    assert record.spec.pool.generation == 0
    assert record.spec.devices[0].attributes == {}
    assert str(record.spec.devices[0].capacity["m"].value) == "0"


def test_null_in_lists_and_maps_is_the_zero_value() -> None:
    """encoding/json: a null element of a slice or map leaves its zero value there."""
    record = slice_of(b'{"devices":[null,{"name":"d","attributes":{"a":null}}],"skipNodeOperations":[null]}')
    assert [device.name for device in record.spec.devices] == ["", "d"]
    assert record.spec.devices[1].attributes["a"].int_value is None
    assert record.spec.skip_node_operations == ("",)


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        (b'{"devices":{}}', "spec.devices: expected a list, got an object"),
        (b'{"pool":[]}', "spec.pool: expected an object, got a list"),
        (b'{"allNodes":"true"}', "spec.allNodes: expected true or false, got a string"),
        (b'{"driver":true}', "spec.driver: expected a string, got true"),
        (b'{"pool":{"generation":1.5}}', "spec.pool.generation: expected an integer, got the number 1.5"),
        (b'{"pool":{"generation":9223372036854775808}}', "spec.pool.generation: 9223372036854775808 does not fit"),
        (
            b'{"pool":{"generation":' + b"9" * 5000 + b"}}",
            "spec.pool.generation: expected an integer, got the number 999",
        ),
        (
            b'{"devices":[{},{"capacity":{"m":{"value":"1x"}}}]}',
            'spec.devices[1].capacity.m.value: "1x" is not a valid quantity',
        ),
        (
            b'{"devices":[{"capacity":{"d/m":{"value":[]}}}]}',
            'spec.devices[0].capacity["d/m"].value: expected a quantity',
        ),
        (b'{"devices":[{"attributes":{"a":{"int":"5"}}}]}', "spec.devices[0].attributes.a.int: expected an integer"),
        (b'{"devices":[{"name":5,"capacity":null}]}', "spec.devices[0].name: expected a string, got the number 5"),
    ],
)
def test_what_is_wrong_is_named_with_its_path(spec: bytes, error: str) -> None:
    assert error_of(spec).startswith(error)


@pytest.mark.parametrize("text", [b"\xff\xfe", b"\\ud800", b"\\udc00x", b"\xed\xa0\x80", b"\xc3"])
def test_broken_text_becomes_a_replacement_character(text: bytes) -> None:
    driver = slice_of(b'{"driver":"a' + text + b'b"}').spec.driver
    assert "\ufffd" in driver
    assert driver.startswith("a")
    driver.encode()


@pytest.mark.parametrize("spec", [b'{"pool":{"generation":NaN}}', b"{,}", b'{"a":1e}', b'{"driver":"\x01"}', b"", b"{"])
def test_what_is_no_json_is_an_error(spec: bytes) -> None:
    decoded = decode_any(HEAD + spec + b"}")
    assert isinstance(decoded, BadObject)
    assert decoded.error.startswith("not JSON")


@pytest.mark.parametrize("nested", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000])
def test_deep_nesting_is_an_error(nested: bytes) -> None:
    assert isinstance(decode_any(HEAD + b'{"devices":' + nested + b"}}"), BadObject)


def test_unknown_fields_are_tolerated_also_beside_broken_ones() -> None:
    assert slice_of(b'{"driver":"d","newField":{"x":[1,null]},"pool":null}').spec.driver == "d"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [leaf for key, item in items for leaf in leaves(item, (*path, key))]


OBJECTS = [item for name in NAMES[::6] for item in snapshot_items(name) if item["kind"] != "Node"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


@given(st.data())
def test_any_change_gives_an_object_or_a_named_error(data: st.DataObject) -> None:
    original = data.draw(st.sampled_from(OBJECTS))
    changed = copy.deepcopy(original)
    path = data.draw(st.sampled_from(leaves(changed)))
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = data.draw(VALUES)
    decoded = decode_any(json.dumps(changed).encode())
    if isinstance(decoded, tuple):
        # Texts and not records: a quantity remembers how it was written, "0.0" is written as "0".
        kind, record = decoded
        written = encode(record, kind)
        assert encode(decode_any(written)[1], kind) == written  # type: ignore[index]
    elif isinstance(decoded, BadObject):
        assert decoded.error
        assert "\n" not in decoded.error
    else:
        assert path[0] in ("apiVersion", "kind"), "an object got lost"


@given(st.binary(max_size=200))
def test_any_bytes_are_survived(data: bytes) -> None:
    assert not isinstance(decode_any(data), tuple)
