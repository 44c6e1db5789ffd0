"""Text to read: reports as the commands print them, YAML, help. Scrolls, and finds what the filter says."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.console import pages_of
from kubectl_dra.output.layout import width
from kubectl_dra.output.safe import Safe, plain
from kubectl_dra.tui.layouts import page_columns
from kubectl_dra.tui.lines import Lines
from kubectl_dra.tui.printed_commands import PrintedCommands, printed_commands, without_cuts

_CODE: Final = re.compile(r"\bDRA-\d{3}\b")
_KNOWN: Final = {code.value: code for code in Code}
_ROOMY: Final = 82
_SIDEWAYS: Final = 16


class Page(Lines):
    """Lines of Safe text; those that contain the mark are shown with another background.

    Not Textual's Static or RichLog: they take markup or Rich's own objects, and wrap what must not be broken.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"page--mark"}
    DEFAULT_CSS = """
    Page {
        & > .page--mark { background: $cursor; }
        scrollbar-size-horizontal: 0;
        &.tight { scrollbar-size: 0 0; scrollbar-gutter: auto; }
    }
    """

    @dataclass
    class CodeChosen(Message):
        code: Code

    class Scrolled(Message):
        """Other lines are on the screen."""

    def __init__(self, lines: Sequence[Safe] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: Sequence[Safe] = lines
        # The same with each command in one line, as it is copied.
        self._whole = lines
        self.mark = ""
        #: Which lines contain the mark.
        self.hits: tuple[int, ...] = ()
        self._hit = -1
        self._codes: Sequence[Code] | None = None
        self._commands: Sequence[PrintedCommands] | None = None
        self._maker: Callable[[], Sequence[Safe]] | None = None
        # Columns that the lines were made for; 0 where they are to be made as soon as the page is laid out.
        self._made_for = 0

    def on_mount(self) -> None:
        self.set_height(len(self.lines))

    def show(self, lines: Sequence[Safe]) -> None:
        """Other lines; the place in the text stays."""
        self._maker = None
        self._put(lines)

    def make(self, maker: Callable[[], Sequence[Safe]]) -> None:
        """Lines that ``maker`` folds at the width of the page; it is asked again whenever that is another one.

        Textual knows no width before the page is laid out, and does not always say when it has been: its map of the
        screen may hold a widget before anything was told to it. So what is drawn is compared with the width there.
        """
        self._maker, self._made_for = maker, 0
        if not self._make():
            self.refresh()

    @property
    def is_stale(self) -> bool:
        """Whether lines will be made as soon as the page is drawn."""
        return self._maker is not None and bool(self.region) and self._made_for != self.text_columns

    def _make(self) -> bool:
        """Whether the page is laid out, so that its lines could be made."""
        if self._maker is None or not self.region:
            return False
        self._made_for = self.text_columns
        with pages_of(self._made_for):
            self._put(self._maker())
        return True

    def _make_late(self) -> None:
        if self.is_stale and self._make():
            self.post_message(self.Scrolled())

    @property
    def codes(self) -> Sequence[Code]:
        """The codes of reasons that the text names, in their order; looked for once, as footers ask all the time."""
        if self._codes is None:
            found = (word for line in self.lines for word in _CODE.findall(plain(line)))
            self._codes = [_KNOWN[each] for each in dict.fromkeys(found) if each in _KNOWN]
        return self._codes

    @property
    def commands(self) -> Sequence[PrintedCommands]:
        """The commands that the text prints, as :attr:`codes`."""
        if self._commands is None:
            self._commands = list(printed_commands(self._whole))
        return self._commands

    def _put(self, lines: Sequence[Safe]) -> None:
        self._whole, self._codes, self._commands = lines, None, None
        self.lines = list(without_cuts(lines, self._made_for)) if self._made_for else lines
        self.set_height(len(lines))
        if self.mark:
            self._find()

    def set_height(self, lines: int) -> None:
        """As wide as the widest line: code is not broken, so that it may be wider than the screen."""
        widest = max((width(line) for line in self.lines), default=0) + (not self.has_class("tight"))
        self.set_content_size(Size(max(self.columns, widest), lines))

    def set_mark(self, text: str) -> None:
        """Mark the lines that contain ``text``, go to the first one."""
        self.mark, self.hits = text.casefold(), ()
        self._find()
        self.refresh()

    def _find(self) -> None:
        """The marked lines; the first one comes onto the screen, also where the lines come after the search."""
        before, self.hits = self.hits, tuple(index for index in range(len(self.lines)) if self._is_marked(index))
        if not before:
            self._hit = self.hits[0] if self.hits else -1
            if self.hits:
                self.scroll_to(y=max(self._hit - 2, 0), animate=False)
        if len(before) != len(self.hits):
            self.post_message(self.Scrolled())

    def go_to_hit(self, step: int) -> None:
        """Scroll to the next marked line below the top of the screen, or the one before; after the last the first."""
        found = self.hits
        if not found:
            return
        here = self._hit if self._hit in found else int(self.scroll_offset.y)
        others = [index for index in found if (index > here if step > 0 else index < here)]
        self._hit = (others or found)[0 if step > 0 else -1]
        self.scroll_to(y=max(self._hit - 2, 0), animate=False)
        self.refresh()

    def _is_marked(self, index: int) -> bool:
        return bool(self.mark) and self.mark in plain(self.lines[index]).casefold()

    def render_line(self, y: int) -> Strip:
        if y == 0 and self.is_stale:
            self.call_next(self._make_late)
        index = self.scroll_offset.y + y
        if index >= len(self.lines):
            return self.blank()
        style = self.rich_style
        if self._is_marked(index):
            style += self.get_component_rich_style("page--mark")
            style += RichStyle(bold=index == self._hit)
        return self.strip_of(self.lines[index], style, indent=0 if self.has_class("tight") else 1)

    def on_resize(self) -> None:
        """Reports are 80 columns wide: where there are no more, the margin and the scroll bar go."""
        self.set_class(self.app.size.width < _ROOMY, "tight")
        if not self.is_stale or not self._make():
            self.set_height(len(self.lines))
        self.post_message(self.Scrolled())

    @property
    def text_columns(self) -> int:
        """Columns that lines may have: prose beyond a limit is hard to read."""
        margin = 0 if self.has_class("tight") else 2
        return page_columns(self.columns - margin)

    @property
    def place(self) -> tuple[int, int]:
        """The number of the last line on the screen, and of all lines."""
        return min(self.scroll_offset.y + self.size.height, len(self.lines)), len(self.lines)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Scrolled())

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y
        place = event.x + self.scroll_offset.x - (0 if self.has_class("tight") else 1)
        for match in _CODE.finditer(plain(self.lines[index])) if 0 <= index < len(self.lines) else ():
            if match.start() <= place < match.end() and match[0] in _KNOWN:
                self.post_message(self.CodeChosen(_KNOWN[match[0]]))

    def action_move(self, where: str) -> None:
        match where:
            case "up":
                self.scroll_up(animate=False)
            case "down":
                self.scroll_down(animate=False)
            case "page_up":
                self.scroll_page_up(animate=False)
            case "page_down":
                self.scroll_page_down(animate=False)
            case "top":
                self.scroll_home(animate=False)
            case "left" | "right":
                self.scroll_relative(x=_SIDEWAYS if where == "right" else -_SIDEWAYS, animate=False)
            case "bottom":
                self.scroll_end(animate=False)
