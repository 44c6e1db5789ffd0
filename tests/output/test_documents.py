"""JSON and YAML: lossless, 7-bit, in our envelope."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.documents import (
    OBJECTS_HEAD,
    WRITERS,
    folded,
    list_bytes,
    list_head,
    list_pieces,
    objects_bytes,
    report_bytes,
    to_bytes,
    to_json,
    to_yaml,
    write_document,
)
from kubectl_dra.output.safe import Safe

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SURROGATES = st.text(st.characters(codec=None, exclude_categories=()))


class Report(msgspec.Struct, rename="camel"):
    pod_name: str = "p"
    size: Quantity = Quantity.parse("1Gi")
    raw: msgspec.Raw = msgspec.Raw(b"1.50")


class Empty(msgspec.Struct):
    pass


def test_a_report_in_its_envelope() -> None:
    text = to_json(report_bytes("PendingReport", Report()))
    assert text.startswith('{\n  "apiVersion": "kubectl-dra/v1alpha1",\n  "kind": "PendingReport",\n  "podName": "p"')
    assert '"raw": 1.50' in text
    assert json.loads(text)["size"] == "1Gi"
    assert json.loads(to_json(report_bytes("X", Empty()))) == {"apiVersion": "kubectl-dra/v1alpha1", "kind": "X"}


def test_lists() -> None:
    value = json.loads(to_json(list_bytes("PendingReportList", Safe("two"), [Report(), Report("q")], notes=["n"])))
    assert list(value) == ["apiVersion", "kind", "summary", "notes", "items"]
    assert [item["podName"] for item in value["items"]] == ["p", "q"]
    assert json.loads(list_bytes("L", Safe("none"), []))["items"] == []
    assert json.loads(objects_bytes([b'{"a":1}', b'{"b":2}'])) == {
        "apiVersion": "v1",
        "kind": "List",
        "items": [{"a": 1}, {"b": 2}],
    }


@given(JSON)
def test_nothing_is_lost(value: Any) -> None:
    data = report_bytes("X", {"value": value})
    assert to_json(data).isascii()
    assert "\x7f" not in to_json(data)
    assert json.loads(to_json(data))["value"] == value


@given(st.dictionaries(st.text(), JSON))
def test_yaml_is_seven_bit_and_the_same_value(value: dict[str, Any]) -> None:
    text = to_yaml(report_bytes("X", {"value": value}))
    assert text.isascii()
    assert all(character == "\n" or 32 <= ord(character) < 127 for character in text)
    assert yaml.safe_load(text)["value"] == value


@given(SURROGATES)
@example("\ud800")
@example("a\udcffb")
def test_lone_surrogates_of_arguments_are_escaped(text: str) -> None:
    data = report_bytes("X", {"value": text})
    assert to_json(data).isascii()
    assert json.loads(to_json(data))["value"].encode("utf-16", "surrogatepass") == text.encode(
        "utf-16", "surrogatepass"
    )


def test_yaml_quotes_what_kubernetes_would_misread() -> None:
    text = to_yaml(b'{"a":"y","b":"1e3","c":"0o17","d":"null","e":"1_000"}')
    assert text == 'a: "y"\nb: "1e3"\nc: "0o17"\nd: "null"\ne: "1_000"\n'


@pytest.mark.parametrize("output", ["json", "yaml"])
@pytest.mark.parametrize("fields", [{}, {"notes": ["n", "line\nbreak"]}])
@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_list_in_pieces_is_the_list(output: str, fields: dict[str, Any], number: int) -> None:
    long = "words that go on " * 20
    reports = [
        {"name": f'"{i}"\n', "long": long, "none": [], "inner": [{"a": 1}, {}], "\u202e": "\x7f"} for i in range(number)
    ]
    whole = WRITERS[output](list_bytes("XList", Safe("some"), reports, **fields))
    pieces = list(list_pieces(list_head("XList", Safe("some"), **fields), map(to_bytes, reports), output))
    assert "".join(pieces) == whole.removesuffix("\n") + "\n"
    assert len(pieces) >= number
    objects = [to_bytes(report) for report in reports]
    whole = WRITERS[output](objects_bytes(objects))
    assert "".join(list_pieces(OBJECTS_HEAD, objects, output)) == whole.removesuffix("\n") + "\n"


def test_short_parts_of_our_documents_stand_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    parts = {"ref": {"kind": "Pod", "name": "a"}, "odd": ['"', "{", "]", "\\"], "long": ["x" * 60, "y" * 60], "no": []}
    write_document(report_bytes("X", parts), "json")
    text = capfd.readouterr().out
    assert json.loads(text) == {"apiVersion": "kubectl-dra/v1alpha1", "kind": "X", **parts}
    assert '  "ref": {"kind": "Pod", "name": "a"},\n  "odd": ["\\"", "{", "]", "\\\\"],\n' in text
    assert f'  "long": [\n    "{"x" * 60}",\n    "{"y" * 60}"\n  ],\n' in text
    write_document(b'{"apiVersion":"v1","metadata":{"name":"a"}}', "json")
    assert capfd.readouterr().out == '{\n  "apiVersion": "v1",\n  "metadata": {\n    "name": "a"\n  }\n}\n'


def test_deep_members_share_lines_and_say_the_same() -> None:
    texts = [{"name": f"a, [{number}", "value": "x" * 30, "none": None} for number in range(3)]
    inner = {"one": 1, "two": ["}", "{"], "three": texts, "four": False, "long": ["y" * 40, "z" * 70], "end": {}}
    value = {"top": {"a": {"b": {"c": {"d": inner}}}}, "other": 1}
    lines = folded(json.dumps(value, indent=2))
    assert json.loads(lines) == value
    assert '          "one": 1, "two": ["}", "{"],\n' in lines
    assert '"four": false,\n' in lines
    assert max(len(line.lstrip()) for line in lines.split("\n")) <= 100
    # What is not deep keeps a line each.
    assert '\n  "other": 1\n' in lines
