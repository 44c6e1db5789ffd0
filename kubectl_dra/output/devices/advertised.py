"""The warning about devices that a device plugin gives out as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.advertised import AdvertisedResource

_SHOWN = 3


def advertised_lines(found: Sequence[AdvertisedResource]) -> Iterator[Safe]:
    """One line per node, and how many there are more."""
    for each in found[:_SHOWN]:
        least = Safe("at least ") if each.requested.bound is not Bound.EXACT else Safe("")
        text = "Warning: node {} also advertises {}: {} ({}{} requested by pods). If these are the devices of {}, the "
        text += "scheduler counts them twice: let only one of the two, device plugin or DRA driver, offer them there."
        yield from wrapped(fmt(text, each.node, each.resource, each.amount, least, each.requested.value, each.driver))
    if len(found) > _SHOWN:
        yield fmt("The same holds on {} more nodes.", len(found) - _SHOWN)
