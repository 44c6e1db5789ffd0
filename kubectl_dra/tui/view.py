"""The base of all views: what it is called, what it wants to know, what can be done with what is under its cursor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from textual.containers import Container, Horizontal
from textual.widget import Widget

from kubectl_dra.model.ids import DeviceId
from kubectl_dra.output.console import pages_of
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.reports.unread import Subject as ListSubject
from kubectl_dra.tui.arranging import AT_ONCE, Arranged, Job
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.desk import Desk, Topic
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.layouts import Room
from kubectl_dra.tui.page import Page

if TYPE_CHECKING:
    from kubectl_dra.tui.app import DraApp
    from kubectl_dra.tui.views.reader import ReportView

RowT = TypeVar("RowT")
READING: Final = Safe("reading …")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is under the cursor, for the clipboard (``name``) and as YAML (``document``: JSON bytes, None if none)."""

    name: str
    document: Callable[[], bytes | None]


class View(Container):
    """One level of the breadcrumbs. ``show`` is called whenever a record that it wants is new, on the UI's thread."""

    DEFAULT_CSS = """
    View { height: 1fr; width: 1fr; layout: vertical; }
    """

    #: What the breadcrumbs call it.
    crumb: Safe = Safe("")
    #: Actions that are offered everywhere, but matter so much here that the footer shows them.
    extras: frozenset[str] = frozenset()
    #: What had the focus when another view came to the front.
    left_at: Widget | None = None
    #: The tab and view that this one was jumped to from, where ``esc`` returns; and whether its filter came from there.
    came_from: tuple[str, View] | None = None
    lent_filter = False

    @property
    def dra(self) -> DraApp:
        """The app, with its own type."""
        return cast("DraApp", self.app)

    @property
    def desk(self) -> Desk:
        """Where records come from."""
        return self.dra.desk

    def on_mount(self) -> None:
        """Take the focus: before this there was nothing here to give it to, however long the view was in front."""
        if self.dra.view is self:
            self.dra.focus_view()

    def topics(self) -> Sequence[Topic[object]]:
        """What is shown here."""
        return ()

    @abstractmethod
    def show(self) -> None:
        """Show the newest records."""

    @property
    def info(self) -> Safe:
        """A few words beside the breadcrumbs: how many, sorted by what."""
        return Safe("")

    @property
    def focus_target(self) -> Widget | None:
        """What gets the focus when the view comes to the front."""
        return next((widget for widget in self.query("*") if widget.can_focus and widget.display), None)

    @property
    def subject(self) -> Subject | None:
        """What is under the cursor."""
        return None

    @property
    def stays(self) -> Safe:
        """Why the view can't be left now; empty if it can."""
        return Safe("")

    @property
    def is_waiting(self) -> bool:
        """Whether the view will ask for something by itself in a moment."""
        return False

    @property
    def device(self) -> DeviceId | None:
        """The device under the cursor, for a taint."""
        return None

    def preview_topics(self) -> Sequence[Topic[object]]:
        """What is shown besides."""
        return ()

    def can(self, action: str) -> bool:
        """Whether the view offers an action now."""
        if action in ("yaml", "copy"):
            return self.subject is not None
        return hasattr(self, f"do_{action}")

    def digit(self, number: int) -> bool:
        """Whether a digit means something here; elsewhere it is the key of a tab."""
        return False

    def set_filter(self, text: str) -> None:
        """Show only what contains ``text``; views without rows ignore it."""

    @property
    def is_filtered(self) -> bool:
        """Whether ``esc`` has a filter to drop."""
        return False

    def on_descendant_focus(self) -> None:
        """Other keys may work now."""
        self.dra.refresh_frame()

    def on_descendant_blur(self) -> None:
        """Other keys may work now."""
        self.dra.refresh_frame()


class ListView(View, Generic[RowT]):
    """A view that is one grid: filter, sort and cursor work the same everywhere; rows with a page have a preview."""

    # Rules begin with the class of the layout, which is the screen's.
    SCOPED_CSS = False
    DEFAULT_CSS = """
    ListView .list-panes { height: 1fr; }
    ListView .list-panes > Grid { width: 1fr; height: 1fr; }
    ListView .preview { display: none; width: 1fr; height: 1fr; border-left: vkey $border; padding: 0 0 0 1; }
    ListView.previewing .preview { display: block; }
    .-narrow ListView .list-panes { layout: vertical; }
    .-narrow ListView .preview { border-left: none; border-top: hkey $border; padding: 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.grid: Grid[RowT] = Grid(self.columns(), self.identity, self.heading)
        self.filter = ""
        self._texts: tuple[Sequence[RowT], list[str]] = ((), [])
        self._ordered: tuple[Sequence[RowT], tuple[str, bool], Sequence[RowT]] = ((), ("", False), ())
        self._job: Job[RowT] | None = None
        self._shown: tuple[Sequence[RowT], tuple[object, ...]] | None = None
        self.preview = Page()
        self.preview.add_class("preview")
        self.preview.can_focus = False
        self._previewed: tuple[Hashable, ReportView | None] = (None, None)

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        """The grid, and the page of the row under the cursor."""
        with Horizontal(classes="list-panes"):
            yield self.grid
            yield self.preview

    def on_mount(self) -> None:
        """What there is at first."""
        self.arrange_preview()
        self.show()

    def on_resize(self) -> None:
        """The preview needs room."""
        self.arrange_preview()

    # --- for subclasses ---------------------------------------------------------------------------------------------

    def can(self, action: str) -> bool:
        """There are previews only of rows that have a page."""
        return self.has_preview if action == "preview" else super().can(action)

    @abstractmethod
    def columns(self) -> Sequence[Column[RowT]]:
        """The columns of the grid."""

    @abstractmethod
    def all_rows(self) -> Sequence[RowT] | None:
        """All rows in their natural order; None while they are not known."""

    @abstractmethod
    def identity(self, row: RowT) -> Hashable:
        """What stays the same when a row is read again."""

    def text_of(self, row: RowT) -> str:
        """What the filter looks through."""
        return str(self.identity(row))

    def heading(self, _row: RowT) -> Safe | None:
        """The text of a row that is a heading."""
        return None

    def arranged(self, rows: Sequence[RowT]) -> Sequence[RowT]:
        """All rows in the order of the sorted column."""
        column = self.grid.sorted_by
        if column is None or column.key is None:
            return rows
        return sorted(rows, key=column.key, reverse=self.grid.descending)

    nothing = Safe("nothing here")
    #: What the list is about, where that can be unread.
    about: ListSubject | None = None

    # --- preview ----------------------------------------------------------------------------------------------------

    def preview_of(self, _row: RowT) -> ReportView | None:
        """The page of a row; it is not mounted, but gives its lines and what they need."""
        return None

    @property
    def has_preview(self) -> bool:
        """Whether rows have pages."""
        return type(self).preview_of is not ListView.preview_of

    @property
    def shows_preview(self) -> bool:
        """Whether the page of the row under the cursor is shown: where there is room, unless somebody has chosen."""
        chosen = self.dra.settings.preview
        return self.has_preview and (self.dra.room >= Room.WIDE if chosen is None else chosen)

    def do_preview(self) -> None:
        """Show the page of the row under the cursor, or do not."""
        self.dra.choose_preview(not self.shows_preview)
        self.arrange_preview()
        self.show()

    def arrange_preview(self) -> None:
        """Lay out the pane beside the list, or below it."""
        if self.has_class("previewing") is not self.shows_preview:
            self.set_class(self.shows_preview, "previewing")
            self.grid.set_columns(self.columns())
        self._follow_cursor()

    def _follow_cursor(self) -> None:
        row = self.grid.selected
        if row is None or not self.shows_preview:
            if self._previewed[1] is not None:
                self._previewed = (None, None)
                self.dra.topics_changed()
            self.preview.show(())
            return
        key = self.identity(row)
        if self._previewed[0] != key or self._previewed[1] is None:
            self._previewed = key, self.preview_of(row)
            self.preview.scroll_home(animate=False)
            self.dra.topics_changed()
        self._show_preview()

    def _show_preview(self) -> None:
        page = self._previewed[1]
        if page is not None and self.shows_preview:
            with pages_of(self.preview.text_columns):
                self.preview.show(page.lines() or [styled(READING, Style.DIM)])

    def preview_topics(self) -> Sequence[Topic[object]]:
        """What the page of the row under the cursor needs."""
        return self._previewed[1].topics() if self._previewed[1] is not None else ()

    def on_page_resized(self, event: Page.Resized) -> None:
        """Lines are made again."""
        event.stop()
        self._show_preview()

    # --- filter and order -------------------------------------------------------------------------------------------

    @property
    def manner(self) -> tuple[object, ...]:
        """All that decides how rows are arranged."""
        column = self.grid.sorted_by
        return column.title if column is not None else "", self.grid.descending, self.filter, self.grid.layouts

    def show(self) -> None:
        """Hand over the rows, filtered and sorted; a long list follows when that is done."""
        self._show_preview()
        rows, manner = self.all_rows(), self.manner
        if rows is None:
            self._shown = None
            self.grid.show((), self.dra.reading_words)
        elif self._shown is not None and self._shown[0] is rows and self._shown[1] == manner:
            self.grid.show_time(self.dra.now)
        elif len(rows) <= AT_ONCE:
            self._hand_over(rows, manner, self.prepared(rows))
        else:
            self._follow(rows, manner)

    def _follow(self, rows: Sequence[RowT], manner: tuple[object, ...]) -> None:
        """Show what was arranged meanwhile, also of rows that are not the newest any more, and have the rest done."""
        job = self._job
        if job is not None and job.done is not None and job.manner == manner:
            self._hand_over(job.rows, manner, job.done)
            if job.rows is rows:
                return
        if self._shown is None:
            self.grid.show((), READING)
        if job is None or job.manner != manner or job.done is not None:
            again = self._shown is not None and self._shown[1] == manner
            self._job = Job(rows, manner, again, lambda: self.prepared(rows))
            self.dra.arranger.ask(self, self._job)

    def _hand_over(self, rows: Sequence[RowT], manner: tuple[object, ...], arranged: Arranged[RowT]) -> None:
        empty = (
            fmt("nothing contains “{}”; esc shows all {}", self.filter, len(rows))
            if rows
            else self.dra.none_of(self.about, self.nothing)
        )
        self.grid.show(arranged.rows, empty, arranged)
        self._job, self._shown = None, (rows, manner)

    def prepared(self, rows: Sequence[RowT]) -> Arranged[RowT]:
        """Filter, sort and measure; in another thread where rows are many."""
        kept = self.filtered(self._in_order(rows))
        return self.grid.arranged(kept, self.telling_columns(kept))

    def telling_columns(self, _rows: Sequence[RowT]) -> Sequence[Column[RowT]] | None:
        """Other columns, where these rows need them."""
        return None

    def _in_order(self, rows: Sequence[RowT]) -> Sequence[RowT]:
        """The rows as :meth:`arranged`; sorted once for all that is typed into the filter afterwards."""
        column = self.grid.sorted_by
        order = (column.title if column is not None else "", self.grid.descending)
        if self._ordered[0] is not rows or self._ordered[1] != order:
            self._ordered = rows, order, self.arranged(rows)
        return self._ordered[2]

    def filtered(self, rows: Sequence[RowT]) -> Sequence[RowT]:
        """Rows that contain every word of the filter."""
        words = self.filter.casefold().split()
        if not words:
            return rows
        if self._texts[0] is not rows:
            self._texts = rows, [self.text_of(row).casefold() for row in rows]
        return [row for row, text in zip(rows, self._texts[1], strict=True) if all(word in text for word in words)]

    @property
    def is_filtered(self) -> bool:
        """Whether there is a filter."""
        return bool(self.filter)

    def set_filter(self, text: str) -> None:
        """Filter as it is typed."""
        self.filter = text
        self.show()

    @property
    def info(self) -> Safe:
        """How many rows there are, and how many of them are shown."""
        rows = self.all_rows()
        if rows is None:
            return Safe("")
        total = sum(self.heading(row) is None for row in rows) if len(rows) < 2000 else len(rows)
        shown = sum(self.heading(row) is None for row in self.grid.rows) if len(rows) < 2000 else len(self.grid.rows)
        return fmt("{:,} of {:,}", shown, total) if shown != total else fmt("{:,}", total)

    # --- actions ----------------------------------------------------------------------------------------------------

    def do_open(self) -> None:
        """Enter."""
        self.grid.open_selected()

    def on_grid_opened(self, event: Grid.Opened) -> None:
        """A row was chosen."""
        event.stop()
        self.opened(cast("RowT", event.row))

    def on_grid_moved(self, event: Grid.Moved) -> None:
        """Another row is under the cursor."""
        event.stop()
        self.moved(cast("RowT | None", event.row))
        if self.has_preview:
            self._follow_cursor()
        self.dra.refresh_frame()

    def opened(self, row: RowT) -> None:
        """What enter does with a row."""

    def moved(self, row: RowT | None) -> None:
        """What follows the cursor."""

    def do_filter(self) -> None:
        """Type a filter."""
        self.dra.ask_filter(self.filter)

    def do_sort(self, argument: str = "") -> None:
        """Sort by the next column that can be sorted, by a named one, or not at all."""
        sortable = [column for column in self.columns() if column.key is not None]
        if argument:
            found = [column for column in sortable if column.title.casefold().startswith(argument.casefold())]
            if not found:
                names = ", ".join(column.title.lower() for column in sortable)
                self.dra.say(fmt("no column “{}” to sort by; there are {}", argument, names))
                return
            wanted: Column[RowT] | None = found[0]
        else:
            titles = [column.title for column in sortable]
            current = self.grid.sorted_by
            place = titles.index(current.title) + 1 if current is not None and current.title in titles else 0
            wanted = sortable[place] if place < len(sortable) else None
        # Of numbers the largest is what people look for.
        self.grid.descending = wanted is not None and wanted.right
        self._sort_by(wanted)

    def _sort_by(self, wanted: Column[RowT] | None) -> None:
        columns = self.columns()
        self.grid.set_columns(columns)
        self.grid.sorted_by = next((c for c in columns if wanted is not None and c.title == wanted.title), None)
        self.show()

    def do_reverse(self) -> None:
        """The other way round."""
        if self.grid.sorted_by is None:
            self.do_sort()
        self.grid.descending = not self.grid.descending
        self.show()
