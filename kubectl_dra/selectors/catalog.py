"""What the devices that selectors are tried on have: domains, names, and a value of each for its type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from kubectl_dra.cel.run.device import split_name
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute

ValueT = TypeVar("ValueT")
PublishedT = TypeVar("PublishedT", bound="PublishedDevice")
#: Field (``attributes`` or ``capacity``), domain and name.
Named = tuple[str, str, str]


class PublishedDevice(Protocol):
    """A device and the driver that published it."""

    @property
    def driver(self) -> str:
        """The driver."""

    @property
    def device(self) -> Device:
        """The device."""


def published_value(values: Mapping[str, ValueT], driver: str, domain: str, name: str) -> ValueT | None:
    """What a device of ``driver`` has under a name of a domain; names without domain are in the driver's."""
    found = values.get(f"{domain}/{name}")
    # What has a slash in it has a domain.
    return values.get(name) if found is None and domain == driver and "/" not in name else found


def domain_and_name(name: str, driver: str) -> tuple[str, str]:
    """Where a selector finds what a device of ``driver`` publishes under ``name``."""
    domain, short = split_name(name, driver)
    return domain, short


class Catalog:
    """Counts of all attributes and capacities, and one value (a size) of each, by field, domain and name."""

    def __init__(self, devices: Iterable[PublishedDevice]) -> None:
        self.counts: Counter[Named] = Counter()
        self.samples: dict[Named, DeviceAttribute | None] = {}
        self.sizes: dict[Named, Quantity] = {}
        self._by_driver: dict[str, set[str]] = {}
        self._keys: dict[tuple[str, str, str], Named] = {}
        # Most devices of a driver have the same names: those are looked at once.
        first: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Device] = {}
        alike: Counter[tuple[str, tuple[str, ...], tuple[str, ...]]] = Counter()
        for each in devices:
            names = (each.driver, tuple(each.device.attributes), tuple(each.device.capacity))
            first.setdefault(names, each.device)
            alike[names] += 1
        for names, device in first.items():
            self._add(names[0], device, alike[names])

    def _add(self, driver: str, device: Device, count: int) -> None:
        domains = self._by_driver.setdefault(driver, set())
        for field, names in (("attributes", device.attributes), ("capacity", device.capacity)):
            for name in names:
                key = self._key(field, name, driver)
                self.counts[key] += count
                self.samples.setdefault(key, device.attributes[name] if field == "attributes" else None)
                if field == "capacity":
                    self.sizes.setdefault(key, device.capacity[name].value)
                domains.add(key[1])

    def _key(self, field_name: str, name: str, driver: str) -> Named:
        found = self._keys.get((field_name, name, driver))
        if found is None:
            found = self._keys[field_name, name, driver] = (field_name, *split_name(name, driver))
        return found

    @cached_property
    def domains(self) -> frozenset[str]:
        return frozenset().union(*self._by_driver.values())

    def names(self, field_name: str, domain: str) -> tuple[str, ...]:
        return tuple(name for kind, of, name in self.counts if (kind, of) == (field_name, domain))

    def domains_with(self, field_name: str, name: str) -> tuple[str, ...]:
        """The domains in which something has this name, sorted."""
        return tuple(sorted(of for kind, of, each in self.counts if (kind, each) == (field_name, name)))

    def drivers_with(self, domains: Iterable[str]) -> frozenset[str]:
        """Drivers whose devices have all of ``domains``; those with any of them if there are none with all."""
        wanted = set(domains)
        complete = {driver for driver, own in self._by_driver.items() if wanted <= own}
        return frozenset(complete or {driver for driver, own in self._by_driver.items() if wanted & own})


@dataclass(frozen=True)
class PublishedDevices(Generic[PublishedT]):
    """The devices that selectors are tried on, in their order, and what they have."""

    items: Sequence[PublishedT]

    @cached_property
    def catalog(self) -> Catalog:
        """What they have; made when it is first needed."""
        return Catalog(self.items)
