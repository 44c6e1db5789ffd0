"""Devices by driver as bars, and pools in strips with one cell for several of them, as the overview has them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from kubectl_dra.output.devices.capacity import bounded
from kubectl_dra.output.devices.parts import number, spoken
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.devices.pool import is_troubled
from kubectl_dra.tui.bars import capacity_bar, level, totals_words, use_bar
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.whole import CELLS, Cell, UseRow


class UseGrid(Grid[UseRow]):
    """Devices by driver; ← → walk through the cells of a strip."""

    def __init__(self) -> None:
        super().__init__(_USE, _use_identity, header=False, id="use")
        self._at = 0
        self._columns = (*_USE[:1], Column("", _use_blank, draw=self._bar, stretch=CELLS + 2, drop=1), *_USE[2:])

    @property
    def cell(self) -> Cell | None:
        """The cell under the cursor, where it is on a strip."""
        cells = self.selected.cells if self.selected is not None else ()
        return cells[min(self._at, len(cells) - 1)] if cells else None

    def action_move(self, where: str) -> None:
        cells = self.selected.cells if self.selected is not None else ()
        if not cells or where not in ("left", "right"):
            super().action_move(where)
            return
        self._at = max(0, min(self._at + (1 if where == "right" else -1), len(cells) - 1))
        self.refresh()
        self._tell()

    def _bar(self, row: UseRow, columns: int) -> Safe:
        if not row.cells:
            return _use_bar(row, columns)
        at = min(self._at, len(row.cells) - 1) if row is self.selected and self.has_focus else -1
        first = max(0, min(at - columns // 2, len(row.cells) - columns))
        shown = list(enumerate(row.cells))[first : first + columns]
        return Safe("").join(_cell_sign(cell, selected=index == at) for index, cell in shown)


def _cell_sign(cell: Cell, *, selected: bool) -> Safe:
    return styled(Safe("◆"), Style.BOLD) if selected else level(cell.totals, broken=any(map(is_troubled, cell.pools)))


def cell_words(cell: Cell) -> Safe:
    """``pool-12 … pool-15: 4 of 32 free``."""
    names = safe(cell.pools[0].pool)
    if len(cell.pools) > 1:
        names = fmt("{} … {} ({} pools)", names, cell.pools[-1].pool, len(cell.pools))
    return fmt("{}: {} of {} free", names, spoken(cell.totals.free), spoken(cell.totals.devices))


def _use_blank(_row: UseRow) -> Safe:
    return Safe(" " * 8)


def _use_identity(row: UseRow) -> Hashable:
    capacity = row.capacity.name if row.capacity is not None else ""
    return row.driver.driver, capacity, row.pool.pool if row.pool is not None else "", bool(row.cells)


def _use_name(row: UseRow) -> Safe:
    if row.capacity is not None:
        return Safe("  ") + styled(safe(row.capacity.name.rpartition("/")[2]), Style.DIM)
    if row.pool is not None:
        return Safe("  ") + safe(row.pool.pool)
    if row.cells:
        return styled(fmt("  {:,} pools", sum(len(cell.pools) for cell in row.cells)), Style.DIM)
    return styled(safe(row.driver.driver), Style.BOLD)


def _use_bar(row: UseRow, columns: int) -> Safe:
    if row.capacity is not None:
        return capacity_bar(row.capacity, columns)
    return use_bar((row.pool or row.driver).totals, columns)


def _use_devices(row: UseRow) -> Safe:
    return Safe("") if row.capacity is not None or row.cells else number((row.pool or row.driver).totals.devices)


def _use_words(row: UseRow) -> Safe:
    if row.capacity is not None:
        consumed = row.capacity.consumed
        return fmt("{} of {} used", bounded(consumed.value, consumed.bound), row.capacity.total)
    if row.cells:
        return styled(Safe("← → walk, enter opens"), Style.DIM)
    words = totals_words((row.pool or row.driver).totals)
    return words if row.pool is None or not is_troubled(row.pool) else styled(words, Style.BAD)


_USE: Final[tuple[Column[UseRow], ...]] = (
    # Names of nodes differ at their ends.
    Column("", _use_name, least=12, inside=True),
    Column("", lambda _r: Safe(" " * 8), draw=_use_bar, stretch=48, drop=1),
    Column("", _use_devices, right=True),
    Column("", _use_words, least=30),
)
