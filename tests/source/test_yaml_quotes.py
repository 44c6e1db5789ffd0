"""Quotes inside of quotes: the error names them and tells how to write the text, and nothing else is called that."""

from __future__ import annotations

import pytest

from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.manifests import read_manifests
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
        '  expression: "device.driver" == "gpu.example.com"',
    ],
)
def test_double_quotes_in_double_quotes_are_named_in_a_file(line: str) -> None:
    error = told(f"kind: ResourceClaim\nspec:\n{line}\n  more: 1\n")
    assert error.line == 3
    assert "the value of expression stands in double quotes and has such quotes in it" in error.what
    assert error.hint.startswith("write expression: |- and its text on the next line")


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
