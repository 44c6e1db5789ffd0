"""``completion --install``: a ``kubectl_complete-dra`` on PATH, as a two-line script that calls ``kubectl-dra``."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console
from kubectl_dra.output.safe import fmt

_NAME: Final = "kubectl_complete-dra"


def install_executable(options: Options) -> None:
    """Write it beside ``kubectl-dra``, or into the first folder of PATH that may be written to, and say where.

    One that is there already stays as it is. Raises ``CommandError`` if there is no such folder.
    """
    out = console(options).out
    there = shutil.which(_NAME)
    if there is not None:
        out(fmt("{} is installed already: {}", _NAME, there))
        return
    program = _program()
    folder = next(_folders(program), None)
    if folder is None:
        raise CommandError(
            "no folder of PATH may be written to", 'mkdir -p ~/.local/bin; PATH="$HOME/.local/bin:$PATH"'
        )
    path = folder / _NAME
    _write(path, f'#!/bin/sh\nexec {shlex.quote(str(program))} __complete "$@"\n')
    out(fmt("Wrote {}, which calls {}.", path, program))
    out(fmt("kubectl's own completion finds it there: kubectl completion --help says how to switch that on."))


def _program() -> Path:
    """The ``kubectl-dra`` that is running, else the one on PATH."""
    running = Path(sys.argv[0])
    if running.name.startswith("kubectl-dra") and os.access(running, os.X_OK):
        return running.absolute()
    found = shutil.which("kubectl-dra")
    if found is None:
        raise CommandError("kubectl-dra is not on PATH", "put its folder on PATH first")
    return Path(found)


def _folders(program: Path) -> Iterator[Path]:
    """Where kubectl would find the executable: folders of PATH, the program's own first."""
    folders = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    beside = [folder for folder in folders if folder == program.parent]
    yield from (folder for folder in (*beside, *folders) if folder.is_dir() and os.access(folder, os.W_OK))


def _write(path: Path, text: str) -> None:
    """A new file only: never over or through something that is there."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o755)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", "remove it, or choose another PATH") from error
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
