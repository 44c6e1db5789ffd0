"""Every key that ``?`` lists has the effect that the registry states, in every view and layout, or says why not."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.taints import CommandTaintWriter
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.safe import Safe
from kubectl_dra.source.demo import load_demo
from kubectl_dra.tui.actions import ACTIONS, MOVES
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import RereadFeed
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.help import HelpScreen
from kubectl_dra.tui.lines import Lines
from kubectl_dra.tui.prompt import Prompt
from kubectl_dra.tui.settings import Settings
from tests.kit.sample import sampled
from tests.tui.effects import EFFECTS, REFUSALS, Watched, numbered
from tests.tui.support import demo_app, play, with_features
from tests.tui.test_groups import app as gang_app

SELECTOR = 'device.attributes["gpu.example.com"].model == "H100"'
PLAN = ":taint nic.example.com/rack-1/nic-3 link=flapping:NoExecute"
# Each step is a key, or a command with ":".
VIEWS = {
    "overview": (),
    "reason": ("enter",),
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
    "lab-page": ("5", "escape"),
    "lab-devices": ("5", "f7"),
    "lab-load": ("5", "f2"),
    "taints": ("6",),
    "plan": (PLAN,),
    "classes": (":classes",),
    "class": (":classes", "enter"),
    "capacity": (":capacity",),
    "nodes": (":nodes",),
    "node": (":nodes", "enter"),
    "podgroups": (":podgroups",),
    "aliases": (":aliases",),
    "log": (":log",),
    "search": ("slash", "t", "r", "a", "i", "n", "enter"),
    "yaml": ("6", "y"),
    "filtered": ("3", "slash", "t", "r", "a", "i", "n", "enter"),
    "found": ("6", "y", "slash", "n", "a", "m", "e", "enter"),
}
# On a cluster that can be written to, of which not everything could be read.
LIVE_VIEWS = {
    "live-overview": (),
    "live-taints": ("6",),
    "live-plan": (PLAN,),
    "live-plan-unlocked": ("U", "y", "enter", PLAN),
}
# Where pods are placed together.
GANG_VIEWS = {
    "gang-podgroups": (":podgroups",),
    "gang": (":podgroups", "enter"),
}
VIEWS |= LIVE_VIEWS | GANG_VIEWS
# What is offered nowhere else.
ONLY_LIVE = {
    "live-overview": ("unlock", "unread"),
    "live-plan": ("unlock", "apply"),
    "live-plan-unlocked": ("unlock", "apply"),
}
SIZES = {"80x24": (80, 24), "120x36": (120, 36), "200x50": (200, 50)}


class Willing:
    """A writer whose server accepts every plan; nothing is agreed to here, so nothing is ever written."""

    refusal = Safe("")

    def __init__(self, context):
        self._planner = CommandTaintWriter(Options(from_="demo"), context)

    def wrong_words(self, order):
        return self._planner.wrong_words(order)

    def plan(self, order, facts, *, check, effect=""):
        return replace(self._planner.plan(order, facts, check=False, effect=effect), checked=check)

    def write(self, order, facts, agreed, *, steps=False):
        raise AssertionError("nothing was agreed to")

    def close(self):
        self._planner.close()


def live_app():
    """The demo as a live cluster, whose taint rules must not be listed."""

    def load():
        inventory, evidence = load_demo()
        reads = [
            msgspec.structs.replace(read, coverage=Coverage.FORBIDDEN) if read.kind == "DeviceTaintRule" else read
            for read in evidence.reads
        ]
        return with_features(
            (inventory, Evidence(tuple(reads), server_version=(1, 34), address=Address(context="prod")))
        )

    feed = RereadFeed("ctx prod", True, load)
    return DraApp(Settings(connect=lambda _context: feed, writer=Willing))


def app_for(view):
    """What the view is opened in."""
    if view in LIVE_VIEWS:
        return live_app()
    if view in GANG_VIEWS:
        return gang_app()
    return demo_app(writer=lambda context: CommandTaintWriter(Options(from_="demo"), context))


async def open_view(ui, steps):
    """From the start to the view."""
    app = ui.app
    while len(app.screen_stack) > 1:
        app.pop_screen()
    if app.query_one(Prompt).is_open:
        await ui.press("escape")
    app.set_paused(False)
    app.namespace, app.notice, app.unlocked = "", Safe(""), False
    app.memory.columns = ()
    app.theme = app.settings.theme
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
        for key in action.keys if app.offers(action.id) else ():
            if action.anywhere or action.id == "back" or not app.is_typing:
                meant.setdefault(key, action.id)
    return meant


async def listed_keys(ui):
    """The actions that ``?`` lists here."""
    await ui.press("f1")
    assert isinstance(ui.app.screen, HelpScreen)
    listed = {option.id for each in ui.app.screen.lists for option in each.options if option.id}
    await ui.press("escape")
    return listed


async def restored(ui, before):
    """Back to where the key was pressed, where that is quick."""
    app, view = ui.app, before.view
    if len(app.screen_stack) > 1:
        app.pop_screen()
        await ui.settle()
    if app.query_one(Prompt).is_open:
        await ui.press("escape")
    if app.view is not view and view.is_mounted:
        if app.depth > 1 and view in app._stacks[app._tab]:
            app.pop()
        else:
            app.go_to_last()
        await ui.settle()
    ui.watched.forget()
    return ui.watched.state() == before


CASES = [(view, size) for view in VIEWS for size in SIZES]
#: Each presses its part of a view's keys.
PARTS = 3
IN_PARTS = [(*case, part) for case in CASES for part in range(PARTS)]


@pytest.mark.parametrize(("view", "size", "part"), sampled(IN_PARTS, len(IN_PARTS)))
def test_every_key_does_what_the_registry_states(view, size, part, monkeypatch):
    app = app_for(view)
    silent, offered = {}, set()

    async def script(ui):
        ui.watched = Watched(app, monkeypatch)

        async def opened():
            await open_view(ui, VIEWS[view])
            ui.watched.forget()
            return ui.watched.state()

        before = await opened()
        listed = await listed_keys(ui)
        before = await opened()
        keys = keys_of(app)
        offered.update(keys.values())
        for key, name in [*keys.items()][part::PARTS]:
            assert name in listed, f"{key} works, and ? does not list it"
            await ui.press(key)
            after, said = ui.watched.state(), " ".join(ui.watched.said)
            observe = numbered(int(key)) if key.isdecimal() and before.has_number(int(key)) else EFFECTS[name][1]
            if not observe(before, after) and not any(words in said for words in REFUSALS.get(name, ())):
                silent[key] = (name, said)
            if not await restored(ui, before):
                before = await opened()

    play(app, script, SIZES[size])
    assert silent == {}, "neither what the registry states was seen, nor a refusal"
    assert {"help", "quit", "palette", *ONLY_LIVE.get(view, ())} <= offered or view == "lab"


@pytest.mark.parametrize(("view", "size"), sampled(CASES, len(CASES)))
def test_every_key_that_moves_moves_or_is_at_the_end(view, size):
    moved = []

    async def script(ui):
        await open_view(ui, VIEWS[view])
        for move in MOVES:
            for key in move.keys:
                focused = ui.app.focused
                if not isinstance(focused, Lines) or key in keys_of(ui.app):
                    continue
                before, ended = place(focused), at_end(focused, move.where)
                await ui.press(key)
                assert ui.app.focused is focused, key
                assert ended or place(focused) != before, key
                moved.append(key)

    play(app_for(view), script, SIZES[size])
    assert moved or view == "lab"


def place(lines):
    """The row under the cursor, and what is scrolled away."""
    return getattr(lines, "cursor", None), lines.scroll_offset


def at_end(lines, where):
    """Whether there is nothing more in a direction."""
    if where in ("left", "right"):
        return lines.scroll_x == (0 if where == "left" else lines.max_scroll_x)
    first = where in ("up", "page_up", "top")
    if isinstance(lines, Grid):
        rows = [index for index, row in enumerate(lines.rows) if lines.stops_at_headings or lines._heading(row) is None]
        return not rows or lines.cursor == rows[0 if first else -1]
    return lines.scroll_y == (0 if first else lines.max_scroll_y)


def test_what_is_observed_is_what_the_registry_states():
    keyed = {action.id: action.help for action in ACTIONS if action.keys}
    assert {name: words for name, (words, _) in EFFECTS.items()} == keyed
    assert REFUSALS.keys() <= keyed.keys()


def test_tab_says_where_there_is_one_part():
    async def script(ui):
        await ui.press("2", "tab")
        assert "this screen has one part" in ui.screen
        await ui.press("1")
        before = ui.app.focused
        await ui.press("tab")
        assert ui.app.focused is not before

    play(demo_app(), script)
