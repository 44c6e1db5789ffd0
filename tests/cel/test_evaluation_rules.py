"""The rules that make evaluation of CEL different from what one would write oneself, each by small examples."""

import time

import pytest

from kubectl_dra.cel import SCHEDULER, CompileError, EvaluationError, compile_expression, device_value
from tests.cel.devices import CARD, DRIVER, A, C, card

CANCELLED = "operation cancelled: actual cost limit exceeded"


@pytest.mark.parametrize(
    ("expression", "match"),
    [
        ("false && 1/0 == 1", False),
        ("1/0 == 1 && false", False),
        ("(1/0 == 1 || true) && true", True),
        ('dyn("text") || true', True),
        ("[1, 0].exists(x, 1/x == 1)", True),
        ("[0, 1].exists(x, 1/x == 1)", True),
        ("[0, 2].all(x, 1/x == 1)", False),
        ("cel.bind(x, 1/0, true)", True),
        ("cel.bind(x, 1/0, x == 1 || true)", True),
        ("optional.of(1).orValue(1/0) == 1", True),
        ("true ? true : 1/0 == 1", True),
    ],
)
def test_errors_that_nobody_needs_are_absorbed(expression, match):
    assert card(expression).match is match


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("1/0 == 1 && true", "division by zero"),
        ("1/0 == 1 || 1%0 == 1", "division by zero"),
        ('dyn("text") && true', "no such overload"),
        ("[1, 0].exists_one(x, 1/x == 1)", "division by zero"),
        ("[1, 0].map(x, 1/x) == []", "division by zero"),
        (f"{A}.nope == 1", "no such key: nope"),
        (f"has({A}.nope.deeper)", "no such key: nope"),
        ("optional.none().value() == 1", "optional.none() dereference"),
        ("dyn(1) ? true : false", "no such overload"),
    ],
)
def test_other_errors_are_the_answer(expression, error):
    assert card(expression).error == error


def test_a_binding_is_computed_once_and_only_when_used():
    unused = card(f"cel.bind(a, {A}, true)")
    twice = card(f"cel.bind(a, {A}, a.kind == a.kind)")
    assert unused.cost == 0
    assert twice.cost == 3 + 2 + 2 + 1


def test_lookup_of_an_unknown_domain_gives_an_empty_map():
    assert card('device.attributes["nope"].size() == 0').match
    assert card('device.attributes[?"nope"].hasValue()').match
    assert card("has(device.attributes.nope)").match
    assert card('"nope" in device.attributes').match is False


def test_kubernetes_types_refuse_comparison_with_others_only_from_the_left():
    assert card(f'{A}.ver == "1.2.3"').error == "no such overload"
    assert card(f'"1.2.3" == {A}.ver').match is False
    assert card(f'{A}.ver != "1.2.3"').match
    assert card(f'[{A}.ver] == [dyn("1.2.3")]').match
    assert card('quantity("1") == quantity("1").add(0)').error == "no such overload"
    assert card('quantity("1").add(0) == quantity("1")').match


def test_keys_of_different_number_types_are_different_entries_that_find_each_other():
    assert card("{1: 2}[dyn(1u)] == 2").match
    assert card("dyn({dyn(1): 1, dyn(1u): 2, dyn(true): 3}).size() == 3").match
    assert card("{1: 2}[dyn(1.0)] == 2").match
    assert card("{1: 2}[dyn(true)] == 2").error == "no such key: true"


def test_comparing_with_a_big_decimal_makes_the_receiver_one():
    """Upstream's conversion in place is visible within one evaluation, and forgotten with it."""
    changed = f'{C}.mem.isGreaterThan(quantity("0.0000000001")) && {C}.mem.isInteger()'
    device = device_value(DRIVER, CARD)
    program = compile_expression(changed, SCHEDULER)
    untouched = compile_expression(f"{C}.mem.isInteger()", SCHEDULER)
    assert program.test(device)[0] is False
    assert untouched.test(device)[0] is True
    assert program.test(device)[0] is False
    bound = 'cel.bind(q, quantity("1"), q.isGreaterThan(quantity("0.0000000001")) && q.isInteger())'
    assert card(bound).match is False
    assert card(bound).match is False, "a quantity that is parsed once must not stay changed"


def test_folded_conversions_fail_at_compile_time_wherever_they_stand():
    with pytest.raises(CompileError) as refused:
        compile_expression('true || int("a") == 1', SCHEDULER)
    assert refused.value.type == "InternalError"
    assert refused.value.text == "program instantiation failed: type conversion error from 'string' to 'int'"
    assert card('true || quantity("abc") == quantity("1")').match


def test_the_limit_stops_at_the_first_step_beyond_it():
    expression = f'{A}.kind == "big-card" && {A}.slot > 2'
    assert card(expression, 10) == card(expression)
    assert card(expression).cost == 10
    for limit in range(10):
        stopped = card(expression, limit)
        assert (stopped.error, stopped.cost) == (CANCELLED, limit + 1)


def test_larger_steps_are_reported_in_full():
    assert card(f"[{A}.slot].size() == 1", 12).cost == 4 + 10
    assert card(f"[{A}.slot].size() == 1", 13).error == CANCELLED
    assert card('sign(quantity("12345678901")) == 1', 1).cost == 2


@pytest.mark.parametrize(
    "expression",
    ["ENDLESS || true", "[1].exists(x, ENDLESS || true)", "cel.bind(x, ENDLESS, x || true)", "!(ENDLESS && false)"],
)
def test_nothing_absorbs_the_limit(expression):
    endless = "lists.range(999980).all(x, x >= 0)"
    assert card(expression.replace("ENDLESS", endless)).error == CANCELLED


def test_matches_raises_with_text_and_cost():
    program = compile_expression(f"{A}.nope == 1", SCHEDULER)
    with pytest.raises(EvaluationError) as failed:
        program.test(device_value(DRIVER, CARD))
    assert (failed.value.text, failed.value.cost, failed.value.undecided) == ("no such key: nope", 5, False)


def test_a_selector_that_gives_no_bool_fails_with_its_type():
    program = compile_expression("dyn(1)", SCHEDULER)
    with pytest.raises(EvaluationError, match="CEL result of type int could not be converted to bool"):
        program.test(device_value(DRIVER, CARD))


def test_the_same_expression_is_compiled_once():
    assert compile_expression("true", SCHEDULER) is compile_expression("true", SCHEDULER)


@pytest.fixture
def far_east(monkeypatch):
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_east")
def test_local_time_is_utc_wherever_this_runs():
    """The zone is that of the scheduler's process, never of the machine that asks."""
    assert card('timestamp("2024-01-01T01:00:00Z").getHours("Local") == 1').match
    assert card('timestamp("2024-01-01T01:00:00Z").getHours("Pacific/Kiritimati") == 15').match
