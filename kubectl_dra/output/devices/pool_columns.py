"""The columns of a list of pools, for tables of ``get``, for ``--sort-by``, for the grid of the TUI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kubectl_dra.output.columns import ListColumn, Shown
from kubectl_dra.output.devices.parts import UNKNOWN, scope_cell
from kubectl_dra.output.devices.state_columns import state_columns, with_present
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.pool import PoolSummary, is_troubled

POOLS: Final[tuple[ListColumn[PoolSummary], ...]] = (
    ListColumn("DRIVER", lambda pool, _: safe(pool.driver), lambda pool: (pool.driver, pool.pool)),
    ListColumn("POOL", lambda pool, _: safe(pool.pool), lambda pool: (pool.pool, pool.driver)),
    ListColumn("NODES", lambda pool, _: scope_cell(pool.scope), lambda pool: scope_cell(pool.scope)),
    *state_columns(lambda pool: pool.totals),
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
    pools = list(pools)
    more = [_UNPUBLISHED] if any(pool.unpublished for pool in pools) else []
    return with_present((*POOLS[:-1], *more, POOLS[-1]), pools)


def pool_state_cell(pool: PoolSummary) -> Safe:
    """``ready``, ``incomplete``, …; ``differs`` where nodes disagree, ``?`` where they might."""
    if pool.views:
        return Safe("differs")
    return UNKNOWN if pool.views_bound is Bound.UNKNOWN else safe(pool.view.state.value)
