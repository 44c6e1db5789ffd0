"""Optional values. ``or`` and ``orValue`` evaluate lazily and live in ``compile``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from kubectl_dra.cel.functions.printing import plain
from kubectl_dra.cel.run.values import (
    LISTS,
    MAPS,
    NONE,
    CelError,
    DomainMap,
    Duration,
    Optional,
    Timestamp,
    Uint,
    Value,
    list_size,
)

_YEAR_ONE: Final = -62135596800


def _is_zero(value: Value) -> bool:
    kind = value.__class__
    if kind in LISTS:
        return list_size(value) == 0
    if kind is DomainMap:
        return False
    if kind in MAPS or kind in (str, bytes):
        return len(value) == 0
    if kind is Duration:
        return bool(value.nanos == 0)
    if kind is Timestamp:
        return bool((value.seconds, value.nanos) == (_YEAR_ONE, 0))
    return value is None or (kind in (bool, int, Uint, float) and value == 0 and not math.isnan(value))


def _of_non_zero(value: Value) -> Optional:
    return NONE if _is_zero(value) else Optional(value)


def _value(optional: Optional) -> Value:
    if optional is NONE:
        raise CelError("optional.none() dereference")
    return optional.value


def _first(elements: Value) -> Optional:
    return Optional(elements[0]) if list_size(elements) else NONE


def _last(elements: Value) -> Optional:
    return Optional(elements[list_size(elements) - 1]) if list_size(elements) else NONE


def _unwrap(elements: Value) -> list[Value]:
    values: list[Value] = []
    for element in elements:
        if element.__class__ is not Optional:
            raise CelError(f"value {plain(element)} is not optional")
        if element is not NONE:
            values.append(element.value)
    return values


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    "optional_of": Optional,
    "optional_ofNonZeroValue": _of_non_zero,
    "optional_none": lambda: NONE,
    "optional_value": _value,
    "optional_hasValue": lambda optional: optional is not NONE,
    "list_first": _first,
    "list_last": _last,
    "optional_unwrap": _unwrap,
    "optional_unwrapOpt": _unwrap,
}
