"""What is computed when an expression is compiled rather than when it is evaluated.

Upstream folds list and map literals of constants, conversions of a constant, and turns ``x in [constants]`` into a
lookup in a set. Folded parts cost nothing at run time; a conversion that fails makes the whole expression fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from kubectl_dra.cel.functions.printing import plain
from kubectl_dra.cel.run.keys import encode_key
from kubectl_dra.cel.run.state import Constant, PlanError, State, Step
from kubectl_dra.cel.run.values import MAX_INT, NONE, Cancelled, CelError, Optional, Uint, Value

if TYPE_CHECKING:
    from kubectl_dra.cel.run.state import Plan

CONVERSION_FUNCTIONS: Final = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)
_SET_MEMBERS: Final = frozenset({bool, int, Uint, float, str})


def fold_conversion(run: Callable[[Value], Value], argument: Constant) -> Constant:
    """The result of a conversion of a constant. Raises :class:`PlanError` if it fails."""
    if argument.value.__class__ is CelError:
        raise PlanError(argument.value.text)
    try:
        return Constant(run(argument.value))
    except CelError as error:
        raise PlanError(error.text) from None


def make_list(values: Sequence[Value], optional: frozenset[int]) -> list[Value]:
    """A list literal from its evaluated elements; absent optional elements are left out."""
    if not optional:
        return list(values)
    elements: list[Value] = []
    for position, value in enumerate(values):
        if position not in optional:
            elements.append(value)
        elif value.__class__ is not Optional:
            raise CelError(f"cannot initialize optional list element from non-optional value {plain(value)}")
        elif value is not NONE:
            elements.append(value.value)
    return elements


def add_entry(mapping: dict[Value, Value], key: Value, value: Value, optional: bool) -> None:
    """Put an entry of a map literal into the map; an absent optional value removes an earlier entry."""
    if optional:
        if value.__class__ is not Optional:
            raise CelError(f"cannot initialize optional entry '{plain(key)}' from non-optional value {plain(value)}")
        if value is NONE:
            mapping.pop(encode_key(key), None)
            return
        value = value.value
    mapping[encode_key(key)] = value


def fold_list(values: Sequence[Value], optional: frozenset[int]) -> Constant:
    failed = _first_failure(values)
    if failed is not None:
        return failed
    try:
        return Constant(make_list(values, optional))
    except CelError as error:
        return Constant(CelError(error.text))


def _first_failure(values: Sequence[Value]) -> Constant | None:
    """A literal that could not be made when it was folded stands for its failure, and so does what contains it."""
    return next((Constant(value) for value in values if value.__class__ is CelError), None)


def fold_map(entries: Sequence[tuple[Value, Value, bool]]) -> Constant:
    """A map literal of constants. Raises :class:`PlanError` for keys that upstream cannot hash."""
    failed = _first_failure([part for key, value, _ in entries for part in (key, value)])
    if failed is not None:
        return failed
    mapping: dict[Value, Value] = {}
    try:
        for key, value, optional in entries:
            add_entry(mapping, key, value, optional)
    except CelError as error:
        return Constant(CelError(error.text))
    except Cancelled as error:
        raise PlanError(error.text.removeprefix("internal error: ")) from None
    return Constant(mapping)


def fold_membership(item: Step, elements: Sequence[Value]) -> Plan | None:
    """``item in elements`` as a lookup, or None where upstream scans the list."""
    if not elements:
        return Constant(False)
    members = set()
    for element in elements:
        if element.__class__ not in _SET_MEMBERS:
            return None
        members.add(encode_key(element))
        members.update(_other_numbers(element))
    if all(element.__class__ is str for element in elements):
        return _text_membership(item, frozenset(members))

    def step(state: State) -> bool:
        return encode_key(item(state)) in members

    return step


def _text_membership(item: Step, members: frozenset[Value]) -> Step:
    def step(state: State) -> bool:
        value = item(state)
        return (value if value.__class__ is str else encode_key(value)) in members

    return step


def _other_numbers(number: Value) -> list[Value]:
    """The equal numbers of the other types; a double is found for every integer, even if only close to it."""
    kind = number.__class__
    if kind is int:
        others = [float(number), *([Uint(number)] if number >= 0 else [])]
    elif kind is Uint:
        others = [float(number), *([int(number)] if number <= MAX_INT else [])]
    elif kind is float and number.is_integer():
        others = [int(number)] if -(2.0**63) < number < 2.0**63 else []
        others += [Uint(int(number))] if 0 <= number < 2.0**64 else []
    else:
        others = []
    return [encode_key(other) for other in others]


def list_literal(elements: tuple[Step, ...], optional: frozenset[int]) -> Step:
    """A list that is made at run time."""

    def step(state: State) -> list[Value]:
        try:
            value = make_list([element(state) for element in elements], optional)
        except CelError:
            state.spend(10)
            raise
        state.spend(10)
        return value

    return step


def map_literal(entries: tuple[tuple[Step, Step, bool], ...]) -> Step:
    """A map that is made at run time."""

    def step(state: State) -> dict[Value, Value]:
        mapping: dict[Value, Value] = {}
        try:
            for key, value, optional in entries:
                add_entry(mapping, key(state), value(state), optional)
        except CelError:
            state.spend(30)
            raise
        state.spend(30)
        return mapping

    return step
