"""Ways out under a cursor with the commands of one of them below, and the codes that can be explained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from textual.containers import Vertical

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.console import page_width
from kubectl_dra.output.pending.remedies import (
    command_lines,
    numbered_steps,
    recorded_lines,
    remedy_details,
    remedy_text,
)
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import listed
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.printed_commands import folded
from kubectl_dra.tui.text import content

_NO_COMMAND: Final = Safe("No command does this.")
_EXPLAINS: Final = Safe("enter explains this reason")
_TITLE: Final = Safe("Ways out (checked)")
#: Makes the lines of a page, at its width; what it copies; its name.
OpenWay = Callable[[Callable[[], Sequence[Safe]], Sequence[Safe], Safe], None]


@dataclass(frozen=True, slots=True)
class WayRow:
    """A line: a way out with its number, or a code to explain; a line with neither is a heading."""

    number: int = 0
    remedy: RemedyReport | None = None
    code: Code | None = None


class WaysPane(Vertical):
    """The list has the numbers of the page and of ``--remedy N``; ``c`` copies one, never several alternatives.

    Ways out that are still being looked for are no ``Widget.loading``: its animation would draw the screen anew all
    the time, for something that may take seconds.
    """

    DEFAULT_CSS = """
    WaysPane { height: 1fr; width: 1fr; }
    WaysPane > Grid { height: auto; max-height: 50%; border: round $border; border-title-color: $primary; padding: 0; }
    WaysPane > Grid:focus { border: round $primary; border-title-style: bold reverse; }
    WaysPane > Page { height: 1fr; border: round $border; border-title-color: $primary; }
    """

    def __init__(self, explain: Callable[[Code], None], open_way: OpenWay) -> None:
        """``explain``: opens the page of a code; ``open_way``: that of a way out."""
        super().__init__()
        self._explain, self._open_way = explain, open_way
        self.grid: Grid[WayRow] = Grid(_COLUMNS, lambda row: (row.number, row.code), _heading, header=False)
        self.page = Page()
        self.page.can_focus = False
        self.grid.choose = self._chosen
        self._address = HERE
        #: Whether ways out are being looked for.
        self.is_checking = False

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        yield self.grid
        yield self.page

    def show(self, remedies: Sequence[RemedyReport] | None, codes: Sequence[Code], address: Address) -> None:
        """The newest ways out, None while they are being looked for; ``address``: what their commands are for."""
        self._address, self.is_checking = address, remedies is None
        rows = [WayRow(number, remedy) for number, remedy in enumerate(remedies or (), 1)]
        if codes:
            rows += [*([WayRow()] if rows else []), *(WayRow(code=code) for code in codes)]
        waits = Safe("Ways out are being checked …") if remedies is None else Safe("")
        self.grid.border_title = content(_TITLE)
        self.grid.border_subtitle = content(waits)
        # Without a reason it does not wait: nothing was looked for.
        none = Safe("No way out was found.") if codes else Safe("None is needed.")
        self.grid.show(rows, waits or none)
        self.show_selected()

    # --- the one under the cursor -----------------------------------------------------------------------------------

    @property
    def selected(self) -> WayRow | None:
        return self.grid.selected

    def show_selected(self) -> None:
        """What it does, once, and its commands; what is copied says it as a comment."""
        row = self.selected
        self.page.border_title = content(_page_title(row))
        self.page.make(lambda: self._lines(row) if row is not None else [])

    def _lines(self, row: WayRow) -> list[Safe]:
        if row.remedy is None:
            return [_EXPLAINS]
        lines = command_lines(row.remedy)
        shown = [*recorded_lines(self._address), *lines] if lines else [styled(_NO_COMMAND, Style.DIM)]
        return [*remedy_details(row.remedy), Safe(""), *folded(shown, page_width())]

    def commands(self, row: WayRow) -> list[Safe]:
        """What ``c`` copies: one way out, below the cluster that it is for; empty where it has no commands."""
        lines = numbered_steps(row.number, row.remedy) if row.remedy is not None else []
        return [*recorded_lines(self._address), *lines] if lines else []

    def all_commented(self) -> list[Safe]:
        return list(self._commented())

    def _commented(self) -> Iterator[Safe]:
        yield from recorded_lines(self._address)
        for row in self.grid.rows:
            for line in numbered_steps(row.number, row.remedy) if row.remedy is not None else ():
                yield line if line.startswith("# ") else Safe("# ") + line

    @property
    def has_commands(self) -> bool:
        return self.selected is not None and bool(self.commands(self.selected))

    @property
    def has_any(self) -> bool:
        return any(row.remedy is not None and row.remedy.steps for row in self.grid.rows)

    def go_to_number(self, number: int) -> bool:
        return self.app.focused is self.grid and self.grid.select(lambda row: row.number == number)

    # --- events -----------------------------------------------------------------------------------------------------

    def on_grid_moved(self, event: Grid.Moved) -> None:
        event.stop()
        self.show_selected()
        self.grid.post_message(Page.Scrolled())

    def _chosen(self, row: WayRow) -> None:
        if row.code is not None:
            self._explain(row.code)
        elif row.remedy is not None:
            self._open_way(partial(self._lines, row), self.commands(row), fmt("way out {}", row.number))


def _page_title(row: WayRow | None) -> Safe:
    if row is None or row.remedy is None:
        return Safe("Explain") if row is not None and row.code is not None else Safe("Command")
    return fmt("Command {}", row.number)


def _heading(row: WayRow) -> Safe | None:
    return None if row.number or row.code is not None else Safe("Reasons")


def _what(row: WayRow) -> Safe:
    if row.code is not None:
        return fmt("{} {}", styled(Safe(row.code.value), Style.NAME), Safe(row.code.label))
    return remedy_text(row.remedy) if row.remedy is not None else Safe("")


def _where(row: WayRow) -> Safe:
    nodes = row.remedy.nodes[:2] if row.remedy is not None else ()
    return fmt("→ {}", listed(nodes, "or")) if nodes else Safe("")


_COLUMNS: Final[tuple[Column[WayRow], ...]] = (
    Column("#", lambda row: styled(fmt("{}", row.number), Style.NAME) if row.number else Safe(""), right=True),
    Column("WAY OUT", _what, least=34),
    Column("RUNS ON", _where, least=8, drop=1),
)
