"""Problems that end a command: one line what, one line what to do, and the exit code."""

from __future__ import annotations

import shlex

import click

from kubectl_dra.output.exit_codes import ExitCode


class CommandError(Exception):
    """Raised when a command can't answer; texts are unescaped."""

    def __init__(self, what: str, hint: str = "", code: ExitCode = ExitCode.ERROR) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.code = code


def hint_for(hint: str, source: str | None) -> str:
    """What to do, for answers from ``source`` (``--from``; None: a live cluster): the same source is meant again."""
    if source is None:
        return hint
    if hint.startswith("kubectl dra "):
        return f"kubectl dra --from {shlex.quote(source)} {hint.removeprefix('kubectl dra ')}"
    if hint.startswith("kubectl auth can-i "):
        return "take a new snapshot with the right to list them"
    return f"look into {source}" if hint.startswith("kubectl get ") else hint


class UsageProblem(click.UsageError):
    """Raised for arguments that make no sense together; ``hint`` replaces the pointer to ``--help``."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.hint = hint
