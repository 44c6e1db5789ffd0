"""Answers, costs and texts of evaluation against every recorded answer of the real code."""

import pytest

from tests.vectors.answer_cel import answer
from tests.vectors.rows import rows

pytestmark = pytest.mark.one_in(4)


CATEGORIES = sorted({row["category"] for row in rows("cel")})
OUTCOMES = ("match", "value", "runtime_error", "compile_error")
ENVIRONMENTS = {"scheduler": "expect", "admission": "expect_new"}
# Programs that compile and can't be made: refused in these words, to the last one.
NOT_MADE = "program instantiation failed: "


def answers(category):
    for row in rows("cel"):
        if row["category"] == category:
            question = {key: value for key, value in row.items() if not key.startswith("expect")}
            given = answer(question)
            for environment, expected in ENVIRONMENTS.items():
                yield row, environment, row[expected], given[environment]


@pytest.mark.parametrize("category", CATEGORIES)
def test_answer_and_cost_are_exact(category):
    for row, environment, expected, given in answers(category):
        where = row["id"], environment, row["expression"]
        text = expected.get("compile_error", "")
        if text:
            assert given.get("compile_error_type") == expected["compile_error_type"], where
            assert given["compile_error"] == text or not text.startswith(NOT_MADE), where
        else:
            recorded = {key: expected[key] for key in OUTCOMES if key in expected}
            assert {key: given[key] for key in (*OUTCOMES, "undecided") if key in given} == recorded, where
        # Where Go's random order of maps makes it vary, there is only the fact that there is a cost.
        assert ("cost" in given) == ("cost" in expected), where
        if "cost" not in row.get("nondeterministic", ()):
            assert given.get("cost") == expected.get("cost"), where


def test_programs_that_cannot_be_made_are_among_them():
    texts = [row[key].get("compile_error", "") for row in rows("cel") for key in ENVIRONMENTS.values()]
    assert sum(text.startswith(NOT_MADE) for text in texts) > 20


def test_one_environment_can_be_asked_for():
    row = next(row for row in rows("cel") if "match" in row["expect"])
    assert set(answer(row | {"env": "admission"})) == {"id", "admission"}
