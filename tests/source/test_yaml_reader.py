"""YAML documents as JSON values: what is refused, where, and that no input exhausts the machine."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.output.yaml_dump import dump
from kubectl_dra.source.yaml_reader import MAX_DEPTH, YAMLError, read_documents
from tests.kit import work


def values(text: str) -> list[Any]:
    return [document.value for document in read_documents(text)]


def error(text: str) -> YAMLError:
    with pytest.raises(YAMLError) as caught:
        values(text)
    return caught.value


def test_documents_with_their_lines_and_no_empty_ones() -> None:
    documents = list(read_documents("# nothing\n---\na: 1\n---\n---\n\nb:\n- c: 2\n...\n"))
    assert [(document.value, document.line) for document in documents] == [({"a": 1}, 2), ({"b": [{"c": 2}]}, 5)]


def test_the_line_of_every_mapping() -> None:
    (document,) = read_documents("items:\n- name: a\n- spec:\n    x: 1\n")
    items = document.value["items"]
    assert [document.lines[id(item)] for item in items] == [2, 3]
    assert document.lines[id(items[1]["spec"])] == 4


def test_keys_are_texts() -> None:
    """Also those that Kubernetes' reader takes for something else, such as ``y``."""
    assert values("1: a\ny: b\n1.5: c\n'x': d\n") == [{"1": "a", "true": "b", "1.5": "c", "x": "d"}]


def test_quoted_and_block_scalars_are_texts() -> None:
    assert values("a: '1'\nb: \"yes\"\nc: |\n  1\nd: >-\n  null\ne: !!str 5\n") == [
        {"a": "1", "b": "yes", "c": "1\n", "d": "null", "e": "5"}
    ]


def test_anchors_and_merges() -> None:
    text = "base: &b {x: 1, w: 2}\nmore: &m {w: 3, z: 4}\none: {<<: *b, w: 9}\ntwo: {<<: [*b, *m]}\nthree: *b\n"
    (value,) = values(text)
    assert value["one"] == {"w": 9, "x": 1}
    assert value["two"] == {"x": 1, "w": 2, "z": 4}
    assert value["three"] == {"x": 1, "w": 2}


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", 'the key "a" occurs twice', 3),
        ("x:\n  a: 1\n  'a': 2\n", 'the key "a" occurs twice', 3),
        ("a: .nan", ".nan is not a number", 1),
        ("a:\n- -.inf", "-.inf is not a number", 2),
        ("a: *b", "the alias *b has no anchor", 1),
        ("a: &b [*b]", "the alias *b has no anchor", 1),
        ("a: !!python/object:os.system x", "has the tag", 1),
        ("a: !include x", "has the tag !include", 1),
        ("a: !!binary aGk=", "has the tag", 1),
        ("? [a]\n: b", "a key is not text", 1),
        ("? {a: b}\n: b", "a key is not text", 1),
        ("~: b", "a key is not text", 1),
        ("a: {<<: 5}", "<< needs a mapping", 1),
        ("a: b: c", "not valid YAML: a colon where no key can stand", 1),
        ("a:\n\t- b", "not valid YAML: a tab, or a sign that no value begins with", 2),
        ("a: [1, 2", "not valid YAML: a list that begins with [ is not closed", 1),
        ("a: {b: 2", "not valid YAML: an object that begins with { is not closed", 1),
        ('a: "x', "not valid YAML: a text in quotes is not closed", 1),
        ("a: \x00", "holds characters that YAML does not allow", 1),
        ("a: 1\nb: \x07", "holds characters that YAML does not allow", 2),
        ("{{ .Values.x }}", "", 1),
    ],
)
def test_refused(text: str, problem: str, line: int) -> None:
    found = error(text)
    assert found.problem.startswith(problem)
    assert found.line in (line, line + 1)
    assert "\n" not in found.problem


def test_the_document_is_counted() -> None:
    assert error("a: 1\n---\nb: 2\n---\nc: 1\nc: 2\n").document == 3


@pytest.mark.parametrize("unit", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_ends_early(unit: str) -> None:
    """However much follows, no more is looked at."""
    shallow, deep = (work.calls(lambda count=count: error(unit * count)) for count in (2 * MAX_DEPTH, 200_000))
    assert deep == shallow


def test_nesting_up_to_the_limit_is_read() -> None:
    assert values("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert "deeper" in error("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)).problem


def test_alias_bombs_end_early() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    found = error("\n".join(lines))
    assert "aliases multiply" in found.problem
    assert found.line < 12


def test_ordinary_aliases_are_no_bomb() -> None:
    text = "common: &c {a: 1, b: [1, 2, 3]}\nitems:\n" + "- *c\n" * 5000
    assert len(values(text)[0]["items"]) == 5000


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, min_size=1))
def test_what_we_write_reads_as_the_same(value: dict[str, Any]) -> None:
    text = dump(json.loads(json.dumps(value)))
    assert text.isascii()
    (read,) = values(text)
    assert read == value


@given(st.text(max_size=200))
def test_any_text_is_survived(text: str) -> None:
    try:
        values(text)
    except YAMLError as problem:
        assert problem.line >= 1
