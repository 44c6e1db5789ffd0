"""The ways out of one pod as a list, and the commands of the one under the cursor; nothing is carried out here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.remedies import numbered_steps, recorded_lines, remedy_text
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import listed
from kubectl_dra.reports.remedies import RemedyReport
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.topics import Pod
from kubectl_dra.tui.view import ListView

_NO_COMMAND = Safe("No command does this.")


@dataclass(frozen=True, slots=True)
class WayOut:
    """One line."""

    number: int
    remedy: RemedyReport


class WaysOutView(ListView[WayOut]):
    """The list has the numbers of the page and of ``--remedy N``; ``c`` copies one, never several alternatives."""

    DEFAULT_CSS = """
    WaysOutView > Grid { height: auto; max-height: 50%; }
    WaysOutView > Page { height: 1fr; border-top: hkey $border; }
    """
    crumb = Safe("ways out")
    nothing = Safe("There is no way out to show any more.")

    def __init__(self, pod: Key) -> None:
        super().__init__()
        self._topic = Pod(pod, remedies=True)
        self.page = Page()
        self.page.can_focus = False

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        """The list and the commands."""
        yield self.grid
        yield self.page

    def topics(self) -> Sequence[Pod]:
        """The diagnosis with ways out."""
        return (self._topic,)

    def columns(self) -> Sequence[Column[WayOut]]:
        """The number, what to do, where the pod then runs."""
        return [
            Column("#", lambda row: fmt("{}", row.number), right=True),
            Column("WAY OUT", lambda row: remedy_text(row.remedy), least=24),
            Column("RUNS ON", _where, drop=1),
        ]

    def all_rows(self) -> Sequence[WayOut] | None:
        """The ways out in the order of their numbers."""
        found = self.desk.result(self._topic)
        if found is None:
            return None
        remedies = found.record.remedies if found.record is not None else ()
        return [WayOut(number, remedy) for number, remedy in enumerate(remedies, 1)]

    def identity(self, row: WayOut) -> int:
        """Its number."""
        return row.number

    def text_of(self, row: WayOut) -> str:
        """Its words."""
        return str(remedy_text(row.remedy))

    def moved(self, row: WayOut | None) -> None:
        """The commands follow the cursor."""
        if row is None:
            self.page.show(())
            return
        self.page.show(self._lines(row) or [styled(_NO_COMMAND, Style.DIM)])

    def show(self) -> None:
        """The newest list, and the commands of what is under the cursor."""
        super().show()
        self.moved(self.grid.selected)

    def _lines(self, row: WayOut) -> list[Safe]:
        lines = numbered_steps(row.number, row.remedy)
        return [*recorded_lines(self.dra.facts_now.evidence.address), *lines] if lines else []

    # --- keys -------------------------------------------------------------------------------------------------------

    def can(self, action: str) -> bool:
        """Only what has commands can be copied."""
        row = self.grid.selected
        if action == "copy":
            return row is not None and bool(row.remedy.steps)
        if action == "copy_all":
            return any(each.remedy.steps for each in self.grid.rows)
        return super().can(action)

    def digit(self, number: int) -> bool:
        """Put the cursor on a way out by its number."""
        if self.dra.focused is not self.grid or not any(row.number == number for row in self.grid.rows):
            return False
        self.grid.select(lambda row: row.number == number)
        return True

    def do_copy(self) -> None:
        """The commands of the one under the cursor."""
        row = self.grid.selected
        if row is not None:
            self.dra.copy_lines(self._lines(row))

    def do_copy_all(self) -> None:
        """All alternatives as comments: whoever pastes them chooses one first."""
        self.dra.copy_lines(list(self._commented()))

    def _commented(self) -> Iterator[Safe]:
        yield from recorded_lines(self.dra.facts_now.evidence.address)
        for row in self.grid.rows:
            for line in numbered_steps(row.number, row.remedy):
                yield line if line.startswith("# ") else Safe("# ") + line

    @property
    def focus_target(self) -> Any:  # noqa: ANN401 - a widget
        """The list."""
        return self.grid


def _where(row: WayOut) -> Safe:
    return listed(row.remedy.nodes[:2], "or") if row.remedy.nodes else Safe("")
