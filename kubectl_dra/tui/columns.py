"""Columns of a grid: what a cell says, how wide it may get, what goes first when the terminal is narrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import Any, Final, Generic, TypeVar

from kubectl_dra.output.columns import ListColumn
from kubectl_dra.output.layout import padded, width
from kubectl_dra.output.safe import Safe, Style, safe, styled
from kubectl_dra.tui.text import clipped, clipped_inside

RowT = TypeVar("RowT")
GAP: Final = 2
_SAMPLE: Final = 200
_STRIDE: Final = 7919
_SHORT: Final = 18
_LONG: Final = 24
_SAME: Final = Safe("same name")


@dataclass(frozen=True)
class Column(Generic[RowT]):
    """A column; the title stands in the program.

    ``least``: it may be cut down to so many columns (0: never). ``drop``: columns with the highest number leave first
    when there is no room (0: never). ``key`` makes it sortable. ``stretch`` takes what is left over, up to so many
    columns, and ``draw`` then fills exactly that width. ``frozen`` columns at the left stay where others scroll.
    ``inside``: where a name is too long its middle is left out. ``brief`` stands on the screen in place of ``cell``,
    which is what a saved or copied table says.
    """

    title: str
    cell: Callable[[RowT], Safe] = lambda _row: Safe("")
    right: bool = False
    least: int = 0
    drop: int = 0
    key: Callable[[RowT], Any] | None = None
    draw: Callable[[RowT, int], Safe] | None = None
    stretch: int = 0
    frozen: bool = False
    inside: bool = False
    brief: Callable[[RowT], Safe] | None = None

    def shown(self, row: RowT) -> Safe:
        """What stands on the screen, where there is room for it."""
        return (self.brief or self.cell)(row)


@dataclass(frozen=True)
class Look:
    """How a column of a list looks in a grid: fields as of :class:`Column`, ``cell`` with colours.

    ``same_as``: gives the row's name, which is not repeated on the screen where the cell is the same.
    """

    title: str
    least: int = 0
    drop: int = 0
    right: bool = False
    cell: Callable[[Any], Safe] | None = None
    key: Callable[[Any], Any] | None = None
    frozen: bool = False
    inside: bool = False
    same_as: Callable[[Any], str] | None = None


def chosen(
    columns: Sequence[ListColumn[Any]],
    now: Callable[[], datetime],
    looks: Sequence[Look | Column[RowT]],
    row_of: Callable[[RowT], Any] = lambda row: row,
) -> list[Column[RowT]]:
    """Columns of a list by their titles, in the order of ``looks``; columns that only grids have stand among them.

    ``row_of`` gives the list's row of a grid's row.
    """
    by_title = {column.title: column for column in columns}
    return [look if isinstance(look, Column) else _looking(by_title[look.title], now, look, row_of) for look in looks]


def _looking(
    column: ListColumn[Any], now: Callable[[], datetime], look: Look, row_of: Callable[[RowT], Any]
) -> Column[RowT]:
    own = column.key
    key = look.key or (None if own is None else lambda row: own(row_of(row)))
    cell = look.cell or (lambda row: column.cell(row_of(row), now()))
    right = look.right or column.right
    brief = None if look.same_as is None else partial(_unless_same, cell, look.same_as)
    return Column(
        column.title, cell, right, look.least, look.drop, key, frozen=look.frozen, inside=look.inside, brief=brief
    )


def _unless_same(cell: Callable[[Any], Safe], name: Callable[[Any], str], row: Any) -> Safe:  # noqa: ANN401 - a list's row
    found = cell(row)
    return styled(_SAME, Style.DIM) if str(found) == str(safe(name(row))) else found


@dataclass(frozen=True)
class Fitted(Generic[RowT]):
    """The columns that have room, and how wide each is."""

    columns: tuple[Column[RowT], ...]
    widths: tuple[int, ...]

    @property
    def total(self) -> int:
        return _total(self.widths)

    @property
    def frozen(self) -> int:
        """Columns of a line that stay where the others scroll sideways."""
        leading = list(takewhile(lambda pair: pair[0].frozen, zip(self.columns, self.widths, strict=True)))
        return sum(size + GAP for _, size in leading)

    def column_at(self, place: int) -> Column[RowT] | None:
        """The column of a place in a line."""
        end = 0
        for column, size in zip(self.columns, self.widths, strict=True):
            end += size + GAP
            if place < end:
                return column
        return None

    def cells(self, row: RowT) -> tuple[Safe, ...]:
        """What each column says of a row, however little room there is."""
        return tuple(column.shown(row) for column in self.columns)

    def line(self, row: RowT, cells: Sequence[Safe]) -> Safe:
        """One row, from its ``cells``: making them is what costs, so that they are made once a line."""
        together = zip(self.columns, cells, self.widths, strict=True)
        return self._joined([self._cell(column, row, cell, size) for column, cell, size in together])

    def header(self, sorted_by: Column[RowT] | None, descending: bool) -> Safe:
        """The titles; an arrow after that of the column that rows are sorted by."""
        arrow = "↓" if descending else "↑"
        titles = [Safe(c.title + (arrow if c is sorted_by else "")) for c in self.columns]
        return self._joined([clipped(title, w) for title, w in zip(titles, self.widths, strict=True)])

    def _cell(self, column: Column[RowT], row: RowT, cell: Safe, columns: int) -> Safe:
        if column.draw is not None:
            return column.draw(row, columns)
        return (clipped_inside if column.inside else clipped)(cell, columns)

    def _joined(self, cells: Sequence[Safe]) -> Safe:
        together = zip(self.columns, cells, self.widths, strict=True)
        return Safe((" " * GAP).join(padded(cell, w, right=column.right) for column, cell, w in together))


def natural_widths(
    columns: Sequence[Column[RowT]], rows: Sequence[RowT], sorted_by: Column[RowT] | None = None
) -> list[int]:
    """How wide columns would like to be, judged by rows from everywhere in the list."""
    step = max(1, len(rows) // _SAMPLE)
    # Not each step-th: rows of one kind may come at equal distances.
    places = (at + number * _STRIDE % step for number, at in enumerate(range(0, len(rows), step)))
    sample = [*(rows[min(place, len(rows) - 1)] for place in places), *rows[-1:]]
    return [
        max([len(column.title) + (column is sorted_by), *(width(column.shown(row)) for row in sample)])
        for column in columns
    ]


def fit(columns: Sequence[Column[RowT]], natural: Sequence[int], available: int) -> Fitted[RowT]:
    """Cut down, then drop columns until the rest fits; give what is left over to a column that stretches."""
    chosen = [(column, size) for column, size in zip(columns, natural, strict=True)]
    while _total([_comfort(column, size) for column, size in chosen]) > available:
        weakest = max(range(len(chosen)), key=lambda index: chosen[index][0].drop)
        if not chosen[weakest][0].drop:
            break
        del chosen[weakest]
    widths = _cut([size for _, size in chosen], [column for column, _ in chosen], available)
    for index, (column, _) in enumerate(chosen):
        if column.stretch:
            widths[index] = max(widths[index], min(column.stretch, widths[index] + available - _total(widths)))
    return Fitted(tuple(column for column, _ in chosen), tuple(widths))


def _comfort(column: Column[RowT], size: int) -> int:
    """What a column needs before others have to leave for it: short texts whole, long ones in part."""
    return size if size <= _SHORT or not column.least else min(size, max(column.least, _LONG))


def _cut(widths: list[int], columns: Sequence[Column[RowT]], available: int) -> list[int]:
    """Take what is too much from the widest column that may be cut."""
    while (excess := _total(widths) - available) > 0:
        room = [index for index, column in enumerate(columns) if column.least and widths[index] > column.least]
        if not room:
            break
        widest = max(room, key=lambda index: widths[index])
        second = max((widths[index] for index in room if index != widest), default=0)
        floor = max(columns[widest].least, min(second, widths[widest] - 1))
        widths[widest] -= min(excess, max(widths[widest] - floor, 1))
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * max(len(widths) - 1, 0)
