"""Manifests of ``-f``, ``-R`` and ``-k`` for every command that takes them; what can't be read is said on stderr."""

from __future__ import annotations

from typing import TypeVar

from kubectl_dra.commands.options import Options
from kubectl_dra.commands.show import console
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.source.reading import Found, FoundRecords, read_objects, read_records

FoundT = TypeVar("FoundT", Found, FoundRecords)


def objects_of(options: Options, *, patches: bool = False) -> Found:
    """The objects as they were written. Raises :class:`SourceError` if there are none and one thing is wrong.

    Patches of a kustomization are no objects by themselves; only a command that changes files takes them.
    """
    return _told(read_objects(options.manifests, patches=patches), options)


def records_of(options: Options) -> FoundRecords:
    """The objects of known kinds, decoded. Raises as :func:`objects_of`."""
    return _told(read_records(options.manifests), options)


def _told(found: FoundT, options: Options) -> FoundT:
    terminal = console(options)
    for note in found.notes:
        terminal.note(Safe("note: ") + safe(note))
    for problem in found.problems:
        terminal.error(problem.what, problem.hint)
    return found
