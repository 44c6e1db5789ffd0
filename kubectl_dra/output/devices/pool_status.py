"""What ResourcePoolStatusRequests say about a pool, and where the numbers have changed since."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from kubectl_dra.model.poolstatus import PoolStatus
from kubectl_dra.output.devices.parts import UNKNOWN, known_or
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import ago, counted
from kubectl_dra.reports.devices.pool_status import FigureDifference, PoolStatusRecord

_FIGURES: Final = {
    "generation": "generation",
    "resourceSliceCount": "slices",
    "totalDevices": "devices",
    "allocatedDevices": "allocated",
    "unavailableDevices": "unavailable",
    "availableDevices": "available",
}


def status_lines(record: PoolStatusRecord, now: datetime) -> Iterator[Safe]:
    if record.failed:
        yield from wrapped(fmt("ResourcePoolStatusRequest {} failed: {}", record.request, record.failed), indent=2)
    elif not record.over and record.status is None:
        yield from wrapped(fmt("ResourcePoolStatusRequest {} has no answer yet.", record.request), indent=2)
    elif record.status is None:
        yield from wrapped(fmt("ResourcePoolStatusRequest {} leaves this pool out.", record.request), indent=2)
    else:
        yield from _answer(record, record.status, now)


def _answer(record: PoolStatusRecord, status: PoolStatus, now: datetime) -> Iterator[Safe]:
    head = fmt("ResourcePoolStatusRequest {}, {}: {}", record.request, ago(record.answered, now), _numbers(status))
    yield from wrapped(head, indent=2)
    if status.validation_error:
        yield from wrapped(styled(fmt("it says: {}", status.validation_error), Style.BAD), indent=4, first=2)
    for each in status.partition_summary:
        text = fmt("{} {}: {} of {} allocatable", each.attribute, each.type, known_or(each.allocatable), each.total)
        yield from wrapped(text, indent=4, first=2)
    if status.shareable_summary is not None:
        shared = status.shareable_summary
        whole, part = known_or(shared.fully_available_devices), known_or(shared.partially_available_devices)
        yield from wrapped(fmt("shared devices: {} wholly, {} partly available", whole, part), indent=4, first=2)
        for capacity in shared.capacity:
            amounts = fmt("{} of {} available", str(capacity.available or UNKNOWN), str(capacity.total or UNKNOWN))
            taken = fmt("{} consumed", str(capacity.consumed or UNKNOWN))
            yield from wrapped(fmt("{}: {}, {}", capacity.name, amounts, taken), indent=6, first=4)
    if record.differs:
        changes = Safe(", ").join(map(_difference, record.differs))
        yield from wrapped(styled(fmt("now it would say: {}", changes), Style.WARN), indent=4, first=2)
    if record.counted_twice:
        devices = counted(record.counted_twice, "device")
        yield from wrapped(fmt("{} in use and tainted: available is that much too low", devices), indent=4, first=2)


def _numbers(status: PoolStatus) -> Safe:
    numbers = {
        "devices": status.total_devices,
        "allocated": status.allocated_devices,
        "unavailable": status.unavailable_devices,
        "available": status.available_devices,
    }
    parts = [fmt("{} {}", value, Safe(name)) for name, value in numbers.items() if value is not None]
    slices = status.resource_slice_count
    where = [fmt("generation {}", status.generation)] + ([fmt("{} slices", slices)] if slices is not None else [])
    where += [fmt("node {}", status.node_name)] if status.node_name else []
    return Safe(", ").join([*where, *parts])


def _difference(difference: FigureDifference) -> Safe:
    return fmt("{} {} instead of {}", Safe(_FIGURES[difference.figure]), difference.now, difference.counted)
