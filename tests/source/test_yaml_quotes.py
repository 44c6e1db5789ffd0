"""Quotes inside of quotes: the error names them and tells how to write the text, and nothing else is called that."""

from __future__ import annotations

import json

import pytest

from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.manifests import read_manifests, read_written
from kubectl_dra.source.yaml_quotes import nested_quotes

EXPRESSION = """device.attributes["gpu.example.com"].model == 'H100'"""


def told(text: str) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        read_manifests(text.encode(), "claim.yaml")
    return caught.value


@pytest.mark.parametrize(
    "line",
    [
        f'  expression: "{EXPRESSION}"',
        '  expression: "device.attributes["gpu.example.com"].model == "H100""',
        '  cel: {expression: "device.attributes["gpu.example.com"].model"}',
    ],
)
def test_double_quotes_in_double_quotes_are_named_in_a_file(line: str) -> None:
    error = told(f"kind: ResourceClaim\nspec:\n{line}\n  more: 1\n")
    assert error.line == 3
    assert "the value of expression stands in double quotes and has such quotes in it" in error.what
    assert error.hint.startswith("write expression: |- and its text on the next line")


def test_a_value_that_only_begins_with_quotes_keeps_them() -> None:
    error = told('spec:\n  expression: "H100" in device.attributes["x"]["y"]\n')
    assert "the value of expression begins with a text in quotes and goes on behind it" in error.what
    assert error.hint.endswith(': "H100" in device.attributes["x"]["y"]')


def test_the_text_to_write_is_told() -> None:
    error = told(f'spec:\n  expression: "{EXPRESSION}"\n')
    assert error.hint.endswith(f"without quotes around it: {EXPRESSION}")


def test_single_quotes_too_and_nothing_of_a_text_that_may_be_secret() -> None:
    error = told("data:\n  password: 'a'b'\n")
    assert "the value of password stands in single quotes" in error.what
    assert "a'b" not in error.hint


def test_the_line_of_a_later_document_is_read() -> None:
    problems: list[ManifestError] = []
    text = f'kind: A\nx: [\n---\nkind: B\n---\nspec:\n  expression: "{EXPRESSION}"\n'
    read_manifests(text.encode(), "claim.yaml", problems=problems)
    assert [each.line for each in problems][1:] == [7]
    assert "double quotes" in problems[1].what


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (f'expression: "{EXPRESSION}"', EXPRESSION),
        ("expression: 'a['b'] == \"c\\d\"'", "a['b'] == \"c\\d\""),
        ('expression: "H100" in a["b"]', '"H100" in a["b"]'),
        ('cel: {expression: "a["b"]"}', 'a["b"]'),
    ],
)
def test_with_problems_noted_the_file_is_read_as_it_is_meant(line: str, meant: str) -> None:
    """Documents before and behind it are read once, at the lines where they stand."""
    problems: list[ManifestError] = []
    text = f"kind: A\napiVersion: v1\n---\nkind: B\napiVersion: v1\nspec:\n  {line}\n---\nkind: C\napiVersion: v1\n"
    found = list(read_written(text.encode(), "claim.yaml", problems))
    assert [(each.kind, each.origin.line) for each in found] == [("A", 1), ("B", 4), ("C", 9)]
    spec = json.loads(found[1].data)["spec"]
    assert spec.get("cel", spec)["expression"] == meant
    assert [(each.line, each.as_meant) for each in problems] == [(7, True)]


def test_several_mistakes_are_all_noted_and_what_is_not_known_is_not_read() -> None:
    problems: list[ManifestError] = []
    text = 'kind: A\nx: "a["b"]"\ny: "c["d"]"\n---\nkind: B\nx: "a["b"].c\n---\nkind: C\napiVersion: v1\n'
    found = list(read_written(text.encode(), "claim.yaml", problems))
    assert [each.kind for each in found] == ["A", "C"]
    assert [(each.line, each.as_meant) for each in problems] == [(2, True), (3, True), (6, False)]


@pytest.mark.parametrize(
    "line",
    [
        'a: "b"',
        'a: "b" # "c"',
        'a: {"b": "c", "d": "e"}',
        'x: ["a", "b"]',
        'a: "b\\"c\\"d"',
        "a: 'it''s'",
        '"a": "b"',
        "a: b: c",
        'a: "b"}',
        'a: {x: {y: "b"}}',
        "- a",
    ],
)
def test_other_lines_are_not_that(line: str) -> None:
    assert nested_quotes(line) is None
