"""The way in: run the app in this terminal."""

from __future__ import annotations

from kubectl_dra.output.console import Console
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.settings import Settings


def run(settings: Settings) -> int:
    """Run until the user leaves; returns the exit code. The terminal is left as it was, whatever happens."""
    app = DraApp(settings)
    app.run()
    if app.draft.edited and app.draft.expression.strip():
        console = Console()
        console.note(Safe("The selector that you were writing:"))
        for line in app.draft.expression.strip().split("\n"):
            console.out(safe(line))
    return app.return_code or 0
