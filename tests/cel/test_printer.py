"""Printed trees parse to equal trees."""

import pytest
from hypothesis import assume, given, settings

from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.syntax.ast import Parsed
from kubectl_dra.cel.syntax.parser import parse
from kubectl_dra.cel.syntax.printer import node_source, string_source, to_source
from tests.cel.trees import EXPRESSIONS, shape
from tests.vectors.rows import rows


def parsed_or_none(source: str) -> Parsed | None:
    try:
        return parse(source)
    except CompileError:
        return None


@settings(deadline=None)
@given(EXPRESSIONS)
def test_parse_print_parse(source):
    parsed = parsed_or_none(source)
    assume(parsed is not None)
    printed = to_source(parsed)
    assert shape(parse(printed)) == shape(parsed)
    assert to_source(parse(printed)) == printed


def test_every_recorded_expression():
    for source in {row["expression"] for row in rows("cel")}:
        parsed = parsed_or_none(source)
        if parsed is not None:
            assert shape(parse(to_source(parsed))) == shape(parsed), source


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("a&&b&&c", "a && b && c"),
        ("a && (b && c)", "a && (b && c)"),
        ("((a && b) && c)", "a && b && c"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a - b) - c", "a - b - c"),
        ("-(5)", "-(5)"),
        ("!(!a)", "!(!a)"),
        ("--a", "a"),
        ("---0.0.a", "-(0.0.a)"),
        ("(a ? b : c) ? d : e", "(a ? b : c) ? d : e"),
        ("a ? b : c ? d : e", "a ? b : c ? d : e"),
        ("x.`in`.`a-b`", "x.`in`.`a-b`"),
        ("'a\\'\"\\x00☃'", '"a\'\\"\\u0000☃"'),
        ("b'\\377\"'", 'b"\\xff\\x22"'),
        ("[?a, 1,]", "[?a, 1]"),
        ("{?'k': .x, 1u: 2.0,}", '{?"k": .x, 1u: 2.0}'),
        ("a.b{c: 1}", "a.b{c: 1}"),
        ("l.filter(x,x>0).size()", "l.filter(x, x > 0).size()"),
        ("o.optMap(v,v+1)", "o.optMap(v, v + 1)"),
        ("has(a.b)&&a[?'c'].?d.hasValue()", 'has(a.b) && a[?"c"].?d.hasValue()'),
    ],
)
def test_texts(source, printed):
    assert to_source(parse(source)) == printed


@settings(deadline=None)
@given(EXPRESSIONS)
def test_string_source_round_trips(text):
    assert parse(string_source(text)).root.value == text


def test_inside_of_a_macro_there_is_no_text():
    parsed = parse("[1].all(x, x > 0)")
    with pytest.raises(ValueError):
        node_source(parsed.root, {})
    with pytest.raises(ValueError):
        node_source(parse("has(a.b)").root, {})
