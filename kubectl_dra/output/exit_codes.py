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


def finding_code(*, asked: bool, bad: bool, partial: bool = False) -> ExitCode:
    """The exit code of an answered question; a bad finding counts more than partial evidence."""
    if asked and bad:
        return ExitCode.FINDING
    return ExitCode.PARTIAL if asked and partial else ExitCode.OK
