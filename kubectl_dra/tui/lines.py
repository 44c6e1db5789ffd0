"""The base of everything that scrolls: draws only the lines on the screen, so that 80,000 rows cost as much as ten.

What becomes of a widget that was removed: it is drawn as nothing, and nothing that was drawn of it is kept. Textual
forgets the styles of such a widget's parts, and may draw the screen once more before it is arranged without it
(textual/widget.py, _message_loop_exit): what the widget looks up then would end the app.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual._styles_cache import StylesCache
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from kubectl_dra.output.safe import Safe, Style
from kubectl_dra.tui.actions import MOVES, bindings
from kubectl_dra.tui.text import Palette, segments

_CLASSES: Final = {
    Style.DIM: "lines--dim",
    Style.GOOD: "lines--good",
    Style.BAD: "lines--bad",
    Style.WARN: "lines--warn",
    Style.NAME: "lines--name",
}
_COLOURS = 1024


class Lines(ScrollView, can_focus=True):
    """A view of many lines; subclasses say how many there are and how one of them looks.

    Textual's ScrollView, drawn line by line: its containers would lay out a widget per line.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = set(_CLASSES.values())
    DEFAULT_CSS = """
    Lines {
        scrollbar-size: 1 1;
        scrollbar-gutter: stable;
        background: $background;
        color: $foreground;
        & > .lines--dim { color: $dim; }
        & > .lines--good { color: $success; }
        & > .lines--bad { color: $error; }
        & > .lines--warn { color: $warning; }
        & > .lines--name { color: $primary; }
    }
    """
    BINDINGS = bindings(MOVES)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Nothing once it is removed."""
        return super().render_lines(crop) if self.is_attached else nothing(crop)

    @property
    def palette(self) -> Palette:
        colours = {style: self.get_component_rich_style(name, partial=True) for style, name in _CLASSES.items()}
        return {**colours, Style.BOLD: RichStyle(bold=True)}

    @property
    def columns(self) -> int:
        return max(self.scrollable_content_region.width, 1)

    def strip_of(self, text: Safe, base: RichStyle, indent: int = 1, frozen: int = 0) -> Strip:
        """One line, filled up with ``base`` and cut where the screen ends; ``frozen`` cells do not scroll sideways."""
        strip = Strip([Segment(" " * indent, base), *segments(text, base, self.palette)])
        start, room = self.scroll_offset.x + frozen, self.columns - frozen
        shown = strip.extend_cell_length(start + room, base)
        if strip.cell_length > start + room:
            # What goes on beyond the edge is not mistaken for its end.
            more = Segment("›", base + self.palette[Style.DIM])
            return Strip([*shown.crop(0, frozen), *shown.crop(start, start + room - 1), more]).simplify()
        return Strip([*shown.crop(0, frozen), *shown.crop(start, start + room)]).simplify()

    def blank(self) -> Strip:
        return Strip([Segment(" " * self.columns, self.rich_style)])

    def set_height(self, lines: int) -> None:
        self.set_content_size(Size(self.columns, lines))

    def set_content_size(self, size: Size) -> None:
        """How large everything is, on the screen or not.

        Textual lays out the whole screen for that, and draws all of it. Only scroll bars that come or go need it, and
        widgets that are as high as what they hold.
        """
        if size != self.virtual_size and self.size and not self.styles.is_auto_height:
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
        else:
            self.virtual_size = size
        self.refresh()


def nothing(crop: Region) -> list[Strip]:
    return [Strip.blank(crop.width)] * crop.height


def let_go() -> None:
    """Have Textual remember the colours of a widget without its lines.

    It remembers what a method answers, and so all that was drawn of 1,024 removed widgets (textual/_styles_cache.py).
    """
    remembering = StylesCache.get_inner_outer
    if hasattr(remembering, "cache_clear"):
        of_colours = lru_cache(_COLOURS)(partial(remembering.__wrapped__, None))
        StylesCache.get_inner_outer = lambda _self, *colours: of_colours(*colours)  # type: ignore[assignment]
