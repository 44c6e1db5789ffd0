"""Expressions on a terminal: a line with a mark under a place, and whole texts broken between tokens only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from kubectl_dra.cel.syntax.lexer import Token, tokenize
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import width, wrapped
from kubectl_dra.output.safe import Safe, Style, safe, styled

_INDENT: Final = 2


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
    """The whole expression, its lines kept, long ones broken between tokens, so that it can be copied."""
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
    tokens = tokenize(line)[0]
    start = 0
    for token, following in pairwise(tokens):
        end = following.pos if following.kind == "<EOF>" else following.pos + len(following.text)
        if width(safe(line[start:end].rstrip())) > room and token.pos >= start and following.kind != "<EOF>":
            cut = _nice(line, tokens, start, following.pos)
            yield safe(line[start:cut].rstrip())
            start = cut
    yield safe(line[start:].rstrip())


def _nice(line: str, tokens: Sequence[Token], start: int, limit: int) -> int:
    """The last place before ``limit`` behind a space, else between the last two tokens."""
    places = [token.pos for token in tokens if start < token.pos <= limit]
    spaced = [place for place in places if line[place - 1] == " "]
    return (spaced or places)[-1]
