"""The TUI on a cluster of 1.30: every view lives with classes, claims and negotiations of classic DRA."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.support import file_app, play

pytestmark = pytest.mark.one_in(4)

CLUSTER = Path(__file__).parents[1] / "reports" / "classic.json"


def test_every_view_of_an_old_cluster():
    async def script(ui):
        assert "gpu.example.com" in ui.screen
        await ui.press("2")
        assert "node-1" in ui.screen
        await ui.press("enter")
        assert "inst-1" in ui.screen
        await ui.press("escape", "3")
        assert "controlled" in ui.screen and "p/d" in ui.screen
        await ui.command("claim ml/has")
        assert "10 bytes of its own data" in "\n".join(ui.app.view.page.lines)
        await ui.press("w")
        assert "is asked to deallocate its" in " ".join(ui.screen.split())
        await ui.press("escape", "y")
        assert "apiVersion: resource.k8s.io/v1alpha2" in ui.screen
        await ui.press("4")
        assert "driver allocates" in ui.screen
        await ui.command("pod ml/pod")
        assert "is asked to allocate" in " ".join(ui.screen.split())
        await ui.press("v", "escape", "t")
        assert ui.app.is_idle

    play(file_app(CLUSTER), script, (120, 40))
