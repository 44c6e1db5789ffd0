"""What expressions and constraints can see of a device: devices that look alike to them are asked about once.

Real devices all carry unique attributes that hardly any selector reads.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from kubectl_dra.cel.reads import Reads
from kubectl_dra.model.resource import Device, DeviceAttribute
from kubectl_dra.model.semver import Semver, SemverError


@dataclass(frozen=True, slots=True)
class _View:
    """The attribute and capacity keys of one driver's devices that anybody looks at."""

    attributes: tuple[str, ...]
    capacity: tuple[str, ...]


class Lens:
    """What expressions that ``read`` something, and constraints on attributes, can see of a device's content."""

    def __init__(self, read: Iterable[Reads], constrained: Iterable[str] = ()) -> None:
        reads = tuple(read)
        self._evaluates = bool(reads)
        self._whole = any(r.all for r in reads)
        self._constrained = tuple(constrained)
        self._attributes = {name for r in reads for name in r.attributes}
        self._attributes |= {(domain, name) for domain, _, name in (c.partition("/") for c in self._constrained)}
        self._capacity = {name for r in reads for name in r.capacity}
        self._views: dict[str, _View] = {}
        self._constrained_keys: dict[str, tuple[str, ...]] = {}

    def content(self, driver: str, device: Device) -> Hashable:
        """Equal for two devices that no expression or constraint can tell apart."""
        attributes = device.attributes
        if self._evaluates and (self._whole or _is_broken(device)):
            capacity = frozenset((name, c.value) for name, c in device.capacity.items())
            return driver, device.allow_multiple_allocations, frozenset(attributes.items()), capacity
        view = self._views.get(driver) or self._view(driver)
        found = tuple(map(attributes.get, view.attributes))
        if not view.capacity:
            return driver, device.allow_multiple_allocations, found
        values = tuple(c and c.value for c in map(device.capacity.get, view.capacity))
        return driver, device.allow_multiple_allocations, found, values

    def constrained(self, driver: str, device: Device) -> Hashable:
        """Equal for two devices of a driver that no constraint can tell apart."""
        if not self._constrained:
            return None
        keys = self._constrained_keys.get(driver)
        if keys is None:
            names = [(domain, name) for domain, _, name in (c.partition("/") for c in self._constrained)]
            keys = self._constrained_keys[driver] = _keys(names, driver, self._constrained)
        return tuple(map(device.attributes.get, keys))

    def _view(self, driver: str) -> _View:
        view = _View(_keys(self._attributes, driver, self._constrained), _keys(self._capacity, driver, ()))
        self._views[driver] = view
        return view


def _keys(names: Collection[tuple[str, str]], driver: str, more: Iterable[str]) -> tuple[str, ...]:
    # A key without a domain belongs to the driver's domain.
    keys = {f"{domain}/{name}" for domain, name in names} | {name for domain, name in names if domain == driver}
    return tuple(sorted(keys.union(more)))


def _is_broken(device: Device) -> bool:
    # Nearly all attributes are plain strings; a function call for each would cost more than all the rest.
    for attribute in device.attributes.values():
        if (attribute.string is None or attribute.versions is not None) and _unconvertible(attribute):
            return True
    return False


def _unconvertible(attribute: DeviceAttribute) -> bool:
    """Whether a value can't be given to CEL, which makes every expression on the device fail."""
    if attribute.ints is not None or attribute.bools is not None or attribute.strings is not None:
        return False
    if attribute.versions is not None:
        return not all(map(_is_version, attribute.versions))
    if attribute.string is not None or attribute.int_value is not None or attribute.bool_value is not None:
        return False
    return attribute.version is None or not _is_version(attribute.version)


@lru_cache(maxsize=4096)
def _is_version(text: str) -> bool:
    try:
        Semver.parse(text)
    except SemverError:
        return False
    return True
