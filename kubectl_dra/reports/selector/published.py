"""What the devices that selectors are tried on publish, as a reader of an error would like to see it."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.reports.selector.records import PublishedDomain
from kubectl_dra.selectors.catalog import PublishedDevice, domain_and_name
from kubectl_dra.selectors.values import value_source


def published_domains(devices: Iterable[PublishedDevice]) -> tuple[PublishedDomain, ...]:
    """By domain; each name with the value of the first device that has it."""
    found: dict[str, PublishedDomain] = {}
    # Most devices of a driver have the same names: those are looked at once.
    seen: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()
    for each in devices:
        names = (each.driver, tuple(each.device.attributes), tuple(each.device.capacity))
        if names in seen:
            continue
        seen.add(names)
        for name, attribute in each.device.attributes.items():
            domain, short = domain_and_name(name, each.driver)
            found.setdefault(domain, PublishedDomain(domain, {}, {})).attributes.setdefault(
                short, value_source(attribute)
            )
        for name, capacity in each.device.capacity.items():
            domain, short = domain_and_name(name, each.driver)
            found.setdefault(domain, PublishedDomain(domain, {}, {})).capacity.setdefault(short, str(capacity.value))
    return tuple(found[domain] for domain in sorted(found))
