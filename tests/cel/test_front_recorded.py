"""Compile-time answers of the real code to odd expressions: corners, random ones (well-typed or not), damaged ones.

Recorded with k8s.io/dynamic-resource-allocation v0.37.1; answers that depend on Go's map order are left out.
"""

import re

from kubectl_dra.cel.check.environment import Environment
from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.check.front import check
from kubectl_dra.cel.check.types import full_text
from kubectl_dra.cel.cost.estimate import estimate_cost
from tests.vectors.rows import Row, rows

LATER = "program instantiation failed: "


def answer(row: Row) -> Row:
    environment = Environment(row["env"], list_type_attributes=row["listTypeAttributes"])
    try:
        checked = check(row["expression"], environment, row["derived"])
    except CompileError as error:
        return {"compile_error": error.text, "compile_error_type": error.type}
    return {"output_type": full_text(checked.output), "max_cost": str(estimate_cost(checked))}


def first_position(text: str) -> str:
    found = re.search(r"<input>:(-?\d+:\d+):", text)
    return found[1] if found else ""


def test_answers_without_syntax_errors_are_literally_the_same():
    compared = 0
    for row in rows("cel_compile"):
        text = row["expect"].get("compile_error", "")
        if "Syntax error" in text:
            continue
        found = answer(row)
        if text.startswith(LATER):
            assert "compile_error" not in found, row
        else:
            assert found == row["expect"], row
            compared += 1
    assert compared > 1200


def test_syntax_errors_are_errors_at_the_same_first_position():
    """Macros in the ruins of a broken expression may be reported before the break upstream, which recovers from it."""
    elsewhere = compared = 0
    for row in rows("cel_compile"):
        text = row["expect"].get("compile_error", "")
        if "Syntax error" not in text:
            continue
        found = answer(row)
        assert found["compile_error_type"] == "RuleInvalid"
        elsewhere += first_position(found["compile_error"]) != first_position(text)
        compared += 1
    assert compared > 100
    assert elsewhere / compared < 0.05
