"""All pools of one driver together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from kubectl_dra.reports import base
from kubectl_dra.reports.devices.pool import PoolSummary, is_troubled
from kubectl_dra.reports.devices.totals import CapacityTotal, DeviceTotals, sum_capacity, sum_totals


class DriverSummary(base.ReportRecord, frozen=True):
    """All pools of one driver together; ``troubled`` of them can't be allocated from, somewhere or anywhere."""

    driver: str
    pools: int
    troubled: int
    totals: DeviceTotals
    capacity: tuple[CapacityTotal, ...]


def driver_summaries(pools: Iterable[PoolSummary]) -> tuple[DriverSummary, ...]:
    by_driver: defaultdict[str, list[PoolSummary]] = defaultdict(list)
    for pool in pools:
        by_driver[pool.driver].append(pool)
    return tuple(
        DriverSummary(
            driver,
            len(own),
            sum(map(is_troubled, own)),
            sum_totals([pool.totals for pool in own]),
            sum_capacity(each for pool in own for each in pool.capacity),
        )
        for driver, own in sorted(by_driver.items())
    )
