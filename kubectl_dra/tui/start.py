"""The way in: run the app in this terminal."""

from __future__ import annotations

from kubectl_dra.tui.app import DraApp, Settings


def run(settings: Settings) -> int:
    """Run until the user leaves; returns the exit code. The terminal is left as it was, whatever happens."""
    app = DraApp(settings)
    app.run()
    return app.return_code or 0
