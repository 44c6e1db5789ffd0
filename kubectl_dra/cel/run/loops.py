"""Comprehensions: the loops that macros become, bindings, and the variables of both.

Upstream: cel-go's ``evalFold``. The accumulator is computed at its first use; an empty list or map becomes mutable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from kubectl_dra.cel.run.keys import decode_key
from kubectl_dra.cel.run.labor import charge_work
from kubectl_dra.cel.run.state import UNSET, State, Step
from kubectl_dra.cel.run.values import LISTS, MAPS, CelError, MutableList, MutableMap, Value, go_name, list_size

# How often a loop reports the work that it does.
_REPORT: Final = 1024

Fill: TypeAlias = Callable[[list[Value], Value], None]


def loop_variable(slot: int, cost: int) -> Step:
    def step(state: State) -> Value:
        state.cost += cost
        if state.cost > state.limit:
            raise state.overspent()
        return state.slots[slot]

    return step


def accumulator(slot: int, init: Step, cost: int) -> Step:
    """The value of an accumulator or of a bound name."""

    def step(state: State) -> Value:
        value = state.slots[slot]
        if value is UNSET:
            value = state.slots[slot] = _initial(state, init)
        state.cost += cost
        if state.cost > state.limit:
            raise state.overspent()
        if value.__class__ is CelError:
            raise CelError(value.text)
        return value

    return step


def _initial(state: State, init: Step) -> Value:
    value = _caught(state, init)
    if value.__class__ in LISTS and not list_size(value):
        return MutableList()
    if value.__class__ in MAPS and not value:
        return MutableMap()
    return value


def _caught(state: State, step: Step) -> Value:
    """A step's value; a failure becomes a value, too, without what it holds on to."""
    try:
        return step(state)
    except CelError as error:
        return CelError(error.text)


def binding(slot: int, result: Step) -> Step:
    """``cel.bind``: the result with a name that is computed at its first use."""

    def step(state: State) -> Value:
        state.slots[slot] = UNSET
        return _immutable(result(state))

    return step


def _immutable(value: Value) -> Value:
    if value.__class__ is MutableList:
        return list(value)
    return dict(value) if value.__class__ is MutableMap else value


def loop(
    elements: Step,
    fill: Callable[[Value], Iterable[Value]],
    store: Fill,
    slot: int,
    parts: tuple[Step | None, Step, Step],
) -> Step:
    """A loop: ``fill`` gives what to iterate over, ``store`` sets the variables; ``parts``: condition, step, result."""
    condition, advance, result = parts

    def step(state: State) -> Value:
        items = fill(elements(state))
        slots = state.slots
        slots[slot] = UNSET
        for count, item in enumerate(items, 1):
            if not count % _REPORT:
                charge_work(_REPORT)
            store(slots, item)
            if condition is not None and _caught(state, condition) is False:
                break
            slots[slot] = _caught(state, advance)
        return _immutable(result(state))

    return step


def _fixed(elements: Value) -> Iterable[Value]:
    """The elements there are now: the body of a loop may append to a list that is an accumulator elsewhere."""
    return tuple(elements) if elements.__class__ is MutableList else elements


def single(value: Value) -> Iterable[Value]:
    """What a loop with one variable iterates over: elements of a list, keys of a map."""
    if value.__class__ in LISTS:
        return _fixed(value)
    if value.__class__ in MAPS:
        return map(decode_key, tuple(value))
    raise CelError(f"got '{go_name(value)}', expected iterable type")


def double(value: Value) -> Iterable[tuple[Value, Value]]:
    """What a loop with two variables iterates over: index and element, or key and value."""
    if value.__class__ in LISTS:
        return enumerate(_fixed(value))
    if value.__class__ in MAPS:
        return [(decode_key(key), element) for key, element in value.items()]
    raise CelError(f"unsupported comprehension range type: {go_name(value)}")


def store_one(variable: int) -> Fill:
    def store(slots: list[Value], item: Value) -> None:
        slots[variable] = item

    return store


def store_two(first: int, second: int) -> Fill:
    def store(slots: list[Value], item: Value) -> None:
        slots[first], slots[second] = item

    return store
