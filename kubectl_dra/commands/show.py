"""Print helpers that commands share: documents by ``-o``, notes about evidence, the console of the options."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from kubectl_dra.commands.errors import CommandError, hint_for
from kubectl_dra.commands.options import Options
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.output.console import ColorMode, Console
from kubectl_dra.output.documents import write_document
from kubectl_dra.output.generations import server_note
from kubectl_dra.output.safe import Safe, fmt, safe


def console(options: Options) -> Console:
    """The console with the colours asked for."""
    return Console(ColorMode(options.color))


def tell(problem: CommandError, options: Options) -> None:
    """Say on stderr what could not be answered, and go on."""
    console(options).error(problem.what, hint_for(problem.hint, options.from_))


def is_document(options: Options) -> bool:
    """Whether ``-o`` asks for JSON or YAML."""
    return options.output in ("json", "yaml")


def write(data: bytes, options: Options) -> None:
    """Write encoded JSON in the format of ``-o``."""
    write_document(data, options.output)


def print_pages(pages: Iterable[Iterable[Safe]], options: Options) -> None:
    """Print pages with an empty line between them, line by line as they come."""
    terminal = console(options)
    for index, page in enumerate(pages):
        for line in chain([Safe("")], page) if index else page:
            terminal.out(line)


def note_evidence(evidence: Evidence, options: Options) -> None:
    """Say on stderr what the answer can't know: notes of the source, and objects that could not be read."""
    terminal = console(options)
    limits = server_note(evidence.server_version)
    if limits:
        terminal.note(Safe("note: ") + limits)
    for note in evidence.notes:
        terminal.note(Safe("note: ") + safe(note))
    for bad in evidence.bad_objects:
        name = f"{bad.namespace}/{bad.name}" if bad.namespace else bad.name
        what = fmt("{} {}", bad.kind, name or "without a name") if bad.kind else Safe("something")
        terminal.note(fmt("warning: {} is left out: {} ({})", what, bad.error, bad.origin))
