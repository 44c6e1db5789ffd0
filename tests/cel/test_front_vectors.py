"""Compile-time verdicts, output types and estimated costs against every recorded answer of the real code."""

import re
from collections.abc import Iterator

import pytest

from kubectl_dra.cel.check.environment import Environment
from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.check.front import check
from kubectl_dra.cel.check.types import full_text
from kubectl_dra.cel.cost.estimate import estimate_cost
from kubectl_dra.cel.syntax.ast import Checked
from tests.vectors.rows import Row, cel_answers, rows

CATEGORIES = sorted({row["category"] for row in rows("cel")})
# Refused only when the program is made, which is not the front end's step.
LATER = "program instantiation failed: "


def environment(row: Row, kind: str) -> Environment:
    features = row["features"]
    return Environment(kind, features["listTypeAttributes"], features["consumableCapacity"])


def verdict(row: Row, kind: str) -> Checked | CompileError:
    try:
        return check(row["expression"], environment(row, kind), row.get("derived", False))
    except CompileError as error:
        return error


def refused(answer: Row) -> bool:
    """Whether the front end refused it."""
    return not answer.get("compile_error", LATER).startswith(LATER)


def refusals() -> Iterator[tuple[Row, str, Row, CompileError]]:
    for row, kind, answer in cel_answers():
        if refused(answer):
            found = verdict(row, kind)
            assert isinstance(found, CompileError)
            yield row, kind, answer, found


def answers(category: str) -> list[tuple[Row, str, Row]]:
    return [answer for answer in cel_answers() if answer[0]["category"] == category]


@pytest.mark.parametrize("category", CATEGORIES)
def test_accepts_and_refuses_as_the_real_code_with_its_type_and_estimated_cost(category):
    for row, kind, answer in answers(category):
        found = verdict(row, kind)
        assert isinstance(found, CompileError) == refused(answer), (row["id"], kind, found)
        if "output_type" in answer:
            assert isinstance(found, Checked)
            assert full_text(found.output) == answer["output_type"], (row["id"], kind)
            assert estimate_cost(found) == int(answer["max_cost"]), (row["id"], kind, row["expression"])


def first_position(text: str) -> str | None:
    found = re.search(r"<input>:(-?\d+:\d+):", text)
    return found[1] if found else None


def test_error_types_and_texts():
    """ANTLR recovers from syntax errors and may report more of them: there only the first position is promised."""
    met = other = 0
    for row, kind, answer, found in refusals():
        text = answer["compile_error"]
        met += 1
        assert found.type == answer["compile_error_type"]
        if found.text != text:
            assert "Syntax error" in text, (row["id"], kind, found.text, text)
            assert first_position(found.text) == first_position(text), row["id"]
            other += 1
    assert met > 700
    assert other / met < 0.01


def test_errors_name_what_is_wrong():
    """The classification that suggestions rely on agrees with the recorded text."""
    patterns = {
        "undeclared-reference": r"undeclared reference to '(.*)' \(in container ''\)$",
        "undefined-field": r"undefined field '(.*)'$",
        "no-overload": r"found no matching overload for '(.*)' applied to '.*'$",
    }
    seen = dict.fromkeys(patterns, 0)
    for _, _, _, found in refusals():
        for issue in found.issues:
            named = [key for key, pattern in patterns.items() if re.match(pattern, issue.message)]
            assert [issue.kind] == named or (not named and issue.kind not in patterns)
            if named:
                assert re.match(patterns[issue.kind], issue.message)[1] == issue.name
                seen[issue.kind] += 1
    assert min(seen.values()) > 0
