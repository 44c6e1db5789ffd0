"""Conditions are found in order, each with its own text."""

import pytest

from kubectl_dra.cel.check.environment import SCHEDULER
from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.check.front import check
from kubectl_dra.cel.syntax.ast import Call
from kubectl_dra.cel.syntax.clauses import clauses
from kubectl_dra.cel.syntax.parser import parse
from kubectl_dra.cel.syntax.printer import node_source
from tests.vectors.rows import rows


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("true", ["true"]),
        (" true ", ["true"]),
        ("true&&false", ["true", "false"]),
        ("(true && false)", ["true", "false"]),
        ("true && (1 == 1 && ((2 == 2)))", ["true", "1 == 1", "2 == 2"]),
        ("(true || false) && 1 == 1", ["true || false", "1 == 1"]),
        ("true && false || true", ["true && false || true"]),
        ("(true) && (false) && (1) == (1)", ["true", "false", "(1) == (1)"]),
        ("true // why && not\n && false", ["true", "false"]),
        ('"&&" == "&&" && [true && false][0]', ['"&&" == "&&"', "[true && false][0]"]),
        ("!(true && false)", ["!(true && false)"]),
        ("!!(true && false) && true", ["!!(true && false)", "true"]),
        ("true ? true && false : false", ["true ? true && false : false"]),
        (" && ".join(f"{n} == {n}" for n in range(37)), [f"{n} == {n}" for n in range(37)]),
    ],
)
def test_texts(source, texts):
    found = clauses(check(source, SCHEDULER))
    assert [clause.text for clause in found] == texts
    assert [source[clause.start : clause.end] for clause in found] == texts


def test_each_text_means_its_node():
    several = 0
    for source in {row["expression"] for row in rows("cel")}:
        try:
            checked = check(source, SCHEDULER)
        except CompileError:
            continue
        found = clauses(checked)
        several += len(found) > 1
        for clause in found:
            again = parse(clause.text)
            printed = node_source(clause.node, checked.parsed.macros)
            assert node_source(again.root, again.macros) == printed, source
            assert len(found) == 1 or not (isinstance(clause.node, Call) and clause.node.function == "_&&_")
    assert several > 50
