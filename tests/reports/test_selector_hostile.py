"""Texts that nobody would write, and that somebody will try: every one gets a report, in bounded time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_dra.cel import SCHEDULER, compile_expression, device_value
from kubectl_dra.output.layout import width
from kubectl_dra.output.safe import safe
from kubectl_dra.output.selector.page import selector_page
from kubectl_dra.reports.selector import SelectorReport, Setting, Where, expression_question, selector_report
from kubectl_dra.selectors.evaluate import EvaluationBudget
from kubectl_dra.source.demo import CLUSTER as DEMO
from tests.differential.expressions import rows
from tests.kit.evaluated import evaluated
from tests.reports.clusters import facts

pytestmark = pytest.mark.one_in(6)

SETTING = Setting(facts(DEMO), Where(driver="gpu.example.com"))
PIECES = (
    'device.attributes["gpu.example.com"]',
    'device.capacity["gpu.example.com"]',
    "device.driver",
    "device",
    ".model",
    ".?nosuch",
    ".orValue(0)",
    ".memory",
    '["uuid"]',
    '[?"numa"]',
    "has(",
    "(",
    ")",
    "[",
    "]",
    " && ",
    " || ",
    " and ",
    " = ",
    " == ",
    " >= ",
    "!",
    "?",
    ":",
    '"H100"',
    "'",
    "`",
    "1",
    '"64Gi"',
    'quantity("64Gi")',
    'semver("1.0.0")',
    ".exists(x, x)",
    "cel.bind(a, ",
    ", ",
    "\n",
    "\t",
    "// why",
    "\u202e",
    "é",
    "\x00",
    "\udc80",
)


def answered(expression: str, device_class: str | None = None) -> SelectorReport:
    found = selector_report(expression_question(expression, device_class), SETTING)
    parts = (found.totals.matches, found.totals.no, found.totals.fails, found.totals.undecided)
    assert found.totals.devices.value == sum(part.value for part in parts)
    for wide in (False, True):
        for line in selector_page(found, wide):
            assert safe(line) == line or "\x1b[" in line
    return found


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from([None, "gpu.example.com"]))
def test_pieces(expression: str, device_class: str | None) -> None:
    answered(expression, device_class)


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_texts(expression: str) -> None:
    answered(expression)


@settings(max_examples=60)
@given(rows())
def test_random_expressions(row: dict[str, Any]) -> None:
    expression = row["expression"]
    found = answered(expression)
    selector_report(expression_question(expression), SETTING, SETTING.members[0].id)
    if not found.selectors[0].scheduler.accepted or found.totals.undecided.value:
        return
    program = compile_expression(expression, SCHEDULER)
    for member in SETTING.members[::5]:
        answer = evaluated(program, device_value(member.driver, member.device))
        field = "fails" if answer.error is not None else "matches" if answer.match else "no"
        [pool] = [pool for pool in found.pools if pool.pool == member.pool]
        assert member.device.name in getattr(pool, field)


_LOOP = "[1,2,3,4,5,6,7,8,9,10].all("


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("(" * 249 + "true" + ")" * 249, True),
        ("(" * 251 + "true" + ")" * 251, False),
        ("1" + "+1" * 249 + " == 250", True),
        ("1" + "+1" * 251 + " == 252", False),
        ("!" * 1000 + "true", True),
        (" && ".join(["true"] * 1275), True),
        (f"{_LOOP}a, {_LOOP}b, {_LOOP}c, {_LOOP}d, {_LOOP}e, {_LOOP}f, f > 0))))))", False),
        ("lists.range(1000000).all(x, x >= 0) || lists.range(1000000).all(x, x >= 0)", False),
        ('"' + "a" * 5000 + '".matches("(a*)*(a|a)*b")', True),
        ('"' + "a" * 60 + '".matches("(x+x+)+y{900}")', True),
        ('device.attributes["gpu.example.com"].uuid != "" && lists.range(90000).all(a, a >= 0)', True),
        ("true || '" + "x" * 10_224 + "' == ''", True),
        ("true || '" + "x" * 10_225 + "' == ''", False),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_expensive_deep_and_long_ones_end(expression: str, accepted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is evaluated for a report is bounded, however many devices there are."""
    charged: list[int] = []
    charge = EvaluationBudget.charge

    def charging(self: EvaluationBudget, cost: int) -> None:
        charged.append(cost)
        charge(self, cost)

    monkeypatch.setattr(EvaluationBudget, "charge", charging)
    assert answered(expression).selectors[0].admission.accepted is accepted
    assert sum(charged[:-1]) < EvaluationBudget().left, "evaluated after it was exhausted"


def test_what_was_not_tried_is_not_counted_as_anything_else() -> None:
    found = answered('device.attributes["gpu.example.com"].uuid != "" && lists.range(150000).all(a, a >= 0)')
    assert found.totals.undecided.value > 0
    assert found.totals.matches.bound == found.totals.no.bound == "atLeast"
    assert found.totals.devices.bound == "exact"


def test_lines_fit() -> None:
    for expression in (
        'device.attributes["gpu.example.com"].modle == "H100" && ' * 20 + "true",
        "device.drivr == 1 || " * 30 + "true",
    ):
        assert max(map(width, selector_page(answered(expression)))) <= 80
