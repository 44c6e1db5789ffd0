"""Which of the commands of a page is copied, where it prints several."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.printed_commands import PrintedCommands


class CommandsView(ListView[PrintedCommands]):
    """Enter or ``c`` copies those under the cursor, and returns to the page."""

    crumb = Safe("commands")

    def __init__(self, found: Sequence[PrintedCommands]) -> None:
        self._found = found
        super().__init__()

    def columns(self) -> Sequence[Column[PrintedCommands]]:
        return [
            Column("WHAT FOR", lambda row: safe(row.what), least=16),
            Column("COMMAND", _first_line, least=40),
        ]

    def all_rows(self) -> Sequence[PrintedCommands]:
        return self._found

    def identity(self, row: PrintedCommands) -> tuple[Safe, ...]:
        return row.lines

    def named_by(self, _row: PrintedCommands) -> None:
        """Nothing that has a name in the cluster."""

    def opened(self, row: PrintedCommands) -> None:
        self.dra.pop()
        self.dra.copy_commands(row.lines)

    def can(self, action: str) -> bool:
        return self.grid.selected is not None if action == "copy" else super().can(action)

    def do_copy(self) -> None:
        self.do_open()


def _first_line(row: PrintedCommands) -> Safe:
    more = len(row.lines) - 1
    return row.lines[0] + (fmt(" (and {} more)", more) if more else Safe(""))
