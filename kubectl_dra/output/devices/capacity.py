"""Capacity that several claims share: totals, what a device has left, what a policy allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import CapacityRequestPolicy
from kubectl_dra.output.devices.parts import UNKNOWN, amount_bar, ranges
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import listed
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.pool import CapacityRecord, DeviceRecord
from kubectl_dra.reports.devices.totals import CapacityTotal

_BAR = 8


def capacity_lines(totals: Sequence[CapacityTotal]) -> Iterator[Safe]:
    """One line per capacity over all shareable devices of a pool."""
    for each in totals:
        used = fmt("{} of {} used", bounded(each.consumed.value, each.consumed.bound), each.total)
        left = fmt("{} can be requested", bounded(each.available.value, each.available.bound))
        yield from wrapped(fmt("{}: {}, {}", _short(each.name), used, left), indent=2, first=0)


def capacity_cell(device: DeviceRecord) -> list[Safe]:
    """What a shareable device gave away, one line per capacity: ``███░░░░░ 40G of 100G``."""
    several, known = len(device.capacity) > 1, device.holders_bound is Bound.EXACT
    return [text for each in device.capacity if (text := _cell(each, several, known)) is not None]


def _cell(capacity: CapacityRecord, named: bool, known: bool) -> Safe | None:
    """``known``: whether all who take a share are."""
    if not capacity.consumed:
        return None
    used, total = (Quantity.parse(text) for text in (capacity.consumed, capacity.total))
    scale = min(used.scale, total.scale)
    taken = used.at_scale(scale)[0]
    shape = amount_bar(taken, total.at_scale(scale)[0], _BAR, *(() if known else (UNKNOWN,)))
    amount = safe(capacity.consumed) if known else fmt("≥{}", capacity.consumed) if taken else UNKNOWN
    name = fmt(" {}", _short(capacity.name)) if named else Safe("")
    return fmt("{} {} of {}{}", shape, amount, capacity.total, name)


def policy_lines(devices: Sequence[DeviceRecord]) -> Iterator[Safe]:
    """What a request may take of each capacity, said once for all devices with the same rule."""
    groups: dict[tuple[str, Safe], list[str]] = {}
    shared = [device for device in devices if device.shareable]
    for device in shared:
        for capacity in device.capacity:
            text = policy_text(capacity.policy)
            groups.setdefault((_short(capacity.name), text), []).append(device.name)
    for (name, text), names in groups.items():
        who = Safe("") if len(names) == len(shared) else fmt(" of {}", Safe(", ").join(ranges(names)))
        yield fmt("a share of {}{}: {}", name, who, text)


def policy_text(policy: CapacityRequestPolicy | None) -> Safe:
    """What amounts a policy allows, and what one gets without asking."""
    if policy is None:
        return Safe("any amount; all of it if none is requested")
    default = fmt("; {} if none is requested", str(policy.default)) if policy.default is not None else Safe("")
    if policy.valid_range is not None:
        bounds = policy.valid_range
        low = fmt("from {}", str(bounds.min)) if bounds.min is not None else Safe("any amount")
        high = fmt(" to {}", str(bounds.max)) if bounds.max is not None else Safe("")
        step = fmt(" in steps of {}", str(bounds.step)) if bounds.step is not None else Safe("")
        return low + high + step + default
    if policy.valid_values:
        return listed([str(value) for value in policy.valid_values], "or") + default
    return Safe("any amount") + default


def _short(name: str) -> str:
    return name.rpartition("/")[2]


def bounded(amount: str, bound: Bound) -> Safe:
    """An amount as numbers of devices are told: at least nothing is unknown, at most nothing is nothing."""
    none = Quantity.parse(amount).sign == 0
    if none and bound in (Bound.AT_LEAST, Bound.UNKNOWN):
        return UNKNOWN
    return fmt("{}{}", Safe("" if none else bound.sign), amount)
