"""What the app does with what is on the screen: save and copy tables, hold it, leave for the shell or an editor.

The table on the screen as CSV, JSON or Markdown: all rows that the filter keeps, all columns, nothing cut.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from kubectl_dra.output.columns import WRITERS
from kubectl_dra.output.safe import Safe, fmt, plain, safe
from kubectl_dra.output.words import counted
from kubectl_dra.tui.columns import Column, RowT
from kubectl_dra.tui.jumps import Jumps
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.views.aliases import AliasesView
from kubectl_dra.tui.views.reader import LogView

_TOAST_SECONDS: Final = 4.0
FORMATS: Final = ("csv", "json", "markdown")
_SUFFIXES: Final = {".csv": "csv", ".json": "json", ".md": "markdown"}


class Tools(Jumps):
    """Needs nothing of the views but their tables."""

    def done(self, text: Safe) -> None:
        """A toast: something was carried out."""
        self.notify(str(plain(text)), timeout=_TOAST_SECONDS, markup=False)

    def copy_lines(self, lines: Sequence[Safe]) -> None:
        self.copy_to_clipboard("\n".join(map(plain, lines)))
        self.done(fmt("copied {}", plain(lines[0])) if len(lines) == 1 else fmt("copied {} lines", len(lines)))

    def copy_commands(self, lines: Sequence[Safe]) -> None:
        self.copy_lines(lines)
        self.note_commands("copied", lines)

    # --- tables -----------------------------------------------------------------------------------------------------

    def save_table(self, view: ListView[Any], path: str) -> None:
        """Write the table of a list; without a path it is asked for."""
        if path:
            self._save(view, path)
            return
        name = "-".join(str(plain(view.crumb)).lower().split()) or "table"
        name = "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in name)
        self.ask(Safe("Save as (.csv, .json, .md)"), partial(self._save, view), f"{name}.csv")

    def _save(self, view: ListView[Any], path: str) -> None:
        path = path.strip()
        form = format_of(path)
        if not path:
            self.say(Safe("nothing was saved"))
        elif form is None:
            self.say(fmt("“{}” does not end in one of {}", path, " ".join(_SUFFIXES)))
        else:
            try:
                # Never over something that is there already.
                with Path(path).expanduser().open("x", encoding="utf-8") as file:
                    file.write(table_text(view.saved_columns, view.saved_rows, form))
            except OSError as error:
                self.say(fmt("{} was not saved: {}", path, error.strerror or str(error)))
            else:
                self.done(fmt("saved {} to {}", counted(len(view.saved_rows), "row"), path))

    def copy_table(self, view: ListView[Any], form: str) -> None:
        found = next((each for each in FORMATS if each.startswith(form.strip().lower() or "markdown")), None)
        if found is None:
            self.say(fmt("“{}” is none of {}", form, ", ".join(FORMATS)))
            return
        self.copy_to_clipboard(table_text(view.saved_columns, view.saved_rows, found))
        self.done(fmt("copied {} as {}", counted(len(view.saved_rows), "row"), found))

    # --- hold, log, words -------------------------------------------------------------------------------------------

    def do_pause(self) -> None:
        self.set_paused(not self.paused)

    def note_commands(self, what: str, lines: Sequence[Safe]) -> None:
        self.commands.append((self.settings.clock.now(), what, tuple(lines)))

    def do_log(self) -> None:
        self.push(LogView())

    def do_aliases(self) -> None:
        self.push(AliasesView())

    # --- the shell and the editor -----------------------------------------------------------------------------------

    @property
    def can_leave_terminal(self) -> bool:
        return self._driver is not None and self._driver.can_suspend and not self.settings.inline

    def do_suspend(self) -> None:
        self.action_suspend_process()

    def edited(self, text: str, suffix: str) -> str | None:
        """``text`` as it is left in ``$EDITOR``; None, and a word about it, where that did not work."""
        editor = (
            os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if sys.platform == "win32" else "vi")
        )
        if not self.can_leave_terminal:
            self.say(Safe("an editor can't be opened in this terminal"))
            return None
        with tempfile.TemporaryDirectory(prefix="kubectl-dra-") as folder:
            file = Path(folder) / f"edit{suffix}"
            file.write_text(text, encoding="utf-8")
            try:
                with self.suspend():
                    done = subprocess.run([*shlex.split(editor), str(file)], check=False)
                if done.returncode:
                    self.say(fmt("{} ended with {}: nothing was taken over", editor, done.returncode))
                    return None
                return file.read_text(encoding="utf-8").rstrip("\n")
            except (OSError, ValueError, UnicodeDecodeError) as error:
                self.say(fmt("{}: {}", editor, safe(str(error))))
                return None


def table_text(columns: Sequence[Column[RowT]], rows: Sequence[RowT], form: str) -> str:
    """The whole text in one of :data:`FORMATS`; what can't be seen in a name is made visible."""
    named = [column for column in columns if column.title.strip()]
    titles = [column.title.strip() for column in named]
    cells = ([Safe(plain(column.cell(row)).strip()) for column in named] for row in rows)
    if form == "json":
        keys = [title.lower().replace(" ", "_") for title in titles]
        return json.dumps([dict(zip(keys, row, strict=True)) for row in cells], indent=2) + "\n"
    return "".join(f"{line}\n" for line in WRITERS[form](titles, cells))


def format_of(path: str) -> str | None:
    """The format that a file's name asks for; None if it names no known one."""
    return next((form for suffix, form in _SUFFIXES.items() if path.lower().endswith(suffix)), None)
