"""Problems that end a command: one line what, one line what to do, and the exit code."""

from __future__ import annotations

import click

from kubectl_dra.output.exit_codes import ExitCode


class CommandError(Exception):
    """Raised when a command can't answer; texts are unescaped, and a ``hint`` that is a command lacks the flags yet."""

    def __init__(self, what: str, hint: str = "", code: ExitCode = ExitCode.ERROR) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.code = code


class UsageProblem(click.UsageError):
    """Raised for arguments that make no sense together; ``hint`` replaces the pointer to ``--help``."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.hint = hint
