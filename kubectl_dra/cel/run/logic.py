"""``&& || ?:``, equality and optional alternatives: operators that do not evaluate, or not fail, like functions."""

from __future__ import annotations

import operator as op
from collections.abc import Callable, Sequence
from typing import Final

from kubectl_dra.cel.cost.kubernetes import equals, smaller
from kubectl_dra.cel.cost.rule import ChargeRule, tenth
from kubectl_dra.cel.run.relations import equal
from kubectl_dra.cel.run.state import State, Step
from kubectl_dra.cel.run.values import NONE, CelError, Optional, Uint, Value, no_such_overload

_NO_SUCH_OVERLOAD: Final = "no such overload"
# A tenth of short lengths, rounded up: the cost of comparing texts.
_TENTHS: Final = tuple(tenth(length) for length in range(257))


def both(terms: Sequence[Step]) -> Step:
    """``a && b && ...``: false decides wherever it stands; otherwise the first failure does."""
    return _junction(tuple(terms), deciding=False)


def either(terms: Sequence[Step]) -> Step:
    """``a || b || ...``: true decides wherever it stands; otherwise the first failure does."""
    return _junction(tuple(terms), deciding=True)


def _junction(terms: tuple[Step, ...], deciding: bool) -> Step:
    neutral = not deciding

    def step(state: State) -> bool:
        failure: str | None = None
        for term in terms:
            try:
                value = term(state)
            except CelError as error:
                failure = failure or error.text
                continue
            if value is deciding:
                return bool(deciding)
            if value is not neutral:
                failure = failure or _NO_SUCH_OVERLOAD
        if failure is not None:
            raise CelError(failure)
        return neutral

    return step


def conditional(condition: Step, then: Step, otherwise: Step) -> Step:
    def step(state: State) -> Value:
        value = condition(state)
        if value is True:
            return then(state)
        if value is False:
            return otherwise(state)
        raise no_such_overload()

    return step


def not_strictly_false(argument: Step) -> Step:
    """The loop condition of ``all`` and ``exists``: only false is false."""

    def step(state: State) -> bool:
        try:
            value = argument(state)
        except CelError:
            state.spend(1)
            return True
        state.spend(1)
        return value is not False

    return step


def alternative(optional: Step, other: Step, unwrap: bool) -> Step:
    """``optional.or(other)`` and, if ``unwrap``, ``optional.orValue(other)``; ``other`` is evaluated only if needed."""

    def step(state: State) -> Value:
        value = optional(state)
        if value.__class__ is not Optional:
            raise no_such_overload()
        if value is NONE:
            return other(state)
        return value.value if unwrap else value

    return step


# --- equality ---------------------------------------------------------------------------------------------------------


def equality(left: Step, right: Step) -> Step:
    def step(state: State) -> bool:
        a, b = _operands(state, left, right, equals)
        return equal(a, b)

    return step


def inequality(left: Step, right: Step) -> Step:
    """``left != right``: true also where the comparison itself fails."""

    def step(state: State) -> bool:
        a, b = _operands(state, left, right, smaller)
        try:
            return not equal(a, b)
        except CelError:
            return True

    return step


def _operands(state: State, left: Step, right: Step, rule: ChargeRule) -> tuple[Value, Value]:
    failure: CelError | None = None
    try:
        a = left(state)
    except CelError as error:
        a = failure = CelError(error.text)
    try:
        b = right(state)
    except CelError as error:
        b = CelError(error.text)
        failure = failure or b
    state.spend(rule(a, b))
    if failure is not None:
        raise failure
    return a, b


def equals_text(left: Step, text: str, wanted: bool) -> Step:
    """``left == text`` or, unless ``wanted``, ``left != text`` for a constant text."""
    length = len(text)
    failed_cost = tenth(min(1, length))

    def step(state: State) -> bool:
        try:
            value = left(state)
        except CelError:
            state.spend(failed_cost)
            raise
        if value.__class__ is not str:
            state.spend(equals(value, text) if wanted else smaller(value, text))
            return _compare(value, text, wanted)
        size = len(value)
        if size > length:
            size = length
        state.cost += _TENTHS[size] if size <= 256 else tenth(size)
        if state.cost > state.limit:
            state.spend(0)
        return (value == text) is wanted

    return step


def _compare(a: Value, b: Value, wanted: bool) -> bool:
    if wanted:
        return equal(a, b)
    try:
        return not equal(a, b)
    except CelError:
        return True


_ORDERS: Final = {"_<_": op.lt, "_<=_": op.le, "_>_": op.gt, "_>=_": op.ge}


def order_by_int(name: str, run: Callable[[Value, Value], Value], left: Step, bound: int) -> Step | None:
    """``left < bound`` and the like for a constant integer; None for other operators. ``run`` takes the other types."""
    order = _ORDERS.get(name)
    if order is None:
        return None

    def step(state: State) -> Value:
        try:
            value = left(state)
        except CelError:
            state.spend(1)
            raise
        state.cost += 1
        if state.cost > state.limit:
            raise state.overspent()
        return order(value, bound) if value.__class__ is int else run(value, bound)

    return step


def equals_scalar(left: Step, scalar: bool | int | float | Uint, wanted: bool) -> Step:
    """``left == scalar`` or ``left != scalar`` for a constant number or bool."""
    kind = scalar.__class__

    def step(state: State) -> bool:
        try:
            value = left(state)
        except CelError:
            state.spend(1)
            raise
        if value.__class__ is kind:
            state.spend(1)
            return (value == scalar) is wanted
        state.spend(equals(value, scalar) if wanted else smaller(value, scalar))
        return _compare(value, scalar, wanted)

    return step
