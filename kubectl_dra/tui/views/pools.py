"""All pools: how much of each is used, free, tainted, and which are broken."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.model.ids import PoolId
from kubectl_dra.output.devices.pool_columns import POOLS as POOL_COLUMNS
from kubectl_dra.output.devices.pool_columns import pool_state_cell
from kubectl_dra.output.safe import Safe, Style, styled
from kubectl_dra.reports.devices.pool import PoolSummary, is_troubled
from kubectl_dra.reports.unread import POOLS
from kubectl_dra.tui.bars import use_bar
from kubectl_dra.tui.columns import Column, Look, chosen
from kubectl_dra.tui.documents import pool_document
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import ALL_POOLS
from kubectl_dra.tui.views.pool import PoolDevices, pool_description
from kubectl_dra.tui.views.reader import ReportView


def state_cell(pool: PoolSummary) -> Safe:
    """``ready`` without a colour, anything else in red."""
    text = pool_state_cell(pool)
    return styled(text, Style.BAD) if is_troubled(pool) else styled(text, Style.DIM)


_LOOKS: tuple[Look | Column[PoolSummary], ...] = (
    Look("DRIVER", least=12),
    Look("POOL", least=12, inside=True),
    Look("NODES", least=8, drop=2, inside=True, same_as=lambda pool: pool.pool),
    *(Look("DEVICES"), Look("FREE"), Look("PARTLY", drop=2), Look("USED"), Look("TAINTED", drop=3)),
    Column("", lambda _p: Safe(" " * 6), draw=lambda p, width: use_bar(p.totals, width), stretch=40, drop=1),
    Look("STATE", cell=state_cell),
)


class PoolsView(ListView[PoolSummary]):
    question = ALL_POOLS
    crumb = Safe("pools")
    nothing = Safe("No driver has published any pool.")
    about = POOLS
    describes_row = True
    document = pool_document
    markable = True
    extras = frozenset({"taint"})

    def __init__(self, only: frozenset[PoolId] | None = None) -> None:
        """``only``: these pools."""
        super().__init__()
        self.only = only

    def columns(self) -> Sequence[Column[PoolSummary]]:
        return chosen(POOL_COLUMNS, lambda: self.dra.now, _LOOKS)

    def identity(self, row: PoolSummary) -> PoolId:
        return PoolId(row.driver, row.pool)

    def opened(self, row: PoolSummary) -> None:
        self.dra.push(PoolDevices(self.identity(row)))

    def is_fault(self, row: PoolSummary) -> bool:
        totals = row.totals
        return is_troubled(row) or bool(totals.tainted.value or totals.not_offered.value)

    @property
    def targets(self) -> Sequence[str]:
        return [f"{self.identity(row)}/*" for row in self.marked_rows]

    def preview_of(self, row: PoolSummary) -> ReportView:
        return pool_description(self.dra, self.identity(row))

    def do_describe(self) -> None:
        if self.grid.selected is not None:
            self.dra.push(pool_description(self.dra, self.identity(self.grid.selected)))

    def do_node(self) -> None:
        row = self.grid.selected
        if row is None:
            return
        if row.scope.node:
            self.dra.open_node(row.scope.node)
        else:
            self.dra.say(Safe("this pool is not tied to one node"))
