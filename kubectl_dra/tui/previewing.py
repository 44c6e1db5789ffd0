"""Lists with the page of the row under the cursor beside them, below them where there is no room."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from kubectl_dra.output.safe import Safe, Style, styled
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.layouts import Room
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.view import READING, View

if TYPE_CHECKING:
    from kubectl_dra.tui.views.reader import ReportView

RowT = TypeVar("RowT")


class Previewing(View, Generic[RowT]):
    """A list whose rows may have pages: ``p`` shows them, wide terminals do so by themselves."""

    # Rules begin with the class of the layout, which is the screen's.
    SCOPED_CSS = False
    DEFAULT_CSS = """
    Previewing .list-panes { height: 1fr; }
    Previewing .list-panes > Grid { width: 1fr; height: 1fr; }
    Previewing .preview { display: none; width: 1fr; height: 1fr; border-left: vkey $border; padding: 0 0 0 1; }
    Previewing.previewing .preview { display: block; }
    .-narrow Previewing .list-panes { layout: vertical; }
    .-narrow Previewing .preview { border-left: none; border-top: hkey $border; padding: 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.grid: Grid[RowT] = Grid(self.columns(), self.identity, self.heading)
        self.preview = Page()
        self.preview.add_class("preview")
        self.preview.can_focus = False
        self._previewed: tuple[Hashable, ReportView | None] = (None, None)

    @abstractmethod
    def columns(self) -> Sequence[Column[RowT]]:
        """The columns of the grid."""

    @abstractmethod
    def identity(self, row: RowT) -> Hashable:
        """What stays the same when a row is read again."""

    def heading(self, _row: RowT) -> Safe | None:
        return None

    def can(self, action: str) -> bool:
        return self.has_preview if action == "preview" else super().can(action)

    def on_resize(self) -> None:
        self.arrange_preview()

    def preview_of(self, _row: RowT) -> ReportView | None:
        """The page of a row; it is not mounted, but gives its lines and what they need."""
        return None

    @property
    def has_preview(self) -> bool:
        return type(self).preview_of is not Previewing.preview_of

    @property
    def shows_preview(self) -> bool:
        """Whether the page of the row under the cursor is shown: where there is room, unless somebody has chosen."""
        chosen = self.dra.settings.preview
        return self.has_preview and (self.dra.room >= Room.WIDE if chosen is None else chosen)

    def do_preview(self) -> None:
        self.dra.choose_preview(not self.shows_preview)
        self.arrange_preview()
        self.show()

    def arrange_preview(self) -> None:
        if self.has_class("previewing") is not self.shows_preview:
            self.set_class(self.shows_preview, "previewing")
            self.grid.set_columns(self.columns())
        self.follow_cursor()

    def follow_cursor(self) -> None:
        row = self.grid.selected
        if row is None or not self.shows_preview:
            if self._previewed[1] is not None:
                self._previewed = (None, None)
                self.dra.queries_changed()
            self.preview.show(())
            return
        key = self.identity(row)
        if self._previewed[0] != key or self._previewed[1] is None:
            self._previewed = key, self.preview_of(row)
            self.preview.scroll_home(animate=False)
            if self._previewed[1] is None:
                self.preview.show(())
            self.dra.queries_changed()
        self.show_preview()

    def show_preview(self) -> None:
        page = self._previewed[1]
        if page is not None and self.shows_preview:
            self.preview.make(lambda: page.lines() or [styled(READING, Style.DIM)])

    def preview_queries(self) -> Sequence[Query[object]]:
        return self._previewed[1].queries() if self._previewed[1] is not None else ()
