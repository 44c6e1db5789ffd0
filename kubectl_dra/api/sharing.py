"""Equal parts of many objects as one: models and versions of devices, what nodes can hold, names that repeat.

Only what repeats is worth a look: a place whose values hardly ever do (uuids, addresses) is given up after a while, and
no place keeps more than a few values. What is shared is never changed by anybody, as no record is.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from msgspec.structs import force_setattr

from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import Device, ResourceSlice

_MAX_VALUES: Final = 256
_MAX_PLACES: Final = 4096
# Of so many values at least one is to be known already.
_PATIENCE: Final = 64


class Place:
    """The values of one place, such as an attribute's name, that were seen so far."""

    __slots__ = ("known", "misses", "open")

    def __init__(self) -> None:
        self.known: dict[Hashable, Any] = {}
        self.misses = 0
        self.open = True

    def shared(self, key: Hashable, value: Any) -> Any:  # noqa: ANN401 - any part of a record
        """The value that came first with this key."""
        known = self.known.get(key)
        if known is not None:
            self.misses = 0
            return known
        self.misses += 1
        if len(self.known) < _MAX_VALUES:
            self.known[key] = value
        elif self.misses > _PATIENCE:
            self.open = False
            self.known.clear()
        return value


_places: Final[dict[str, Place]] = {}


def share(record: Record) -> None:
    """Make equal parts of a record that nobody else has seen yet the same as those of earlier ones."""
    if isinstance(record, ResourceSlice):
        for device in record.spec.devices:
            _share_device(device)
    elif isinstance(record, Node):
        _share_amounts(record.status, "allocatable")
        _share_amounts(record.status, "capacity")


def _share_device(device: Device) -> None:
    attributes = device.attributes
    for name, attribute in attributes.items():
        place = _place(name)
        if place.open:
            attributes[name] = place.shared(attribute, attribute)
    capacity = device.capacity
    if capacity and all(each.request_policy is None for each in capacity.values()):
        # Quantities with the same text are one object, which its place keeps.
        key = tuple((name, id(each.value)) for name, each in capacity.items())
        place = _place("capacity of a device")
        if place.open:
            force_setattr(device, "capacity", place.shared(key, capacity))


def _share_amounts(status: Record, field: str) -> None:
    amounts = getattr(status, field)
    place = _place("amounts of a node")
    if amounts and place.open:
        key = tuple((name, id(each)) for name, each in amounts.items())
        force_setattr(status, field, place.shared(key, amounts))


_CLOSED: Final = Place()
_CLOSED.open = False


def _place(name: str) -> Place:
    place = _places.get(name)
    if place is None:
        if len(_places) >= _MAX_PLACES:
            return _CLOSED
        place = _places[name] = Place()
    return place
