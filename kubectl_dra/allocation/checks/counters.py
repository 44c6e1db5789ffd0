"""Shared counters of a pool: what allocated devices leave, what the attempt takes.

Upstream: checkAvailableCounters of the structured allocator. Every counter of every set of the pool must suffice, also
those that the device does not use; what is available may be negative. Devices that vanished consume nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from operator import lt

from kubectl_dra.allocation.input.allocated import PoolState, nano
from kubectl_dra.allocation.input.pools import NodePool
from kubectl_dra.model.resource import Device

Consumption = tuple[tuple[int, int], ...]


class PoolCounters:
    """The counters of one pool in 1e-9 units, numbered in a fixed order."""

    def __init__(self, pool: NodePool, state: PoolState) -> None:
        sets = pool.counter_sets or {}
        self.names = [(name, counter) for name, counter_set in sets.items() for counter in counter_set.counters]
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self.available = [nano(sets[name].counters[counter].value) for name, counter in self.names]
        self.used = [0] * len(self.names)
        if state:
            for device in self._held(pool, state):
                for number, amount in self.consumption(device):
                    self.available[number] -= amount

    @staticmethod
    def _held(pool: NodePool, state: PoolState) -> Iterable[Device]:
        slices = chain(pool.slices, pool.elsewhere)
        return (device for slice_ in slices for device in slice_.spec.devices if device.name in state)

    def consumption(self, device: Device) -> Consumption:
        """What a device takes: (counter number, amount)."""
        return tuple(
            (self._numbers[consumption.counter_set, name], nano(counter.value))
            for consumption in device.consumes_counters
            for name, counter in consumption.counters.items()
        )

    def charge(self, consumption: Consumption) -> bool:
        """Take what a device consumes, if every counter of the pool suffices."""
        used = self.used
        for number, amount in consumption:
            used[number] += amount
        if any(map(lt, self.available, used)):
            self.refund(consumption)
            return False
        return True

    def refund(self, consumption: Consumption) -> None:
        """Give back what :meth:`charge` took."""
        for number, amount in consumption:
            self.used[number] -= amount

    def shortage(self, consumption: Consumption) -> tuple[str, str, int, int, bool] | None:
        """The first counter that does not suffice: set, counter, amount needed, amount left, whether it is needed."""
        needs = [0] * len(self.names)
        for number, amount in consumption:
            needs[number] += amount
        for number, (counter_set, counter) in enumerate(self.names):
            left = self.available[number] - self.used[number]
            if left < needs[number]:
                return counter_set, counter, needs[number], left, needs[number] > 0
        return None
