"""What devices publish, below a selector that they do not match; and amounts that lack their unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.reports.selector.records import PublishedDomain, SelectorReport, compiles
from kubectl_dra.selectors.edits import BARE_AMOUNT
from kubectl_dra.selectors.units import likely_unit

_DOMAINS: Final = 4
_NAMES: Final = 12
#: ``capacity["DOMAIN"].NAME`` and an amount with a unit.
_AMOUNT: Final = re.compile(BARE_AMOUNT.pattern.replace("{1,9})", "{1,9})([kMGT]i?|Ki)"))


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
    added = [
        found for each in report.rewrites if "amount" in each.changes for found in _AMOUNT.findall(each.expression)
    ]
    bare = (found for each in report.selectors for found in BARE_AMOUNT.findall(each.expression))
    added += [(*found, _unit(capacities.get(found[:2], ""), int(found[2]))) for found in bare]
    written = " ".join(each.expression for each in report.selectors)
    for domain, name, digits, unit in dict.fromkeys(added):
        if unit and re.search(rf"\b{digits}\b", written) and (domain, name) in capacities:
            text = '{} has no unit, and the devices have {} of {}: did you mean quantity("{}{}")?'
            yield from wrapped(fmt(text, digits, capacities[domain, name], name, digits, unit))


def _unit(value: str, amount: int) -> str:
    try:
        return likely_unit(amount, Quantity.parse(value)) if value else ""
    except QuantityError:
        return ""
