"""Values of the parts of an expression: what each was when it really ran."""

from __future__ import annotations

import pytest

from kubectl_dra.cel import SCHEDULER, compile_expression, device_value
from kubectl_dra.cel.read.explain import MAX_ROUNDS, explain, failing_place, shown
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceCapacity
from tests.vectors.answer_cel import device_of
from tests.vectors.rows import rows

DEVICE = Device(
    name="d",
    attributes={
        "model": DeviceAttribute(string="H100"),
        "version": DeviceAttribute(version="1.2.3"),
        "count": DeviceAttribute(int_value=3),
        "list": DeviceAttribute(strings=("a", "b")),
    },
    capacity={"memory": DeviceCapacity(value=Quantity.parse("80Gi"))},
)
A = 'device.attributes["x"]'


def explained(expression: str, device: Device = DEVICE) -> dict[str, tuple[tuple[str, ...], int]]:
    program = compile_expression(expression, SCHEDULER)
    parts = explain(program, device_value("x", device))
    return {part.text: (tuple(outcome.text for outcome in part.outcomes), part.times) for part in parts}


def test_every_part_has_its_value() -> None:
    assert explained(f'{A}.model == "H100" && {A}.count + 1 > 3') == {
        f'{A}.model == "H100" && {A}.count + 1 > 3': (("true",), 1),
        f'{A}.model == "H100"': (("true",), 1),
        f"{A}.model": (('"H100"',), 1),
        f"{A}.count + 1 > 3": (("true",), 1),
        f"{A}.count + 1": (("4",), 1),
        f"{A}.count": (("3",), 1),
    }


def test_what_a_short_cut_leaves_out_was_not_evaluated() -> None:
    parts = explained(f'{A}.model == "L40" && {A}.nosuch == 1')
    assert parts[f"{A}.nosuch == 1"] == ((), 0)


def test_an_absorbed_error_is_shown_where_it_was_raised() -> None:
    parts = explained(f"{A}.nosuch == 1 || true")
    assert parts[f"{A}.nosuch"] == (("no such key: nosuch",), 1)
    assert parts[f"{A}.nosuch == 1 || true"] == (("true",), 1)


def test_loops_show_their_first_rounds_and_count_all() -> None:
    parts = explained("lists.range(20).exists(i, i == 15 || i > 100)")
    assert parts["i == 15"] == (("false",) * MAX_ROUNDS, 16)
    assert parts["i == 15 || i > 100"][1] == 16
    assert parts["i"] == (tuple(str(i) for i in range(MAX_ROUNDS)), 15)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (f"{A}.version", "1.2.3"),
        ('device.capacity["x"].memory', "80Gi"),
        (f"{A}.list", '["a", "b"]'),
        (f"{A}.?nosuch", "optional.none()"),
        (f"{A}.?count", "optional(3)"),
        ('semver("1.0.0")', "1.0.0"),
        ("{1: 'a'}", '{1: "a"}'),
    ],
)
def test_values_read_as_cel_writes_them(expression: str, text: str) -> None:
    program = compile_expression(f"type({expression}) == type(3)", SCHEDULER)
    parts = {part.text: part.outcomes for part in explain(program, device_value("x", DEVICE))}
    [found] = [outcomes for part, outcomes in parts.items() if part == expression.replace("'", '"')]
    assert [outcome.text for outcome in found] == [text]


def test_long_values_are_cut() -> None:
    assert len(shown("x" * 100_000)) < 200
    assert len(shown(list(range(100_000)))) < 400
    assert len(shown([["y" * 1000] * 1000] * 1000)) < 2000


def test_a_broken_device_has_no_parts() -> None:
    broken = Device(name="d", attributes={"v": DeviceAttribute()})
    assert explained("true", broken) == {}


def test_the_place_of_an_error_is_the_innermost_part() -> None:
    expression = f'device.driver == "y" || {A}.version == "1.2.3"'
    program = compile_expression(expression, SCHEDULER)
    place = failing_place(program, device_value("x", DEVICE), "no such overload")
    assert expression[place:] == '== "1.2.3"'
    assert failing_place(program, device_value("x", DEVICE), "another text") == -1


def test_the_whole_has_the_recorded_outcome() -> None:
    """Explaining evaluates as the scheduler does: the outermost part is the recorded answer."""
    compared = 0
    for row in rows("cel")[::4]:
        expected = row["expect"]
        if row.get("derived") or "compile_error" in expected or row.get("nondeterministic") or row.get("costLimit"):
            continue
        program = compile_expression(row["expression"], SCHEDULER)
        parts = explain(program, device_value(row["driver"], device_of(row)))
        if not parts or not parts[0].outcomes:
            # A literal, a broken device.
            continue
        last = parts[0].outcomes[-1]
        if "match" in expected:
            answer = str(expected["match"]).lower()
            assert last.text in (answer, f"optional({answer})"), row["id"]
        elif not expected["runtime_error"].startswith("CEL result of type"):
            assert (last.text, last.failed) == (expected["runtime_error"], True), row["id"]
        compared += 1
    assert compared > 300
