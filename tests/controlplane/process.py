"""One child process in a group of its own, whose life ends with ours whatever happens to us."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_GRACE_SECONDS: Final = 3.0
_LIBC: Final = ctypes.CDLL(None) if sys.platform == "linux" else None


class Process:
    """A running program with its log file."""

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name = name
        self._log = log
        with log.open("wb") as output:
            # After a SIGKILL nobody is left to clean up, so the kernel does it (Linux).
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent if _LIBC else None,
            )

    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._child.poll() is None

    def stop(self) -> None:
        """Ask its group to end, and insist after a moment."""
        for number, patience in ((signal.SIGTERM, _GRACE_SECONDS), (signal.SIGKILL, None)):
            if not self.running():
                return
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(patience)

    def log_tail(self, size: int = 4000) -> str:
        """The end of what it has written."""
        return self._log.read_bytes()[-size:].decode(errors="replace")


def _die_with_parent() -> None:
    assert _LIBC is not None
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
