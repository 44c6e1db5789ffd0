"""All pools: how much of each is used, free, tainted, and which are broken."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.model.ids import PoolId
from kubectl_dra.output.devices.parts import number, scope_cell, used_count
from kubectl_dra.output.devices.pool_list import pool_list_page
from kubectl_dra.output.devices.tables import pool_state_cell
from kubectl_dra.output.safe import Safe, Style, safe, styled
from kubectl_dra.reports.pool import PoolSummary, is_troubled
from kubectl_dra.reports.unread import POOLS
from kubectl_dra.tui.bars import use_bar
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.documents import pool_document
from kubectl_dra.tui.topics import Pools
from kubectl_dra.tui.view import ListView, Subject
from kubectl_dra.tui.views.pool import PoolView
from kubectl_dra.tui.views.reader import ReportView


def state_cell(pool: PoolSummary) -> Safe:
    """``ready`` without a colour, anything else in red."""
    text = pool_state_cell(pool)
    return styled(text, Style.BAD) if is_troubled(pool) else styled(text, Style.DIM)


COLUMNS: tuple[Column[PoolSummary], ...] = (
    Column("DRIVER", lambda p: safe(p.driver), least=12, key=lambda p: (p.driver, p.pool)),
    Column("POOL", lambda p: safe(p.pool), least=12, key=lambda p: (p.pool, p.driver)),
    Column("NODES", lambda p: scope_cell(p.scope), least=8, drop=2, key=lambda p: scope_cell(p.scope)),
    Column("DEVICES", lambda p: number(p.totals.devices), right=True, key=lambda p: p.totals.devices.value),
    Column("FREE", lambda p: number(p.totals.free), right=True, key=lambda p: p.totals.free.value),
    Column("USED", lambda p: number(used_count(p.totals)), right=True, key=lambda p: used_count(p.totals).value),
    Column("TAINTED", lambda p: number(p.totals.tainted), True, 0, 3, lambda p: p.totals.tainted.value),
    Column("", lambda _p: Safe(" " * 6), draw=lambda p, width: use_bar(p.totals, width), stretch=40, drop=1),
    Column("STATE", state_cell, key=lambda p: (not is_troubled(p), pool_state_cell(p))),
)


class PoolsView(ListView[PoolSummary]):
    """The list of pools."""

    crumb = Safe("pools")
    nothing = Safe("No driver has published any pool.")
    about = POOLS

    def topics(self) -> Sequence[Pools]:
        """All pools."""
        return (Pools(),)

    def columns(self) -> Sequence[Column[PoolSummary]]:
        """As in ``get pools``, with a bar."""
        return COLUMNS

    def all_rows(self) -> Sequence[PoolSummary] | None:
        """By driver and pool."""
        return self.desk.record(Pools())

    def identity(self, row: PoolSummary) -> PoolId:
        """Driver and pool."""
        return PoolId(row.driver, row.pool)

    def text_of(self, row: PoolSummary) -> str:
        """Names, nodes and state."""
        return f"{row.driver}/{row.pool} {scope_cell(row.scope)} {pool_state_cell(row)}"

    def opened(self, row: PoolSummary) -> None:
        """Its devices."""
        self.dra.push(PoolView(self.identity(row)))

    @property
    def subject(self) -> Subject | None:
        """The pool under the cursor."""
        row = self.grid.selected
        if row is None:
            return None
        pool = self.identity(row)
        return Subject(str(pool), lambda: pool_document(self.dra.facts_now, pool))

    def do_describe(self) -> None:
        """The list as describe-pool prints it."""
        self.dra.push(PoolListPage())

    def do_node(self) -> None:
        """The devices of the pool's node."""
        row = self.grid.selected
        if row is not None and row.scope.node:
            self.dra.open_node(row.scope.node)


class PoolListPage(ReportView):
    """describe-pool without a name."""

    crumb = Safe("describe")

    def topics(self) -> Sequence[Pools]:
        """All pools."""
        return (Pools(),)

    def lines(self) -> Sequence[Safe] | None:
        """The page."""
        pools = self.desk.record(Pools())
        return None if pools is None else pool_list_page(pools)


__all__ = ["COLUMNS", "PoolsView"]
