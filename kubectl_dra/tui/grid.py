"""A table of any length: only the rows on the screen are made into text, when they are drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style
from kubectl_dra.tui.arranging import Arranged
from kubectl_dra.tui.columns import Column, Fitted, RowT, fit, natural_widths
from kubectl_dra.tui.lines import Lines

_UNLIMITED: Final = 10_000
_SIDEWAYS: Final = 16
# Longer lists are searched and looked through by others, not while somebody waits for a key.
_SCANNED: Final = 2000
_AGE: Final = "AGE"
_NEWS_SECONDS: Final = 3.0
_REMEMBERED: Final = 4000


class Grid(Lines, Generic[RowT]):
    """Rows with a cursor: not Textual's DataTable, which keeps every cell as text and lays out all rows in advance.

    ``heading`` says which rows are headings: drawn over the whole width, and selected only where ``stops_at_headings``.

    The cursor stays on the row with the same ``identity`` when other rows arrive. ``unlimited`` shows every column in
    full; then the grid scrolls sideways.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "grid--header",
        "grid--cursor",
        "grid--cursor-blurred",
        "grid--heading",
        "grid--changed",
    }
    DEFAULT_CSS = """
    Grid {
        & > .grid--header { color: $dim; }
        & > .grid--heading { text-style: bold; }
        & > .grid--changed { background: $changed; }
        & > .grid--cursor { background: $cursor; text-style: bold; }
        & > .grid--cursor-blurred { background: $cursor-blurred; }
    }
    """

    @dataclass
    class Sorted(Message):
        """The title of a column was clicked."""

        column: Column[Any]

    @dataclass
    class Moved(Message):
        """The cursor is on another row, or on another version of the same."""

        row: object

    def __init__(
        self,
        columns: Sequence[Column[RowT]],
        identity: Callable[[RowT], Hashable],
        heading: Callable[[RowT], Safe | None] = lambda _row: None,
        *,
        header: bool = True,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.rows: Sequence[RowT] = ()
        self.cursor = 0
        self.empty = Safe("")
        self.sorted_by: Column[RowT] | None = None
        self.descending = False
        self._columns = tuple(columns)
        self._identity = identity
        self._heading = heading
        self._header = header
        self._natural: list[int] = []
        self._fitted: Fitted[RowT] | None = None
        self._fitted_for = 0
        self._moved = False
        self._wanted: Hashable | None = None
        self.unlimited = False
        #: Whether the cursor also stops at headings, as where they can be folded.
        self.stops_at_headings = False
        #: Grows with every set of columns that somebody chose.
        self.layouts = 0
        #: What happens with a row that is chosen (enter, or a second click).
        self.choose: Callable[[RowT], None] | None = None
        #: What ``left`` and ``right`` do where they do not scroll; False if they scroll after all.
        self.sideways: Callable[[str], bool] | None = None
        #: Identities of rows that somebody has marked; whether rows that change are highlighted for a moment.
        self.marked: set[Hashable] = set()
        self.highlights = False
        self._said_of: tuple[str, ...] = ()
        self._said: dict[Hashable, tuple[Safe, ...]] = {}
        self._news: dict[Hashable, float] = {}
        # What there was at last, whatever the filter keeps of it; None where it was not looked at.
        self._known: set[Hashable] | None = None
        self._drawn = -1
        self._time: object = None

    # --- what is shown ----------------------------------------------------------------------------------------------

    def show(
        self,
        rows: Sequence[RowT],
        empty: Safe = Safe(""),  # noqa: B008 - immutable
        arranged: Arranged[RowT] | None = None,
    ) -> None:
        """Other rows, with what was found out about them elsewhere; ``empty`` is said where there are none."""
        if rows is self.rows and empty == self.empty and self._drawn == self.layouts and arranged is None:
            return
        # Until somebody moves it, the cursor is at the top, however the first rows come in.
        if not self._moved:
            self.cursor = 0
        self._wanted = self.wanted
        if arranged is None:
            arranged = self.arranged(rows)
        self.rows, self.empty, self._drawn = rows, empty, self.layouts
        if arranged.columns is not self._columns:
            self._columns = tuple(arranged.columns)
            self.sorted_by = self._same_column(self.sorted_by)
        self._natural = arranged.widths
        self._fitted = None
        self.cursor = self._wanted_place(arranged.place)
        self.set_height(len(rows) + self._header)
        self._tell()

    def arranged(self, rows: Sequence[RowT], columns: Sequence[Column[RowT]] | None = None) -> Arranged[RowT]:
        """What there is to find out about rows before they are shown; any thread may ask."""
        columns = self._columns if columns is None else columns
        body = [row for row in rows if self._heading(row) is None] if len(rows) <= _SCANNED else rows
        wanted, place = self.wanted, None
        if wanted is not None and len(rows) > _SCANNED:
            place = next((index for index, row in enumerate(rows) if self._identity(row) == wanted), None)
        return Arranged(rows, columns, natural_widths(columns, body, self.sorted_by), place)

    @property
    def wanted(self) -> Hashable | None:
        """The identity of the row that the cursor is on, or was on when there were rows last."""
        if self._moved and self.selected is not None:
            return self._identity(self.selected)
        return self._wanted

    def set_columns(self, columns: Sequence[Column[RowT]]) -> None:
        """Other columns; takes effect with the next rows."""
        self._columns = tuple(columns)
        self._fitted = None
        self.layouts += 1

    def _same_column(self, column: Column[RowT] | None) -> Column[RowT] | None:
        return next((each for each in self._columns if column is not None and each.title == column.title), None)

    def show_time(self, now: object) -> None:
        """Ages may read differently: draw them again."""
        if now != self._time and any(column.title == _AGE for column in self._columns):
            self.refresh()
        self._time = now

    @property
    def columns_now(self) -> Sequence[Column[RowT]]:
        """All columns, also those that there is no room for."""
        return self._columns

    @property
    def columns_drawn(self) -> Sequence[Column[RowT]]:
        """Those that there is room for."""
        return self._fit().columns

    @property
    def selected(self) -> RowT | None:
        return self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None

    def _wanted_place(self, place: int | None) -> int:
        """Where the row is that the cursor was on, also if there were no rows in between; ``place`` is a good guess."""
        if self._wanted is not None:
            guesses = [-1 if place is None else place, self.cursor]
            guesses += range(len(self.rows)) if len(self.rows) <= _SCANNED else ()
            for index in guesses:
                if 0 <= index < len(self.rows) and self._identity(self.rows[index]) == self._wanted:
                    return index
        if not self._moved:
            # The first row with something to open, also where headings can be selected.
            return next((index for index, row in enumerate(self.rows) if self._heading(row) is None), 0)
        return self._near(min(self.cursor, len(self.rows) - 1), 1)

    def _near(self, index: int, step: int) -> int:
        """The selectable row at ``index`` or the next one in the direction of ``step``, else the other direction."""
        for direction in (step, -step):
            place = max(0, min(index, len(self.rows) - 1))
            while 0 <= place < len(self.rows):
                if self.stops_at_headings or self._heading(self.rows[place]) is None:
                    return place
                place += direction
        return 0

    # --- drawing ----------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        fitted = self._fit()
        if self._header and y == 0:
            style = self.rich_style + self.get_component_rich_style("grid--header", partial=True)
            titles = fitted.header(self.sorted_by, self.descending) if self.rows else Safe("")
            return self.strip_of(titles, style, frozen=self._frozen)
        index = self.scroll_offset.y + y - self._header
        if not self.rows and 0 <= index < len(empty := wrapped(self.empty, max(self.columns - 2, 8))):
            return self.strip_of(empty[index], self.rich_style)
        if index >= len(self.rows):
            return self.blank()
        row = self.rows[index]
        heading = self._heading(row)
        if heading is not None:
            style = self._style_of(index) + self.get_component_rich_style("grid--heading", partial=True)
            return self.strip_of(heading, style)
        return self._row_strip(fitted, row, self._style_of(index))

    def _row_strip(self, fitted: Fitted[RowT], row: RowT, style: RichStyle) -> Strip:
        identity, cells = self._identity(row), fitted.cells(row)
        if self.highlights and self._is_news(identity, fitted, cells):
            style += self.get_component_rich_style("grid--changed", partial=True)
        strip = self.strip_of(fitted.line(row, cells), style, frozen=self._frozen)
        if identity not in self.marked:
            return strip
        return Strip([Segment("▌", style + self.palette[Style.WARN]), *strip.crop(1)]).simplify()

    @property
    def _frozen(self) -> int:
        return self._fit().frozen + 1 if self.unlimited and self._fit().frozen else 0

    def _is_news(self, identity: Hashable, fitted: Fitted[RowT], cells: Sequence[Safe]) -> bool:
        """Whether a row says something else than when it was drawn last, ages aside; for a moment."""
        titles = tuple(column.title for column in fitted.columns)
        if titles != self._said_of or len(self._said) > _REMEMBERED:
            self._said_of, self._said = titles, {}
        said = tuple(cell for title, cell in zip(titles, cells, strict=True) if title != _AGE)
        former, now = self._said.get(identity, said), time.monotonic()
        self._said[identity] = said
        if former != said:
            self._news[identity] = now + _NEWS_SECONDS
            self.set_timer(_NEWS_SECONDS, self._forget_news)
        return self._news.get(identity, 0.0) > now

    def note_rows(self, rows: Sequence[RowT]) -> None:
        """All rows that there are, filtered or not: those that are new stand out for a moment, like changed ones."""
        if not self.highlights or len(rows) > _SCANNED:
            self._known = None
            return
        before, self._known = self._known, {self._identity(row) for row in rows if self._heading(row) is None}
        new = self._known - before if before else ()
        if new:
            self._news |= dict.fromkeys(new, time.monotonic() + _NEWS_SECONDS)
            self.set_timer(_NEWS_SECONDS, self._forget_news)

    def _forget_news(self) -> None:
        now = time.monotonic()
        self._news = {identity: until for identity, until in self._news.items() if until > now}
        self.refresh()

    def _fit(self) -> Fitted[RowT]:
        # Compared, because Textual does not always say when a widget was laid out; see Page.make.
        if self._fitted is None or self._fitted_for != self.columns:
            self._fitted_for = self.columns
            natural = self._natural or [0] * len(self._columns)
            self._fitted = fit(self._columns, natural, _UNLIMITED if self.unlimited else self.columns - 2)
        return self._fitted

    def set_height(self, lines: int) -> None:
        """As wide as the columns are, where they may be wider than the screen."""
        total = self._fit().total + 2 if self.unlimited and self.rows else 0
        self.set_content_size(Size(max(self.columns, total), lines))

    def _style_of(self, index: int) -> RichStyle:
        if index != self.cursor:
            return self.rich_style
        return self.rich_style + self.get_component_rich_style(
            "grid--cursor" if self.has_focus else "grid--cursor-blurred"
        )

    def on_resize(self) -> None:
        self._fitted = None
        self.set_height(len(self.rows) + self._header)
        self._follow()

    # --- moving -----------------------------------------------------------------------------------------------------

    def action_move(self, where: str) -> None:
        if where in ("left", "right"):
            if self.sideways is not None and self.sideways(where):
                return
            self.scroll_relative(x=_SIDEWAYS if where == "right" else -_SIDEWAYS, animate=False)
            return
        page = max(self.size.height - self._header - 1, 1)
        last = len(self.rows) - 1
        steps = {"up": -1, "down": 1, "page_up": -page, "page_down": page, "top": -len(self.rows), "bottom": last}
        self.go_to(self.cursor + steps[where], 1 if steps[where] > 0 else -1)

    def go_to(self, index: int, step: int = 1) -> None:
        if not self.rows:
            return
        self._moved = True
        before, top = self.cursor, self.scroll_offset.y
        self.cursor = self._near(index, step)
        self._follow()
        if self.scroll_offset.y == top:
            # Nothing but two rows looks different.
            for row in {before, self.cursor}:
                self.refresh_line(row + self._header)
        else:
            self.refresh()
        self._tell()

    def select(self, wanted: Callable[[RowT], bool]) -> bool:
        """Put the cursor on the first row that is ``wanted``; False if there is none."""
        for index, row in enumerate(self.rows):
            if self._heading(row) is None and wanted(row):
                self.go_to(index)
                return True
        return False

    def _follow(self) -> None:
        """Keep the cursor on the screen, with the heading above the first row."""
        top, height = self.scroll_offset.y, max(self.size.height - self._header, 1)
        above = (
            self.cursor - 1 if self.cursor and self._heading(self.rows[self.cursor - 1]) is not None else self.cursor
        )
        if above < top:
            self.scroll_to(y=above, animate=False, immediate=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, immediate=True)

    def _tell(self) -> None:
        self.post_message(self.Moved(self.selected))

    def open_selected(self) -> None:
        """Choose the row under the cursor, before the next key: a message would come after it."""
        if self.selected is None:
            return
        if self.choose is not None:
            self.choose(self.selected)

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one on the same row chooses it; one on a title sorts."""
        if self._header and event.y == 0:
            place = event.x - 1 + (self.scroll_offset.x if event.x > self._frozen else 0)
            column = self._fit().column_at(place)
            if column is not None and column.key is not None:
                self.post_message(self.Sorted(column))
            return
        index = self.scroll_offset.y + event.y - self._header
        if event.y < self._header or not 0 <= index < len(self.rows):
            return
        if self._heading(self.rows[index]) is not None:
            if self.stops_at_headings:
                self.go_to(index)
            if self.choose is not None:
                self.choose(self.rows[index])
            return
        again = index == self.cursor
        self.go_to(index)
        if again and event.chain > 1:
            self.open_selected()
