"""The way in: run the app in this terminal."""

from __future__ import annotations

import asyncio
import os
import signal

from kubectl_dra.output.console import Console
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.settings import Settings


def run(settings: Settings) -> int:
    """Run until the user leaves; returns the exit code. The terminal is left as it was, whatever happens."""
    if os.environ.get("TERM", "").endswith("-direct"):
        # Such entries stand for terminals with all colours, which is looked up by this name.
        os.environ.setdefault("COLORTERM", "truecolor")
    app = DraApp(settings)
    asyncio.run(_until_left(app))
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
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, _leave, app, 128 + number)
    await app.run_async(inline=app.settings.inline)


def _leave(app: DraApp, code: int) -> None:
    app.exit(return_code=code)
