"""matchAttribute and distinctAttribute: stateful per claim, undone in reverse order when the search backtracks.

Upstream: the constraint types of the structured allocator. With list attributes every value is a set (match: the
running intersection stays non-empty, distinct: pairwise disjoint); without, only scalars compare, versions as texts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final

from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceConstraint

Members = tuple[str, frozenset[object]]
# What a constraint holds: the shared value, or the values taken; None if nothing yet.
Held = Members | frozenset[Members] | None
_UNKNOWN: Final = -1


class Value:
    """One attribute value, prepared for comparing."""

    __slots__ = ("attribute", "fields", "kind", "members")

    def __init__(self, attribute: DeviceAttribute) -> None:
        self.attribute = attribute
        self.fields = (attribute.string, attribute.int_value, attribute.bool_value, attribute.version)
        self.kind = next((kind for kind, field in enumerate(self.fields) if field is not None), _UNKNOWN)
        self.members = _members(attribute)

    @property
    def plain(self) -> bool:
        """Whether it is exactly one scalar, so that comparing does not depend on the order."""
        a = self.attribute
        return sum(f is not None for f in self.fields) == 1 and not (a.ints or a.bools or a.strings or a.versions)

    def same(self, other: Value) -> bool:
        """Whether ``other`` has the same value in this value's own type."""
        return self.kind != _UNKNOWN and self.fields[self.kind] == other.fields[self.kind]


def _members(attribute: DeviceAttribute) -> Members | None:
    """The value as a typed set, None for an unknown type or an empty list."""
    lists = (attribute.ints, attribute.bools, attribute.strings, attribute.versions)
    for kind, values in zip(("int", "bool", "string", "version"), lists, strict=True):
        if values:
            return kind, frozenset(values)
    scalars = (attribute.int_value, attribute.bool_value, attribute.string, attribute.version)
    for kind, value in zip(("int", "bool", "string", "version"), scalars, strict=True):
        if value is not None:
            return kind, frozenset((value,))
    return None


def common(a: Members, b: Members) -> Members | None:
    """What two values have in common, None if nothing."""
    if a[0] != b[0]:
        return None
    common = a[1] & b[1]
    return (a[0], common) if common else None


class Constraint(ABC):
    """Base: ``add`` says whether a device may join and remembers it, ``remove`` forgets the last one that did."""

    __slots__ = ("attribute", "lists")
    distinct = False

    def __init__(self, attribute: str, lists: bool) -> None:
        self.attribute = attribute
        self.lists = lists

    @abstractmethod
    def add(self, value: Value) -> bool:
        """Let a device with this value join, if the constraint allows it."""

    @abstractmethod
    def remove(self) -> None:
        """Forget the device that joined last."""

    @abstractmethod
    def state(self) -> Held:
        """All that decides about further devices."""


class MatchAttribute(Constraint):
    __slots__ = ("_common", "_values")

    def __init__(self, attribute: str, lists: bool) -> None:
        super().__init__(attribute, lists)
        self._values: list[Value] = []
        self._common: list[Members] = []

    def add(self, value: Value) -> bool:
        """Accepts the first device that has the attribute, then those that share its value."""
        if self.lists:
            members = value.members
            if members is not None and self._common:
                members = common(self._common[-1], members)
            if members is None:
                return False
            self._common.append(members)
        elif self._values and not value.same(self._values[0]):
            return False
        self._values.append(value)
        return True

    def remove(self) -> None:
        """Restores the value that the devices before shared."""
        self._values.pop()
        if self.lists:
            self._common.pop()

    def state(self) -> Held:
        """The shared value, or what lists still have in common."""
        if not self._values:
            return None
        return self._common[-1] if self.lists else self._values[0].members


class DistinctAttribute(Constraint):
    __slots__ = ("_values",)
    distinct = True

    def __init__(self, attribute: str, lists: bool) -> None:
        super().__init__(attribute, lists)
        self._values: list[Value] = []

    def add(self, value: Value) -> bool:
        """Accepts a device whose value no other has."""
        if self.lists:
            if value.members is None or any(self._overlap(value.members, other) for other in self._values):
                return False
        elif self._values and (value.kind == _UNKNOWN or any(value.same(other) for other in self._values)):
            return False
        self._values.append(value)
        return True

    @staticmethod
    def _overlap(members: Members, other: Value) -> bool:
        return other.members is not None and common(members, other.members) is not None

    def remove(self) -> None:
        self._values.pop()

    def state(self) -> Held:
        return frozenset(value.members for value in self._values if value.members is not None) or None


def make(spec: DeviceConstraint, lists: bool) -> Constraint | None:
    """The constraint of a claim, None for a type that the allocator does not know. If both are set, match wins."""
    if spec.match_attribute is not None:
        return MatchAttribute(spec.match_attribute, lists)
    if spec.distinct_attribute is not None:
        return DistinctAttribute(spec.distinct_attribute, lists)
    return None


def applies(spec: DeviceConstraint, request: str, parent: str | None) -> bool:
    """Whether a constraint concerns a request, or a subrequest of ``parent``."""
    if not spec.requests:
        return True
    if parent is None:
        return request in spec.requests
    return parent in spec.requests or f"{parent}/{request}" in spec.requests


def lookup(device: Device, driver: str, attribute: str) -> DeviceAttribute | None:
    """A published attribute by its full name, or by the bare id if its domain is the driver's name."""
    attributes: Mapping[str, DeviceAttribute] = device.attributes
    found = attributes.get(attribute)
    if found is not None:
        return found
    domain, slash, name = attribute.partition("/")
    return attributes.get(name) if slash and domain == driver else None
