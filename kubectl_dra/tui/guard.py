"""Whatever ends the terminal UI, also SIGQUIT, SIGKILL or a crash in a library, the terminal is left as it was.

What ends a process at once leaves it no time, so a shell waits beside it: a pipe tells it that the process is gone. It
changes settings only while they are the UI's, which alone turns signals of the keyboard off: the shell that the user is
back in may be quicker, and has settings of its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final

# Keys of kitty, focus, resizes, pasting, the mouse, colours, and the cursor.
_RESET: Final = r"\033[<u\033[?1004l\033[?2048l\033[?2004l\033[?1000l\033[?1003l\033[?1015l\033[?1006l\033[0m\033[?25h"
_SCREEN: Final = r"\033[?1049l"
_SCRIPT: Final = """
trap '' INT TERM HUP QUIT TSTP TTIN TTOU
read -r done && exit 0
case "$(stty -a <&2)" in
  *-isig*) printf '%b' "$2" >&2; stty "$1" <&2 ;;
esac
"""
_SECONDS: Final = 2.0


@contextmanager
def restored_terminal(inline: bool) -> Iterator[None]:
    """Within, the terminal of stderr is restored if this process ends without a word; ``inline`` has no own screen."""
    guard = _started(inline)
    try:
        yield
    finally:
        if guard is not None:
            _dismiss(guard)


def _started(inline: bool) -> subprocess.Popen[bytes] | None:
    """The shell; None where there is none, or no stty: then only what Python can handle is handled."""
    if sys.platform == "win32" or sys.__stderr__ is None:
        return None
    terminal: IO[str] = sys.__stderr__
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        asked = subprocess.run(["stty", "-g"], stdin=terminal, capture_output=True, timeout=_SECONDS, check=True)
        words = [
            "sh",
            "-c",
            _SCRIPT,
            "sh",
            asked.stdout.decode("ascii").strip(),
            _RESET if inline else _SCREEN + _RESET,
        ]
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=terminal,
            # Signals to the UI's group, as from the keyboard, do not reach it.
            start_new_session=True,
        )
    return None


def _dismiss(guard: subprocess.Popen[bytes]) -> None:
    with suppress(OSError, subprocess.SubprocessError):
        guard.communicate(b"done\n", timeout=_SECONDS)
