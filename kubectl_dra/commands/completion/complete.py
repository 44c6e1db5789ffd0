"""The executable ``kubectl_complete-dra``: what may come next behind ``kubectl dra``, for kubectl's own completion.

kubectl runs it with the words typed so far, the last one empty for a new word, and reads one candidate a line, with a
description behind a tab, then ``:`` and the bits of a directive. A failing executable loses its candidates, and what it
writes to stderr lands in the middle of the user's command line: so it writes nothing there and asks nothing. With
``BASH_COMP_DEBUG_FILE`` set, as for kubectl itself, errors go to that file.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kubectl_dra.commands.completion import Completions
from kubectl_dra.commands.completion.line import TypedLine, read_line
from kubectl_dra.commands.completion.values import answer
from kubectl_dra.output.console import write_data

if TYPE_CHECKING:
    from kubectl_dra.commands.completion.names import Tables

_DESCRIPTION: Final = 70
# Anything else could not have been a name, and must not reach a terminal.
_PRINTABLE: Final = re.compile(r"[\x20-\x7e]+")


def main(words: Sequence[str] | None = None) -> None:
    """Print the candidates for ``words`` (the process's arguments if not given)."""
    _silence()
    found = complete(sys.argv[1:] if words is None else words)
    write_data("\n".join(lines(found)))


def complete(words: Sequence[str]) -> Completions:
    """The candidates for the last of ``words``."""
    line = read_line(words)
    return answer(line, lambda: _tables(line))


def split_line(line: str) -> list[str]:
    """The words of a shell's line behind the program's name; the last may be empty or have an open quote."""
    for closing in ("", "\\", "'", '"'):
        with contextlib.suppress(ValueError):
            words = shlex.split(line + closing)
            # A blank at the end begins a new word, unless it is inside of quotes.
            return [*words[1:], ""] if not closing and line[-1:].isspace() else words[1:]
    return [""]


def lines(found: Completions) -> list[str]:
    """The protocol's lines, the directive last."""
    rows = []
    for candidate in found.candidates:
        if _PRINTABLE.fullmatch(candidate.value):
            text = re.sub(r"[^\x20-\x7e]+", "?", " ".join(candidate.description.split()))
            rows.append(f"{candidate.value}\t{_short(text)}" if text else candidate.value)
    return [*rows, f":{int(found.directive)}"]


def _short(text: str) -> str:
    return text if len(text) <= _DESCRIPTION else f"{text[: _DESCRIPTION - 3]}..."


def _tables(line: TypedLine) -> Tables:
    """Where names come from: ``--from``, else the cluster."""
    if line.value("--from"):
        from kubectl_dra.commands.completion.recorded import Recorded

        return Recorded(line.values)
    from kubectl_dra.commands.completion.kubectl import Kubectl

    return Kubectl(line.values)


def _silence() -> None:
    """No input, and nothing on stderr: a traceback ends in a file, or nowhere."""
    target = os.environ.get("BASH_COMP_DEBUG_FILE") or os.devnull
    stdin, stderr = os.open(os.devnull, os.O_RDONLY), os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(stdin, 0)
    os.dup2(stderr, 2)
