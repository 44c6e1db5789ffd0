"""Tables for other programs: Markdown for tickets, comma-separated values for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from kubectl_dra.output.safe import Safe, multiline, plain

Rows = Iterable[Sequence[Safe]]


def markdown_lines(titles: Sequence[str], rows: Rows) -> Iterator[Safe]:
    yield _bars(titles)
    yield _bars(["---"] * len(titles))
    for row in rows:
        yield _bars([Safe(plain(cell).replace("|", "\\|")) for cell in row])


def _bars(cells: Sequence[str]) -> Safe:
    return Safe("| ") + Safe(" | ").join(cells) + Safe(" |")


def csv_lines(titles: Sequence[str], rows: Rows) -> Iterator[Safe]:
    """Comma-separated values with a header, as RFC 4180 quotes them."""
    paper = io.StringIO()
    writer = csv.writer(paper, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([plain(cell) for cell in row] for row in rows)
    yield multiline(paper.getvalue().removesuffix("\n"))


#: By the name of the format.
WRITERS: Final[dict[str, Callable[[Sequence[str], Rows], Iterator[Safe]]]] = {
    "markdown": markdown_lines,
    "csv": csv_lines,
}
