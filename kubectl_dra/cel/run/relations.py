"""Equality, order and membership of run-time values, with upstream's exceptions to what one would expect."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from kubectl_dra.cel.run.keys import decode_key, find
from kubectl_dra.cel.run.labor import charge_work
from kubectl_dra.cel.run.values import (
    CIDR,
    IP,
    LISTS,
    MAPS,
    NONE,
    URL,
    AnyMessage,
    CelError,
    DomainMap,
    Duration,
    JoinedList,
    NamedFormat,
    Optional,
    QuantityValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    list_size,
    no_such_overload,
)
from kubectl_dra.model.semver import Semver

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS: Final[frozenset[Any]] = frozenset({int, Uint, float})
COMPARABLE: Final[frozenset[Any]] = frozenset({bool, int, Uint, float, str, bytes, Duration, Timestamp})
_PLAIN: Final[frozenset[Any]] = frozenset({bool, str, bytes, Duration, TypeValue, type(None)})

# Equality of containers met before in the same comparison, by identity: shared parts of nested lists are compared once.
_Memo = dict[tuple[int, int], "bool | CelError"]


def equal(a: Value, b: Value) -> bool:
    """``a == b``: null equals null only; otherwise the type of ``a`` decides. Raises where upstream gives an error."""
    if a is None or b is None:
        return a is b
    return value_equal(a, b)


def value_equal(a: Value, b: Value, memo: _Memo | None = None) -> bool:
    """Equality by the type of ``a`` alone; Kubernetes' own types refuse operands of other types."""
    kind = a.__class__
    if kind in _PLAIN:
        return b.__class__ is kind and a == b
    if kind in NUMBERS:
        return b.__class__ in NUMBERS and _numbers_equal(a, b)
    if kind in LISTS or kind in MAPS:
        return _containers_equal(a, b, {} if memo is None else memo)
    return _EQUAL[kind](a, b)


def _numbers_equal(a: Value, b: Value) -> bool:
    if a.__class__ is float or b.__class__ is float:
        return a == a and b == b and order_numbers(a, b) == 0
    return bool(a == b)


def _containers_equal(a: Value, b: Value, memo: _Memo) -> bool:
    key = (id(a), id(b))
    known = memo.get(key)
    if known is None:
        try:
            known = _lists_equal(a, b, memo) if a.__class__ in LISTS else _maps_equal(a, b, memo)
        except CelError as error:
            known = CelError(error.text)
        memo[key] = known
    if isinstance(known, CelError):
        raise CelError(known.text)
    return known


def _element_equal(a: Value, b: Value, memo: _Memo) -> bool:
    if a is None or b is None:
        return a is b
    return value_equal(a, b, memo)


def _lists_equal(a: Value, b: Value, memo: _Memo) -> bool:
    if b.__class__ not in LISTS or list_size(a) != list_size(b):
        return False
    charge_work(list_size(a))
    failure: CelError | None = None
    for x, y in zip(a, b, strict=True):
        try:
            if not _element_equal(x, y, memo):
                return False
        except CelError as error:
            failure = failure or error
    if failure is not None and a.__class__ is JoinedList:
        raise CelError(failure.text)
    return True


def _maps_equal(a: dict[Value, Value], b: Value, memo: _Memo) -> bool:
    if b.__class__ not in MAPS or len(a) != len(b):
        return False
    charge_work(len(a))
    for encoded, value in a.items():
        other = look_up(b, decode_key(encoded))
        if other is MISSING:
            return False
        try:
            if not _element_equal(value, other, memo):
                return False
        except CelError:
            continue
    return True


MISSING: Final = object()


def look_up(mapping: dict[Value, Value], key: Value) -> Value:
    """The value of a key as selection and index see it (unknown domains are empty maps), or :data:`MISSING`."""
    if mapping.__class__ is DomainMap:
        return mapping[key] if key.__class__ is str else mapping.__missing__(key)
    return find(mapping, key, MISSING)


def _optional_equal(a: Optional, b: Value) -> bool:
    if b.__class__ is not Optional:
        return False
    if a is NONE or b is NONE:
        return a is b
    return value_equal(a.value, b.value)


def _same_type(test: Callable[[Value, Value], bool]) -> Callable[[Value, Value], bool]:
    def check(a: Value, b: Value) -> bool:
        if b.__class__ is not a.__class__:
            raise no_such_overload()
        return test(a, b)

    return check


def _quantity_equal(a: QuantityValue, b: Value) -> bool:
    if b.__class__ is not QuantityValue or b.computed:
        raise no_such_overload()
    return a.amount.cmp(b.amount) == 0


_EQUAL: Final[dict[type, Callable[[Value, Value], bool]]] = {
    Timestamp: lambda a, b: b.__class__ is Timestamp and (a.seconds, a.nanos) == (b.seconds, b.nanos),
    Optional: _optional_equal,
    QuantityValue: _quantity_equal,
    Semver: _same_type(lambda a, b: a.cmp(b) == 0),
    IP: _same_type(lambda a, b: a == b),
    CIDR: _same_type(lambda a, b: a == b),
    URL: _same_type(lambda a, b: a.text == b.text),
    NamedFormat: _same_type(lambda a, b: a.name == b.name),
    AnyMessage: lambda a, b: b.__class__ is AnyMessage,
}


def contains(elements: Value, item: Value) -> bool:
    """Whether a list has an element that ``item`` equals; comparisons that fail count as unequal."""
    kind = item.__class__
    charge_work(list_size(elements))
    if kind in _PLAIN:
        return any(element.__class__ is kind and element == item for element in elements)
    return any(surely_equal(item, element) for element in elements)


def surely_equal(a: Value, b: Value) -> bool:
    """Equality by the type of ``a``, false where that fails."""
    try:
        return value_equal(a, b)
    except CelError:
        return False


# --- order ------------------------------------------------------------------------------------------------------------


def compare(a: Value, b: Value) -> int:
    """-1, 0 or 1 for two values of an ordered type, or for two numbers; anything else is an error."""
    kind = a.__class__
    if kind in NUMBERS:
        return _compare_numbers(a, b)
    if b.__class__ is not kind or kind not in COMPARABLE:
        raise no_such_overload()
    if kind is str:
        return _compare_text(a, b)
    if kind is Duration:
        a, b = a.nanos, b.nanos
    elif kind is Timestamp:
        a, b = (a.seconds, a.nanos), (b.seconds, b.nanos)
    return int(a > b) - int(a < b)


def _compare_text(a: str, b: str) -> int:
    # Code points order as UTF-8 bytes do.
    return (a > b) - (a < b)


def _compare_numbers(a: Value, b: Value) -> int:
    if a != a:
        raise CelError("NaN values cannot be ordered")
    if b.__class__ not in NUMBERS:
        raise no_such_overload()
    if b != b:
        raise CelError("NaN values cannot be ordered")
    return order_numbers(a, b)


def order_numbers(a: Value, b: Value) -> int:
    """The order of two numbers that are not NaN; an integer beside a double is rounded to a double first."""
    if a.__class__ is float:
        if b.__class__ is not float and not math.isinf(a):
            b = _rounded(a, b)
    elif b.__class__ is float and not math.isinf(b):
        a = _rounded(b, a)
    return int(a > b) - int(a < b)


def _rounded(double: float, integer: int) -> float | int:
    """The integer as the double sees it; far outside the integer type's range the exact order is right already."""
    low, high = (0.0, 2.0**64) if integer.__class__ is Uint else (-(2.0**63), 2.0**63)
    return float(integer) if low <= double <= high else integer
