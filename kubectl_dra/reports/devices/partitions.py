"""Partitions of one piece of hardware: what counter sets have left, which devices exclude each other, what still fits.

Counters come from ``allocation.checks.counters``; a partition type is the value of the slice's
``partitionTypeAttribute``, else of the attribute ``profile`` that drivers use for it, else what the devices consume.
Counters that only differ in their number, such as the slices of a memory, are one: which of them a device takes is its
place on the hardware and not its type.

How many partitions still fit together: the largest set of consumptions within what counters have left. An exact search
over small independent groups with a budget; where the budget ends it, the answer is "at least".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kubectl_dra.allocation.checks.constraints import lookup
from kubectl_dra.allocation.checks.counters import Consumption, PoolCounters
from kubectl_dra.allocation.input.allocated import NANO, nano
from kubectl_dra.allocation.input.pools import NodePool
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import CounterSet, Device
from kubectl_dra.reports.base import Bound, Count, ReportRecord
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.open_pool import ListedState

_BUDGET = 20_000


_PROFILE: Final = "profile"
_NUMBER: Final = re.compile(r"[-._]?[0-9]+\Z")


class CounterRecord(ReportRecord, frozen=True):
    """One counter of one set, texts in its own format; ``available`` may be negative where a driver shrank it.

    ``used_bound`` is ``atLeast`` where claims could not be read: then at most ``available`` are left.
    """

    counter_set: str
    counter: str
    total: str
    used: str
    used_bound: Bound
    available: str


class PartitionType(ReportRecord, frozen=True):
    """Devices of one type: what each takes, how many there are, how many are free one by one, how many at once."""

    name: str
    takes: str
    devices: int
    free: Count
    together: Count


def counter_records(pool: NodePool, counters: PoolCounters, sure: Bound) -> tuple[CounterRecord, ...]:
    """Every counter of every set, sorted by name; ``sure`` is how sure it is what is used of them."""
    sets: Mapping[str, CounterSet] = pool.counter_sets or {}
    records = []
    for number, (set_name, counter) in enumerate(counters.names):
        total, left = sets[set_name].counters[counter].value, counters.available[number]
        used, available = (str(Quantity(n, NANO, total.format)) for n in (nano(total) - left, left))
        records.append(CounterRecord(set_name, counter, str(total), used, sure, available))
    return tuple(sorted(records, key=lambda record: (record.counter_set, record.counter)))


def partition_types(members: Sequence[ListedState], counters: PoolCounters, sure: Bound) -> tuple[PartitionType, ...]:
    """The types of the pool's partitions in their order in it; ``sure`` is how sure the number of free devices is."""
    by_type: defaultdict[str, list[ListedState]] = defaultdict(list)
    for member in members:
        by_type[_type_name(member, counters)].append(member)
    return tuple(_partition_type(name, by_type[name], counters, sure) for name in by_type)


def _partition_type(name: str, members: Sequence[ListedState], counters: PoolCounters, sure: Bound) -> PartitionType:
    free = [counters.consumption(member.device) for member in members if member.state is DeviceState.FREE]
    size, exact = largest_set(free, counters.available)
    together = Count(size, sure if exact else Bound.AT_LEAST if sure is Bound.EXACT else Bound.UNKNOWN)
    takes = dict.fromkeys(_taken(member.device, counters) for member in members)
    return PartitionType(name, " or ".join(takes), len(members), Count(len(free), sure), together)


def _type_name(member: ListedState, counters: PoolCounters) -> str:
    spec = member.slice.spec
    value = lookup(member.device, spec.driver, spec.partition_type_attribute or _PROFILE)
    return _taken(member.device, counters) if value is None else attribute_text(value)


def _taken(device: Device, counters: PoolCounters) -> str:
    """What a device takes, without the names of the sets: ``memory-slice 2, multiprocessors 28``."""
    stems = Counter(_stem(name) for name in {name for _, name in counters.names})
    amounts: dict[str, Quantity] = {}
    for consumption in device.consumes_counters:
        for name, counter in sorted(consumption.counters.items()):
            shown = _stem(name) if stems[_stem(name)] > 1 else name
            amounts[shown] = amounts[shown].add(counter.value) if shown in amounts else counter.value
    return ", ".join(f"{name} {amount}" for name, amount in amounts.items())


def _stem(counter: str) -> str:
    """The name of a counter without its number: ``memory-slice`` of ``memory-slice-3``."""
    return _NUMBER.sub("", counter)


def exclusions(members: Sequence[ListedState], pool: NodePool, counters: PoolCounters) -> Mapping[str, tuple[str, ...]]:
    """Device name -> names of the devices that can never be allocated beside it: both exceed what their sets hold."""
    sets: Mapping[str, CounterSet] = pool.counter_sets or {}
    totals = [nano(sets[name].counters[counter].value) for name, counter in counters.names]
    alike: defaultdict[Consumption, list[str]] = defaultdict(list)
    for member in members:
        alike[counters.consumption(member.device)].append(member.device.name)
    by_counter: defaultdict[int, list[Consumption]] = defaultdict(list)
    for consumption in alike:
        for number in {number for number, _ in consumption}:
            by_counter[number].append(consumption)
    found: dict[str, tuple[str, ...]] = {}
    for consumption, names in alike.items():
        near = {other for number, _ in consumption for other in by_counter[number]}
        against = sorted(
            name for other in near if not fits_together((consumption, other), totals) for name in alike[other]
        )
        found.update({name: tuple(other for other in against if other != name) for name in names})
    return found


def largest_set(consumptions: Iterable[Consumption], available: Sequence[int]) -> tuple[int, bool]:
    """Size of the largest set that fits, and whether that is exact (else: at least so many)."""
    if any(amount < 0 for amount in available):
        # One overdrawn counter keeps every counter-consuming device of the pool away.
        return 0, True
    size, exact = 0, True
    for group in _independent(consumptions):
        found, sure = _search(group, available)
        size, exact = size + found, exact and sure
    return size, exact


def fits_together(consumptions: Iterable[Consumption], available: Sequence[int]) -> bool:
    """Whether all of them fit at once."""
    left = list(available)
    for consumption in consumptions:
        for number, amount in consumption:
            left[number] -= amount
    return all(amount >= 0 for amount in left)


def _independent(consumptions: Iterable[Consumption]) -> list[list[Consumption]]:
    """Groups that share no counter; within a group the small ones first."""
    groups: list[tuple[set[int], list[Consumption]]] = []
    for consumption in consumptions:
        numbers, members = {number for number, amount in consumption if amount}, [consumption]
        apart = []
        for group in groups:
            if group[0].isdisjoint(numbers):
                apart.append(group)
            else:
                numbers |= group[0]
                members += group[1]
        groups = [*apart, (numbers, members)]
    return [sorted(members, key=_weight) for _, members in groups]


def _weight(consumption: Consumption) -> tuple[int, Consumption]:
    return sum(amount for _, amount in consumption), consumption


def _search(group: list[Consumption], available: Sequence[int]) -> tuple[int, bool]:
    """Depth first, smallest first: the first dive is the greedy answer, the rest proves or improves it."""
    left = list(available)
    best = steps = 0
    stack: list[tuple[int, int, Consumption]] = [(0, 0, ())]
    while stack:
        index, taken, give_back = stack.pop()
        if index < 0:
            _change(left, give_back, 1)
            continue
        best = max(best, taken)
        steps += 1
        if steps > _BUDGET:
            return best, False
        if index == len(group) or taken + len(group) - index <= best:
            continue
        # The next one may be left out only together with all that are exactly like it.
        stack.append((_after(group, index), taken, ()))
        if all(amount <= left[number] for number, amount in group[index]):
            stack.append((-1, 0, group[index]))
            _change(left, group[index], -1)
            stack.append((index + 1, taken + 1, ()))
    return best, True


def _after(group: list[Consumption], index: int) -> int:
    end = index + 1
    while end < len(group) and group[end] == group[index]:
        end += 1
    return end


def _change(left: list[int], consumption: Consumption, sign: int) -> None:
    for number, amount in consumption:
        left[number] += sign * amount
