"""Pictures of every screen at 80×24 and 140×40: a change of how something looks is seen in review."""

from __future__ import annotations

import pytest

from tests.tui.support import LARGE, SMALL, Driver, demo_app

SELECTOR = (
    'device.attributes["gpu.example.com"].model == "H100" &&\n  device.attributes["gpu.example.com"].nvlinkDomain == 0'
)
SCREENS = {
    "overview": (),
    "pools": ("2",),
    "pool": ("2", "enter"),
    "device": ("2", "enter", "enter"),
    "devices-filtered": ("2", ":devices", "/h100"),
    "claims": ("3",),
    "claim": ("3", "/serve-1-gpus", "enter"),
    "pending": ("4",),
    "diagnosis": ("4", "/trainer", "enter"),
    "numbers": ("4", "/trainer", "enter", "v", "down", "down"),
    "lab-empty": ("5",),
    "lab": ("5", "=SELECTOR"),
    "lab-broken": ("5", "=BROKEN"),
    "taints": ("6",),
    "classes": (":classes",),
    "yaml": ("6", "y"),
    "help": ("question_mark",),
    "light": ("T",),
}


async def act(ui, step):
    if step[0] == "/" and len(step) > 1:
        await ui.pilot.press("slash")
        await ui.type(step[1:])
        await ui.press("enter")
    elif step[0] == ":":
        await ui.command(step[1:])
    elif step[0] == "=":
        ui.app.view.editor.cursor_blink = False
        ui.app.view.editor.text = SELECTOR if step == "=SELECTOR" else SELECTOR.replace("model", "modle")
        ui.app.view.editor.cursor_location = (0, 40)
        await ui.settle()
    else:
        await ui.press(step)


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "140x40"])
@pytest.mark.parametrize("name", SCREENS)
def test_screen(snap_compare, name, size):
    async def prepare(pilot):
        ui = Driver(pilot.app, pilot)
        await ui.settle()
        for step in SCREENS[name]:
            await act(ui, step)
        if name.startswith("lab"):
            ui.app.view.editor.cursor_blink = False
        # What was said disappears with time; a picture should not depend on when it was taken.
        ui.app.notice = ui.app.notice[:0]
        ui.app.refresh_frame()
        await pilot.pause()

    assert snap_compare(demo_app(), terminal_size=size, run_before=prepare)
