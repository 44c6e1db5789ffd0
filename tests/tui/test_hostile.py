"""Names that try to act on the terminal or to break the layout, through every screen."""

from __future__ import annotations

import json
import re

import pytest
from rich.cells import cell_len
from textual.widgets import Input

from tests.reports.clusters import DEMO, document
from tests.tui.support import LARGE, SMALL, file_app, play

EVILS = {
    "active": "\x1b[31m\u202eevil\u200b\r\n\x9b\x07[/bold][@click=app.quit]{0}%s\u2066",
    "wide": "界面広告" * 12,
    "combining": "e\u0301\u0327" * 20 + "\ufe0f\U0001f468\u200d\U0001f469",
    "long": "x" * 253,
}
ACTIVE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
NAMES = ("node-a", "gpu-0", "serve-0", "trainer-0", "rack-7", "ecc-errors", "bandwidth", "model", "H100", "ml", "gpus")
KEYS = (
    "1", "end", "enter", "escape", "tab", "tab", "enter", "escape",
    "2", "s", "d", "end", "escape", "enter", "W", "right", "W", "d", "escape", "y", "escape", "enter", "u", "escape",
    "o", "escape", "y", "escape", "escape", "c",
    "3", "end", "enter", "w", "escape", "y", "c", "escape", "escape", "u", "escape", "d",
    "4", "enter", "end", "v", "down", "enter", "escape", "escape", "x", "escape", "t", "f4", "f3", "f8", "escape",
    "5", "f2", "enter", "escape", "6", "enter", "escape", "y", "escape", "d", "escape", "question_mark", "escape",
)  # fmt: skip


@pytest.fixture(scope="module", params=EVILS)
def cluster(request, tmp_path_factory):
    """The demo cluster with an evil tail on many names, values and messages."""
    text = json.dumps(document(DEMO))
    tail = json.dumps(EVILS[request.param])[1:-1]
    for name in NAMES:
        text = re.sub(rf'(?<=[":/ ]){re.escape(name)}(?=["/ ])', lambda match: match[0] + tail, text)
    path = tmp_path_factory.mktemp("hostile") / "cluster.json"
    path.write_text(text)
    return path


def check(ui, size):
    for line in ui.lines:
        assert not ACTIVE.search(line), repr(line)
        assert cell_len(line) <= size[0]
    assert len(ui.lines) == size[1]


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "140x40"])
def test_every_screen(cluster, size):
    async def script(ui):
        check(ui, size)
        for key in KEYS:
            await ui.pilot.press(key)
            await ui.settle()
            check(ui, size)
            assert not ACTIVE.search(ui.app.clipboard.replace("\n", ""))
        assert ui.app.is_running

    play(file_app(cluster), script, size)


def test_completion_offers_nothing_that_acts(cluster):
    async def script(ui):
        await ui.press("colon")
        for word in ("pool g", "claim m", "pod m", "ns m"):
            ui.app.query_one(Input).value = word
            await ui.settle()
            check(ui, SMALL)
        await ui.press("escape", "5")
        await ui.type("mod")
        check(ui, SMALL)

    play(file_app(cluster), script)


def test_typed_and_pasted_text(cluster):
    async def script(ui):
        await ui.press("2", "slash")
        ui.app.query_one(Input).value = EVILS["active"]
        await ui.settle()
        check(ui, SMALL)
        assert not ACTIVE.search(ui.app.query_one(Input).value)
        await ui.press("escape", "5")
        ui.app.view.editor.text = f'device.driver == "{EVILS["active"]}"'
        await ui.settle()
        check(ui, SMALL)
        assert EVILS["active"] in ui.app.view.editor.text

    play(file_app(cluster), script)
