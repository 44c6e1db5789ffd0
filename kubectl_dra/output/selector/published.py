"""What devices publish, below a selector that they do not match; and amounts that lack their unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.reports.selector.records import PublishedDomain, SelectorReport, compiles

_DOMAINS: Final = 4
_NAMES: Final = 12
#: ``capacity["DOMAIN"].NAME`` and an amount that is only digits.
_BARE: Final = re.compile(
    r"""capacity\[["']([^"']+)["']\]\.\??([A-Za-z_][A-Za-z0-9_]*)[^"']{0,80}?quantity\(["']([0-9]{1,9})["']\)"""
)
_UNITS: Final = (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))


def published_lines(report: SelectorReport) -> Iterator[Safe]:
    """Domains and names with a value each, where the selector reads what nothing has, or cannot be read itself."""
    if not report.published or not _helps(report):
        return
    yield Safe("What the devices publish:")
    for each in _nearest(report)[:_DOMAINS]:
        if each.attributes:
            yield from _names(fmt('device.attributes["{}"]', each.domain), each.attributes)
        if each.capacity:
            yield from _names(fmt('device.capacity["{}"]', each.domain), each.capacity)
    if len(report.published) > _DOMAINS:
        yield fmt("  and {} more domains", len(report.published) - _DOMAINS)


def _helps(report: SelectorReport) -> bool:
    totals = report.totals
    fails = bool(totals.devices.value) and totals.fails.value == totals.devices.value
    return not compiles(report) or fails or bool(report.unknown_domains)


def _nearest(report: SelectorReport) -> list[PublishedDomain]:
    """The domains that the selectors name first."""
    texts = " ".join(selector.expression for selector in report.selectors)
    return sorted(report.published, key=lambda each: f'"{each.domain}"' not in texts.replace("'", '"'))


def _names(path: Safe, values: Mapping[str, str]) -> Iterator[Safe]:
    shown = [fmt("{} {}", name, value) if value else fmt("{}", name) for name, value in list(values.items())[:_NAMES]]
    more = fmt(", and {} more", len(values) - _NAMES) if len(values) > _NAMES else Safe("")
    yield from wrapped(fmt("{}: {}{}", path, Safe(", ").join(shown), more), indent=4, first=2)


def unit_lines(report: SelectorReport) -> Iterator[Safe]:
    """An amount without a unit beside capacities that are thousands of times as large."""
    capacities = {(each.domain, name): value for each in report.published for name, value in each.capacity.items()}
    for selector in report.selectors:
        for domain, name, digits in _BARE.findall(selector.expression):
            unit = _unit(capacities.get((domain, name), ""), int(digits))
            if unit:
                text = '{} is compared with {} bytes, and the devices have {}: did you mean quantity("{}{}")?'
                yield from wrapped(fmt(text, name, digits, capacities[domain, name], digits, unit))


def _unit(value: str, amount: int) -> str:
    """The unit with which the amount is of the size that devices have; empty where it is as it stands."""
    try:
        size = Quantity.parse(value).at_scale(0)[0] if value else 0
    except QuantityError:
        return ""
    if not amount or size < amount * 1024:
        return ""
    return next((unit for unit, factor in _UNITS if amount * factor <= size * 16 and size >= factor), "")
