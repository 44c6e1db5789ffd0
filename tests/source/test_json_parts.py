"""Where JSON values and the items of long lists begin and end: whatever the sizes, the same as a parser finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.source import documents as documents_module
from kubectl_dra.source import json_parts, manifests
from kubectl_dra.source.content import Content
from kubectl_dra.source.documents import documents
from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.json_parts import JsonPart, Span, UnsplitError, parts
from kubectl_dra.source.manifests import Manifests, read_manifests, read_written
from tests.scenario_files import NAMES, snapshot_path

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=5) | st.just("items"), inner, max_size=5)
    ),
    max_leaves=30,
)
STYLES = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}])


@contextmanager
def tiny(size: int) -> Iterator[None]:
    """As if files were much larger than they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_parts, "SMALL_BYTES", size)
        patch.setattr(json_parts, "_WINDOW", 3 * size)
        patch.setattr(json_parts, "_CHUNK", 2 * size)
        patch.setattr(json_parts, "_LEEWAY", size)
        yield


def pieces(part: JsonPart, content: Content) -> tuple[Any, list[Any]]:
    """The value without the items of its list, and its items."""
    assert part.array is not None
    head = content.read(part.whole.start, part.array.start) + b"[]" + content.read(part.array.end, part.whole.end)
    inside = [item for chunk in part.chunks for item in json.loads(b"[" + content.read(*chunk) + b"]")]
    return json.loads(head), inside


@given(st.lists(VALUES, max_size=4), STYLES, st.sampled_from(["\n", " \n\t ", ""]), st.integers(4, 60))
def test_any_values_at_any_size(values: list[Any], style: dict[str, Any], between: str, size: int) -> None:
    if not between and any(isinstance(value, int | float | None) for value in values):
        between = " "
    content = Content.of((between.join(json.dumps(value, **style) for value in values)).encode())
    with tiny(size):
        found = parts(content)
    assert len(found) == len(values)
    for part, value in zip(found, values, strict=True):
        if part.array is None:
            assert json.loads(content.read(*part.whole)) == value
            continue
        head, inside = pieces(part, content)
        expected = value if isinstance(value, list) else value["items"]
        assert inside == expected
        assert head == ([] if isinstance(value, list) else {**value, "items": []})


ALIKE = st.recursive(
    st.sampled_from(["", '},{"k":1}', '"},{"k":"', '\\"},{"k":', "]", "},"]).map(lambda text: {"k": text}),
    lambda inner: st.lists(inner, max_size=4).map(lambda several: {"k": several, "m": several}),
    max_leaves=12,
)


@given(st.lists(ALIKE, min_size=3, max_size=30), STYLES, st.integers(4, 60))
def test_what_looks_like_the_next_item_and_is_within_one(items: list[Any], style: dict[str, Any], size: int) -> None:
    content = Content.of(json.dumps({"items": items}, **style).encode())
    with tiny(size):
        for part in parts(content):
            assert part.array is None or pieces(part, content) == ({"items": []}, items)


class Counted(Content):
    """Counts the bytes that are asked for."""

    taken = 0

    def read(self, start: int, end: int) -> bytes:
        data = super().read(start, end)
        self.taken += len(data)
        return data


@pytest.mark.parametrize("between", [",", ",\n", ", ", "\n  ,\n    "])
@pytest.mark.parametrize("first", ["", '"a": 1, '])
def test_nothing_is_read_again_for_the_space_between_items(between: str, first: str) -> None:
    """A file with a line per item was read by a whole window for each of them."""
    items = between.join(f'{{"name": "{number:03}", "list": [{{"name": 1}}]}}' for number in range(4_000))
    text = f'{{{first}"items":[{items}]}}'.encode()
    content = Counted.of(text)
    assert isinstance(content, Counted)
    with tiny(64):
        (part,) = parts(content)
    assert len(part.chunks) > 100
    # A window overlaps the one before by what a value may need.
    assert content.taken < 3 * len(text)


def test_a_long_list_comes_in_chunks_and_a_short_one_whole() -> None:
    items = [{"name": f"{i}", "text": ',{"name":"}],'} for i in range(100)]
    content = Content.of(json.dumps({"a": [1], "items": items, "z": {"items": [2]}}).encode())
    assert parts(content) == [JsonPart(Span(0, content.size))]
    with tiny(64):
        (part,) = parts(content)
    assert len(part.chunks) > 20
    assert max(end - start for start, end in part.chunks) < 64 * 2 + 64
    assert all(first.end < second.start for first, second in pairwise(part.chunks))
    assert pieces(part, content) == ({"a": [1], "items": [], "z": {"items": [2]}}, items)


@pytest.mark.parametrize(
    "text",
    [
        '{"items": [1, 2, 3], "items": [4, 5, 6, 7, 8, 9]}',
        '{"items": {"a": 1}, "b": [1, 2, 3, 4, 5, 6, 7, 8]}',
        '{"\\u0069tems!": [1, 2, 3], "b": [1, 2, 3, 4, 5, 6]}',
        "123456789123456789",
        '"a text that is longer than the window"',
    ],
)
def test_what_is_no_long_list_stays_whole(text: str) -> None:
    with tiny(4):
        assert parts(Content.of(f" {text} ".encode())) in (
            [JsonPart(Span(1, len(text) + 1))],
            [JsonPart(Span(1, len(text) + 2))],
        )


@pytest.mark.parametrize("size", [4, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1, 2,]",
        "[1 2]",
        '{"a" 1}',
        '{"a": 1,}',
        "{1: 2}",
        "[1]]",
        "[1, nan]",
        "[" * 5000,
        '{"a":' * 5000,
        "[1,",
        "a",
    ],
)
def test_what_is_not_strictly_json(text: str, size: int) -> None:
    with tiny(size), pytest.raises(UnsplitError):
        parts(Content.of(text.encode()))


def test_a_value_may_be_too_large() -> None:
    with tiny(4), pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_parts, "WHOLE_BYTES", 100)
        with pytest.raises(UnsplitError, match="too large"):
            parts(Content.of(json.dumps(["x" * 2000]).encode()))


def test_a_large_file_that_is_no_list_is_not_taken_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_module, "WHOLE_BYTES", 100)
    with pytest.raises(ManifestError, match="f: not JSON, or no list in a file of this size: ") as caught:
        read_manifests(b'{"kind": "List", "items": [' + b" " * 100, "f")
    assert "kubectl get -o json" in caught.value.hint


# --- the same objects -----------------------------------------------------------------------------------------------


def found(data: bytes) -> Manifests:
    return read_manifests(data, "f")


@pytest.mark.parametrize("name", NAMES[:6])
@pytest.mark.parametrize("size", [16, 700])
def test_recorded_snapshots_read_the_same_in_pieces(name: str, size: int) -> None:
    data = snapshot_path(name).read_bytes()
    expected, written = found(data), list(read_written(data, "f"))
    with tiny(size):
        assert next(iter(documents(Content.of(data), "f"))).chunks is not None
        assert found(data) == expected
        assert list(read_written(data, "f")) == written


POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
BARE = {"metadata": {"name": "a"}}


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "PodList", "apiVersion": "v1", "items": [BARE, 5, BARE, [POD]]},
        {"items": [BARE, 5], "kind": "PodList", "apiVersion": "v1"},
        {"apiVersion": "v1", "items": [POD, {"kind": "List", "items": [POD, 7, "x"]}], "kind": "List"},
        {"apiVersion": "v1", "items": [POD, POD], "kind": "ConfigMap"},
        {"apiVersion": "v1", "items": [POD, POD], "kind": "Pod", "metadata": {"name": "odd"}},
        {"items": [POD, POD]},
        [POD, [POD, 5], 7],
        {"apiVersion": "kubectl-dra/v1alpha1", "kind": "Snapshot", "items": [POD, 7], "reads": []},
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_every_shape_of_list_reads_the_same_in_pieces(value: object, indent: int | None) -> None:
    for data in (json.dumps(value, indent=indent), json.dumps(value, indent=indent) + "\n" + json.dumps(value)):
        expected = found(data.encode())
        with tiny(8):
            assert found(data.encode()) == expected


def test_equal_broken_items_have_lines_of_their_own() -> None:
    data = b'{"kind":"List","items":[\n5,\n5,\n5\n]}'
    lines = [f"f, document 1, line {number}" for number in (2, 3, 4)]
    assert [bad.origin for bad in found(data).bad_objects] == lines
    with tiny(4):
        assert [bad.origin for bad in found(data).bad_objects] == lines


def test_very_many_broken_objects_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "_MAX_BAD", 3)
    bad = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": 5}
    objects = found(json.dumps([bad, 5, bad, bad, POD, 7, bad]).encode()).bad_objects
    assert [(each.kind, each.name) for each in objects] == [
        ("Pod", "a"),
        ("", ""),
        ("Pod", "a"),
        ("Pod", "and 2 more"),
        ("", "and 1 more"),
    ]
