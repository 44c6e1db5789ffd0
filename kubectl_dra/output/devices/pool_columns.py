"""The columns of a list of pools, for tables of ``get``, for ``--sort-by``, for the grid of the TUI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kubectl_dra.output.columns import ListColumn, Shown, count_column
from kubectl_dra.output.devices.parts import UNKNOWN, scope_cell, used_count
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.reports.devices.pool import PoolSummary, is_troubled

POOLS: Final[tuple[ListColumn[PoolSummary], ...]] = (
    ListColumn("DRIVER", lambda pool, _: safe(pool.driver), lambda pool: (pool.driver, pool.pool)),
    ListColumn("POOL", lambda pool, _: safe(pool.pool), lambda pool: (pool.pool, pool.driver)),
    ListColumn("NODES", lambda pool, _: scope_cell(pool.scope), lambda pool: scope_cell(pool.scope)),
    count_column("DEVICES", lambda pool: pool.totals.devices),
    count_column("FREE", lambda pool: pool.totals.free),
    # Devices that somebody holds; wide tells apart those with something left.
    count_column("USED", lambda pool: used_count(pool.totals), Shown.NARROW),
    count_column("PARTLY", lambda pool: pool.totals.partly, Shown.WIDE),
    count_column("FULL", lambda pool: pool.totals.in_use, Shown.WIDE),
    count_column("TAINTED", lambda pool: pool.totals.tainted),
    count_column("BLOCKED", lambda pool: pool.totals.blocked, Shown.WIDE),
    count_column("NOT OFFERED", lambda pool: pool.totals.not_offered, Shown.WIDE),
    ListColumn(
        "GENERATION",
        lambda pool, _: fmt("{}", pool.view.generation),
        lambda pool: pool.view.generation,
        right=True,
        shown=Shown.WIDE,
    ),
    ListColumn(
        "SLICES",
        lambda pool, _: fmt("{}/{}", pool.view.seen, pool.view.expected),
        lambda pool: pool.view.seen,
        right=True,
        shown=Shown.WIDE,
    ),
    ListColumn(
        "STATE", lambda pool, _: pool_state_cell(pool), lambda pool: (not is_troubled(pool), pool_state_cell(pool))
    ),
)


#: Only where some pool has such devices.
_UNPUBLISHED: Final[ListColumn[PoolSummary]] = ListColumn(
    "UNPUBLISHED", lambda pool, _: fmt("{}", pool.unpublished), lambda pool: pool.unpublished, right=True
)


def pool_columns(pools: Iterable[PoolSummary]) -> tuple[ListColumn[PoolSummary], ...]:
    """The columns of a list of pools, before the state what claims have of any of them and drivers do not publish."""
    more = [_UNPUBLISHED] if any(pool.unpublished for pool in pools) else []
    return (*POOLS[:-1], *more, POOLS[-1])


def pool_state_cell(pool: PoolSummary) -> Safe:
    """``ready``, ``incomplete``, …; ``differs`` where nodes disagree, ``?`` where they might."""
    if pool.views:
        return Safe("differs")
    return UNKNOWN if pool.views is None else safe(pool.view.state.value)
