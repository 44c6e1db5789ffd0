"""Layout in columns of a terminal: widths, padding, wrapping, tables. As wide as a page unless the caller says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Final

from kubectl_dra.output.console import page_width
from kubectl_dra.output.safe import Safe, plain

GAP: Final = 2
_ADDRESS: Final = "://"
#: As many columns as a page has.
PAGE: Final = 0
#: Rows of a long table that share the widths of its columns.
BATCH: Final = 1000
_MIN_FLEXIBLE: Final = 8
#: How much further in the second line of a row begins.
_FURTHER: Final = 4
_EMPTY: Final = frozenset({"", "-"})
_SEAMS: Final = frozenset("/,.-")
_SGR: Final = re.compile("\x1b\\[[0-9;]*m")
_RESET: Final = "\x1b[0m"
_SGR_OR_CHARACTER: Final = re.compile("(?:\x1b\\[[0-9;]*m)*.(?:\x1b\\[0m)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; a flexible one is wrapped where the table would be too wide."""

    title: str = ""
    right: bool = False
    flexible: bool = False


def width(text: Safe) -> int:
    """Columns that ``text`` takes on a terminal, colours not counted."""
    bare = plain(text)
    if bare.isascii():
        return len(bare)
    from rich.cells import cell_len  # only for text beyond ASCII

    return cell_len(bare)


def padded(text: Safe, columns: int, *, right: bool = False) -> Safe:
    """``text`` filled up with spaces to ``columns``."""
    space = Safe(" " * (columns - width(text)))
    return space + text if right else text + space


def wrapped(text: Safe, columns: int = PAGE, *, indent: int = 0, first: int | None = None) -> list[Safe]:
    """``text`` in lines of at most ``columns``, broken at spaces, or inside a word that is longer than a line.

    Addresses are whole, however long.

    ``indent`` counts for every line, ``first`` for the first one instead.
    """
    columns = columns or page_width()
    lines: list[Safe] = []
    start = indent if first is None else first
    line, used = Safe(" " * start), start
    empty = True
    for word in _words(text, columns - max(indent, start)):
        if not empty and used + 1 + width(word) > columns:
            lines.append(line)
            line, used, empty = Safe(" " * indent), indent, True
        line = line + word if empty else line + " " + word
        used = width(line)
        empty = False
    return _coloured_alike([*lines, line] if not empty or not lines else lines)


def _coloured_alike(lines: list[Safe]) -> list[Safe]:
    """A colour that begins on one line and ends on another, on each of them: a line may be shown without the others."""
    active, made = "", []
    for line in lines:
        bare = line.lstrip(" ")
        opened = active
        for code in _SGR.findall(line):
            active = "" if code == _RESET else active + code
        start = Safe(" " * (len(line) - len(bare)) + opened) + Safe(bare)
        made.append(start + Safe(_RESET) if active else start)
    return made


def paragraphs(blocks: Iterable[Sequence[Safe]]) -> list[Safe]:
    """The lines of all blocks, with an empty line between those that have any."""
    lines: list[Safe] = []
    for block in blocks:
        if block:
            lines += [Safe(""), *block] if lines else block
    return lines


def closed(text: Safe, right: Safe) -> list[Safe]:
    """``text``, and ``right`` at the end of its last line if there is room, else on a line of its own."""
    columns = page_width()
    lines = wrapped(text)
    end = padded(Safe(""), columns - width(right)) + right
    if width(lines[-1]) + GAP + width(right) > columns:
        return [*lines, end]
    return [*lines[:-1], padded(lines[-1], columns - width(right)) + right]


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Safe]],
    *,
    columns_wide: int | None = PAGE,
    indent: int = 0,
    header: bool = True,
) -> list[Safe]:
    """A table in lines, two spaces between columns, nothing after the last text of a line.

    ``columns_wide`` None means as wide as it needs to be. Column titles stand in the program.
    """
    titles = [[Safe(column.title) for column in columns]] if header else []
    return list(chain.from_iterable(_lines(columns, [*titles, *rows], [0] * len(columns), columns_wide, indent)))


def lines_of_rows(columns: Sequence[Column], rows: Sequence[Sequence[Safe]], *, indent: int = 0) -> list[list[Safe]]:
    """The lines of a table without a header, row by row, for what stands between them."""
    return list(_lines(columns, rows, [0] * len(columns), PAGE, indent))


def long_table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[Safe]],
    *,
    header: bool = True,
) -> Iterator[Safe]:
    """A line per row, however wide: columns have what the first :data:`BATCH` rows need, later ones more."""
    titles = [[Safe(column.title) for column in columns]] if header else []
    remaining, widths = chain(titles, rows), [0] * len(columns)
    while batch := list(islice(remaining, BATCH)):
        yield from chain.from_iterable(_lines(columns, batch, widths, None, 0))


def _lines(
    columns: Sequence[Column], rows: Sequence[Sequence[Safe]], widths: list[int], columns_wide: int | None, indent: int
) -> Iterator[list[Safe]]:
    """The lines of each row; ``widths`` grow to what they need."""
    widths[:] = [max(widths[i], max((width(row[i]) for row in rows), default=0)) for i in range(len(columns))]
    available = None if columns_wide is None else (columns_wide or page_width()) - indent
    if available is None or _total(widths) <= available:
        for row in rows:
            yield list(_row(row, columns, widths, indent))
        return
    words = [max(_MIN_FLEXIBLE, *(_longest_word(row[i]) for row in rows)) for i in range(len(columns))]
    split = _split(widths, words, columns, available)
    for row in rows:
        lines: list[Safe] = []
        for place, (start, end) in enumerate(split):
            cells, further = row[start:end], _FURTHER if place else 0
            if len(split) > 1 and _EMPTY.issuperset(cells):
                continue
            if place and len(cells) == 1:
                at = indent + further
                lines += wrapped(cells[0], available + indent, indent=at + GAP, first=at)
            else:
                fitted = _fitted(widths[start:end], words[start:end], columns[start:end], available - further)
                lines += _row(cells, columns[start:end], fitted, indent + further)
        yield lines


def _split(
    widths: Sequence[int], words: Sequence[int], columns: Sequence[Column], available: int
) -> list[tuple[int, int]]:
    """The columns of each line of a row: one line where no word has to be cut, else two, the first filled first."""
    count = len(columns)
    least = [min(widths[i], words[i]) if column.flexible else widths[i] for i, column in enumerate(columns)]
    for first in range(count, 0, -1):
        if _total(least[:first]) <= available and _total(least[first:]) <= available - _FURTHER:
            return [(0, count)] if first == count else [(0, first), (first, count)]
    return [(0, count)]


def _longest_word(text: Safe) -> int:
    return max(map(width, map(Safe, text.split(" "))))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _fitted(widths: Sequence[int], words: Sequence[int], columns: Sequence[Column], available: int) -> list[int]:
    """Take what is too much from the flexible columns, the widest first; words are cut only if nothing else helps."""
    fitted = list(widths)
    flexible = [i for i, column in enumerate(columns) if column.flexible]
    for least in (words, [_MIN_FLEXIBLE] * len(columns)):
        while _total(fitted) > available:
            shrinkable = [i for i in flexible if fitted[i] > least[i]]
            if not shrinkable:
                break
            fitted[max(shrinkable, key=lambda i: fitted[i])] -= 1
    return fitted


def _row(row: Sequence[Safe], columns: Sequence[Column], widths: Sequence[int], indent: int) -> Iterator[Safe]:
    cells = [wrapped(cell, size) if width(cell) > size else [cell] for cell, size in zip(row, widths, strict=True)]
    for parts in zip_longest(*cells, fillvalue=Safe("")):
        texts = [
            padded(part, size, right=column.right) for part, size, column in zip(parts, widths, columns, strict=True)
        ]
        yield Safe((" " * indent + (" " * GAP).join(texts)).rstrip(" "))


def _words(text: Safe, limit: int) -> Iterator[Safe]:
    for word in str(text).split(" "):
        rest = Safe(word)
        # An address is pasted somewhere: where it is too long the terminal folds it, which selects it whole.
        while _ADDRESS not in word and width(rest) > max(limit, 1):
            head, rest = _cut(rest, max(limit, 1))
            yield head
        if rest:
            yield rest


def _cut(word: Safe, columns: int) -> tuple[Safe, Safe]:
    """The longest start of ``word`` that fits into ``columns`` (at least one character), and the rest."""
    end = seam = used = at_seam = 0
    for match in _SGR_OR_CHARACTER.finditer(word):
        used += width(Safe(match.group()))
        if used > columns and end:
            break
        end = match.end()
        if plain(Safe(match.group())) in _SEAMS:
            seam, at_seam = end, used
    # A name reads better when it is broken where its parts meet.
    end = seam if at_seam * 2 > columns else end
    return Safe(word[:end]), Safe(word[end:])
