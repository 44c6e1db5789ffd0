"""Pictures of the terminal UI on the demo cluster, as SVG: ``python tools/screenshots.py`` writes those of the README.

The same walk through all screens makes the pictures that the tests compare: each screen in the dark and the light
theme, with NO_COLOR (``none``) and with 16 colours (``sixteen``).
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from textual.color import Color
from textual.widgets import TextArea

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.output.safe import Safe
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.theme import DARK, LIGHT, FewColours

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.svg import Rows, svg  # noqa: E402

FOLDER = ROOT / "docs" / "images"
README_SIZE = (120, 36)
_MOMENT = datetime(2026, 11, 21, 12, 4, tzinfo=UTC)
README = ("overview", "diagnosis", "lab")
SELECTOR = (
    'device.attributes["gpu.example.com"].model == "H100" &&\n  device.attributes["gpu.example.com"].nvlinkDomain == 0'
)
# Each step is a key, a command with ":", a filter with "/", or a text for the editor with "=".
SCREENS: Mapping[str, tuple[str, ...]] = {
    "overview": (),
    "reason": ("enter",),
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
    "explanation": ("4", "/trainer", "enter", "E"),
    "tree": ("4", "/trainer", "enter", "X"),
    "lab-devices": ("5", "=" + SELECTOR, "f7"),
    "would-get": (":claim ml/trainer-0-gpus-x9grb", "t", "ctrl+g"),
    "nodes": (":nodes",),
    "node": (":nodes", "enter"),
    "podgroups": (":podgroups",),
    "search": ("slash", "t", "r", "a", "i", "n", "enter"),
    "aliases": (":aliases",),
    "log": (":log",),
    "help": ("f1",),
    "command": ("2", "colon", "p", "o", "d", "space", "m"),
}
_ROUNDS = 4


async def settle(app: DraApp, pilot: object) -> None:
    """Until everything on the screen is up to date and drawn."""
    quiet, before = 0, None
    while quiet < _ROUNDS:
        if not app.is_idle:
            # Other threads work: looking on would only take their time.
            await pilot.pause(0.02)
            quiet, before = 0, None
            continue
        await pilot.pause(0.002)
        # Colours included: another theme comes later than the key for it.
        now = app.focused, app.theme, _rows(app)
        quiet = quiet + 1 if app.is_idle and now == before else 0
        before = now


async def _step(app: DraApp, pilot: object, step: str) -> None:
    if step[0] == ":":
        app.run_command(step[1:])
    elif step[0] == "/":
        app.view.set_filter(step[1:])
    elif step[0] == "=":
        while not hasattr(app.view, "editor"):
            await pilot.pause(0.02)
        await settle(app, pilot)
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
        if isinstance(cursor, TextArea):
            # Its lines are kept as they were drawn last, with the cursor or without.
            cursor._line_cache.clear()
            cursor.refresh()
    app.notice = Safe("")
    # The log says when: pictures are the same at any time.
    app.commands = [(_MOMENT, *rest) for _, *rest in app.commands]
    app.view.show()
    app.refresh_frame()
    await settle(app, pilot)
    dark = _rows(app)
    app.theme = LIGHT.name
    await settle(app, pilot)
    light = _rows(app)
    app.theme = DARK.name
    few = {
        name: [FewColours(foreground=name != "none").apply(row, Color.parse(DARK.background)) for row in dark]
        for name in ("none", "sixteen")
    }
    return svg({"dark": dark, "light": light, **few})


def _rows(app: DraApp) -> Rows:
    return [list(strip) for strip in app.screen._compositor.render_strips()]


async def _begin_again(app: DraApp, pilot: object) -> None:
    """As it was at the start."""
    while len(app.screen_stack) > 1:
        app.pop_screen()
    await pilot.press("escape")
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
    for name, picture in pictures(README_SIZE, README).items():
        (FOLDER / f"{name}.svg").write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
