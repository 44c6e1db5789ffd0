"""Every key that ``?`` lists runs the action that it is listed with, in every view and layout."""

from __future__ import annotations

import pytest

from kubectl_dra.tui.actions import ACTIONS
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.prompt import Prompt
from kubectl_dra.tui.screens import SCREEN_BY_ID
from tests.kit.sample import sampled
from tests.tui.support import demo_app, play

SELECTOR = 'device.attributes["gpu.example.com"].model == "H100"'
# Each step is a key, or a command with ":".
VIEWS = {
    "overview": (),
    "pools": ("2",),
    "pool": ("2", "enter"),
    "device": ("2", "enter", "enter"),
    "devices": (":devices",),
    "columns": (":devices", "W"),
    "claims": ("3",),
    "claim": (":claim ml/serve-1-gpus-ppjs4", "3", "down", "enter"),
    "claim-why": ("3", "w"),
    "pending": ("4",),
    "diagnosis": (":pod ml/trainer-0",),
    "ways-out": (":pod ml/trainer-0", "x"),
    "explanation": (":pod ml/trainer-0", "E"),
    "numbers": (":pod ml/trainer-0", "v", "down"),
    "tree": (":pod ml/trainer-0", "X"),
    "lab": ("5",),
    "lab-devices": ("5", "f7"),
    "lab-load": ("5", "f2"),
    "taints": ("6",),
    "plan": (":taint nic.example.com/rack-1/nic-3 link=flapping:NoExecute",),
    "classes": (":classes",),
    "class": (":classes", "enter"),
    "capacity": (":capacity",),
    "nodes": (":nodes",),
    "node": (":nodes", "enter"),
    "podgroups": (":podgroups",),
    "aliases": (":aliases",),
    "log": (":log",),
    "search": ("slash", "enter"),
    "yaml": ("6", "y"),
    "filtered": ("3", ":sort name"),
}
SIZES = [(80, 24), (120, 36), (200, 50)]
# The palette is Textual's own.
OTHERS = {"palette"}


async def open_view(ui, steps):
    """From the start to the view."""
    app = ui.app
    while len(app.screen_stack) > 1:
        app.pop_screen()
    if app.query_one(Prompt).is_open:
        await ui.press("escape")
    app.set_paused(False)
    app.namespace, app.notice = "", ""
    app.memory.columns = ()
    app.clear_notifications()
    app.draft.expression = SELECTOR
    app.start_over()
    await ui.settle()
    for step in steps:
        if step.startswith(":"):
            app.run_command(step[1:])
            await ui.settle()
        else:
            await ui.press(step)


def keys_of(app):
    """What ``?`` says of each key here: of actions that share one, the first is what it does.

    What is typed into has keys of its own: there only those count that work anywhere.
    """
    meant = {}
    for action in ACTIONS:
        for key in action.keys if app.offers(action.id) and action.id not in OTHERS else ():
            if action.anywhere or not app.is_typing:
                meant.setdefault(key, action.id)
    return meant


@pytest.mark.parametrize(("view", "size"), sampled([(view, size) for view in VIEWS for size in SIZES], 12))
def test_every_key_runs_the_action_that_it_is_listed_with(view, size, monkeypatch):
    ran = []
    own = {str(number) for number in range(10) if view in ("ways-out", "diagnosis")}

    async def script(ui):
        await open_view(ui, VIEWS[view])
        monkeypatch.setattr(DraApp, "run_action_id", lambda _app, action, *_words: ran.append(action))
        for key, action in keys_of(ui.app).items():
            if action not in SCREEN_BY_ID or key not in own:
                ran.clear()
                ui.send(key)
                await ui.holds(lambda: ran)
                assert ran == [action], key

    play(demo_app(), script, size)


def test_tab_says_where_there_is_one_part():
    async def script(ui):
        await ui.press("2", "tab")
        assert "this screen has one part" in ui.screen
        await ui.press("1")
        before = ui.app.focused
        await ui.press("tab")
        assert ui.app.focused is not before

    play(demo_app(), script)
