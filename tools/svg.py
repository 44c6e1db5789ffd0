"""Screens as SVG that any browser draws with its own monospace font; one file shows every theme.

Textual's own export draws one theme, in a font that has to be downloaded, at eight times the size: too much for every
screen in every size and theme, and a change of one word changes a thousand lines. Here the text is there once, a line
of the file per row of the screen and run of equal style, and each theme is a set of rules: the class of the picture
(``<svg class="dark">``) says which one is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import groupby

from rich.cells import cell_len
from rich.color import Color, ColorType
from rich.segment import Segment
from rich.style import Style

#: A row of the screen; the same text in all themes.
Rows = Sequence[Sequence[Segment]]
CELL, LINE, FONT = 10, 22, 16.6
_FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
# What terminals with 16 colours commonly draw.
_STANDARD = (
    *("#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5"),
    *("#767676", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff"),
)
_TERMINAL = ("#d4d4d4", "#1e1e1e")
_TEXT = re.compile(r'<text class="s(\d+) b(\d+)"[^>]*>([^<]*)</text>')
_RULE = re.compile(r"\.(\w+) (text\.s|rect\.b)(\d+)\{fill:(#[0-9a-f]{6})")


@dataclass(frozen=True, slots=True)
class Look:
    """How a run of text is drawn in one theme: its colour, the one behind it, and the rest as CSS."""

    front: str
    behind: str
    more: str


@dataclass(frozen=True, slots=True)
class Run:
    """Text at a place of the screen, in cells, with its look in each theme."""

    column: int
    text: str
    looks: tuple[Look, ...]

    @property
    def behind(self) -> tuple[str, ...]:
        """The colours behind it."""
        return tuple(look.behind for look in self.looks)

    @property
    def fronts(self) -> tuple[str, ...]:
        """What its letters are."""
        return tuple(look.front + look.more for look in self.looks)


def look_of(style: Style | None) -> Look:
    """What a terminal would make of a style."""
    style = style or Style()
    front, behind = _hex(style.color, _TERMINAL[0]), _hex(style.bgcolor, _TERMINAL[1])
    if style.reverse:
        front, behind = behind, front
    lines = [word for word, there in (("underline", style.underline), ("line-through", style.strike)) if there]
    more = ";font-weight:bold" * bool(style.bold) + ";font-style:italic" * bool(style.italic)
    return Look(
        front, behind, more + (f";text-decoration:{' '.join(lines)}" if lines else "") + ";opacity:.6" * bool(style.dim)
    )


def _hex(color: Color | None, default: str) -> str:
    if color is None or color.is_default:
        return default
    if color.type in (ColorType.STANDARD, ColorType.WINDOWS) and color.number is not None:
        return _STANDARD[color.number]
    return color.get_truecolor().hex


def _runs(rows: Sequence[Sequence[Segment]]) -> Iterator[Run]:
    """The runs of one row, which has the same text in each of ``rows``."""
    themes = [[(char, look) for text, style, _ in row for look in [look_of(style)] for char in text] for row in rows]
    texts = {"".join(char for char, _ in cells) for cells in themes}
    if len(texts) != 1:
        raise ValueError(f"other words in another theme: {texts}")
    column = 0
    for looks, cells in groupby(zip(*themes, strict=True), lambda cell: tuple(look for _, look in cell)):
        text = "".join(cell[0][0] for cell in cells)
        yield Run(column, text, looks)
        column += cell_len(text)


def svg(themes: Mapping[str, Rows]) -> str:
    """One picture of a screen in several themes; the first one is shown."""
    lines = [list(_runs(rows)) for rows in zip(*themes.values(), strict=True)]
    columns = max((sum(cell_len(run.text) for run in runs) for runs in lines), default=0)
    behind = Counter[tuple[str, ...]]()
    for run in (run for runs in lines for run in runs):
        behind[run.behind] += cell_len(run.text)
    # The first one is what most of the screen has: drawn once, below everything.
    backgrounds = {looks: number for number, (looks, _) in enumerate(behind.most_common())}
    fronts: dict[tuple[str, ...], int] = {}
    body = [f'<rect class="b0" width="{columns * CELL}" height="{len(lines) * LINE}"/>']
    for row, runs in enumerate(lines):
        for looks, group in groupby(runs, lambda run: run.behind):
            body += _row(row, list(group), backgrounds[looks], fronts)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{next(iter(themes))}"'
        f' viewBox="0 0 {columns * CELL} {len(lines) * LINE}">'
    )
    base = f"text{{font:{FONT}px {_FONTS};white-space:pre}}"
    rules = [*_rules("b", backgrounds, list(themes)), *_rules("s", fronts, list(themes))]
    return "\n".join([head, "<style>", base, *rules, "</style>", *body, "</svg>", ""])


def _row(row: int, runs: Sequence[Run], background: int, fronts: dict[tuple[str, ...], int]) -> Iterator[str]:
    """What one background has in a row: the rectangle, then its texts."""
    if background:
        x, width = runs[0].column * CELL, sum(cell_len(run.text) for run in runs) * CELL
        yield f'<rect class="b{background}" x="{x}" y="{row * LINE}" width="{width}" height="{LINE}"/>'
    for looks, group in groupby(runs, lambda run: run.fronts):
        same = list(group)
        whole = "".join(run.text for run in same)
        text = whole.strip()
        if text:
            start = same[0].column + cell_len(whole) - cell_len(whole.lstrip())
            number = fronts.setdefault(looks, len(fronts))
            yield (
                f'<text class="s{number} b{background}" x="{start * CELL}" y="{row * LINE + 16}"'
                f' textLength="{cell_len(text) * CELL}">{escape(text)}</text>'
            )


def _rules(letter: str, numbers: Mapping[tuple[str, ...], int], themes: Sequence[str]) -> Iterator[str]:
    """A line per class: what it is in each theme."""
    for looks, number in numbers.items():
        element = "rect" if letter == "b" else "text"
        yield "".join(
            f".{theme} {element}.{letter}{number}{{fill:{look}}}" for theme, look in zip(themes, looks, strict=True)
        )


# --- read again -----------------------------------------------------------------------------------------------------


def pieces(picture: str, theme: str) -> Iterator[tuple[str, str, str]]:
    """Each text with its colour and the one behind it in a theme."""
    fills = {(element, number): fill for name, element, number, fill in _RULE.findall(picture) if name == theme}
    for front, behind, text in _TEXT.findall(picture):
        yield unescape(text), fills["text.s", front], fills["rect.b", behind]
