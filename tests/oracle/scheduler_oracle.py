"""The real code as processes that answer rows: CEL and allocator from ``scheduler/``, whole from ``kubescheduler/``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from tests.gobuild import GoModule, build

Row = dict[str, Any]
_FOLDER: Final = Path(__file__).parent
_WHOLE: Final = ("admit", "schedule", "gangs", "plugins", "time-pod")


def module(kind: str = "") -> GoModule:
    """The Go module that answers a kind of question."""
    program = "kubescheduler" if kind in _WHOLE else "scheduler"
    return GoModule(f"oracle-{program}", _FOLDER / program, {program: "."})


class OracleError(Exception):
    """Raised when the real code could not be asked: a row that it can't read, or the process ended."""


class Oracle:
    """A running oracle for one kind of question.

    About parts ``cel``, ``alloc``, ``time-selector``, ``time-allocator``; about whole clusters ``admit``, ``schedule``,
    ``gangs``, ``time-pod``, ``plugins``. The programs' own texts say what rows and answers consist of.
    """

    def __init__(self, kind: str) -> None:
        asked = module(kind)
        (program,) = asked.programs
        command = [str(build(asked) / program), kind]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def ask(self, row: Row) -> Row:
        """The real answer to one row."""
        return self.ask_line(json.dumps(row))

    def ask_line(self, line: str) -> Row:
        """The real answer to one row that is JSON already."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        told = self._process.stdout.readline()
        if not told:
            raise OracleError(f"the oracle ended with {self._process.wait()} at row {line[:500]}")
        answer: Row = json.loads(told)
        if "fault" in answer:
            raise OracleError(f"{answer['fault']}: {line[:500]}")
        return answer

    def peak(self) -> float:
        """The most memory that the process has had so far, in megabytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) / 1024

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def ask_all(kind: str, rows: Iterable[Row]) -> list[Row]:
    """The real answers to many rows."""
    with Oracle(kind) as oracle:
        return [oracle.ask(row) for row in rows]
