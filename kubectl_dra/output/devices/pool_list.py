"""All pools on one page, driver by driver: totals, a line per pool, and what is wrong with pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.output.console import page_width
from kubectl_dra.output.devices.capacity import capacity_lines
from kubectl_dra.output.devices.parts import by_state, number, scope_cell, totals_text, use_bar
from kubectl_dra.output.devices.pool_page import trouble_text
from kubectl_dra.output.devices.state_columns import DEVICES, TITLES
from kubectl_dra.output.layout import Column, paragraphs, table, width, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import counted, listed_count
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.drivers import DriverSummary, driver_summaries
from kubectl_dra.reports.devices.pool import PoolSummary, is_troubled
from kubectl_dra.reports.devices.totals import sum_totals

#: Columns that a bar may have, the best first.
_BARS: Final = (10, 8, 6)


def pool_list_page(pools: Sequence[PoolSummary], wide: bool = False, bound: Bound = Bound.EXACT) -> list[Safe]:
    """All lines of the list; ``bound`` is that of the number of pools."""
    drivers = driver_summaries(pools)
    blocks: list[list[Safe]] = [[*wrapped(styled(pool_list_summary(pools, bound), Style.BOLD))]]
    for driver in drivers:
        own = [pool for pool in pools if pool.driver == driver.driver]
        blocks.append([*_driver(driver, len(drivers) > 1), *_table(own, wide), *_troubles(own)])
    return paragraphs(blocks)


def pool_list_summary(pools: Sequence[PoolSummary], bound: Bound) -> Safe:
    """How many pools there are, of how many drivers, and the state of their devices."""
    if not pools:
        return Safe("No driver has published any pool." if bound is Bound.EXACT else "No pool could be read.")
    drivers = len({pool.driver for pool in pools})
    of = fmt(" of {}", counted(drivers, "driver")) if drivers > 1 else Safe("")
    totals = totals_text(sum_totals([pool.totals for pool in pools]))
    return fmt("{}{}, {}.", listed_count(len(pools), "pool", bound), of, totals)


def _driver(driver: DriverSummary, several: bool) -> Iterator[Safe]:
    name = styled(safe(driver.driver), Style.NAME)
    if several:
        yield from wrapped(
            fmt("{}: {}, {}", name, counted(driver.pools, "pool"), totals_text(driver.totals)), indent=2, first=0
        )
    else:
        yield name
    for line in capacity_lines(driver.capacity):
        yield Safe("  ") + line


def _table(pools: Sequence[PoolSummary], wide: bool) -> list[Safe]:
    """Columns of states that no pool of the driver is in are left out, and nodes that have the names of their pools.

    The bars get shorter, and at last are left out, where names need the room.
    """
    used = [state for state, total in by_state(sum_totals([pool.totals for pool in pools])) if total.value]
    names = [safe(pool.pool) for pool in pools]
    nodes = [scope_cell(pool.scope) for pool in pools]
    same = names == nodes
    columns = [Column("POOL, NODE" if same else "POOL", flexible=True)]
    columns += [] if same else [Column("NODES", flexible=True)]
    columns += [Column(title, right=True) for title in (DEVICES, *(TITLES[state] for state in used))]
    rows = [
        [name, *([] if same else [where]), number(pool.totals.devices), *_numbers(pool, used)]
        for name, where, pool in zip(names, nodes, pools, strict=True)
    ]
    for size in _BARS:
        barred = [[*row, use_bar(pool.totals, size)] for row, pool in zip(rows, pools, strict=True)]
        lines = table([*columns, Column()], barred, columns_wide=None, indent=2)
        if wide or max(map(width, lines)) <= page_width():
            return lines
    return table(columns, rows, indent=2)


def _numbers(pool: PoolSummary, used: Sequence[DeviceState]) -> list[Safe]:
    return [number(count) for state, count in by_state(pool.totals) if state in used]


def _troubles(pools: Sequence[PoolSummary]) -> Iterator[Safe]:
    for pool in pools:
        if is_troubled(pool):
            yield from wrapped(fmt("{}: {}", pool.pool, styled(trouble_text(pool), Style.BAD)), indent=4, first=2)
