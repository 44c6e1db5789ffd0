"""Keys do what they say: nothing that is typed for one purpose does something else."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import time

import pytest
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.color import Color
from textual.events import Key

from kubectl_dra.model.invocation import Address
from kubectl_dra.source.demo import load_demo
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import FeedStatus, Link, RereadFeed
from kubectl_dra.tui.prompt import Line
from kubectl_dra.tui.settings import Settings
from kubectl_dra.tui.theme import FewColours
from tests.tui.support import LARGE, SMALL, Driver, demo_app, play, with_features

pytestmark = pytest.mark.one_in(12)


def copied(app):
    """What the clipboard would hold."""
    return app.clipboard


def test_one_way_out_is_copied_and_never_all_as_one_script():
    async def script(ui):
        await ui.command("pod ml/trainer-0")
        await ui.press("x")
        assert ui.crumbs.startswith("overview") is False
        assert "Ways out (checked)" in ui.screen
        assert "drop the constraint" in ui.screen
        # Beside the list its words stand once: only what is copied has them as a comment as well.
        beside = "\n".join(ui.app.view.ways.page.lines)
        assert beside.count("request 3 devices instead of 4") == 1
        assert "kubectl replace" in beside
        await ui.press("c")
        first = copied(ui.app)
        assert first.startswith("# CONTEXT stands for the context")
        assert first.count("# 1 ") == 1
        assert "# 2 " not in first
        assert "count: 3" in first
        assert "--context CONTEXT" in first
        await ui.press("3", "c")
        assert "Command 3" in ui.screen
        third = copied(ui.app)
        assert "kubectl delete pod/serve-0 -n ml" in third
        assert "replace" not in third
        await ui.press("C")
        commands = [line for line in copied(ui.app).splitlines() if line and not line.startswith("#")]
        assert commands == []
        assert "# kubectl delete pod/serve-0 -n ml" in copied(ui.app)
        await ui.press("6")
        assert ui.crumbs.startswith("taints")

    inventory, evidence = load_demo()
    known = inventory, dataclasses.replace(evidence, address=Address(("demo",)))
    feed = RereadFeed("demo", False, lambda: with_features(known))
    play(DraApp(Settings(connect=lambda _context: feed)), script, LARGE)


def test_a_slash_searches_where_nothing_can_be_filtered():
    async def script(ui):
        await ui.press("slash")
        await ui.type("trainer-0")
        assert ui.crumbs.startswith("overview › search")
        assert "pod" in ui.screen
        assert "ml/trainer-0-gpus-x9grb" in ui.screen
        assert "ml/serve-0" not in ui.screen
        await ui.press("enter", "home", "enter")
        assert "search › ml/trainer-0" in ui.crumbs
        await ui.press("escape")
        assert "search" in ui.crumbs
        await ui.press("escape", "escape")
        assert ui.crumbs.startswith("overview")
        # Words that would quit, or begin a taint, are words.
        ui.send("slash", *"quux", "enter")
        await ui.settle()
        assert "nothing contains" in ui.screen
        assert not ui.app.unlocked

    play(demo_app(), script)


def test_a_search_says_how_what_it_found_stands():
    async def script(ui):
        def line(name):
            found = (" ".join(each.split()) for each in ui.lines[3:-1])
            return next(each for each in found if name in each)

        await ui.press("slash")
        await ui.type("gpu-4")
        assert line("k4tq/gpu-4").endswith("in use by pod dev/nb")
        await ui.press("ctrl+u")
        await ui.type("gpu-7")
        assert line("k4tq/gpu-7").endswith("ecc:NoSchedule")
        assert line("x9zk/gpu-7").endswith("free")
        await ui.press("ctrl+u")
        await ui.type("trainer-0")
        assert "pending: no node has 4 free H100 devices" in line("pod ml/trainer-0")
        assert line("ml/trainer-0-gpus-x9grb").endswith("pending")
        await ui.press("ctrl+u")
        await ui.type("serve-0")
        assert line("pod ml/serve-0").endswith("running on gke-prod-h100-5f3a2b1c-k4tq")
        assert line("ml/serve-0-net").endswith("in use by pod serve-0")
        await ui.press("ctrl+u")
        await ui.type("rack-7")
        assert line("pool nic.example.com/rack-7").endswith("incomplete")

    play(demo_app(), script, LARGE)


def test_what_follows_the_word_of_a_list_narrows_it():
    async def script(ui):
        await ui.command("devices H100")
        assert "all devices" in ui.crumbs
        assert "16 of 47" in ui.crumbs
        await ui.command("claims /leftover")
        assert "1 of 35" in ui.crumbs
        await ui.command("get claims nb-gpu")
        assert "dev" in ui.screen
        assert "1 of 35" in ui.crumbs
        await ui.command("po ml")
        assert "ns ml" in ui.lines[0]
        assert "lab/render-5" not in ui.screen
        assert ui.crumbs.startswith("pending")
        # Without anything after it the list is whole, in the namespace that is in view.
        await ui.command("claims")
        assert "of" not in ui.crumbs

    play(demo_app(), script, LARGE)


def test_words_of_commands_go_to_their_pages():
    async def script(ui):
        await ui.command("why-pending ml/trainer-0")
        assert "pending › ml/trainer-0" in ui.crumbs
        await ui.command("describe pool rack-7")
        assert "rack-7" in ui.crumbs
        for word in ("node", "describe-node", "describe node"):
            await ui.command(f"{word} cpu-2")
            assert "cpu-2" in ui.crumbs
            assert "card-0-whole" in ui.screen
            await ui.press("escape")
        await ui.command("node")
        assert "pools › nodes" in ui.crumbs
        await ui.command("node cpu")
        assert "nodes  /cpu" in ui.crumbs
        await ui.command("get")
        assert "no command “get”" in ui.crumbs

    play(demo_app(), script, LARGE)


def test_shapes_and_suppositions_go_to_where_they_count():
    async def script(ui):
        await ui.command("shape gpu.example.com 2")
        assert "capacity for 2 × gpu.example.com" in ui.crumbs
        await ui.press("1")
        await ui.command("whatif add-node like=cpu-2")
        assert "1 supposed" in ui.crumbs
        await ui.press("1")
        await ui.command("simulate remove-node cpu-2")
        assert "1 supposed" in ui.crumbs
        for typed, completed in (
            ("whatif drain cpu-", "whatif drain cpu-1"),
            ("whatif add-node like=cpu", "whatif add-node like=cpu-1"),
            ("simulate add-devices like=mig", "simulate add-devices like=mig.example.com/cpu-2/card-0-whole"),
            ("nodes gke", "nodes gke-prod-h100-5f3a2b1c-k4tq"),
        ):
            await ui.press("colon")
            await ui.type(typed)
            await ui.press("tab")
            assert ui.lines[-1].strip() == f": {completed}"
            await ui.press("escape")

    play(demo_app(), script, LARGE)


def test_tab_and_arrows_in_the_prompt():
    async def script(ui):
        await ui.press("colon")
        assert ui.crumbs.startswith("aliases  capacity  changes  claim  claims  classes")
        assert "overview" in ui.crumbs
        assert ui.crumbs.endswith(" more")
        before = ui.app.focused
        await ui.type("dev")
        await ui.press("tab")
        assert ui.app.focused is before
        assert ": devices" in ui.lines[-1]
        await ui.press("enter")
        assert "devices" in ui.crumbs
        await ui.command("classes")
        await ui.press("colon", "up")
        assert ": classes" in ui.lines[-1]
        await ui.press("up", "enter")
        assert "devices" in ui.crumbs
        await ui.press("colon")
        await ui.type("p")
        await ui.press("down")
        one = ui.lines[-1]
        await ui.press("down")
        assert ui.lines[-1] != one
        assert ui.lines[-1].strip().startswith(": p")
        await ui.press("escape")
        # What enter runs is what stands there: nothing is proposed behind a whole command.
        await ui.press("colon")
        await ui.type("cl")
        await ui.press("tab")
        await ui.settle()
        assert ui.lines[-1].strip() == ": claim"
        await ui.press("escape")

    play(demo_app(), script, LARGE)


def test_no_character_is_lost_between_a_prompt_that_closes_and_the_next_one():
    """What still comes to the line of the closed one is for what has the focus then."""

    async def script(ui):
        line = ui.app.screen.query_one(Line)
        for key, character in [("slash", "/"), ("h", "h"), ("space", " "), ("minus", "-"), ("8", "8")]:
            line.post_message(Key(key, character))
        await ui.settle()
        assert line.value == "h -8"

    play(demo_app(), script)


def test_escape_returns_to_where_one_came_from():
    async def script(ui):
        await ui.press("3")
        await ui.command("pod ml/trainer-0")
        assert ui.crumbs.startswith("pending › ml/trainer-0")
        await ui.press("escape")
        assert ui.crumbs.startswith("claims")
        await ui.press("4")
        assert ui.crumbs == ui.crumbs.replace("trainer-0", "")
        await ui.command("claim ml/trainer-0-gpus-x9grb")
        await ui.press("t")
        assert "selector lab" in ui.screen.lower()
        await ui.press("escape", "escape")
        assert ui.crumbs.startswith("claims › ml/trainer-0-gpus-x9grb")
        await ui.press("escape")
        assert ui.crumbs.startswith("pending")
        await ui.press("minus")
        assert ui.crumbs.startswith("claims")
        await ui.press("minus")
        assert ui.crumbs.startswith("pending")

    play(demo_app(), script, LARGE)


def test_a_filter_from_the_overview_does_not_stay():
    async def script(ui):
        await ui.press("tab", "tab", "tab", "enter")
        assert "/gpu.example.com/" in ui.crumbs
        await ui.press("escape")
        assert ui.crumbs.startswith("overview")
        await ui.press("enter", "1", "2")
        assert "/gpu.example.com/" not in ui.crumbs

    play(demo_app(), script)


def test_a_dead_server_stays_on_the_screen_with_what_to_try():
    asked = []

    class Dead(RereadFeed):
        def start(self, listener):
            self.listener = listener
            listener.on_status(FeedStatus(Link.FAILED, time.monotonic(), "no connection to https://x - try: start it"))

        def refresh(self):
            asked.append(True)

    async def run():
        app = DraApp(Settings(connect=lambda _context: Dead("ctx x", True, lambda: None)))
        async with app.run_test(size=SMALL) as pilot:
            ui = Driver(app, pilot)
            for tab, name in (("1", "overview"), ("2", "pools"), ("3", "claims"), ("4", "pending"), ("6", "taints")):
                ui.send(tab)
                await ui.holds(lambda name=name: ui.crumbs.startswith(name) and "r tries" in ui.screen)
                assert "no connection to https://x" in ui.screen
                assert "reading" not in ui.screen
            ui.send("r")
            await ui.holds(lambda: asked)

    asyncio.run(run())


def test_ctrl_c_ends_as_anywhere():
    async def script(ui):
        ui.send("ctrl+c")
        await ui.pilot.pause(0.2)

    app = demo_app()
    play(app, script)
    assert app.return_code == 130


def test_bars_of_the_selected_row_are_not_reversed():
    """Without colours the row under the cursor is in reverse, where a full block would look empty."""
    row = RichStyle(bgcolor=RichColor.parse("#ffffff"), color=RichColor.parse("#000000"))
    texts = ["node-a ", "███", "   ", " 3 used"]
    made = FewColours(foreground=False).apply([Segment(text, row) for text in texts], Color.parse("#000000"))
    assert [bool(each.style.reverse) for each in made] == [True, False, False, True]


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("keys", ["xc", "xxc"])
def test_a_way_out_is_copied_however_fast_the_keys_come(size, keys):
    async def script(ui):
        await ui.command("pod ml/trainer-0")
        ui.send(*keys)
        await ui.settle()
        assert "# 1 " in copied(ui.app)
        assert copied(ui.app).count("kubectl replace") == 1

    play(demo_app(), script, size)


@pytest.mark.parametrize(
    ("line", "keys", "shown"), [("pools", "/mig", "1 of 7"), ("pod ml/trainer-0", "/nvlink", "with")]
)
def test_what_is_typed_last_does_not_come_back_after_escape(line, keys, shown):
    async def script(ui):
        await ui.command(line)
        before = ui.crumbs
        ui.send(*keys, "enter")
        await ui.settle()
        assert (ui.app.view.is_filtered, shown in ui.crumbs) == (True, True)
        await ui.press("escape")
        ui.send(*keys, "enter", "escape")
        await ui.settle()
        assert (ui.app.view.is_filtered, ui.crumbs) == (False, before)

    play(demo_app(), script)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_the_name_is_copied_beside_ways_out_and_that_is_said(size):
    async def script(ui):
        await ui.command("pod ml/trainer-0")
        await ui.press("c")
        assert copied(ui.app) == "ml/trainer-0"
        assert "press x first, then c" in ui.screen

    play(demo_app(), script, size)


def test_the_letter_after_escape_is_no_text_of_the_lab():
    async def script(ui):
        await ui.press("5")
        ui.send(*"device", "escape", "4")
        await ui.settle()
        assert ui.app.draft.expression == "device"
        assert "PENDING" in ui.screen

    play(demo_app(), script, SMALL)


def test_the_clipboard_is_told_to_the_terminal():
    """OSC 52 holds what was copied."""
    app = demo_app()
    written = []

    async def script(ui):
        app._driver.write = written.append
        await ui.command("pod ml/trainer-0")
        await ui.press("x", "3", "c")

    play(app, script, LARGE)
    told = next(text for text in written if "]52;c;" in text)
    assert "delete pod/serve-0" in base64.b64decode(told.partition("c;")[2].rstrip("\a\x1b\\")).decode()


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_letter_after_enter_goes_to_what_enter_opens(size):
    """However fast they come: the first view is still on the screen then."""

    async def script(ui):
        await ui.press("4")
        ui.send("enter", "E")
        await ui.settle()
        assert [str(view.crumb) for view in ui.app._stacks["pending"]] == ["pending", "lab/render-5", "DRA-211"]
        await ui.press("2")
        ui.send("enter", "d", "slash", *"gpu-3", "enter")
        await ui.settle()
        assert "› describe" in ui.crumbs
        assert ui.crumbs.endswith("1 line with “gpu-3”")

    play(demo_app(), script, size)


def test_a_key_that_does_nothing_here_says_so():
    async def script(ui):
        await ui.press("6", "x")
        assert ui.crumbs == "! x (ways out) does nothing here; ? lists what does"
        await ui.press("5", "x")
        assert ui.app.view.editor.text == "x"
        await ui.press("2", "enter", "d", "space")
        assert "does nothing" not in ui.screen

    play(demo_app(), script)


def test_where_a_key_can_change_nothing_that_is_seen_it_says_so(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(ui):
        before = ui.app.theme
        await ui.press("T")
        assert "there is no theme to choose" in ui.crumbs
        assert ui.app.theme == before
        # The demo never changes.
        await ui.press("r")
        assert "reading again" in ui.crumbs

    play(demo_app(), script)


def test_keys_for_a_row_say_that_they_do_nothing_in_an_empty_list():
    async def script(ui):
        await ui.command("podgroups")
        assert not ui.app.view.grid.rows
        for key in ("enter", "d", "u", "w"):
            await ui.press(key)
            assert "does nothing here" in ui.crumbs, key
        await ui.press("6", *"/nothing has this", "enter", "ctrl+d")
        assert str(ui.app.view.crumb) == "taints"

    play(demo_app(), script)


def test_keys_without_a_letter_say_so_as_well():
    async def script(ui):
        await ui.press("2")
        for key in ("f4", "f7", "ctrl+g", "delete"):
            await ui.press(key)
            assert "does nothing here" in ui.crumbs, key
        # What is typed into has its own.
        await ui.press("5", *"true", "f8")
        assert "does nothing here" not in ui.screen

    play(demo_app(), script)


def test_a_reason_below_the_ways_out_is_explained():
    async def script(ui):
        await ui.command("pod ml/trainer-0")
        await ui.press("x", "E")
        assert "DRA-220" in ui.crumbs
        await ui.press("escape", "end", "E")
        assert "DRA-412" in ui.crumbs

    play(demo_app(), script)


def test_help_lists_each_key_once():
    async def script(ui):
        await ui.press("3")
        await ui.type("/ip")
        await ui.press("enter", "question_mark")
        here, everywhere = ui.app.screen.lists
        keys = [key for each in (here, everywhere) for option in each.options for key in first_words(option)]
        assert "n" in keys
        assert sorted(set(keys)) == sorted(keys)
        assert any("(:ns" in str(option.prompt) or str(option.prompt).startswith(":ns") for option in here.options)

    def first_words(option):
        words = str(option.prompt)[:12].split() if option.id else []
        return [word for word in words if len(word) == 1]

    play(demo_app(), script, LARGE)


def test_the_frame_is_drawn_once_for_all_that_happens_together(monkeypatch):
    async def script(ui):
        drawn = []
        monkeypatch.setattr(type(ui.app._footer), "show", lambda *_words: drawn.append(1))
        for _ in range(20):
            ui.app.refresh_frame()
        await ui.settle()
        assert len(drawn) < 3

    play(demo_app(), script)


def test_a_view_that_takes_the_focus_late_takes_none_from_what_is_above_it():
    """The palette was opened by a fast key; without its own focus no key would ever close it."""

    async def script(ui):
        await ui.press("3")
        ui.send("ctrl+p")
        await ui.holds(lambda: "pool, node or device" in ui.screen)
        ui.app.focus_view()
        ui.send("escape")
        await ui.holds(lambda: "pool, node or device" not in ui.screen)
        assert ui.app.focused is ui.app.view.grid

    play(demo_app(), script)
