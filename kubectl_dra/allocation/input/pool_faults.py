"""What makes a pool invalid, so that none of its devices is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import chain
from operator import attrgetter
from typing import Final

import msgspec

from kubectl_dra.model.resource import CounterSet, ResourceSlice

_NAME: Final = attrgetter("name")
_CONSUMED: Final = attrgetter("consumes_counters")


class PoolFault(StrEnum):
    """What makes a pool invalid."""

    DUPLICATE_DEVICE = "duplicateDevice"
    DUPLICATE_COUNTER_SET = "duplicateCounterSet"
    UNKNOWN_COUNTER_SET = "unknownCounterSet"
    UNKNOWN_COUNTER = "unknownCounter"


class InvalidReason(msgspec.Struct, frozen=True):
    """The first fault found, the name that it is about, and for an unknown counter its counter set."""

    fault: PoolFault
    name: str
    counter_set: str = ""


def duplicate_device(slices: Sequence[ResourceSlice]) -> InvalidReason | None:
    """The first device name that occurs twice."""
    every = [name for slice_ in slices for name in map(_NAME, slice_.spec.devices)]
    if len(set(every)) == len(every):
        return None
    names: set[str] = set()
    for name in every:
        if name in names:
            return InvalidReason(PoolFault.DUPLICATE_DEVICE, name)
        names.add(name)
    return None


def counter_sets(slices: Sequence[ResourceSlice]) -> tuple[dict[str, CounterSet], InvalidReason | None]:
    """The counter sets by name, and the first name that occurs twice."""
    sets: dict[str, CounterSet] = {}
    for slice_ in slices:
        for counter_set in slice_.spec.shared_counters:
            if counter_set.name in sets:
                return sets, InvalidReason(PoolFault.DUPLICATE_COUNTER_SET, counter_set.name)
            sets[counter_set.name] = counter_set
    return sets, None


def undefined_sets(slices: Sequence[ResourceSlice], generation: int) -> tuple[str, ...]:
    """The counter sets that devices of a generation draw on and no slice has: missing slices have them."""
    current = [slice_ for slice_ in slices if slice_.spec.pool.generation == generation]
    devices = [device for slice_ in current for device in slice_.spec.devices]
    drawn = {each.counter_set for device in devices for each in device.consumes_counters}
    return tuple(sorted(drawn - {each.name for slice_ in current for each in slice_.spec.shared_counters}))


def bad_reference(sets: dict[str, CounterSet], slices: Sequence[ResourceSlice]) -> InvalidReason | None:
    """The first counter set, or counter of one, that a device draws on and that is not there."""
    consumed = (each for slice_ in slices for each in map(_CONSUMED, slice_.spec.devices))
    for consumption in chain.from_iterable(consumed):
        counter_set = sets.get(consumption.counter_set)
        if counter_set is None:
            return InvalidReason(PoolFault.UNKNOWN_COUNTER_SET, consumption.counter_set)
        for name in consumption.counters:
            if name not in counter_set.counters:
                return InvalidReason(PoolFault.UNKNOWN_COUNTER, name, consumption.counter_set)
    return None
