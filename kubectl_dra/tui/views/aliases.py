"""All words that ``:`` takes: commands with what they do, and the short words for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubectl_dra.output.safe import Safe, Style, safe, styled
from kubectl_dra.tui.actions import COMMANDS, key_name
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.typed_words import ALIASES


@dataclass(frozen=True, slots=True)
class Alias:
    """A command, and the short words for it."""

    command: str
    words: str
    keys: str
    takes: str
    help: str


class AliasesView(ListView[Alias]):
    """Enter begins the command."""

    crumb = Safe("aliases")

    def columns(self) -> Sequence[Column[Alias]]:
        return [
            Column("COMMAND", lambda a: styled(safe(f":{a.command}"), Style.NAME), key=lambda a: a.command),
            Column("TAKES", lambda a: safe(a.takes), least=10, drop=2),
            Column("ALSO", lambda a: safe(a.words), least=10, drop=1),
            Column("KEY", lambda a: safe(a.keys), least=4),
            Column("WHAT IT DOES", lambda a: safe(a.help), least=24),
        ]

    def all_rows(self) -> Sequence[Alias]:
        return _ROWS

    def identity(self, row: Alias) -> str:
        return row.command

    def named_by(self, _row: Alias) -> None:
        """Nothing that has a name in the cluster."""

    def opened(self, row: Alias) -> None:
        self.dra.begin_command(row.command)


def _row(command: str) -> Alias:
    action = COMMANDS[command]
    words = ", ".join(sorted(word for word, of in ALIASES.items() if of == command and word != command))
    return Alias(command, words, " ".join(map(key_name, action.keys)), action.takes, action.help)


_ROWS = tuple(map(_row, sorted(COMMANDS)))
