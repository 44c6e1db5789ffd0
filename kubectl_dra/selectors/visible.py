"""What expressions and constraints can see of a device: devices that look alike to them are asked about once.

Real devices all carry unique attributes that hardly any selector reads.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Final, NamedTuple

from kubectl_dra.cel.read.reads import Reads
from kubectl_dra.cel.run.device import BrokenAttribute, attribute_value
from kubectl_dra.model.resource import Device, DeviceAttribute
from kubectl_dra.model.semver import Semver


class VisibleKey(NamedTuple):
    """The key of an attribute or of a capacity."""

    key: str
    is_capacity: bool


class Columns:
    """What somebody looks at, by driver; equal for two who look at the same."""

    __slots__ = ("_by_driver", "_hash")

    def __init__(self, by_driver: Mapping[str, tuple[VisibleKey, ...]]) -> None:
        self._by_driver = dict(by_driver)
        self._hash = hash(frozenset(self._by_driver.items()))

    def of(self, driver: str) -> tuple[VisibleKey, ...]:
        """What is looked at in devices of a driver, sorted."""
        return self._by_driver[driver]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Columns) and self._by_driver == other._by_driver

    def __hash__(self) -> int:
        return self._hash


class VisibleContent:
    """What expressions that ``read`` something, and constraints on attributes, can see of a device's content."""

    def __init__(self, read: Iterable[Reads], constrained: Iterable[str] = ()) -> None:
        reads = tuple(read)
        self._evaluates = bool(reads)
        self._whole = any(r.all for r in reads)
        self._constrained = tuple(constrained)
        self._attributes = {name for r in reads for name in r.attributes}
        self._constrained_names = [(domain, name) for domain, _, name in (c.partition("/") for c in self._constrained)]
        self._attributes.update(self._constrained_names)
        self._capacity = {name for r in reads for name in r.capacity}
        # The attribute and capacity keys of one driver's devices that anybody looks at.
        self._views: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._constrained_keys: dict[str, tuple[str, ...]] = {}

    def content(self, driver: str, device: Device, sound: bool = False) -> Hashable:
        """Equal for two devices that no expression or constraint can tell apart.

        ``sound``: it is known already that the device is not broken.
        """
        attributes = device.attributes
        if self._evaluates and (self._whole or (not sound and is_broken(device))):
            capacity = frozenset((name, c.value) for name, c in device.capacity.items())
            return driver, device.allow_multiple_allocations, frozenset(attributes.items()), capacity
        names, amounts = self._views.get(driver) or self._view(driver)
        found = tuple(map(attributes.get, names))
        if not amounts:
            return driver, device.allow_multiple_allocations, found
        values = tuple(c and c.value for c in map(device.capacity.get, amounts))
        return driver, device.allow_multiple_allocations, found, values

    def columns(self, published: Mapping[str, Collection[str]]) -> Columns | None:
        """All that it looks at of what devices of each driver publish; None for everything."""
        if self._evaluates and self._whole:
            return None
        by_driver: dict[str, tuple[VisibleKey, ...]] = {}
        for driver, own in published.items():
            names, amounts = self._view(driver)
            keys = (*(VisibleKey(name, False) for name in names), *(VisibleKey(name, True) for name in amounts))
            by_driver[driver] = tuple(key for key in keys if key.key in own)
        return Columns(by_driver)

    def constrained(self, driver: str, device: Device) -> Hashable:
        """Equal for two devices of a driver that no constraint can tell apart."""
        if not self._constrained:
            return None
        keys = self._constrained_keys.get(driver)
        if keys is None:
            keys = self._constrained_keys[driver] = _keys(self._constrained_names, driver, self._constrained)
        return tuple(map(device.attributes.get, keys))

    def _view(self, driver: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        names = _keys(self._attributes, driver, self._constrained)
        return self._views.setdefault(driver, (names, _keys(self._capacity, driver, ())))


def _keys(names: Collection[tuple[str, str]], driver: str, more: Iterable[str]) -> tuple[str, ...]:
    # A key without a domain belongs to the driver's domain.
    keys = {f"{domain}/{name}" for domain, name in names} | {name for domain, name in names if domain == driver}
    return tuple(sorted(keys.union(more)))


#: Versions that can be read: devices of a cluster have the same few.
_SOUND: Final[set[str]] = set()
_MOST_VERSIONS: Final = 4096


def is_broken(device: Device) -> bool:
    """Whether an attribute can't be given to CEL, so that what an expression says may depend on any of them."""
    # Nearly all attributes are plain; a function call for each would cost more than all the rest.
    for attribute in device.attributes.values():
        if attribute.versions is None and (
            attribute.string is not None
            or attribute.int_value is not None
            or attribute.bool_value is not None
            or attribute.version in _SOUND
        ):
            continue
        if _unconvertible(attribute):
            return True
    return False


def _unconvertible(attribute: DeviceAttribute) -> bool:
    """Whether a value can't be given to CEL, which makes every expression on the device fail."""
    try:
        value = attribute_value(attribute)
    except BrokenAttribute:
        return True
    if isinstance(value, Semver) and attribute.version is not None and len(_SOUND) < _MOST_VERSIONS:
        _SOUND.add(attribute.version)
    return False
