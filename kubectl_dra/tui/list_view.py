"""The base of lists: one grid; filter, order, cursor, marks and preview work the same in all of them."""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from typing import Any, Final, TypeVar, cast

from textual.containers import Horizontal

from kubectl_dra.output.devices.parts import spoken
from kubectl_dra.output.safe import Safe, Style, fmt, plain, styled
from kubectl_dra.reports.base import Count
from kubectl_dra.reports.unread import Subject
from kubectl_dra.tui.arranging import AT_ONCE, Arranged, Job
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.filters import is_kept
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.previewing import Previewing
from kubectl_dra.tui.view import READING, CursorObject

RowT = TypeVar("RowT")
# What is done with the row under the cursor: not offered where there is none.
_OF_A_ROW: Final = frozenset(
    {"open", "why", "used_by", "node", "pool_of", "tree", "explain", "try_selector", "mark", "remove", "fold"}
)


class ListView(Previewing[RowT]):
    """A view that is one grid: filter, sort and cursor work the same everywhere; rows with a page have a preview."""

    def __init__(self) -> None:
        super().__init__()
        self.grid.choose = self.opened
        self.filter = ""
        self.faults_only = False
        #: What the rows are that are meant, where these are not all.
        self.only: Container[Hashable] | None = None
        self._chosen: tuple[object, Sequence[RowT]] = (None, ())
        self._texts: tuple[Sequence[RowT], list[str]] = ((), [])
        self._ordered: tuple[Sequence[RowT], tuple[str, bool], Sequence[RowT]] = ((), ("", False), ())
        self._job: Job[RowT] | None = None
        self._shown: tuple[Sequence[RowT], tuple[object, ...]] | None = None

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        with Horizontal(classes="list-panes"):
            yield self.grid
            yield self.preview

    def on_mount(self) -> None:
        self.arrange_preview()
        self.show()

    # --- for subclasses ---------------------------------------------------------------------------------------------

    def all_rows(self) -> Sequence[RowT] | None:
        """All rows in their natural order, or those of ``only``; None while they are not known."""
        asked = self.queries()
        rows = cast("Sequence[RowT] | None", self.worker.record(asked[0])) if asked else ()
        if rows is None or self.only is None:
            return rows
        if self._chosen[0] is not rows:
            self._chosen = rows, [row for row in rows if self.identity(row) in self.only]
        return self._chosen[1]

    def text_of(self, row: RowT) -> str:
        """What the filter looks through besides what stands in the columns."""
        return str(self.identity(row))

    def texts_of(self, rows: Sequence[RowT]) -> list[str]:
        """All that the filter looks through, in lower case: what can be read is found, but for numbers and ages."""
        worded = [column for column in self.columns() if column.draw is None and not column.right]
        return [
            " ".join((self.text_of(row), *(plain(column.cell(row)) for column in worded))).casefold() for row in rows
        ]

    def named_by(self, row: RowT) -> Hashable | None:
        """The object that a row is about; None where it is about none."""
        return self.identity(row)

    @property
    def subject(self) -> CursorObject | None:
        row = self.grid.selected
        return self.subject_of(self.named_by(row) if row is not None else self.named)

    def forget_texts(self, rows: Sequence[RowT]) -> None:
        """Nothing is looked for any more."""

    def arranged(self, rows: Sequence[RowT]) -> Sequence[RowT]:
        """All rows in the order of the sorted column."""
        column = self.grid.sorted_by
        if column is None or column.key is None:
            return rows
        return sorted(rows, key=column.key, reverse=self.grid.descending)

    def is_fault(self, _row: RowT) -> bool:
        """Whether a row needs attention."""
        return False

    def can(self, action: str) -> bool:
        """What only some lists have, and what only a row under the cursor has."""
        if self.grid.selected is None and (action in _OF_A_ROW or (action == "describe" and self.describes_row)):
            return False
        match action:
            case "faults":
                return type(self).is_fault is not ListView.is_fault
            case "next_hit" | "previous_hit":
                return bool(self.filter)
            case "mark":
                return self.markable
            case "sort" | "reverse":
                return any(column.key is not None for column in self.grid.columns_now)
        return super().can(action)

    nothing = Safe("nothing here")
    #: Whether something can be done with several rows at once.
    markable = False
    #: Whether the report is one of the row under the cursor, not of the whole list.
    describes_row = False
    #: What the list is about, where that can be unread.
    about: Subject | None = None

    # --- as a table elsewhere ---------------------------------------------------------------------------------------

    @property
    def saved_columns(self) -> Sequence[Column[RowT]]:
        """Those on the screen, and what is told by headings there."""
        return self.grid.columns_now

    @property
    def saved_rows(self) -> Sequence[RowT]:
        return [row for row in self.grid.rows if self.heading(row) is None]

    # --- filter and order -------------------------------------------------------------------------------------------

    @property
    def manner(self) -> tuple[object, ...]:
        """All that decides how rows are arranged."""
        column = self.grid.sorted_by
        return (
            column.title if column is not None else "",
            self.grid.descending,
            self.filter,
            self.faults_only,
            self.grid.layouts,
        )

    def show(self) -> None:
        """Hand over the rows, filtered and sorted; a long list follows when that is done."""
        self.show_preview()
        self.grid.highlights = self.dra.feed.live
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
            fmt("nothing {}; esc shows all {}", self._wanted_words, len(rows))
            if rows
            else self.dra.none_of(self.about, self.nothing_words)
        )
        self.grid.note_rows(rows)
        self.grid.show(arranged.rows, empty, arranged)
        self._job, self._shown = None, (rows, manner)

    @property
    def nothing_words(self) -> Safe:
        """What a list without rows says, where everything could be read."""
        return self.nothing

    @property
    def _wanted_words(self) -> Safe:
        words = [fmt("contains “{}”", self.filter)] if self.filter else []
        return Safe(" and ").join([*words, *([Safe("needs attention")] if self.faults_only else [])])

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
        if self.faults_only:
            rows = [row for row in rows if self.heading(row) is not None or self.is_fault(row)]
        kept = is_kept(self.filter)
        if kept is None:
            if self._texts[1]:
                # Who looks for nothing needs neither texts nor the rows of that time.
                self._texts = (), []
                self.forget_texts(rows)
            return rows
        if self._texts[0] is not rows:
            self._texts = rows, self.texts_of(rows)
        return [row for row, text in zip(rows, self._texts[1], strict=True) if kept(text)]

    @property
    def is_filtered(self) -> bool:
        return bool(self.filter) or self.faults_only

    def set_filter(self, text: str) -> None:
        self.filter = text
        self.faults_only = self.faults_only and bool(text)
        self.show()

    @property
    def info(self) -> Safe:
        """How many rows there are, and how many of them are shown."""
        rows = self.all_rows()
        if rows is None or self._shown is None:
            # Of what is still being filtered nobody knows how much is left.
            return Safe("")
        total = sum(self.heading(row) is None for row in rows) if len(rows) < 2000 else len(rows)
        shown = sum(self.heading(row) is None for row in self.grid.rows) if len(rows) < 2000 else len(self.grid.rows)
        sure = self.dra.unread(self.about, shown=bool(total)).count(total) if self.about is not None else Count(total)
        words = [fmt("{:,} of {}", shown, spoken(sure)) if shown != total else spoken(sure)]
        if self.faults_only:
            words.insert(0, styled(Safe("faults only"), Style.WARN))
        if self.grid.marked:
            words.append(styled(fmt("{} marked", len(self.grid.marked)), Style.WARN))
        return Safe("   ").join(words)

    # --- actions ----------------------------------------------------------------------------------------------------

    def do_open(self) -> None:
        self.grid.open_selected()

    def on_grid_moved(self, event: Grid.Moved) -> None:
        event.stop()
        self.moved(cast("RowT | None", event.row))
        if self.has_preview:
            self.follow_cursor()
        self.dra.refresh_frame()

    def opened(self, row: RowT) -> None:
        """What enter does with a row."""

    def moved(self, row: RowT | None) -> None:
        """What follows the cursor."""

    def do_faults(self) -> None:
        self.faults_only = not self.faults_only
        self.show()
        self.dra.refresh_frame()

    def do_next_hit(self) -> None:
        self._go_to_hit("down", Safe("this is the last hit"))

    def do_previous_hit(self) -> None:
        self._go_to_hit("up", Safe("this is the first hit"))

    def _go_to_hit(self, where: str, ended: Safe) -> None:
        before = self.grid.cursor
        self.grid.action_move(where)
        while self._is_at_heading and 0 < self.grid.cursor < len(self.grid.rows) - 1:
            self.grid.action_move(where)
        if self._is_at_heading:
            # Nothing but a heading is left in that direction.
            self.grid.go_to(before)
        if self.grid.selected is None:
            self.dra.say(Safe("nothing was found"))
        elif self.grid.cursor == before:
            self.dra.say(ended)

    @property
    def _is_at_heading(self) -> bool:
        return self.grid.selected is not None and self.heading(self.grid.selected) is not None

    def do_mark(self) -> None:
        row = self.grid.selected
        if row is not None:
            self.grid.marked ^= {self.identity(row)}
            self.grid.refresh()
            self.grid.action_move("down")
            self.dra.refresh_frame()

    @property
    def marked_rows(self) -> Sequence[RowT]:
        """The marked rows that still exist, else the one under the cursor."""
        rows = self.all_rows() or ()
        marked = [row for row in rows if self.heading(row) is None and self.identity(row) in self.grid.marked]
        selected = self.grid.selected
        return marked or ([selected] if selected is not None else [])

    def do_save(self, path: str = "") -> None:
        self.dra.save_table(self, path)

    def do_copy_table(self, form: str = "") -> None:
        self.dra.copy_table(self, form)

    def on_grid_sorted(self, event: Grid.Sorted) -> None:
        event.stop()
        if self.grid.sorted_by is not None and self.grid.sorted_by.title == event.column.title:
            self.do_reverse()
        else:
            self.grid.descending = event.column.right
            self._sort_by(cast("Column[RowT]", event.column))

    def do_filter(self) -> None:
        self.dra.ask_filter(self.filter)

    def do_sort(self, argument: str = "") -> None:
        """Sort by the next column that can be sorted, by a named one, or not at all."""
        sortable = [column for column in self.columns() if column.key is not None]
        if not sortable:
            self.dra.say(Safe("this list has an order of its own: it can't be sorted"))
            return
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
        if self.grid.sorted_by is None:
            self.do_sort()
        if self.grid.sorted_by is None:
            return
        self.grid.descending = not self.grid.descending
        self.show()
