"""Wherever a code is shown a key or a click leads to its page."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.tui.views.reasons import ExplanationView, ReasonsView
from tests.tui.support import LARGE, SMALL, demo_app, play

pytestmark = pytest.mark.one_in(6)


def is_page_of(ui, code):
    return isinstance(ui.app.view, ExplanationView) and str(ui.app.view.crumb) == code


def test_a_reason_of_the_overview_and_of_the_list():
    async def script(ui):
        assert ui.app.focused is ui.app.view.waiting
        await ui.press("E")
        assert is_page_of(ui, "DRA-211")
        await ui.press("escape", "4", "E")
        assert is_page_of(ui, "DRA-211")
        await ui.press("escape", "up")
        assert ui.app.view.grid.selected.pod is None
        await ui.press("E")
        assert is_page_of(ui, "DRA-211")

    play(demo_app(), script)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_enter_on_a_reason_of_the_overview(size):
    """What it means, below the pods that are pending for it: enter once more opens the first one."""

    async def script(ui):
        await ui.press("enter")
        view = ui.app.view
        assert is_page_of(ui, "DRA-211")
        assert [row.pod.name for row in view.pods.rows] == ["render-5", "sweep-0", "sweep-1", "sweep-2", "sweep-3"]
        assert "Pending for this reason now" in ui.screen
        assert "What it means" in ui.screen
        await ui.press("down", "c")
        assert ui.app.clipboard == "ml/sweep-0"
        await ui.press("enter")
        assert "DRA-211 › ml/sweep-0" in ui.crumbs
        await ui.press("escape", "tab", "c")
        assert ui.app.focused is view.page
        assert ui.app.clipboard.startswith("kubectl dra get claims -A")
        assert ui.app.offers("open") == bool(view.named_codes)
        await ui.press("enter")
        assert isinstance(ui.app.view, ExplanationView | ReasonsView)
        await ui.press("escape", "escape")
        assert ui.app.focused is ui.app.view.waiting

    play(demo_app(), script, size)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_enter_on_a_page_that_names_reasons(size):
    async def script(ui):
        # No devices were counted for this one: there is nothing else that enter could open.
        await ui.command("pod lab/finetune")
        assert ui.app.offers("open")
        await ui.press("enter")
        assert is_page_of(ui, "DRA-100")
        # A page that speaks of other reasons leads to them, of several to a list.
        await ui.command("explain 211")
        assert is_page_of(ui, "DRA-211")
        others = [code.value for code in ui.app.view.named_codes]
        assert others
        assert "DRA-211" not in others
        await ui.press("enter")
        if len(others) > 1:
            assert [row.value for row in ui.app.view.grid.rows] == others
            await ui.press("enter")
        assert is_page_of(ui, others[0])
        # Why a claim waits.
        await ui.press("3")
        await ui.type("/finetune")
        await ui.press("enter", "w")
        assert ui.app.view.named_codes
        await ui.press("enter")
        assert isinstance(ui.app.view, ExplanationView | ReasonsView)

    play(demo_app(), script, size)


def test_a_click_on_a_code():
    async def script(ui):
        await ui.command("pod ml/trainer-0")
        page = ui.app.view.page
        await ui.press("G")
        line, text = [(i, t) for i, t in enumerate(page.lines) if "DRA-220" in t][-1]
        place = line - page.scroll_offset.y
        column = ui.lines[page.content_region.y + place].index("DRA-220") - page.content_region.x
        await ui.pilot.click(page, offset=(column + 2, place))
        await ui.settle()
        assert is_page_of(ui, "DRA-220"), text

    play(demo_app(), script)


def test_all_reasons_by_command_search_and_completion():
    async def script(ui):
        await ui.command("explain")
        view = ui.app.view
        assert len(view.grid.rows) == len(Code)
        waiting = {row.value: view.columns()[2].cell(row) for row in view.grid.rows}
        assert (waiting["DRA-211"], waiting["DRA-310"]) == ("5", "3")
        await ui.type("/tainted")
        await ui.press("enter", "enter")
        assert isinstance(ui.app.view, ExplanationView)
        await ui.command("explain nosuch")
        assert "no reason “nosuch”: :reasons lists them all" in ui.crumbs
        ui.send(*":explain DRA-22")
        await ui.settle()
        assert "DRA-220" in ui.screen
        await ui.press("escape", "1", "slash")
        await ui.type("DRA-310")
        await ui.press("enter", "enter")
        assert is_page_of(ui, "DRA-310")

    play(demo_app(), script)
