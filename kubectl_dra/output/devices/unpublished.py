"""Tables of devices that only claims tell of.

The warning about devices that a device plugin gives out as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from kubectl_dra.output.devices.holders import holder_text
from kubectl_dra.output.layout import PAGE, Column, table, wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed, plural, shortened
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.advertised import AdvertisedResource
from kubectl_dra.reports.devices.unpublished import AllocatedDevice

_SHOWN = 3
#: Devices that are told one by one, and pools that are named.
_NAMED = 16
_POOLS = 6


def unpublished_table(devices: Sequence[AllocatedDevice], now: datetime, node: str, wide: bool) -> list[Safe]:
    """A line per device; ``node``: whose pods are told without their node."""
    columns = [Column("DEVICE"), Column("USED BY", flexible=True)]
    rows = [[safe(d.device), Safe("; ").join(holder_text(h, now, node) for h in d.holders)] for d in devices]
    return list(table(columns, rows, columns_wide=None if wide else PAGE, indent=2))


def vanished_text(devices: Sequence[str]) -> Safe:
    """What no row tells of, because no slice has it."""
    number, are = counted(len(devices), "device"), Safe(plural("is", len(devices)))
    text = "{} that claims hold {} not listed, because no ResourceSlice publishes {} any more: {}."
    return fmt(text, number, are, Safe("it" if len(devices) == 1 else "them"), shortened(devices, _SHOWN))


def held_lines(devices: Sequence[AllocatedDevice], now: datetime) -> Iterator[Safe]:
    """What claims have of pools whose slices could not be read, pool by pool."""
    for (driver, pool), found in groupby(devices, key=lambda each: (each.driver, each.pool)):
        here = tuple(found)
        text = "Claims that could be read have {} of {}/{}; whether the pool has more is unknown:"
        yield from wrapped(fmt(text, counted(len(here), "device"), driver, pool), indent=4, first=2)
        # Most pools are named after the node whose devices they hold.
        yield from unpublished_table(here, now, pool, wide=False)


def held_in_brief(devices: Sequence[AllocatedDevice], now: datetime) -> Iterator[Safe]:
    """The same of all pools: of many devices only how many."""
    if len(devices) <= _NAMED:
        yield from held_lines(devices, now)
        return
    by_pool = Counter((each.driver, each.pool) for each in devices)
    parts = [fmt("{} of {}/{}", number, driver, pool) for (driver, pool), number in list(by_pool.items())[:_POOLS]]
    rest = len(by_pool) - len(parts)
    more = [counted(rest, "more pool")] if rest > 0 else []
    text = "Claims that could be read have {}: {}. Whether there are more is unknown."
    yield from wrapped(fmt(text, counted(len(devices), "device"), listed([*parts, *more])), indent=4, first=2)


def advertised_lines(found: Sequence[AdvertisedResource]) -> Iterator[Safe]:
    """One line per node, and how many there are more."""
    for each in found[:_SHOWN]:
        least = Safe("at least ") if each.requested.bound is not Bound.EXACT else Safe("")
        text = "Warning: node {} also advertises {}: {} ({}{} requested by pods). If these are the devices of {}, the "
        text += "scheduler counts them twice: let only one of the two, device plugin or DRA driver, offer them there."
        yield from wrapped(fmt(text, each.node, each.resource, each.amount, least, each.requested.value, each.driver))
    if len(found) > _SHOWN:
        yield fmt("The same holds on {} more nodes.", len(found) - _SHOWN)
