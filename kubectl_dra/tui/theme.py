"""The colours: a calm dark and a light theme. Every colour repeats something that is also said in words or shapes.

Terminals with 16 colours or with none: what a background says elsewhere is said there in reverse.
"""

from __future__ import annotations

from colorsys import rgb_to_hls
from functools import lru_cache
from typing import Final

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

DARK: Final = Theme(
    name="dra-dark",
    dark=True,
    primary="#7fa7d1",
    secondary="#a394c7",
    accent="#7fc1b4",
    success="#93b980",
    warning="#dcae62",
    error="#e88f87",
    foreground="#ced6e0",
    background="#11151b",
    surface="#171c24",
    panel="#1f2630",
    variables={
        "dim": "#99a4b3",
        # Textual's own parts: what an empty line asks for, how a word may go on, what can't be chosen.
        "text-disabled": "#99a4b3",
        "cursor": "#26364a",
        "cursor-blurred": "#212b38",
        "changed": "#3a3420",
        "border": "#2b3441",
        "input-selection-background": "#33506f",
        "scrollbar": "#2b3441",
        "scrollbar-hover": "#3a4656",
        "scrollbar-active": "#4a5870",
        "scrollbar-background": "#11151b",
        "scrollbar-background-hover": "#11151b",
        "scrollbar-background-active": "#11151b",
        "scrollbar-corner-color": "#11151b",
    },
)
LIGHT: Final = Theme(
    name="dra-light",
    dark=False,
    primary="#28619b",
    secondary="#6b539e",
    accent="#17766b",
    success="#2c6427",
    warning="#7a4f06",
    error="#b3302a",
    foreground="#262c36",
    background="#fbfbf8",
    surface="#f2f2ee",
    panel="#e7e8e3",
    variables={
        "dim": "#565e6a",
        "text-disabled": "#565e6a",
        "cursor": "#cfdff0",
        "cursor-blurred": "#e3e9ef",
        "changed": "#f3e8c4",
        "border": "#d3d6d2",
        "input-selection-background": "#b8d2ee",
        "scrollbar": "#d3d6d2",
        "scrollbar-hover": "#bfc4c3",
        "scrollbar-active": "#a9b0b4",
        "scrollbar-background": "#fbfbf8",
        "scrollbar-background-hover": "#fbfbf8",
        "scrollbar-background-active": "#fbfbf8",
        "scrollbar-corner-color": "#fbfbf8",
    },
)
THEMES: Final = (DARK, LIGHT)
_DEFAULT: Final = RichColor.parse("default")
_GREY: Final = RichColor.parse("bright_black")
# Blue is hard to read on many dark terminals.
_BY_HUE: Final = tuple(map(RichColor.parse, ("red", "yellow", "green", "cyan", "cyan", "magenta")))
_COLOURFUL: Final = 0.25
_READABLE: Final = 0.68
# The background of the row under the cursor differs by more than this from that of the rows around it.
_STANDS_OUT: Final = 0.1
_BAR: Final = frozenset("█▓░▒·? ")


class FewColours(LineFilter):
    """Backgrounds of the themes are too much alike for 16 colours: the terminal's own is used, or it in reverse.

    Without ``foreground`` no colour is left at all, as NO_COLOR asks for.
    """

    def __init__(self, *, foreground: bool) -> None:
        super().__init__()
        self._foreground = foreground

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same texts in other styles."""
        made, in_bar = [], False
        for text, style, control in segments:
            # In reverse a full block would be an empty one: bars, and what is left empty in them, stay as they are.
            in_bar = bool(text) and (_is_bar(text) or (in_bar and text.isspace()))
            plain = None if style is None else _plain(style, background, self._foreground, in_bar)
            made.append(Segment(text, plain, control))
        return made


def _is_bar(text: str) -> bool:
    return not text.isspace() and _BAR.issuperset(text)


@lru_cache(4096)
def _plain(style: RichStyle, background: Color, foreground: bool, in_bar: bool = False) -> RichStyle:
    stands_out = style.bgcolor is not None and _distance(style.bgcolor, background) > _STANDS_OUT
    colour = _DEFAULT
    if foreground and style.color is not None and not stands_out:
        colour = _standard(style.color, background)
    changed = style + RichStyle(color=colour, bgcolor=_DEFAULT)
    return changed + RichStyle(reverse=not style.reverse) if stands_out and not in_bar else changed


def _distance(colour: RichColor, background: Color) -> float:
    return 0.0 if colour.is_default else abs(Color.from_rich_color(colour).brightness - background.brightness)


def _standard(colour: RichColor, background: Color) -> RichColor:
    """The colour of the terminal that says the same: by its hue, as the nearest one of a calm theme is always grey."""
    if colour.is_default:
        return _DEFAULT
    red, green, blue = Color.from_rich_color(colour).normalized
    hue, _, saturation = rgb_to_hls(red, green, blue)
    if saturation >= _COLOURFUL:
        return _BY_HUE[round(hue * 6) % 6]
    return _DEFAULT if _distance(colour, background) > _READABLE else _GREY
