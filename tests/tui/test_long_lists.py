"""Long lists, which are arranged beside the UI's thread, show what short ones show."""

from __future__ import annotations

import pytest

from kubectl_dra.tui import list_view
from tests.tui.support import demo_app, play


@pytest.fixture
def long(monkeypatch):
    """Every list is a long one."""
    monkeypatch.setattr(list_view, "AT_ONCE", 0)


@pytest.mark.usefixtures("long")
def test_filter_order_and_cursor():
    async def script(ui):
        await ui.command("devices")
        assert "47" in ui.crumbs
        grid = ui.app.view.grid
        await ui.press("down", "down", "down")
        chosen = grid.selected.id
        await ui.command("sort state")
        assert [row.state.value for row in grid.rows] == sorted(
            (row.state.value for row in grid.rows), key=[row.state.value for row in grid.rows].index
        )
        assert grid.selected.id == chosen
        await ui.press("slash")
        await ui.type("h100 free")
        assert "7 of 47" in ui.crumbs
        await ui.press("escape")
        assert len(grid.rows) == 47

    play(demo_app(), script)


def test_columns_are_those_of_the_rows_that_are_shown():
    """What was found out about rows that a letter of the filter overtook is never shown, and decides nothing."""

    async def script(ui):
        await ui.command("devices")
        await ui.press("slash", *"nothing like it", "enter")
        view = ui.app.view
        view.telling_columns(view.all_rows())
        await ui.press("escape")
        assert {"MODEL", "MEMORY"} <= set(ui.lines[3].split())

    play(demo_app(), script)
