"""The value of the variable ``device``, made from a device of a ResourceSlice.

Upstream: k8s.io/dynamic-resource-allocation/cel, ``DeviceMatches``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_dra.cel.run.values import CapacityMap, DomainMap, NativeList, QuantityValue, StringMap, Value
from kubectl_dra.model.semver import Semver, SemverError

if TYPE_CHECKING:
    from kubectl_dra.model.resource import Device, DeviceAttribute

FIELDS: Final = ("driver", "allowMultipleAllocations", "attributes", "capacity")


class DeviceValue:
    """A device as expressions see it. Cheap to make: what no expression reads is only checked, not converted.

    ``error``, valid after :meth:`prepare`: the device has an attribute without a value or with an invalid version, and
    no expression can be evaluated on it, not even ``true``. ``raw`` are the attributes as published, ``converted`` the
    values of those that had to be parsed for that. ``sound``: somebody has checked them already.
    """

    __slots__ = (
        "_attributes",
        "_capacity",
        "_quantities",
        "_sound",
        "_source",
        "_whole",
        "converted",
        "driver",
        "error",
        "raw",
        "ready",
    )

    driver: str
    error: str | None
    raw: dict[str, DeviceAttribute]
    converted: dict[str, Value]
    _attributes: DomainMap | None
    _capacity: DomainMap | None
    _quantities: dict[str, QuantityValue] | None
    _whole: StringMap | None

    def __init__(self, driver: str, device: Device, sound: bool = False) -> None:
        self.driver = driver
        self.raw = device.attributes
        self._source = device
        self._sound = sound
        self.ready = False

    def prepare(self) -> None:
        """Check the attributes, once; set by the first evaluation, and again after one that changed a quantity."""
        self._attributes = self._capacity = self._quantities = self._whole = self.error = None
        self.ready = True
        self.converted = converted = {}
        if self._sound:
            return
        for name, attribute in self.raw.items():
            # Whatever else is set: then there is a value, and one that needs no parsing.
            if attribute.versions is None and (
                attribute.string is not None or attribute.int_value is not None or attribute.bool_value is not None
            ):
                continue
            try:
                converted[name] = attribute_value(attribute)
            except BrokenAttribute as problem:
                self.error = f"attribute {name}: {problem}"
                return

    @property
    def attributes(self) -> DomainMap:
        """``device.attributes``: values by domain and name; unqualified names belong to the driver's domain."""
        if self._attributes is None:
            self._attributes = domains = DomainMap()
            for name, attribute in self.raw.items():
                domain, rest = split_name(name, self.driver)
                domains.setdefault(domain, StringMap())[rest] = attribute_value(attribute)
        return self._attributes

    @property
    def capacity(self) -> DomainMap:
        """``device.capacity``: quantities by domain and name."""
        if self._capacity is None:
            self._capacity = domains = DomainMap()
            for name in self._source.capacity:
                domain, rest = split_name(name, self.driver)
                domains.setdefault(domain, CapacityMap())[rest] = self.quantity(name)
        return self._capacity

    def quantity(self, name: str) -> QuantityValue | None:
        """The capacity published under exactly this name: always the same value during one evaluation."""
        if self._quantities is None:
            self._quantities = {}
        value = self._quantities.get(name)
        if value is None and name in self._source.capacity:
            value = self._quantities[name] = QuantityValue(self._source.capacity[name].value, owner=self)
        return value

    def variable(self, name: str) -> dict[str, Value]:
        """The whole device, for expressions that use it otherwise than by its fields."""
        if self._whole is None:
            multiple = bool(self._source.allow_multiple_allocations)
            fields = (self.driver, multiple, self.attributes, self.capacity)
            self._whole = StringMap(zip(FIELDS, fields, strict=True))
        return self._whole


def split_name(name: str, driver: str) -> tuple[str, str]:
    """Domain and identifier of a qualified name: split at the first slash, by default the driver's domain."""
    domain, slash, rest = name.partition("/")
    return (domain, rest) if slash else (driver, name)


class BrokenAttribute(Exception):
    """Raised for an attribute that has no value; the message is the scheduler's."""


def attribute_value(attribute: DeviceAttribute) -> Value:
    """The value that counts when several are set: lists before scalars, then int, bool, string, version.

    Raises :class:`BrokenAttribute`.
    """
    if attribute.ints is not None:
        return NativeList(attribute.ints)
    if attribute.bools is not None:
        return NativeList(attribute.bools)
    if attribute.strings is not None:
        return NativeList(attribute.strings)
    if attribute.versions is not None:
        return NativeList(map(_version, attribute.versions))
    if attribute.int_value is not None:
        return attribute.int_value
    if attribute.bool_value is not None:
        return attribute.bool_value
    if attribute.string is not None:
        return attribute.string
    if attribute.version is not None:
        return _version(attribute.version)
    raise BrokenAttribute("unsupported attribute value")


def _version(text: str) -> Semver:
    version = _parse_version(text)
    if isinstance(version, str):
        raise BrokenAttribute(version)
    return version


@lru_cache(maxsize=16384)
def _parse_version(text: str) -> Semver | str:
    try:
        return Semver.parse(text)
    except SemverError as error:
        return f"parse semantic version: {error}"


def device_value(driver: str, device: Device, sound: bool = False) -> DeviceValue:
    """The value of ``device`` for a device that ``driver`` published; ``sound``: no attribute is broken."""
    return DeviceValue(driver, device, sound)
