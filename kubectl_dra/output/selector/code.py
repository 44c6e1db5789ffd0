"""Expressions on a terminal: a line with a mark under a place, and whole texts broken behind operators only."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from kubectl_dra.cel.syntax.lexer import tokenize
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import width, wrapped
from kubectl_dra.output.safe import Safe, Style, safe, styled

_INDENT: Final = 2
#: Where the beginning of a line is left out: ASCII, so that the mark below stays in its column.
_CUT: Final = "..."
_BREAKS: Final = frozenset({"&&", "||", "?", ":", ","})


def marked(expression: str, offset: int | None, length: int, note: Safe) -> Iterator[Safe]:
    """The line of ``expression`` that ``offset`` (in code points) is in, with a mark below it and ``note`` beside.

    Without a place the expression's text and the note below it.
    """
    if offset is None:
        yield from code(expression, max_lines=3)
        yield from wrapped(styled(note, Style.BAD), indent=_INDENT)
        return
    start = expression.rfind("\n", 0, offset) + 1
    end = expression.find("\n", start)
    line = expression[start : end if end >= 0 else len(expression)].replace("\t", " ")
    column = offset - start
    first = _window(line, column)
    before, shown = safe(line[first:column]), _fitting(line[first:])
    if first and len(before) > len(_CUT) and line[first : first + len(_CUT)].isascii():
        shown = Safe(_CUT) + Safe(shown[len(_CUT) :])
    at = width(before) + _INDENT
    mark = "^" * max(1, min(length, width(shown) - width(before)))
    if not shown.strip():
        return
    yield Safe(" " * _INDENT) + shown
    yield from (styled(each, Style.BAD) for each in _noted(at, mark, note))


def _room() -> int:
    """Columns for a line of code."""
    return page_width() - 2 * _INDENT


def _window(line: str, column: int) -> int:
    """Where to begin, so that the place and what is around it fit."""
    if width(safe(line)) <= _room():
        return 0
    return max(0, min(column - _room() // 2, len(line) - _room()))


def _fitting(text: str) -> Safe:
    shown = safe(text[: _room()])
    while width(shown) > _room():
        text = text[: min(len(text), _room()) - 1]
        shown = safe(text)
    return shown


def _noted(at: int, mark: str, note: Safe) -> Iterator[Safe]:
    if at + len(mark) + 1 + width(note) <= page_width():
        yield Safe(" " * at + mark + " ") + note if note else Safe(" " * at + mark)
        return
    yield Safe(" " * at + mark)
    indent = min(at, max(_INDENT, page_width() - width(note)))
    yield from wrapped(note, indent=indent)


def code(expression: str, *, indent: int = _INDENT, max_lines: int | None = None) -> list[Safe]:
    """The whole expression, its lines kept, long ones broken behind operators and commas, so that it can be copied.

    What has none of them stays in one line, however long: broken code is hard to read and to find.
    """
    lines = [line for text in expression.strip("\n").split("\n") for line in _broken(text, page_width() - indent)]
    if max_lines is not None and len(lines) > max_lines:
        lines = [*lines[:max_lines], Safe("…")]
    if max_lines is not None:
        # Only to look at: long texts may be cut anywhere.
        lines = [part for line in lines for part in wrapped(line, page_width() - indent)][: max_lines + 1]
    return [Safe(" " * indent) + line for line in lines if line]


def _broken(line: str, room: int) -> Iterator[Safe]:
    line = line.replace("\t", "    ")
    if width(safe(line)) <= room or "//" in line or "'''" in line or '"""' in line:
        # A comment ends with its line, and a text in three quotes may go on in the next one.
        yield safe(line)
        return
    start = 0
    # Behind the last place that still fits, or the first one where none does.
    places = [token.pos + len(token.text) for token in tokenize(line)[0] if token.text in _BREAKS]
    for place, following in pairwise([*places, len(line)]):
        if width(safe(line[start:following].strip())) > room:
            yield safe(line[start:place].strip())
            start = place
    yield safe(line[start:].strip() if start else line.rstrip())
