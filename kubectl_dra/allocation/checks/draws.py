"""What the devices that one attempt has chosen draw on their pools: shared counters, compatibility groups.

Upstream: allocateDevice of the structured allocator.
"""

from __future__ import annotations

from typing import NamedTuple

from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.counters import Consumption, PoolCounters
from kubectl_dra.allocation.checks.groups import PoolGroups, Undo
from kubectl_dra.allocation.input.candidates import Candidate
from kubectl_dra.allocation.input.pools import NodePool


class Draw(NamedTuple):
    """What one device took; ``joined`` is None where compatibility groups are not looked at."""

    pool: NodePool
    charged: Consumption
    joined: Undo | None


class Draws:
    """Counters and groups of each pool, made when the first of its devices is tried."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._counters: dict[int, PoolCounters] = {}
        self._groups: dict[int, PoolGroups] = {}

    def of(self, pool: NodePool) -> tuple[PoolCounters | None, PoolGroups | None]:
        """Counters and groups of a pool, if devices that draw on them were tried."""
        return self._counters.get(id(pool)), self._groups.get(id(pool))

    def take(self, candidate: Candidate) -> Draw | None:
        """Join the users of the device's counter sets and take its counters; None where either is refused."""
        pool, device = candidate.pool, candidate.device
        joined = None
        if self._checks.features.compatibility_groups:
            joined = self._pool_groups(pool).join(device)
            if joined is None:
                return None
        counters = self._pool_counters(pool)
        consumption = counters.consumption(device)
        if counters.charge(consumption):
            return Draw(pool, consumption, joined)
        if joined is not None:
            self._pool_groups(pool).leave(joined)
        return None

    def give_back(self, draw: Draw) -> None:
        """Undo :meth:`take`."""
        if draw.joined is not None:
            self._pool_groups(draw.pool).leave(draw.joined)
        self._pool_counters(draw.pool).refund(draw.charged)

    def _pool_counters(self, pool: NodePool) -> PoolCounters:
        found = self._counters.get(id(pool))
        if found is None:
            found = self._counters[id(pool)] = self._checks.counters(pool)
        return found

    def _pool_groups(self, pool: NodePool) -> PoolGroups:
        found = self._groups.get(id(pool))
        if found is None:
            found = self._groups[id(pool)] = self._checks.groups(pool)
        return found
