"""Long lists, which are arranged beside the UI's thread, show what short ones show."""

from __future__ import annotations

import pytest

from kubectl_dra.output.safe import Safe
from kubectl_dra.tui import list_view
from kubectl_dra.tui.columns import Column, natural_widths
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


@pytest.mark.parametrize("distance", [2, 3, 5, 7, 10])
def test_a_column_is_as_wide_as_what_comes_at_equal_distances(distance):
    """In a tree each line of a pod may be followed by as many of others."""
    rows = ["running" if index % distance else "allocated,reserved" for index in range(20_000)]
    for shift in range(distance):
        (wide,) = natural_widths([Column("STATE", Safe)], rows[shift:])
        assert wide == len("allocated,reserved")
