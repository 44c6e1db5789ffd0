"""What a column of a list is: the same for tables of ``get``, for ``--sort-by`` and for grids of the TUI.

Tables for other programs: Markdown for tickets, comma-separated values for spreadsheets.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from kubectl_dra.output.devices.parts import number
from kubectl_dra.output.layout import Column, long_table
from kubectl_dra.output.safe import Safe, multiline, plain
from kubectl_dra.reports.base import Count

RowT = TypeVar("RowT")
# A name or an attribute may begin so; what begins with a minus is a number, or the sign for none.
_FORMULA: Final = ("=", "+", "@")
Rows = Iterable[Sequence[Safe]]


class Shown(Enum):
    """In which tables of ``get`` a column stands; grids of the TUI choose for themselves."""

    ALWAYS = "always"
    NARROW = "narrow"  # without -o wide
    WIDE = "wide"  # with -o wide


@dataclass(frozen=True, slots=True)
class ListColumn(Generic[RowT]):
    """A column: its title, what it says of a row at a time, and with ``-o wide`` (``detail``, if that is more).

    ``key`` is what rows are sorted by; columns without one are sorted by nothing.
    """

    title: str
    cell: Callable[[RowT, datetime], Safe]
    key: Callable[[RowT], Any] | None = None
    right: bool = False
    shown: Shown = Shown.ALWAYS
    detail: Callable[[RowT, datetime], Safe] | None = None

    def of(self, row: RowT, now: datetime, *, wide: bool) -> Safe:
        return self.detail(row, now) if wide and self.detail is not None else self.cell(row, now)


def list_table(
    columns: Sequence[ListColumn[RowT]], rows: Iterable[RowT], now: datetime, wide: bool = False, headers: bool = True
) -> Iterator[Safe]:
    """A row is a line with whole names, in a pipe and on any terminal: grep, awk and wc count on it."""
    shown = shown_columns(columns, wide=wide)
    titles = [Column(column.title, right=column.right) for column in shown]
    return long_table(titles, ([column.of(row, now, wide=wide) for column in shown] for row in rows), header=headers)


def shown_columns(columns: Sequence[ListColumn[RowT]], *, wide: bool) -> list[ListColumn[RowT]]:
    """Those that stand in a table with or without ``-o wide``."""
    left_out = Shown.NARROW if wide else Shown.WIDE
    return [column for column in columns if column.shown is not left_out]


def count_column(title: str, count: Callable[[RowT], Count], shown: Shown = Shown.ALWAYS) -> ListColumn[RowT]:
    """A column of numbers, each as sure as it is."""
    return ListColumn(title, lambda row, _: number(count(row)), lambda row: count(row).value, True, shown)


def _markdown_lines(titles: Sequence[str], rows: Rows) -> Iterator[Safe]:
    yield _bars(titles)
    yield _bars(["---"] * len(titles))
    for row in rows:
        yield _bars([Safe(plain(cell).replace("|", "\\|")) for cell in row])


def _bars(cells: Sequence[str]) -> Safe:
    return Safe("| ") + Safe(" | ").join(cells) + Safe(" |")


def _csv_lines(titles: Sequence[str], rows: Rows) -> Iterator[Safe]:
    """Comma-separated values with a header, as RFC 4180 quotes them, and nothing that a spreadsheet would compute."""
    paper = io.StringIO()
    writer = csv.writer(paper, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([_no_formula(plain(cell)) for cell in row] for row in rows)
    yield multiline(paper.getvalue().removesuffix("\n"))


def _no_formula(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


#: By the name of the format.
WRITERS: Final[dict[str, Callable[[Sequence[str], Rows], Iterator[Safe]]]] = {
    "markdown": _markdown_lines,
    "csv": _csv_lines,
}
