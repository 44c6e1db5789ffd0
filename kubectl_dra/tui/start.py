"""The way in: run the app in this terminal.

Whatever ends the terminal UI, also SIGQUIT, SIGKILL or a crash in a library, the terminal is left as it was. What ends
a process at once leaves it no time, so a shell waits beside it: a pipe tells it that the process is gone. It changes
settings only while they are the UI's, which alone turns signals of the keyboard off: the shell that the user is back in
may be quicker, and has settings of its own.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final

from kubectl_dra.output.console import DEFAULT_WIDTH, Console, pages_of
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.settings import Settings

_SWITCH_SECONDS: Final = 0.001
# Textual writes its frames to stderr.
_FRAMES: Final = 2
_LOOK_SECONDS: Final = 1.0
_SOON_SECONDS: Final = 0.05
_QUIET_SECONDS: Final = 20.0
# Less often than Python does by itself: tens of thousands of objects come with every reading.
_COLLECT: Final = (50_000, 20, 100)
# glibc's option of mallopt for the number of heaps.
_M_ARENA_MAX: Final = -8
_HEAPS: Final = 2
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


def run(settings: Settings) -> int:
    """Run until the user leaves; returns the exit code. The terminal is left as it was, whatever happens."""
    if os.environ.get("TERM", "").endswith("-direct"):
        # Such entries stand for terminals with all colours, which is looked up by this name.
        os.environ.setdefault("COLORTERM", "truecolor")
    # A key goes through three threads, and each waits so long for the one that computes.
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(*_COLLECT)
    _share_heaps()
    app = DraApp(settings)
    # A pane knows its own width; what a command would print stands in it as in a pipe.
    with _restored_terminal(settings.inline), pages_of(DEFAULT_WIDTH):
        threading.Thread(target=_watch_terminal, name="terminal", daemon=True).start()
        asyncio.run(_until_left(app))
    console = Console()
    for done in app.written:
        console.note(done)
    if app.draft.edited and app.draft.expression.strip():
        console.note(Safe("The selector that you were writing:"))
        for line in app.draft.expression.strip().split("\n"):
            console.out(safe(line))
    return app.return_code or 0


def _share_heaps() -> None:
    """Have all threads use the same few heaps: what one that reads gives back can't be used by the others otherwise."""
    # Other C libraries have no such function, and no heap per thread.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS)


async def _until_left(app: DraApp) -> None:
    """Signals end the app as keys do, or the terminal would stay as the app needs it."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, _leave, app, 128 + number)
    tidying = asyncio.create_task(_tidy(app))
    await app.run_async(inline=app.settings.inline)
    tidying.cancel()


async def _tidy(app: DraApp) -> None:
    """Keep the garbage collector short: it stops all threads for as long as it takes to look at every object.

    What was read from a cluster is no garbage, so it is left out as soon as it is there, and what is derived from it
    likewise. Views that were closed are collected when nobody has pressed a key for a while.
    """
    read = frozen = False
    while True:
        await asyncio.sleep(_LOOK_SECONDS if read else _SOON_SECONDS)
        if not read and app.cluster is not None:
            gc.freeze()
            read = True
        if not frozen and app.worker.has_all:
            gc.freeze()
            frozen = True
        if app.closed and time.monotonic() - app.last_key > _QUIET_SECONDS:
            app.closed = 0
            gc.unfreeze()
            gc.collect()
            gc.freeze()


def _leave(app: DraApp, code: int) -> None:
    app.exit(return_code=code)


def _watch_terminal() -> None:
    """End the process when its terminal was closed: nothing is left to restore, and Textual would wait for it for ever.

    A thread, because the loop may be waiting to write to that terminal; SIGHUP reaches only what the terminal controls.
    """
    while True:
        try:
            os.get_terminal_size(_FRAMES)
        except OSError as error:
            if error.errno == errno.EIO:
                os._exit(128 + signal.SIGHUP)
        time.sleep(_LOOK_SECONDS)


@contextmanager
def _restored_terminal(inline: bool) -> Iterator[None]:
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
