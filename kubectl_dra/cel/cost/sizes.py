"""Ranges of sizes and the saturating arithmetic of cost estimates; what is known about the sizes of a device's data."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import msgspec

MAX: Final = 2**64 - 1
_TWO_TO_64: Final = 2.0**64


class Size(NamedTuple):
    """At least and at most how many code points, bytes or elements a value has."""

    min: int
    max: int

    def union(self, other: Size) -> Size:
        """The range of what may be either."""
        return Size(min(self.min, other.min), max(self.max, other.max))

    def plus(self, other: Size) -> Size:
        return Size(add(self.min, other.min), add(self.max, other.max))

    def times(self, other: Size) -> Size:
        return Size(multiply(self.min, other.min), multiply(self.max, other.max))


UNKNOWN: Final = Size(0, MAX)
ONE: Final = Size(1, 1)


def fixed(size: int) -> Size:
    return Size(size, size)


def add(left: int, right: int) -> int:
    """Saturating sum of unsigned 64-bit numbers."""
    return min(left + right, MAX)


def multiply(left: int, right: int) -> int:
    """Saturating product of unsigned 64-bit numbers."""
    return min(left * right, MAX)


def scaled(size: int, factor: float) -> int:
    """``size * factor`` rounded up, in floating point and saturating."""
    number = float(size)
    if number > 0 and factor > 0 and number > _TWO_TO_64 / factor:
        return MAX
    up = math.ceil(number * factor)
    return MAX if up >= 2**64 else up


class _Shape(msgspec.Struct, frozen=True):
    """How large a part of the device can be and what it consists of."""

    max: int
    element: _Shape | None = None
    key: _Shape | None = None
    fields: dict[str, _Shape] = msgspec.field(default_factory=dict)
    any_field: _Shape | None = None


# Limits of the resource API: 63 for DNS names, 32 for identifiers, for maps and for attributes of a device, 64 for
# values. Quantities have no size.
_DOMAIN: Final = _Shape(63)
_IDENTIFIER: Final = _Shape(32)
_ATTRIBUTE: Final = _Shape(64)
_ATTRIBUTES: Final = _Shape(32, _ATTRIBUTE, _IDENTIFIER, any_field=_ATTRIBUTE)
_CAPACITY: Final = _Shape(32, _Shape(0), _IDENTIFIER)
_DEVICE: Final = _Shape(
    0,
    fields={
        "driver": _Shape(63),
        "allowMultipleAllocations": _Shape(1),
        "attributes": _Shape(32, _ATTRIBUTES, _DOMAIN),
        "capacity": _Shape(32, _CAPACITY, _DOMAIN),
    },
)


class ValuePath:
    """Where in the device a value comes from, as a growing array that shares its storage like a Go slice.

    Extending the same path twice may overwrite the first extension's last step, and estimates depend on that.
    """

    __slots__ = ("_capacity", "_length", "_steps")

    def __init__(self, steps: list[str], length: int, capacity: int) -> None:
        self._steps = steps
        self._length = length
        self._capacity = capacity

    @classmethod
    def root(cls, name: str) -> ValuePath:
        return cls([name], 1, 1)

    @classmethod
    def extend(cls, path: ValuePath | None, step: str) -> ValuePath:
        """``path`` and one step more; a value without a path begins one."""
        if path is None:
            return cls([step], 1, 1)
        length, steps = path._length, path._steps
        if length == path._capacity:
            return cls([*steps[:length], step], length + 1, 2 * length)
        if length < len(steps):
            steps[length] = step
        else:
            steps.append(step)
        return cls(steps, length + 1, path._capacity)

    def starts_with(self, names: frozenset[str]) -> bool:
        """Whether the first step is one of ``names``."""
        return self._steps[0] in names

    def items(self) -> list[str]:
        """The steps, and one more to the elements."""
        return [*self._steps[: self._length], "@items"]

    def size(self) -> Size | None:
        """See ``size_at``."""
        return size_at(self._steps[: self._length])


def size_at(steps: list[str]) -> Size | None:
    """The size of what a path leads to, if that is a known part of the device."""
    if steps[0] != "device":
        return None
    shape: _Shape | None = _DEVICE
    for step in steps[1:]:
        if shape is None:
            return None
        if step in ("@items", "@values"):
            shape = shape.element
        elif step == "@keys":
            shape = shape.key
        else:
            shape = shape.fields.get(step, shape.any_field)
    return None if shape is None else Size(0, shape.max)
