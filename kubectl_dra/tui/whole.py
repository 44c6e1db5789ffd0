"""What the overview says of all pools together: made by the worker, because there may be ten thousands of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.reports.pool import DriverSummary, PoolSummary, driver_summaries, is_troubled
from kubectl_dra.reports.totals import CapacityTotal, DeviceTotals, sum_totals

_MANY: Final = 200


@dataclass(frozen=True, slots=True)
class UseRow:
    """A line of the panel of devices: a driver, one of its shared capacities, or one of its pools."""

    driver: DriverSummary
    pool: PoolSummary | None = None
    capacity: CapacityTotal | None = None


@dataclass(frozen=True, slots=True)
class WholeRecord:
    """``uses``: drivers with what is below them; ``troubled``: pools that can't be allocated from.

    ``totals`` is None where there is no pool.
    """

    uses: tuple[UseRow, ...]
    troubled: tuple[PoolSummary, ...]
    totals: DeviceTotals | None


def whole_record(pools: Sequence[PoolSummary]) -> WholeRecord:
    """All pools in the few lines that the overview has."""
    totals = sum_totals([pool.totals for pool in pools]) if pools else None
    return WholeRecord(tuple(_use_rows(pools)), tuple(filter(is_troubled, pools)), totals)


def _use_rows(pools: Sequence[PoolSummary]) -> Iterator[UseRow]:
    """Drivers with their shared capacities; under each its pools, unless there are very many."""
    by_driver: defaultdict[str, list[PoolSummary]] = defaultdict(list)
    for pool in pools:
        by_driver[pool.driver].append(pool)
    for driver in driver_summaries(pools):
        yield UseRow(driver)
        yield from (UseRow(driver, capacity=each) for each in driver.capacity)
        yield from (UseRow(driver, pool) for pool in by_driver[driver.driver][:_MANY])
