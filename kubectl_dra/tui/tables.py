"""The table on the screen as CSV, JSON or Markdown: all rows that the filter keeps, all columns, nothing cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from kubectl_dra.output.rows import WRITERS
from kubectl_dra.output.safe import Safe, plain
from kubectl_dra.tui.columns import Column, RowT

FORMATS: Final = ("csv", "json", "markdown")
SUFFIXES: Final = {".csv": "csv", ".json": "json", ".md": "markdown"}
# A spreadsheet takes a cell that begins so for a formula.
_FORMULA: Final = ("=", "+", "@")


def table_text(columns: Sequence[Column[RowT]], rows: Sequence[RowT], form: str) -> str:
    """The whole text in one of :data:`FORMATS`; what can't be seen in a name is made visible."""
    named = [column for column in columns if column.title.strip()]
    titles = [column.title.strip() for column in named]
    cells = ([Safe(plain(column.cell(row)).strip()) for column in named] for row in rows)
    if form == "json":
        keys = [title.lower().replace(" ", "_") for title in titles]
        return json.dumps([dict(zip(keys, row, strict=True)) for row in cells], indent=2) + "\n"
    if form == "csv":
        cells = ([_no_formula(cell) for cell in row] for row in cells)
    return "".join(f"{line}\n" for line in WRITERS[form](titles, cells))


def format_of(path: str) -> str | None:
    """The format that a file's name asks for; None if it names no known one."""
    return next((form for suffix, form in SUFFIXES.items() if path.lower().endswith(suffix)), None)


def _no_formula(cell: Safe) -> Safe:
    return Safe("'") + cell if cell.startswith(_FORMULA) else cell
