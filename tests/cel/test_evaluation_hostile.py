"""Expressions made to hang, fill memory or crash: each ends soon, with the real verdict or an honest "undecided"."""

import pytest

from kubectl_dra.cel import SCHEDULER, CompileError, compile_expression
from kubectl_dra.cel.run.labor import begin, charge_work
from kubectl_dra.cel.run.values import Cancelled
from tests.cel.devices import card

pytestmark = pytest.mark.one_in(8)

CANCELLED = "operation cancelled: actual cost limit exceeded"


def grown(times, start, step, body):
    """``cel.bind(a0, start, cel.bind(a1, step of a0, ... body of the last))``."""
    text = f"cel.bind(a0, {start}, "
    for index in range(1, times):
        text += f"cel.bind(a{index}, {step.replace('$', f'a{index - 1}')}, "
    return text + body.replace("$", f"a{times - 1}") + ")" * times


DOUBLED_TEXTS = ('["x", "y"]', "$ + $")
DOUBLED_NUMBERS = ("[1, 2]", "$ + $")
SHARED = ("[1]", "[$, $]")


@pytest.mark.parametrize(
    ("times", "growth", "body"),
    [
        (60, DOUBLED_TEXTS, "$.size() == 1152921504606846976"),
        (60, DOUBLED_TEXTS, '$[7] == "y"'),
        (60, DOUBLED_TEXTS, '$.last().value() == "y"'),
        (60, SHARED, "$ == $"),
        (60, SHARED, "$ in [$]"),
        (60, ('{"a": 1}', '{"a": $, "b": $}'), "$ == $"),
    ],
)
def test_what_the_real_code_can_answer_is_answered(times, growth, body):
    assert card(grown(times, *growth, body)).match is True


@pytest.mark.parametrize(
    ("times", "growth", "body"),
    [
        (40, DOUBLED_TEXTS, '"z" in $'),
        (40, DOUBLED_NUMBERS, "$ == $"),
        (40, DOUBLED_NUMBERS, "$.exists(x, x == 3)"),
        (40, DOUBLED_NUMBERS, "$.map(x, x).size() == 3"),
        (40, DOUBLED_NUMBERS, "$.isSorted()"),
        (20, DOUBLED_NUMBERS, "$.distinct().size() == 1"),
        (20, DOUBLED_NUMBERS, "$.sort().size() == 1"),
        (60, SHARED, "$.includes($)"),
        (60, ('"xx"', "$ + $"), "$.size() == 2"),
    ],
)
def test_what_costs_too_much_is_cancelled(times, growth, body):
    assert card(grown(times, *growth, body)).error == CANCELLED


@pytest.mark.parametrize(
    ("times", "growth", "body"),
    [
        (40, DOUBLED_TEXTS, '$.indexOf("z") == 2'),
        (40, DOUBLED_TEXTS, "$.filter(x, false).size() == 0"),
        (40, DOUBLED_TEXTS, "$.join().size() == 3"),
        (40, DOUBLED_TEXTS, '"%s".format([$]) == ""'),
        (60, SHARED, '"%s".format([$]) == ""'),
        (60, SHARED, "$.flatten(100).size() == 1"),
        (20, ('"xx"', "$ + $"), '$.replace("", $).size() == 2'),
        (60, ('"x"', '"%s%s%s".format([$, $, $])'), "$.size() == 2"),
    ],
)
def test_what_would_keep_the_real_code_busy_is_undecided(times, growth, body):
    answer = card(grown(times, *growth, body))
    assert answer.undecided
    assert answer.match is None


@pytest.mark.parametrize(
    "expression",
    [
        "cel.bind(l, lists.range(300000), l.exists(x, l.filter(y, false).size() > 0))",
        'cel.bind(l, lists.range(50000).map(x, "a"), l.exists(x, l.indexOf("b") > 0))',
        "cel.bind(l, [lists.range(500000)], lists.range(10000).exists(x, l == l && false))",
    ],
)
def test_cheap_work_in_a_loop_adds_up(expression):
    assert card(expression).undecided


@pytest.mark.parametrize(
    "expression",
    [
        "$.isSorted()",
        "$.sum() == 6",
        "$.min() == 1",
        "$.max() == 3",
        "$.indexOf(2) == 1",
        "$.lastIndexOf(2) == 1",
        "$.includes(2)",
        "[$] in [[$]]",
        "[$].flatten().size() == 3",
        "[$, $].distinct().size() == 1",
        "sets.contains($, [2])",
        "sets.intersects($, [2])",
        "sets.equivalent($, $)",
        '["a", "b"].join() == "ab"',
        'string($[0]).replace("1", "2") == "2"',
        '"%d".format([$[0]]) == "1"',
        "[$] == [$]",
    ],
)
def test_what_an_evaluation_did_is_not_held_against_the_next(expression):
    """Each of these counts its work; the sum over all evaluations of a process has no meaning."""
    begin()
    with pytest.raises(Cancelled):
        charge_work(2**40)
    assert card(expression.replace("$", "[1, 2, 3]")).match


def test_a_list_that_grows_while_it_is_walked_through_has_an_end():
    assert card("cel.bind(x, [], cel.bind(y, x + [1], y.map(v, x + [v]).size() == 1))").match


@pytest.mark.parametrize("depth", [20, 100])
def test_values_nested_thousands_deep_do_not_crash(depth):
    nested = grown(120, "[1]", "[" * depth + "dyn($)" + "]" * depth, "$ == [$]")
    answer = card(nested)
    assert answer.match is False or answer.undecided


@pytest.mark.parametrize(
    "expression",
    [
        "!" * 9000 + "true",
        " && ".join(["true"] * 2000),
        "(" * 249 + "true" + ")" * 249,
        "(true ? " * 200 + "true" + " : false)" * 200,
        "[" * 240 + "]" * 240 + " != []",
    ],
)
def test_deep_and_long_expressions(expression):
    assert card(expression).match is True


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ('quantity("' + "9" * 9000 + '").asInteger() == 1', "cannot convert value to integer"),
        ('quantity("1e999999999").isInteger()', "unable to parse quantity's suffix"),
        ('cidr("1.2.3.4/' + "9" * 5000 + '").prefixLength() == 1', "bad bits after slash"),
        ('timestamp("2024-01-01T00:00:00Z").getHours("' + "9" * 5000 + ':00") == 1', "value out of range"),
        ('semver("1.0.0-' + "1" * 9000 + '").major() == 1', "value out of range"),
    ],
)
def test_numbers_with_thousands_of_digits(expression, error):
    assert error in card(expression).error


@pytest.mark.parametrize("text", ['int("' + "9" * 9000 + '") == 1', 'double("1e' + "9" * 5000 + '") == 1.0'])
def test_conversions_of_thousands_of_digits(text):
    with pytest.raises(CompileError, match="type conversion error"):
        compile_expression(text, SCHEDULER)


def test_regular_expressions_take_linear_time():
    assert card('"' + "a" * 5000 + '!".matches("^(a+)+$")').match is False
    assert card('"' + "a" * 200 + '".matches("' + "a?" * 200 + "a" * 200 + '")').match is True
    assert card('"a".matches("(?=" + "a)")').error == "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"
    assert card(r'"a".matches("\\" + "C")').error == r"error parsing regexp: invalid escape sequence: `\C`"
