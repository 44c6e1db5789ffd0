"""The commands of this session: what was copied, planned and carried out, with the time."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.output.safe import Safe, Style, fmt, plain, styled
from kubectl_dra.tui.views.reader import ReportView


class LogView(ReportView):
    """The newest first."""

    crumb = Safe("log")

    def lines(self) -> Sequence[Safe]:
        """Each with when, and what became of it."""
        lines: list[Safe] = []
        for when, what, commands in reversed(self.dra.commands):
            lines += [styled(fmt("{}  {}", f"{when:%H:%M:%S}", Safe(what)), Style.BOLD)]
            lines += [Safe("  ") + plain(line) for line in commands]
            lines.append(Safe(""))
        return lines or [Safe("No command was copied, planned or carried out yet.")]

    def can(self, action: str) -> bool:
        return action == "copy" or super().can(action)

    def do_copy(self) -> None:
        self.dra.copy_lines(self.lines())
