"""Pictures of the terminal UI on the demo cluster, as SVG: ``python tools/screenshots.py`` writes those of the README.

The same walk through all screens makes the pictures that the tests compare.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.output.safe import Safe
from kubectl_dra.tui.app import DraApp

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
README_SIZE = (140, 40)
README = ("overview", "diagnosis", "lab")
SELECTOR = (
    'device.attributes["gpu.example.com"].model == "H100" &&\n  device.attributes["gpu.example.com"].nvlinkDomain == 0'
)
# Each step is a key, a command with ":", a filter with "/", or a text for the editor with "=".
SCREENS: Mapping[str, tuple[str, ...]] = {
    "overview": (),
    "pools": ("2",),
    "pool": ("2", "enter"),
    "pool-describe": ("2", "enter", "d"),
    "device": ("2", "enter", "enter"),
    "devices-filtered": (":devices", "/h100"),
    "devices-columns": (":devices", "W"),
    "claims": ("3",),
    "claim": ("3", "/serve-1-gpus", "enter"),
    "claim-why": ("3", "/trainer", "w"),
    "pending": ("4",),
    "diagnosis": ("4", "/trainer", "enter"),
    "numbers": ("4", "/trainer", "enter", "v", "down", "down"),
    "ways-out": ("4", "/trainer", "enter", "x"),
    "lab-empty": ("5",),
    "lab": ("5", "=" + SELECTOR),
    "lab-broken": ("5", "=" + SELECTOR.replace("model", "modle")),
    "lab-load": ("5", "f2"),
    "taints": ("6",),
    "plan": (":taint nic.example.com/rack-1/nic-3 link=flapping:NoExecute",),
    "classes": (":classes",),
    "class": (":classes", "down", "enter"),
    "capacity": (":capacity", ":shape gpu.example.com 4"),
    "yaml": ("6", "y"),
    "help": ("f1",),
    "command": ("2", "colon", "p", "o", "d", "space", "m"),
    "light": ("T",),
}
_ROUNDS = 4
# Pictures in documents can't load fonts.
_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


async def settle(app: DraApp, pilot: object) -> None:
    """Until everything on the screen is up to date and drawn."""
    quiet, before = 0, None
    while quiet < _ROUNDS:
        await pilot.pause(0.002)
        # Colours included: another theme comes later than the key for it.
        now = app.focused, app.theme, [list(strip) for strip in app.screen._compositor.render_strips()]
        quiet = quiet + 1 if app.is_idle and now == before else 0
        before = now


async def _step(app: DraApp, pilot: object, step: str) -> None:
    if step[0] == ":":
        app.run_command(step[1:])
    elif step[0] == "/":
        app.view.set_filter(step[1:])
    elif step[0] == "=":
        app.view.editor.text = step[1:]
        app.view.editor.cursor_location = (0, 40)
    else:
        await pilot.press(step)
    await settle(app, pilot)


async def _picture(app: DraApp, pilot: object, steps: Iterable[str]) -> str:
    for step in steps:
        await _step(app, pilot, step)
    for cursor in app.screen.query("Input, TextArea"):
        cursor.cursor_blink = False
    app.notice = Safe("")
    app.refresh_frame()
    await settle(app, pilot)
    return _FONTS.sub("", app.export_screenshot())


async def _begin_again(app: DraApp, pilot: object) -> None:
    """As it was at the start."""
    while len(app.screen_stack) > 1:
        app.pop_screen()
    await pilot.press("escape")
    app.theme = app.settings.theme
    app.draft.expression = ""
    app.start_over()
    await settle(app, pilot)


async def _pictures(size: tuple[int, int], names: Iterable[str]) -> dict[str, str]:
    # Pictures are in colour, wherever they are made.
    os.environ.pop("NO_COLOR", None)
    app = DraApp(settings_of(Options(from_="demo", all_namespaces=True)))
    found = {}
    async with app.run_test(size=size) as pilot:
        await settle(app, pilot)
        for name in names:
            found[name] = await _picture(app, pilot, SCREENS[name])
            await _begin_again(app, pilot)
    return found


def pictures(size: tuple[int, int], names: Iterable[str] = SCREENS) -> dict[str, str]:
    """Screens by name, in one run of the app."""
    return asyncio.run(_pictures(size, names))


def main() -> int:
    """Write those of the README."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, svg in pictures(README_SIZE, README).items():
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
