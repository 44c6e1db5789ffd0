"""Pods that are placed together: the list of groups, and the page of one."""

from pathlib import Path

import pytest

from kubectl_dra.model.features import features
from kubectl_dra.source.file import load_file
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import RereadFeed
from kubectl_dra.tui.settings import Settings
from kubectl_dra.tui.views.diagnosis import DiagnosisView
from tests.tui.support import LARGE, demo_app, play

pytestmark = pytest.mark.one_in(4)

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "gang.yaml"


def app():
    on = features(37, {"GenericWorkload": True, "DRAWorkloadResourceClaims": True})
    feed = RereadFeed("file gang.yaml", False, lambda: (*load_file(str(EXAMPLE)), on))
    return DraApp(Settings(connect=lambda _context: feed))


def test_a_group_that_waits():
    async def script(ui):
        await ui.command("podgroups")
        assert "podgroups" in ui.crumbs
        row = next(line for line in ui.lines if line.strip().startswith("ml "))
        assert row.split()[:6] == ["ml", "train", "gang", "4", "4", "0"]
        await ui.press("enter")
        assert "ml/train" in ui.crumbs
        assert "PodGroup ml/train needs 4 pods at the same time, and only 3 find a node." in ui.screen
        assert "lower minCount of PodGroup train from 4 to 3" in ui.screen
        await ui.press("y")
        assert "schedulingPolicy" in ui.screen
        await ui.press("escape", "u")
        assert len(ui.app.view.grid.rows) == 4
        await ui.press("enter")
        assert isinstance(ui.app.view, DiagnosisView)

    play(app(), script, LARGE)


def test_groups_are_a_list_like_others():
    async def script(ui):
        await ui.command("podgroups")
        await ui.press("f")
        assert "faults only" in ui.crumbs
        assert len(ui.app.view.grid.rows) == 1
        await ui.press("p")
        assert "only 3 find a node" in " ".join(ui.screen.split())
        await ui.press("p", "escape")
        await ui.command("copytable json")
        assert '"name": "train"' in ui.app.clipboard
        for key in ("s", "u", "w"):
            await ui.press("question_mark")
            assert any(str(option.prompt).split()[0] == key for option in ui.app.screen.lists[0].options if option.id)
            await ui.press("escape")
        ui.app.view.grid.go_to(0)
        await ui.press("w", "escape", "u")
        assert {row.type for row in ui.app.view.grid.rows} == {"pod"}

    play(app(), script, (120, 36))


def test_no_groups_at_all():
    async def script(ui):
        await ui.command("podgroups")
        assert "There are no PodGroups" in ui.screen

    play(demo_app(), script)
