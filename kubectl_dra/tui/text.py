"""From Safe text to what Textual draws: segments and Content, clipped to columns. Never markup, never a raw string."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content

from kubectl_dra.output.layout import width
from kubectl_dra.output.safe import Safe, Style

Palette = Mapping[Style, RichStyle]
_SGR: Final = re.compile("\x1b\\[([0-9;]*)m")
_LEAST_INSIDE: Final = 8
_ELLIPSIS: Final = "…"
# A host with a number of its own in a domain of two labels at least: hosts differ in what stands before the domain.
_HOST: Final = re.compile(r"( *(?=[^.]*\d)[\w-]+)(?:\.[a-z][\w-]*){2,}")
_CODES: Final[Mapping[str, Style]] = {style.value: style for style in Style}
# How Content, which the header, footer and prompts are made of, names the same colours.
_NAMES: Final[Mapping[Style, str]] = {
    Style.BOLD: "bold",
    Style.DIM: "$dim",
    Style.GOOD: "$success",
    Style.BAD: "$error",
    Style.WARN: "$warning",
    Style.NAME: "$primary",
}


def runs(text: Safe) -> Iterator[tuple[str, frozenset[Style]]]:
    """Stretches of ``text`` with the styles that hold for them."""
    active: frozenset[Style] = frozenset()
    position = 0
    for match in _SGR.finditer(text):
        if match.start() > position:
            yield text[position : match.start()], active
        position = match.end()
        style = _CODES.get(match[1])
        active = active | {style} if style is not None else frozenset()
    if position < len(text):
        yield str(text)[position:], active


def clipped(text: Safe, columns: int) -> Safe:
    """``text`` in at most ``columns``, with an ellipsis where something is cut off; colours are kept."""
    if width(text) <= columns:
        return text
    room, parts = max(columns - 1, 0), []
    for part, styles in runs(text):
        fitting = _fitting(part, room)
        parts.append(_painted(fitting, styles))
        room -= cell_len(fitting)
        if fitting != part:
            break
    return Safe("".join(parts) + (_ELLIPSIS if columns > 0 else ""))


def clipped_inside(text: Safe, columns: int) -> Safe:
    """A name in at most ``columns`` without its middle, as names differ at their ends; coloured text is cut.

    What hosts have in common, their domain, goes first: ``ip-1…-153-160…`` of ``ip-192-168-153-160.ec2.internal``.
    """
    if width(text) <= columns or columns < _LEAST_INSIDE or not text.isascii() or "\x1b" in text:
        return clipped(text, columns)
    host = _HOST.fullmatch(text)
    if host is not None:
        return clipped_inside(Safe(host[1]), columns - 1) + Safe(_ELLIPSIS)
    end = (columns - 1) * 2 // 3
    return Safe(text[: columns - 1 - end] + _ELLIPSIS + text[-end:])


def _fitting(text: str, room: int) -> str:
    if text.isascii():
        return text[:room]
    used = 0
    for index, character in enumerate(text):
        used += cell_len(character)
        if used > room:
            return text[:index]
    return text


def _painted(text: str, styles: frozenset[Style]) -> str:
    return "".join(f"\x1b[{style}m" for style in sorted(styles)) + text + ("\x1b[0m" if styles else "")


def segments(text: Safe, base: RichStyle, palette: Palette) -> list[Segment]:
    """``text`` as segments on ``base``."""
    return [
        Segment(part, RichStyle.combine([base, *(palette[s] for s in sorted(styles))])) for part, styles in runs(text)
    ]


def content(text: Safe) -> Content:
    """``text`` for widgets that draw Content."""
    parts = [(part, " ".join(_NAMES[style] for style in sorted(styles))) for part, styles in runs(text)]
    return Content.assemble(*(Content.styled(part, style) if style else Content(part) for part, style in parts))


def spread(left: Safe, right: Safe, columns: int) -> Safe:
    """``left`` at the left and ``right`` at the right end; what does not fit is cut from the left part."""
    right = clipped(right, columns)
    room = max(columns - width(right) - (2 if right else 0), 0)
    left = clipped(left, room)
    return left + Safe(" " * (columns - width(left) - width(right))) + right


def joined(parts: Sequence[Safe], gap: str = "  ") -> Safe:
    """Parts that are not empty, with ``gap`` between them."""
    return Safe(gap).join(part for part in parts if part)
