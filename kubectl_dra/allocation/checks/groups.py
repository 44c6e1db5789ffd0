"""Compatibility groups: which devices may draw on one counter set together.

Upstream: compatibility_groups.go of the experimental allocator (KEP-5963, DRADeviceCompatibilityGroups). A device that
declares no groups goes only with others that declare none; otherwise all must have one group in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import msgspec

from kubectl_dra.allocation.input.allocated import PoolState
from kubectl_dra.allocation.input.pools import NodePool
from kubectl_dra.model.resource import CounterConsumption, Device


class Shared(msgspec.Struct, frozen=True):
    """What the devices on one counter set have in common; ``groups`` None if they declare none."""

    groups: frozenset[str] | None

    def admits(self, groups: frozenset[str]) -> bool:
        """Whether a device with these groups may join."""
        if not groups or self.groups is None:
            return not groups and self.groups is None
        return bool(self.groups & groups)

    def joined(self, groups: frozenset[str]) -> Shared:
        """The state after it; a mixture, which only changed slices can bring about, leaves it as it was."""
        if not groups or self.groups is None:
            return self
        return Shared(self.groups & groups)


Undo = list[tuple[str, Shared | None]]


class PoolGroups:
    """The state of each counter set of one pool; a set on which nobody draws is absent."""

    def __init__(self, pool: NodePool, state: PoolState) -> None:
        self.shared: dict[str, Shared] = {}
        if state:
            for slice_ in chain(pool.slices, pool.elsewhere):
                for device in slice_.spec.devices:
                    if device.name in state:
                        self._join(device.consumes_counters)

    def _join(self, consumptions: Sequence[CounterConsumption]) -> None:
        for consumption in consumptions:
            groups = frozenset(consumption.compatibility_groups)
            present = self.shared.get(consumption.counter_set)
            joined = Shared(groups or None) if present is None else present.joined(groups)
            self.shared[consumption.counter_set] = joined

    def join(self, device: Device) -> Undo | None:
        """Let a device join; returns what :meth:`leave` needs, None if it does not go with the others."""
        undo: Undo = []
        for consumption in device.consumes_counters:
            present = self.shared.get(consumption.counter_set)
            if present is not None and not present.admits(frozenset(consumption.compatibility_groups)):
                self.leave(undo)
                return None
            undo.append((consumption.counter_set, present))
            self._join((consumption,))
        return undo

    def leave(self, undo: Undo) -> None:
        """Restore the state before :meth:`join`."""
        for counter_set, previous in reversed(undo):
            if previous is None:
                del self.shared[counter_set]
            else:
                self.shared[counter_set] = previous
