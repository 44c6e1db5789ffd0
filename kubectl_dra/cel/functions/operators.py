"""Arithmetic, order, membership and ``size``: operators that have one implementation for all their overloads.

Each acts by the run-time type of its first operand; which types are able to be one is part of the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import msgspec

from kubectl_dra.cel.run import relations
from kubectl_dra.cel.run.keys import find
from kubectl_dra.cel.run.labor import charge_work
from kubectl_dra.cel.run.relations import COMPARABLE
from kubectl_dra.cel.run.values import (
    LISTS,
    MAPS,
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    TYPE_VALUES,
    CelError,
    Duration,
    JoinedList,
    MutableList,
    Timestamp,
    Uint,
    Value,
    list_size,
    no_such_overload,
    type_name,
)

MIN_SECONDS: Final = -62135596800
MAX_SECONDS: Final = 253402300799
NANOS: Final = 10**9
# First operands that report any operator they lack with the bare text: upstream lets them dispatch on their own.
RECEIVERS: Final = frozenset({str, Timestamp, Duration})


class Operator(msgspec.Struct, frozen=True):
    """``able``: classes of values that may be the first operand, None for all."""

    run: Callable[..., Value]
    able: frozenset[type] | None = None


def unable(name: str, first: Value) -> CelError:
    """The error of an operator whose first operand is not able."""
    return no_such_overload() if first.__class__ in RECEIVERS else CelError(f"no such overload: {name}")


def checked_int(number: int) -> int:
    if MIN_INT <= number <= MAX_INT:
        return number
    raise CelError("integer overflow")


def checked_uint(number: int) -> Uint:
    if 0 <= number <= MAX_UINT:
        return Uint(number)
    raise CelError("unsigned integer overflow")


def checked_timestamp(seconds: int, nanos: int, offset: int = 0) -> Timestamp:
    """A timestamp within years 1 to 9999; ``nanos`` may be any number."""
    carry, nanos = divmod(nanos, NANOS)
    seconds += carry
    if MIN_SECONDS <= seconds <= MAX_SECONDS:
        return Timestamp(seconds, nanos, offset)
    raise CelError("timestamp overflow")


def _shift(moment: Timestamp, nanos: int) -> Timestamp:
    return checked_timestamp(moment.seconds, moment.nanos + nanos, moment.offset)


def add(a: Value, b: Value) -> Value:
    kind = a.__class__
    if kind in LISTS:
        return _join(a, b)
    if b.__class__ is kind:
        if kind is int:
            return checked_int(a + b)
        if kind is Uint:
            return checked_uint(a + b)
        if kind is Duration:
            return Duration(checked_int(a.nanos + b.nanos))
        if kind is not Timestamp:
            return a + b
    if kind is Duration and b.__class__ is Timestamp:
        return _shift(b, a.nanos)
    if kind is Timestamp and b.__class__ is Duration:
        return _shift(a, b.nanos)
    raise no_such_overload()


def _join(a: Value, b: Value) -> Value:
    if b.__class__ not in LISTS:
        raise no_such_overload()
    if a.__class__ is MutableList:
        charge_work(list_size(b))
        a.extend(b)
        return a
    if not list_size(a):
        return b
    return JoinedList(a, b) if list_size(b) else a


def subtract(a: Value, b: Value) -> Value:
    kind = a.__class__
    if b.__class__ is kind:
        if kind is int:
            return checked_int(a - b)
        if kind is Uint:
            return checked_uint(a - b)
        if kind is float:
            return a - b
        if kind is Duration:
            return Duration(checked_int(a.nanos - b.nanos))
        return Duration(checked_int((a.seconds - b.seconds) * NANOS + a.nanos - b.nanos))
    if kind is Timestamp and b.__class__ is Duration:
        return _shift(a, -b.nanos)
    raise no_such_overload()


def multiply(a: Value, b: Value) -> Value:
    kind = a.__class__
    if b.__class__ is not kind:
        raise no_such_overload()
    if kind is float:
        return a * b
    return checked_int(a * b) if kind is int else checked_uint(a * b)


def divide(a: Value, b: Value) -> Value:
    """``a / b``; integers truncate toward zero."""
    kind = a.__class__
    if b.__class__ is not kind:
        raise no_such_overload()
    if kind is float:
        return _divide_doubles(a, b)
    if b == 0:
        raise CelError("division by zero")
    if kind is Uint:
        return Uint(a // b)
    quotient = abs(a) // abs(b)
    return checked_int(quotient if (a < 0) == (b < 0) else -quotient)


def _divide_doubles(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def modulo(a: Value, b: Value) -> Value:
    """``a % b`` with the sign of ``a``."""
    kind = a.__class__
    if b.__class__ is not kind:
        raise no_such_overload()
    if b == 0:
        raise CelError("modulus by zero")
    if kind is Uint:
        return Uint(a % b)
    if a == MIN_INT and b == -1:
        raise CelError("integer overflow")
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def negate(a: Value) -> Value:
    if a.__class__ is bool:
        raise no_such_overload()
    if a.__class__ is Duration:
        return Duration(checked_int(-a.nanos))
    return -a if a.__class__ is float else checked_int(-a)


def logical_not(a: Value) -> bool:
    if a.__class__ is not bool:
        raise no_such_overload()
    return not a


def member_of(a: Value, container: Value) -> bool:
    """``a in container``: elements of a list, real keys of a map."""
    kind = container.__class__
    if kind in LISTS:
        return relations.contains(container, a)
    if kind in MAPS:
        return find(container, a, relations.MISSING) is not relations.MISSING
    raise no_such_overload()


def count(a: Value) -> int:
    """``size(a)``."""
    return list_size(a) if a.__class__ in LISTS else len(a)


def type_of(a: Value) -> Value:
    """``type(a)``."""
    return TYPE_VALUES[type_name(a)]


def identity(a: Value) -> Value:
    """``dyn(a)``."""
    return a


_NUMERIC: Final = frozenset({int, Uint, float})
_NEGATABLE: Final = frozenset({bool, int, float, Duration})

OPERATORS: Final[dict[str, Operator]] = {
    "_+_": Operator(add, _NUMERIC | LISTS | {str, bytes, Duration, Timestamp}),
    "_-_": Operator(subtract, _NUMERIC | {Duration, Timestamp}),
    "_*_": Operator(multiply, _NUMERIC),
    "_/_": Operator(divide, _NUMERIC),
    "_%_": Operator(modulo, frozenset({int, Uint})),
    "-_": Operator(negate, _NEGATABLE),
    "!_": Operator(logical_not),
    "_<_": Operator(lambda a, b: relations.compare(a, b) < 0, COMPARABLE),
    "_<=_": Operator(lambda a, b: relations.compare(a, b) <= 0, COMPARABLE),
    "_>_": Operator(lambda a, b: relations.compare(a, b) > 0, COMPARABLE),
    "_>=_": Operator(lambda a, b: relations.compare(a, b) >= 0, COMPARABLE),
    "@in": Operator(member_of),
    "size": Operator(count, LISTS | MAPS | {str, bytes}),
    "type": Operator(type_of),
    "dyn": Operator(identity),
}
