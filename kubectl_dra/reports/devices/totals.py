"""Totals over devices: every device counts once, by its state, and every number says how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

import msgspec

from kubectl_dra.allocation.input.allocated import NANO, nano
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.reports.base import Amount, Bound, Count, ReportRecord
from kubectl_dra.reports.devices.device_state import DeviceState

# Which numbers may turn out larger or smaller while a kind is not completely read. A slice that is missing may belong
# to a newer generation and change everything.
_MAY_GROW: Mapping[str, frozenset[str]] = {
    "ResourceClaim": frozenset(
        {DeviceState.IN_USE, DeviceState.PARTLY, DeviceState.BLOCKED, "in_use_tainted", "admin_only", "consumed"}
    ),
    "DeviceTaintRule": frozenset({DeviceState.TAINTED, "in_use_tainted"}),
    "Node": frozenset({DeviceState.CLOSED}),
}
_MAY_SHRINK: Mapping[str, frozenset[str]] = {
    "ResourceClaim": frozenset(DeviceState) - {DeviceState.IN_USE} | {"admin_only", "available"},
    "DeviceTaintRule": frozenset(
        {DeviceState.FREE, DeviceState.PARTLY, DeviceState.CLOSED, DeviceState.BLOCKED, "available"}
    ),
    # A node that takes no new pods, or none at all, gives nothing away.
    "Node": frozenset({DeviceState.FREE, DeviceState.PARTLY, "available"}),
}


class DeviceTotals(ReportRecord, frozen=True):
    """Devices by state: ``devices`` is the sum of the seven states.

    ``in_use_tainted`` of those in use are tainted as well; ``admin_only`` of the others are held with admin access,
    which leaves them as free as they are.
    """

    devices: Count
    free: Count
    partly: Count
    in_use: Count
    tainted: Count
    blocked: Count
    closed: Count
    not_offered: Count
    in_use_tainted: Count
    admin_only: Count


class CapacityTotal(ReportRecord, frozen=True):
    """One capacity over all shareable devices: ``available`` only counts devices that a request could get now."""

    name: str
    total: str
    consumed: Amount
    available: Amount


class DeviceTally(msgspec.Struct):
    numbers: dict[str, int] = msgspec.field(default_factory=dict)
    capacities: dict[str, list[int]] = msgspec.field(default_factory=dict)
    formats: dict[str, Quantity] = msgspec.field(default_factory=dict)

    def device(self, state: DeviceState, tainted: bool, admin_only: bool, number: int = 1) -> None:
        """Count one device, or a ``number`` of them."""
        self._add("devices", number)
        self._add(state, number)
        if tainted and state is DeviceState.IN_USE:
            self._add("in_use_tainted", number)
        if admin_only:
            self._add("admin_only", number)

    def capacity(self, name: str, value: Quantity, consumed: int, available: int) -> None:
        """Add one capacity of a shareable device; amounts in 1e-9 units."""
        sums = self.capacities.setdefault(name, [0, 0, 0])
        self.formats.setdefault(name, value)
        for index, amount in enumerate((nano(value), consumed, available)):
            sums[index] += amount

    def plus(self, other: DeviceTally) -> None:
        for name, number in other.numbers.items():
            self.numbers[name] = self.numbers.get(name, 0) + number
        for name, sums in other.capacities.items():
            mine = self.capacities.setdefault(name, [0, 0, 0])
            self.capacities[name] = [a + b for a, b in zip(mine, sums, strict=True)]
            self.formats.setdefault(name, other.formats[name])

    def totals(self, evidence: Evidence) -> DeviceTotals:
        """The totals, as sure as the evidence allows."""
        numbers = tuple(self.numbers.get(name, 0) for name in _COUNTED)
        return _shared_totals(numbers, evidence.complete("ResourceSlice"), evidence.missing(_MAY_GROW))

    def capacity_totals(self, evidence: Evidence) -> tuple[CapacityTotal, ...]:
        return tuple(self._capacity_total(name, evidence) for name in sorted(self.capacities))

    def _capacity_total(self, name: str, evidence: Evidence) -> CapacityTotal:
        like = self.formats[name].format
        total, consumed, available = (str(Quantity(amount, NANO, like)) for amount in self.capacities[name])
        used, left = bound_of("consumed", evidence), bound_of("available", evidence)
        return CapacityTotal(name, total, Amount(consumed, used), Amount(available, left))

    def _add(self, name: str, number: int) -> None:
        self.numbers[name] = self.numbers.get(name, 0) + number


#: What :class:`DeviceTally` counts, in the order of the fields of :class:`DeviceTotals`.
_COUNTED: Final = (
    "devices",
    DeviceState.FREE,
    DeviceState.PARTLY,
    DeviceState.IN_USE,
    DeviceState.TAINTED,
    DeviceState.BLOCKED,
    DeviceState.CLOSED,
    DeviceState.NOT_OFFERED,
    "in_use_tainted",
    "admin_only",
)


@lru_cache(maxsize=4096)
def _shared_totals(numbers: tuple[int, ...], complete: bool, lacking: tuple[str, ...]) -> DeviceTotals:
    """Totals of :data:`_COUNTED`; of thousands of pools most have the same."""
    bounds = (_bound(name, complete, lacking) for name in _COUNTED)
    return DeviceTotals(*map(_shared_count, numbers, bounds))


@lru_cache(maxsize=4096)
def _shared_count(value: int, bound: Bound) -> Count:
    """A count; of thousands of pools most have the same few."""
    return Count(value, bound)


def sum_totals(parts: Sequence[DeviceTotals]) -> DeviceTotals:
    """The sum of totals that rest on the same evidence."""
    names = DeviceTotals.__struct_fields__
    return DeviceTotals(**{name: _sum_counts([getattr(part, name) for part in parts]) for name in names})


def _sum_counts(counts: Sequence[Count]) -> Count:
    return Count(sum(count.value for count in counts), counts[0].bound if counts else Bound.EXACT)


def sum_capacity(parts: Iterable[CapacityTotal]) -> tuple[CapacityTotal, ...]:
    sums: dict[str, CapacityTotal] = {}
    for part in parts:
        known = sums.get(part.name)
        sums[part.name] = part if known is None else _plus(known, part)
    return tuple(sums[name] for name in sorted(sums))


def _plus(a: CapacityTotal, b: CapacityTotal) -> CapacityTotal:
    consumed = Amount(_sum(a.consumed.value, b.consumed.value), a.consumed.bound)
    available = Amount(_sum(a.available.value, b.available.value), a.available.bound)
    return CapacityTotal(a.name, _sum(a.total, b.total), consumed, available)


def _sum(a: str, b: str) -> str:
    return str(Quantity.parse(a).add(Quantity.parse(b)))


def bound_of(name: str, evidence: Evidence) -> Bound:
    """How sure the number called ``name`` (a state or a field of the totals) is."""
    return _bound(name, evidence.complete("ResourceSlice"), evidence.missing(_MAY_GROW))


def state_bounds(evidence: Evidence) -> Mapping[DeviceState, Bound]:
    """How sure a device's state is: ``atMost`` where it may be less available than that says."""
    return _state_bounds(evidence.complete("ResourceSlice"), evidence.missing(_MAY_SHRINK))


@cache
def _state_bounds(complete: bool, lacking: tuple[str, ...]) -> Mapping[DeviceState, Bound]:
    """Once for thousands of pools."""
    if not complete:
        return dict.fromkeys(DeviceState, Bound.UNKNOWN)
    return {each: Bound.AT_MOST if _any(each, lacking, _MAY_SHRINK) else Bound.EXACT for each in DeviceState}


@cache
def _bound(name: str, complete: bool, lacking: tuple[str, ...]) -> Bound:
    if not complete:
        return Bound.UNKNOWN
    grows = _any(name, lacking, _MAY_GROW)
    shrinks = _any(name, lacking, _MAY_SHRINK)
    if grows and shrinks:
        return Bound.UNKNOWN
    return Bound.AT_LEAST if grows else Bound.AT_MOST if shrinks else Bound.EXACT


def _any(name: str, kinds: Iterable[str], table: Mapping[str, frozenset[str]]) -> bool:
    return any(name in table[kind] for kind in kinds)
