"""Tree shapes, positions and the classes of problems."""

import pytest

from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.check.validators import children
from kubectl_dra.cel.syntax.ast import Call, Comprehension, Ident, ListLit, Literal, MapLit, MessageLit, Select
from kubectl_dra.cel.syntax.issues import MAX_ISSUES, issue_at, render, sort_issues
from kubectl_dra.cel.syntax.parser import parse


def at(source: str, node) -> str:
    """The rest of the source from a node's position."""
    return source[node.pos :]


@pytest.mark.parametrize(
    ("source", "kind", "rest"),
    [
        ("(1)", Literal, "1)"),
        ("- 5", Literal, "- 5"),
        (".abc", Ident, "abc"),
        ("a + b", Call, "+ b"),
        ("a ? b : c", Call, "? b : c"),
        ("a in b", Call, "in b"),
        ("!!!a", Call, "!!!a"),
        ("a.b", Select, ".b"),
        ("a.?b", Call, ".?b"),
        ("a[?0]", Call, "[?0]"),
        ("f(x)", Call, "(x)"),
        (".f(x)", Call, "(x)"),
        ("a.f(x)", Call, "(x)"),
        (" [1]", ListLit, "[1]"),
        (" {1: 2}", MapLit, "{1: 2}"),
        ("a.B{c: 1}", MessageLit, "{c: 1}"),
        ("[1].all(x, true)", Comprehension, "(x, true)"),
        ("has(a.b)", Select, "(a.b)"),
    ],
)
def test_positions(source, kind, rest):
    root = parse(source).root
    assert isinstance(root, kind)
    assert at(source, root) == rest


def test_nodes_of_a_macro_stand_at_its_parenthesis_and_arguments_where_they_are():
    source = "xs.exists(x, x == 1)"
    root = parse(source).root
    assert {at(source, node) for node in children(root)} == {"xs.exists(x, x == 1)", "(x, x == 1)"}
    step = root.step
    assert at(source, step.args[1]) == "== 1)"
    assert (root.acc, step.args[0].name) == ("@result", "@result")


def test_chains_are_balanced_and_stand_at_their_operators():
    source = "a && b && c && d && e"
    root = parse(source).root
    left, right = root.args
    assert at(source, root) == "&& d && e"
    assert (at(source, left), at(source, right)) == ("&& c && d && e", "&& e")
    assert at(source, left.args[0]) == "&& b && c && d && e"


def test_macros_keep_the_call_as_written():
    parsed = parse("a.b.map(x, x + 1)")
    macro = parsed.macros[id(parsed.root)]
    assert (macro.function, len(macro.args)) == ("map", 2)
    assert isinstance(macro.target, Select)


def test_opt_map_evaluates_two_copies_of_its_target():
    root = parse("a.b.optMap(x, x)").root
    first = root.args[0].target
    second = root.args[1].args[0].init.target
    assert first is not second
    assert (first.pos, first.name) == (second.pos, second.name)


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("let + 1", [("reserved-identifier", "let")]),
        ("while(1) + 99999999999999999999", [("reserved-identifier", "while"), ("invalid-literal", "")]),
        ("has(a) && [].all(1, true)", [("macro", "has"), ("macro", "all")]),
        ("if true", [("reserved-identifier", "if"), ("syntax", "true")]),
        ("a b", [("syntax", "b")]),
        ("(" * 300, [("limit", "")]),
    ],
)
def test_problems_are_classified(source, kinds):
    with pytest.raises(CompileError) as raised:
        parse(source)
    assert [(issue.kind, issue.name) for issue in raised.value.issues] == kinds


# Texts of the real parser: an aggregate may end in one comma, and only in one.
@pytest.mark.parametrize(
    ("source", "column", "text"),
    [
        ("[1,2,,]", 6, "extraneous input ',' expecting ']'"),
        ("[1,,2]", 4, "mismatched input ',' expecting ']'"),
        ("[,,]", 3, "extraneous input ',' expecting ']'"),
        ("[,1]", 3, "extraneous input '1' expecting ']'"),
        ("[1, )", 5, "mismatched input ')' expecting ']'"),
        ("[1 2]", 4, "extraneous input '2' expecting {']', ','}"),
        ("{1:2,,}", 6, "extraneous input ',' expecting '}'"),
        ("{1:2 3:4}", 6, "mismatched input '3' expecting {'}', ','}"),
        ("a.B{a:1,,}", 9, "extraneous input ',' expecting '}'"),
    ],
)
def test_commas_of_aggregates(source, column, text):
    with pytest.raises(CompileError) as raised:
        parse(source)
    assert [issue.message for issue in raised.value.issues] == [f"Syntax error: {text}"]
    assert f"<input>:1:{column}: " in str(raised.value)


@pytest.mark.parametrize("source", ["[1,2,]", "[,]", "{1:2,}", "{,}", "a.B{a:1,}", "a.B{,}"])
def test_one_comma_may_end_an_aggregate(source):
    parse(source)


def test_issues_are_sorted_bounded_and_drawn():
    source = "one\n\ttwo é x"
    issues = [issue_at(source, pos, f"at {pos}", "syntax") for pos in (11, 9, 0)] + [
        issue_at(source, -1, "all", "limit")
    ]
    assert render(source, sort_issues(issues)) == "\n".join(
        [
            "ERROR: <input>:-1:0: all",
            "ERROR: <input>:1:1: at 0",
            " | one",
            " | ^",
            "ERROR: <input>:2:6: at 9",
            " |  two é x",
            " | .....＾",
            "ERROR: <input>:2:8: at 11",
            " |  two é x",
            " | .....．.^",
        ]
    )
    assert len(sort_issues(issues * 50)) == MAX_ISSUES
