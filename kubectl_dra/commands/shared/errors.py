"""Problems that end a command: one line what, details if any, one line what to do, and the exit code."""

from __future__ import annotations

from collections.abc import Iterable

import click

from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.safe import Safe


class CommandError(Exception):
    """Raised when a command can't answer; ``what`` is unescaped, and a ``hint`` that is a command lacks the flags yet.

    ``details`` are lines between the two: what is missing, and who could permit it.
    """

    def __init__(
        self, what: str, hint: str = "", code: ExitCode = ExitCode.ERROR, details: Iterable[Safe] = ()
    ) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.code = code
        self.details = tuple(details)


class UsageProblem(click.UsageError):
    """Raised for arguments that make no sense together; ``hint`` replaces the pointer to ``--help``."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.hint = hint
