"""The quantity library over ``kubectl_dra.model.quantity``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from kubectl_dra.cel.run.values import CelError, QuantityValue, Value
from kubectl_dra.model.quantity import Quantity, QuantityError


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity | str:
    try:
        return Quantity.parse(text)
    except QuantityError as error:
        return str(error)


def _quantity(text: str) -> QuantityValue:
    amount = _parse(text)
    if isinstance(amount, str):
        raise CelError(amount)
    return QuantityValue(amount)


def compare(a: QuantityValue, b: QuantityValue) -> int:
    """``a.compareTo(b)``: the exact order. A big operand makes the receiver big, which stays visible afterwards."""
    mine, theirs = a.amount, b.amount
    if mine.big or theirs.big or a.demoted or b.demoted:
        a.demote()
    elif mine.scale == theirs.scale:
        return (mine.unscaled > theirs.unscaled) - (mine.unscaled < theirs.unscaled)
    return mine.cmp(theirs)


def is_integer(a: QuantityValue) -> bool:
    """``a.isInteger()``: upstream's fast conversion, which big decimals and fractions do not have."""
    return not a.demoted and a.amount.as_int64() is not None


def _as_integer(a: QuantityValue) -> int:
    number = None if a.demoted else a.amount.as_int64()
    if number is None:
        raise CelError("cannot convert value to integer")
    return number


def _as_float(a: QuantityValue) -> float:
    unscaled, scale = a.amount.unscaled, a.amount.scale
    if a.big:
        unscaled, scale = a.amount.at_scale(-9)[0], -9
    try:
        base = float(unscaled)
    except OverflowError:
        return float("inf") if unscaled > 0 else float("-inf")
    return base * (_power(scale) if scale >= 0 else _NEGATIVE_POWERS.get(scale, 10.0**scale))


def _power(scale: int) -> float:
    return 10.0**scale if scale <= sys.float_info.max_10_exp else float("inf")


_NEGATIVE_POWERS: Final = {-power: float(f"1e-{power}") for power in range(1, 19)}


def _amount(a: QuantityValue) -> Quantity:
    if not a.demoted or a.amount.big:
        return a.amount
    return Quantity(a.amount.unscaled, a.amount.scale, a.amount.format, big=True)


def _combine(operation: Callable[[Quantity, Quantity], Quantity]) -> Callable[[QuantityValue, Value], QuantityValue]:
    def run(a: QuantityValue, b: Value) -> QuantityValue:
        other = _amount(b) if b.__class__ is QuantityValue else Quantity(b)
        return QuantityValue(operation(_amount(a), other), computed=True)

    return run


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    "string_to_quantity": _quantity,
    "is_quantity_string": lambda text: not isinstance(_parse(text), str),
    "quantity_sign": lambda a: a.amount.sign,
    "quantity_is_greater_than": lambda a, b: compare(a, b) > 0,
    "quantity_is_less_than": lambda a, b: compare(a, b) < 0,
    "quantity_compare_to": compare,
    "quantity_get_float": _as_float,
    "quantity_get_int": _as_integer,
    "quantity_is_integer": is_integer,
    "quantity_add": _combine(Quantity.add),
    "quantity_add_int": _combine(Quantity.add),
    "quantity_sub": _combine(Quantity.sub),
    "quantity_sub_int": _combine(Quantity.sub),
}
