"""Keys of maps: numbers of different types that are equal are one key."""

from __future__ import annotations

import math
from typing import Any, Final

from kubectl_dra.cel.run import values
from kubectl_dra.model.semver import Semver

_ONLY_STRINGS: Final[frozenset[Any]] = frozenset((values.StringMap, values.CapacityMap, values.DomainMap))
UNHASHABLE: Final[frozenset[Any]] = frozenset({bytes, Semver, values.NamedFormat})
_BY_VALUE: Final[frozenset[Any]] = frozenset(
    {values.Duration, values.Timestamp, values.IP, values.CIDR, values.TypeValue}
)
_MISSING: Final = object()


class _Unique:
    """Wraps a key that equals nothing but itself: values that upstream compares by address, and NaN."""

    __slots__ = ("value",)

    def __init__(self, value: values.Value) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unique) and self.value is other.value and self.value == self.value

    def __hash__(self) -> int:
        return id(self.value)


def encode_key(key: values.Value) -> values.Value:
    """The dict key that stands for a CEL key: keys of different types never meet. Raises on unhashable keys."""
    kind = key.__class__
    if kind is str:
        return key
    if kind is int or kind is values.Uint or kind is bool or kind in _BY_VALUE or key is None:
        return (kind, key)
    if kind is float and not math.isnan(key):
        return (kind, key)
    if kind in UNHASHABLE:
        raise unhashable(key)
    return (kind, _Unique(key))


def decode_key(encoded: values.Value) -> values.Value:
    """The CEL key that a dict key stands for."""
    if encoded.__class__ is str:
        return encoded
    key = encoded[1]
    return key.value if key.__class__ is _Unique else key


def unhashable(value: values.Value) -> values.Cancelled:
    """The failure of looking up a value that upstream cannot hash."""
    return values.Cancelled(f"internal error: runtime error: hash of unhashable type {values.go_name(value)}")


def find(mapping: dict[Any, values.Value], key: values.Value, default: values.Value = None) -> values.Value:
    """The value of ``key``; numbers also match equal keys of other integer types. ``default`` if there is none.

    The default of domain maps is not applied here: this is what ``in``, equality and plain maps see.
    """
    if key.__class__ is str:
        return mapping.get(key, default)
    if not mapping or mapping.__class__ in _ONLY_STRINGS:
        return default
    found = mapping.get(encode_key(key), _MISSING)
    if found is not _MISSING:
        return found
    for alternative in _equal_keys(key):
        found = mapping.get(alternative, _MISSING)
        if found is not _MISSING:
            return found
    return default


def _equal_keys(key: values.Value) -> tuple[tuple[type, int], ...]:
    kind = key.__class__
    if kind is float:
        if not key.is_integer():
            return ()
        number = int(key)
        keys: list[tuple[type, int]] = []
        # The conversion takes -2^63 for an overflow.
        if values.MIN_INT < number <= values.MAX_INT:
            keys.append((int, number))
        if 0 <= number <= values.MAX_UINT:
            keys.append((values.Uint, number))
        return tuple(keys)
    if kind is int:
        return ((values.Uint, key),) if key >= 0 else ()
    if kind is values.Uint:
        return ((int, int(key)),) if key <= values.MAX_INT else ()
    return ()
