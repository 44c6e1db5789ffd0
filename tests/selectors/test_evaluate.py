"""The evaluator on single devices: each outcome, what decided it, and when nothing is evaluated any more."""

from __future__ import annotations

import pytest

from kubectl_dra.model.resource import Device, DeviceAttribute
from kubectl_dra.selectors.compiling import Selector
from kubectl_dra.selectors.evaluate import NOT_TRIED, EvaluationBudget, Outcome, Reading, SelectorSet

DRIVER = "gpu.example.com"
MODEL = f'device.attributes["{DRIVER}"].model'
CARD = Device("card", {"model": DeviceAttribute(string="A100")}, allow_multiple_allocations=True)
LABORIOUS = 'size([["a", "b", "c"], ["d"]].map(x, x == ["a", "b", "c"])) == 2'


def selectors(*expressions: str, shows_sharing: bool = True, budget: EvaluationBudget | None = None) -> SelectorSet:
    return SelectorSet((Selector(None, i, text) for i, text in enumerate(expressions)), shows_sharing, budget)


def test_the_first_that_does_not_match_decides() -> None:
    decision = selectors("true", f'{MODEL} == "B"', "device.nope").of(DRIVER, CARD)
    assert (decision.outcome, decision.selector) == (Outcome.NO, 1)
    decision = selectors("true", f'{MODEL} == "A100"', "device.nope").of(DRIVER, CARD)
    assert (decision.outcome, decision.selector, decision.compiles) == (Outcome.ERROR, 2, False)
    decision = selectors(f"{MODEL}l == 1", "false").of(DRIVER, CARD)
    assert (decision.outcome, decision.selector, decision.error) == (Outcome.ERROR, 0, "no such key: modell")
    assert selectors().matches(DRIVER, CARD)


def test_what_takes_too_long_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    assert selectors(LABORIOUS).matches(DRIVER, CARD)
    monkeypatch.setattr("kubectl_dra.cel.run.labor._LIMIT", 1)
    decision = selectors("true", LABORIOUS).of(DRIVER, CARD)
    assert (decision.outcome, decision.selector) == (Outcome.UNDECIDED, 1)
    assert not selectors(LABORIOUS).matches(DRIVER, CARD)
    asked = selectors(f"true && {MODEL} > 3")
    assert asked.of(DRIVER, CARD).error == "no such overload"
    assert asked.detail(DRIVER, CARD).place > 0, "what was given up does not stand in the way of the next"


def test_a_budget_ends_evaluation_but_not_what_is_known() -> None:
    budget = EvaluationBudget()
    asked = selectors(f'{MODEL} == "A100"', budget=budget)
    other = Device("other", {"model": DeviceAttribute(string="B")})
    assert asked.matches(DRIVER, CARD)
    assert asked.spent[0]
    budget.charge(budget.left)
    assert budget.exhausted
    assert asked.matches(DRIVER, CARD)
    assert asked.of(DRIVER, other)[:3] == (Outcome.UNDECIDED, -1, NOT_TRIED)


@pytest.mark.parametrize("shown", [True, False])
def test_the_condition_that_says_no_and_what_it_saw(shown: bool) -> None:
    asked = selectors(f'({MODEL} == "A100") && (device.allowMultipleAllocations == {str(not shown).lower()})')
    asked = SelectorSet(asked.selectors, shown)
    assert asked.of(DRIVER, CARD).outcome is Outcome.NO
    detail = asked.detail(DRIVER, CARD)
    assert (detail.clause, detail.readings) == (1, (Reading("", "allowMultipleAllocations", str(shown).lower()),))


def test_an_error_has_its_place() -> None:
    expression = f"true && {MODEL} > 3"
    asked = selectors(expression)
    assert asked.of(DRIVER, CARD).error == "no such overload"
    assert asked.detail(DRIVER, CARD).place == expression.index(">")


VERSION = {"version": DeviceAttribute(version="1.2.3")}
MIXED = [
    Device(f"card-{number}", {**VERSION, **{name: DeviceAttribute(string=text) for name, text in attributes.items()}})
    for number, attributes in enumerate(
        [{"model": model, **more} for model in ("A", "B", "C") for more in ({"kind": "x"}, {"kind": "y"}, {})] * 2
    )
]
KIND = f'device.attributes["{DRIVER}"].kind'


@pytest.mark.parametrize(
    "expressions",
    [
        (f'{MODEL} == "A" && {KIND} == "x"',),
        (f'{KIND} == "x" && {MODEL} == "A"',),
        (f'{KIND} == "x" && {MODEL} == "A"', f'{MODEL} != "C" && {KIND} != "y"'),
        (f'{MODEL} != "C" && {KIND} != "y"', f'{KIND} == "x" && {MODEL} == "A"'),
        (f'device.driver == "{DRIVER}"', f'{MODEL} == "A" && ({KIND} == "x" || {MODEL} == "A")'),
        (f'{MODEL} == "A"',),
        (f'{MODEL}.startsWith("A") && {KIND} == 1',),
        (f'device.attributes["{DRIVER}"].version.isGreaterThan(semver("1.0.0")) && {MODEL} == "A"',),
        (f'"version" in device.attributes["{DRIVER}"] && {MODEL} == "A"',),
    ],
)
@pytest.mark.parametrize("sound", [False, True], ids=("any", "sound"))
def test_who_keeps_the_answer_gets_what_everybody_gets(expressions: tuple[str, ...], sound: bool) -> None:
    """Whichever device was asked about before, and whether its first condition refused it or failed."""
    asked, others = selectors(*expressions), selectors(*expressions)
    for number in (*range(len(MIXED)), *reversed(range(len(MIXED)))):
        decision, clause = asked.judged(DRIVER, MIXED[number], sound)
        expected = others.decide(DRIVER, MIXED[number])
        assert decision == expected
        assert clause == (others.clause(expected, DRIVER, MIXED[number]) if expected.outcome is Outcome.NO else -1)
