"""The value of the variable ``device``, made from a device of a ResourceSlice.

Upstream: k8s.io/dynamic-resource-allocation/cel, ``DeviceMatches``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_dra.cel.values import DomainMap, QuantityValue, StringMap, Value
from kubectl_dra.model.semver import Semver, SemverError

if TYPE_CHECKING:
    from kubectl_dra.model.resource import Device, DeviceAttribute


class DeviceValue:
    """A device as expressions see it; cheap to make, converted when first evaluated.

    ``error`` is set once converted, if the device has an attribute without a value or with an invalid version: then no
    expression can be evaluated on it, not even ``true``.
    """

    __slots__ = ("_map", "_source", "attributes", "capacity", "demoted", "driver", "error", "ready")

    attributes: DomainMap
    capacity: DomainMap | None

    def __init__(self, driver: str, device: Device) -> None:
        self.driver = driver
        self._source = device
        self.ready = False
        self.demoted = False

    def prepare(self) -> None:
        """Convert what was not yet converted; forget what the last evaluation left behind."""
        if not self.ready:
            self.ready = True
            self.error: str | None = None
            self.capacity = self._map = None
            self._convert_attributes()
        elif self.demoted:
            self.demoted = False
            self.capacity = self._map = None

    def _convert_attributes(self) -> None:
        driver = self.driver
        own: dict[str, Value] = StringMap()
        self.attributes = domains = DomainMap()
        for name, attribute in self._source.attributes.items():
            value: Value = attribute.string
            if value is None or _has_several(attribute):
                try:
                    value = _attribute_value(attribute)
                except _Broken as problem:
                    self.error = f"attribute {name}: {problem}"
                    return
            if "/" in name:
                domain, _, name = name.partition("/")
                if domain != driver:
                    _inner(domains, domain)[name] = value
                    continue
            own[name] = value
        if own:
            domains[driver] = own

    def load_capacity(self) -> DomainMap:
        """Convert the capacities, which only some expressions read."""
        self.capacity = domains = DomainMap()
        for name, capacity in self._source.capacity.items():
            domain, slash, rest = name.partition("/")
            if slash:
                _inner(domains, domain)[rest] = QuantityValue(capacity.value, owner=self)
            else:
                _inner(domains, self.driver)[name] = QuantityValue(capacity.value, owner=self)
        return domains

    def field(self, name: str) -> Value:
        """The value of a field of ``device``."""
        if name == "attributes":
            return self.attributes
        if name == "capacity":
            return self.capacity or self.load_capacity()
        return self.driver if name == "driver" else bool(self._source.allow_multiple_allocations)

    def as_map(self) -> dict[str, Value]:
        """The whole device, for expressions that use it otherwise than by its fields."""
        if self._map is None:
            self._map: StringMap | None = StringMap({name: self.field(name) for name in FIELDS})
        return self._map


FIELDS: Final = ("driver", "allowMultipleAllocations", "attributes", "capacity")


def _inner(domains: DomainMap, domain: str) -> dict[str, Any]:
    inner = domains.get(domain)
    if inner is None:
        inner = domains[domain] = StringMap()
    return inner


class _Broken(Exception):
    """An attribute that has no value."""


def _has_several(attribute: DeviceAttribute) -> bool:
    return not (
        attribute.ints is None
        and attribute.bools is None
        and attribute.strings is None
        and attribute.versions is None
        and attribute.int_value is None
        and attribute.bool_value is None
    )


def _attribute_value(attribute: DeviceAttribute) -> Value:
    """The value that counts when several are set: lists before scalars, then int, bool, string, version."""
    for values in (attribute.ints, attribute.bools, attribute.strings):
        if values is not None:
            return list(values)
    if attribute.versions is not None:
        return [_version(text) for text in attribute.versions]
    if attribute.int_value is not None:
        return attribute.int_value
    if attribute.bool_value is not None:
        return attribute.bool_value
    if attribute.string is not None:
        return attribute.string
    if attribute.version is not None:
        return _version(attribute.version)
    raise _Broken("unsupported attribute value")


def _version(text: str) -> Semver:
    try:
        return Semver.parse(text)
    except SemverError as error:
        raise _Broken(f"parse semantic version: {error}") from None


def device_value(driver: str, device: Device) -> DeviceValue:
    """The value of ``device`` for a device that ``driver`` published."""
    return DeviceValue(driver, device)
