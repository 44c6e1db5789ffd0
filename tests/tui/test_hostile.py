"""Names that try to act on the terminal or to break the layout, through every screen."""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import product

import pytest
from rich.cells import cell_len
from textual.widgets import Input

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.tui.app import DraApp
from tests.kit.sample import sampled
from tests.reports.clusters import DEMO, document
from tests.tui.support import LARGE, SMALL, play

pytestmark = pytest.mark.one_in(6)

ACTS = "\x1b[31m\u202eevil\u200b\r\n\x9b\x07[/bold][@click=app.quit]{0}%s\u2066"
COMBINES = "e\u0301\u0327" * 6 + "\ufe0f\U0001f468\u200d\U0001f469"
# What acts or combines comes early, so that it is on the screen; the others are longer than any screen is wide.
TAILS = (ACTS + "界面" + COMBINES, "界面広告" * 12 + "x" * 205)
ACTIVE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
NAMES = (
    "gke-prod-h100-5f3a2b1c-k4tq",
    "gpu-0",
    "serve-0",
    "trainer-0",
    "rack-7",
    "ecc-errors",
    "bandwidth",
    "model",
    "H100",
    "ml",
    "gpus",
)
KEYS = ((
    "1", "end", "enter", "escape", "tab", "tab", "enter", "escape",
    "2", "s", "d", "end", "escape", "enter", "W", "right", "W", "d", "escape", "y", "escape", "enter", "u", "escape",
    "o", "escape", "y", "escape", "escape", "c", "a", "escape",
), (
    "3", "end", "enter", "w", "escape", "y", "c", "escape", "escape", "u", "escape", "d",
    "4", "enter", "end", "v", "down", "enter", "escape", "escape", "x", "c", "escape", "t", "f4", "f3", "f8", "escape",
    "5", "f2", "enter", "escape", "6", "enter", "escape", "y", "escape", "d", "escape", "ctrl+d", "escape", "U",
    "question_mark", "escape", "n", "down", "enter", "ctrl+p", "escape",
))  # fmt: skip


def hostile(folder, first):
    """The demo cluster with an evil tail on many names, values and messages; ``first`` is that of the first name."""
    text = json.dumps(document(DEMO))
    for number, name in enumerate(NAMES):
        tail = json.dumps(TAILS[(number + first) % len(TAILS)])[1:-1]
        text = re.sub(rf'(?<=[":/ ]){re.escape(name)}(?=["/ ])', partial(_with_tail, tail), text)
    path = folder / "cluster.json"
    path.write_text(text, encoding="utf-8")
    return path


def _with_tail(tail, match):
    return match[0] + tail


def check(ui, size):
    for line in ui.lines:
        assert not ACTIVE.search(line), repr(line)
        assert cell_len(line) <= size[0]
    assert len(ui.lines) == size[1]


@pytest.mark.parametrize(("first", "part"), sampled(list(product((0, 1), (0, 1))), 4))
def test_every_screen(tmp_path, first, part):
    """Over all runs each name has each tail; each screen sees both."""
    size = (SMALL, LARGE)[first]
    options = Options(from_=str(hostile(tmp_path, first)))
    seen = []

    async def script(ui):
        check(ui, size)
        for key in KEYS[part]:
            await ui.press(key)
            check(ui, size)
            seen.append(ui.screen)
            assert not ACTIVE.search(ui.app.clipboard.replace("\n", ""))
        if part:
            await ui.command(f"taint {next(iter(ui.app.names.after(['taint'])))} ecc:NoExecute")
            check(ui, size)
            await completed(ui, size)
            await typed_and_pasted(ui, size)
        assert ui.app.is_running

    play(DraApp(settings_of(options)), script, size)
    # They were on the screens, each as what can be seen of it.
    assert min(sum(text in screen for screen in seen) for text in ("\\u{1b}", "\\u{202e}", "[/bold]", "界面")) > 5


async def completed(ui, size):
    """Completion offers nothing that acts."""
    await ui.press("colon")
    for word in ("pool g", "claim m", "pod m", "ns m", "taint g"):
        ui.app.query_one(Input).value = word
        await ui.settle()
        check(ui, size)
    await ui.press("escape", "5")
    await ui.type("mod")
    check(ui, size)


async def typed_and_pasted(ui, size):
    """What a user brings in is not drawn either, but an expression stays what it is."""
    await ui.press("escape", "2", "2", "slash")
    ui.app.query_one(Input).value = ACTS
    await ui.settle()
    check(ui, size)
    assert not ACTIVE.search(ui.app.query_one(Input).value)
    await ui.press("escape", "5")
    ui.app.view.editor.text = f'device.driver == "{ACTS}"'
    await ui.settle()
    check(ui, size)
    assert ACTS in ui.app.view.editor.text
