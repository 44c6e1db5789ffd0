"""The exit codes, named in one place."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process ends with. ``FINDING`` and ``PARTIAL`` only with ``--exit-code``."""

    OK = 0
    ERROR = 1
    USAGE = 2
    FINDING = 3
    PARTIAL = 4
    INTERRUPTED = 130


def finding_code(*, asked: bool, bad: bool, partial: bool = False, answered: bool = True) -> ExitCode:
    """The exit code of a question; a bad finding counts more than partial evidence.

    Where nothing was ``answered`` because nothing could be read, that is an error even if nobody ``asked``.
    """
    if asked and bad:
        return ExitCode.FINDING
    if asked and partial:
        return ExitCode.PARTIAL
    return ExitCode.OK if answered else ExitCode.ERROR
