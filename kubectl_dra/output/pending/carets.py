"""Where an error of a selector points, as a caret below its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.records import FatalError
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled

_MISSING_KEY: Final = re.compile(r"no such key: (\S+?)(?:\.|$)")


def caret_lines(column: int, detail: str) -> Iterator[Safe]:
    """The caret in a column, with the error behind it, or below it where there is no room."""
    room = page_width() - 4
    lines = wrapped(fmt("^ {}", detail), indent=min(column, room // 2) + 2, first=column)
    if column + len(detail) > room:
        lines = [Safe(" " * column + "^"), *wrapped(safe(detail), indent=2)]
    yield from (styled(line, Style.BAD) for line in lines)


def place_of(text: str, error: FatalError) -> int:
    """Where to point: the position that the compiler gave, or the only mention of the key that is missing."""
    if error.position is not None and text == error.expression:
        return error.position
    match = _MISSING_KEY.search(error.detail)
    if match is None:
        return -1
    mentions = [found.start(1) for found in re.finditer(rf"[.\"'](\b{re.escape(match[1])}\b)", text)]
    return mentions[0] if len(mentions) == 1 else -1
