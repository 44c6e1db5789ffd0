"""The way in: run the app in this terminal."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from types import FrameType
from typing import Final

from kubectl_dra.output.console import Console
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.settings import Settings

_SWITCH_SECONDS: Final = 0.001
# Textual writes its frames to stderr.
_FRAMES: Final = 2


def run(settings: Settings) -> int:
    """Run until the user leaves; returns the exit code. The terminal is left as it was, whatever happens."""
    if os.environ.get("TERM", "").endswith("-direct"):
        # Such entries stand for terminals with all colours, which is looked up by this name.
        os.environ.setdefault("COLORTERM", "truecolor")
    # A key goes through three threads, and each waits so long for the one that computes.
    sys.setswitchinterval(_SWITCH_SECONDS)
    app = DraApp(settings)
    try:
        asyncio.run(_until_left(app))
    finally:
        _end_without_terminal(128 + signal.SIGHUP)
    console = Console()
    for done in app.written:
        console.note(done)
    if app.draft.edited and app.draft.expression.strip():
        console.note(Safe("The selector that you were writing:"))
        for line in app.draft.expression.strip().split("\n"):
            console.out(safe(line))
    return app.return_code or 0


async def _until_left(app: DraApp) -> None:
    """Signals end the app as keys do, or the terminal would stay as the app needs it."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _leave, app, 128 + number)

    def hang_up(number: int, _frame: FrameType | None) -> None:
        _end_without_terminal(128 + number)
        loop.call_soon_threadsafe(_leave, app, 128 + number)

    # Not through the loop, which may be waiting to write to the terminal that is gone.
    signal.signal(signal.SIGHUP, hang_up)
    await app.run_async(inline=app.settings.inline)


def _leave(app: DraApp, code: int) -> None:
    app.exit(return_code=code)


def _end_without_terminal(code: int) -> None:
    """End at once where the terminal was closed: nothing is left to restore, and Textual would wait for it for ever."""
    try:
        os.get_terminal_size(_FRAMES)
    except OSError as error:
        if error.errno == errno.EIO:
            os._exit(code)
