"""What the overview says of all pools together: made by the worker, because there may be ten thousands of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from kubectl_dra.reports.devices.drivers import DriverSummary, driver_summaries
from kubectl_dra.reports.devices.pool import PoolSummary, is_troubled
from kubectl_dra.reports.devices.totals import CapacityTotal, DeviceTotals, sum_totals
from kubectl_dra.reports.top import IdleClaim

#: A driver with more pools than this has them in a strip of so many cells, not in a line each.
FEW: Final = 12
CELLS: Final = 48


@dataclass(frozen=True, slots=True)
class Cell:
    """Some pools of a driver that stand beside each other in its strip."""

    pools: tuple[PoolSummary, ...]
    totals: DeviceTotals


@dataclass(frozen=True, slots=True)
class UseRow:
    """A line of the panel of devices: a driver, one of its shared capacities, one of its pools, or all in a strip."""

    driver: DriverSummary
    pool: PoolSummary | None = None
    capacity: CapacityTotal | None = None
    cells: tuple[Cell, ...] = ()


class TroubleKind(StrEnum):
    """What needs attention besides pods that wait."""

    BROKEN = "broken"
    TAINTED = "tainted"
    UNUSED = "unused"
    REFUSED = "refused"  # workloads whose controllers are refused pods
    QUEUED = "queued"  # workloads without pods yet
    OVERDUE = "overdue"  # pods that should have ended and hold devices
    REJECTED = "rejected"  # pods that their nodes did not take
    IDLE_RULE = "idleRule"  # taint rules that are on no device


@dataclass(frozen=True, slots=True)
class Attention:
    """A pool that can't be allocated from, or so many ``devices`` that are tainted or held for nobody.

    ``namesake``: whether another driver has a pool of that name.
    """

    trouble: TroubleKind
    pool: PoolSummary | None = None
    devices: int = 0
    since: str = ""
    number: int = 0
    namesake: bool = False


@dataclass(frozen=True, slots=True)
class WholeRecord:
    """``uses``: drivers with what is below them; ``attention``: what is wrong, pools that are broken first.

    ``totals`` is None where there is no pool.
    """

    uses: tuple[UseRow, ...]
    attention: tuple[Attention, ...]
    totals: DeviceTotals | None

    @property
    def broken(self) -> int:
        return sum(each.trouble is TroubleKind.BROKEN for each in self.attention)


def whole_record(pools: Sequence[PoolSummary], idle: Sequence[IdleClaim]) -> WholeRecord:
    """All pools in the few lines that the overview has; ``idle``: claims that hold devices for nobody."""
    totals = sum_totals([pool.totals for pool in pools]) if pools else None
    return WholeRecord(tuple(_use_rows(pools)), tuple(_attention(pools, totals, idle)), totals)


def _attention(
    pools: Sequence[PoolSummary], totals: DeviceTotals | None, idle: Sequence[IdleClaim]
) -> Iterator[Attention]:
    drivers = Counter(pool.pool for pool in pools)
    troubled = (pool for pool in pools if is_troubled(pool))
    yield from (Attention(TroubleKind.BROKEN, pool, namesake=drivers[pool.pool] > 1) for pool in troubled)
    if totals is not None and totals.tainted.value:
        hit = sum(bool(pool.totals.tainted.value) for pool in pools)
        yield Attention(TroubleKind.TAINTED, devices=totals.tainted.value, number=hit)
    held = [claim for claim in idle if claim.devices]
    if held:
        devices = sum(len(claim.devices) for claim in held)
        oldest = min((claim.created for claim in held if claim.created), default="")
        yield Attention(TroubleKind.UNUSED, devices=devices, since=oldest, number=len(held))


def _use_rows(pools: Sequence[PoolSummary]) -> Iterator[UseRow]:
    """Drivers with their shared capacities; under each its pools, in a strip where there are many."""
    by_driver: defaultdict[str, list[PoolSummary]] = defaultdict(list)
    for pool in pools:
        by_driver[pool.driver].append(pool)
    for driver in driver_summaries(pools):
        own = by_driver[driver.driver]
        yield UseRow(driver)
        yield from (UseRow(driver, capacity=each) for each in driver.capacity)
        if len(own) > FEW:
            yield UseRow(driver, cells=tuple(_cells(own)))
            yield from (UseRow(driver, pool) for pool in _fullest(own))
        else:
            yield from (UseRow(driver, pool) for pool in own)


def _cells(pools: Sequence[PoolSummary]) -> Iterator[Cell]:
    number = min(CELLS, len(pools))
    for index in range(number):
        part = tuple(pools[len(pools) * index // number : len(pools) * (index + 1) // number])
        yield Cell(part, sum_totals([pool.totals for pool in part]))


def _fullest(pools: Sequence[PoolSummary]) -> list[PoolSummary]:
    """The three with the least that is free, of those that are not empty."""
    used = [pool for pool in pools if pool.totals.in_use.value + pool.totals.partly.value]
    return sorted(used, key=lambda pool: (pool.totals.free.value, -pool.totals.in_use.value))[:3]
