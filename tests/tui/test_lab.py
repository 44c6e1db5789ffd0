"""The selector lab: completion, live report, marks, and that nothing typed is ever lost."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.clock import SYSTEM
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.reports.simulation.one_claim import try_claim
from kubectl_dra.source.demo import load_demo
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import RereadFeed
from kubectl_dra.tui.settings import Settings
from tests.tui.support import LARGE, demo_app, play, with_features

pytestmark = pytest.mark.one_in(12)


def test_completion_and_live_counts():
    async def script(ui):
        await ui.press("5")
        assert "driverVersion" in ui.screen
        await ui.type("mod")
        await ui.press("tab")
        assert ui.app.view.editor.text == 'device.attributes["gpu.example.com"].model'
        await ui.type(" ")
        await ui.press("tab", "space", "tab")
        assert ui.app.view.editor.text == 'device.attributes["gpu.example.com"].model == "H100"'
        assert "16 match   16 no" in ui.screen
        assert "16 of 32 devices match" in ui.screen
        assert 'model == "H100"' in ui.screen
        await ui.press("f4")
        assert 'expression: device.attributes["gpu.example.com"].model == "H100"' in ui.app.clipboard
        assert "deviceClassName: CLASS" in ui.app.clipboard
        await ui.press("f9")
        assert ui.app.clipboard.startswith("kubectl dra test-selector 'device.attributes")
        assert "--from demo" in ui.app.clipboard or "demo" not in ui.app.clipboard
        await ui.press("escape", "c")
        assert ui.app.clipboard == 'device.attributes["gpu.example.com"].model == "H100"'

    play(demo_app(), script)


def test_where_nothing_can_be_completed_what_is_typed_next_is_text():
    async def script(ui):
        await ui.press("5")
        ui.send(*'device["gpu', "tab", *"q")
        await ui.settle()
        assert ui.app.view.editor.text == 'device["gpuq'
        await ui.press("tab")
        assert "nothing to complete here; esc leaves the editor" in ui.crumbs
        await ui.press("escape", "tab")
        assert ui.app.focused is ui.app.view.editor

    play(demo_app(), script)


def test_completion_types_over_closing_quotes():
    async def script(ui):
        await ui.press("5")
        ui.app.view.editor.text = 'device.attributes["gp"].model'
        ui.app.view.editor.cursor_location = (0, 21)
        await ui.settle()
        await ui.press("tab")
        assert ui.app.view.editor.text == 'device.attributes["gpu.example.com"].model'

    play(demo_app(), script)


@pytest.mark.parametrize("key", ["5", "2"], ids=["editor", "grid"])
def test_a_view_that_is_drawn_once_more_after_it_was_left_is_no_crash(key):
    """As a timer of Textual's may draw it before the screen is arranged without it."""

    async def script(ui):
        await ui.press(key)
        left = ui.app.view.editor if key == "5" else ui.app.view.grid
        await left.remove()
        left.notify_style_update()
        region = left.size.region
        assert "".join(segment.text for strip in left.render_lines(region) for segment in strip).strip() == ""

    play(demo_app(), script)


def test_next_completion():
    async def script(ui):
        await ui.press("5")
        await ui.type("device.")
        await ui.press("ctrl+n", "tab")
        assert ui.app.view.editor.text == "device.attributes"

    play(demo_app(), script)


def test_errors_are_marked_where_they_are():
    async def script(ui):
        await ui.press("5")
        ui.app.view.editor.text = 'device.attributes["gpu.example.com"].modle == "H100"'
        await ui.settle()
        assert "no such key: modle" in ui.screen
        assert "did you mean model?" in ui.screen
        offset, length = ui.app.view.editor._errors[0]
        assert ui.app.view.editor.text[offset : offset + length] == "modle"
        line = ui.app.view.editor.get_line(0)
        assert any(span.start == offset and span.end == offset + length for span in line.spans)
        ui.app.view.editor.text = "device.driver =="
        await ui.settle()
        assert "Does not compile" in ui.screen

    play(demo_app(), script)


def test_behind_a_class():
    async def script(ui):
        await ui.press("5")
        ui.app.view.editor.text = "true"
        await ui.settle()
        assert "alone, on all devices" in ui.screen
        await ui.press("f3", "f3")
        assert "behind class gpu.example.com" in ui.screen
        assert "32 match" in ui.screen
        for _ in range(4):
            await ui.press("f3")
        assert "alone, on all devices" in ui.screen

    play(demo_app(), script)


def test_values_of_an_attribute():
    async def script(ui):
        await ui.press("5")
        ui.app.view.editor.text = 'device.attributes["gpu.example.com"].model'
        ui.app.view.editor.cursor_location = (0, 40)
        await ui.settle()
        assert "gpu.example.com/model  string" in ui.screen
        assert "15 devices without it" in ui.screen

    play(demo_app(), script, LARGE)


def test_an_edited_selector_is_never_lost_by_a_key():
    written = "device.driver == 'mine'"

    async def script(ui):
        await ui.press("5")
        ui.app.view.editor.text = ""
        await ui.type("q:/?0123456")
        assert ui.app.view.editor.text == "q:/?0123456"
        ui.app.view.editor.text = written
        await ui.settle()
        await ui.press("escape", "escape", "1", "5")
        assert ui.app.view.editor.text == written
        await ui.press("f1", "escape", "f2", "enter")
        assert ui.app.view.editor.text == 'device.attributes["gpu.example.com"].model == "H100"'
        await ui.press("f8")
        assert ui.app.view.editor.text == written
        await ui.press("f2", "G", "enter", "ctrl+z")
        assert ui.app.view.editor.text == written
        await ui.press("escape", "3")
        await ui.command("claim ml/trainer-0-gpus-x9grb")
        await ui.press("t")
        assert "H100" in ui.app.view.editor.text
        await ui.press("f8")
        assert ui.app.view.editor.text == written
        await ui.press("ctrl+c")

    app = demo_app()
    play(app, script)
    assert app.draft.edited
    assert app.draft.expression == written


def test_digits_and_the_colon_are_keys_until_something_is_written():
    async def script(ui):
        await ui.press("5", "3")
        assert ui.crumbs.startswith("claims")
        ui.send("5", *":pools", "enter")
        await ui.settle()
        assert ui.crumbs.startswith("pools")
        # However fast it is typed, what is written first decides.
        ui.send("5", *"a:3")
        await ui.settle()
        assert ui.app.view.editor.text == "a:3"
        assert ui.crumbs.startswith("selector lab")

    play(demo_app(), script)


def test_leaving_prints_it(monkeypatch, capsys):
    from kubectl_dra.tui import start
    from kubectl_dra.tui.app import DraApp
    from kubectl_dra.tui.settings import Settings

    async def leave(app, **_options):
        app.draft.keep("device.driver == '\x1b[31m'", None)

    monkeypatch.setattr(DraApp, "run_async", leave)
    start.run(Settings(connect=lambda _context: None))
    out, err = capsys.readouterr()
    assert "device.driver == '\\u{1b}[31m'" in out
    assert "selector" in err


def test_starting_with_an_expression():
    async def script(ui):
        assert "5 SELECTOR LAB" in ui.lines[1]
        assert ui.app.view.editor.text == "true"
        assert "behind class nic.example.com" in ui.screen

    play(demo_app(tab="lab", expression="true", device_class="nic.example.com"), script)


def test_the_devices_of_a_selector_and_why_they_fall_out():
    async def script(ui):
        await ui.press("5")
        ui.app.view.editor.text = 'device.attributes["gpu.example.com"].model == "H100"'
        await ui.settle()
        await ui.press("f7")
        assert "16 matches   16 no" in ui.crumbs
        await ui.press("slash")
        await ui.type("!matches")
        assert {row.reason for row in ui.app.view.grid.rows} == {'device.attributes["gpu.example.com"].model == "H100"'}
        assert 'model == "H100"' in ui.screen
        await ui.press("escape", "escape")
        ui.app.view.editor.text = 'device.attributes["gpu.example.com"].nvlinkDomain == 0'
        await ui.settle()
        await ui.press("f7", "f")
        assert {row.outcome.value for row in ui.app.view.grid.rows} == {"error"}
        assert {row.reason for row in ui.app.view.grid.rows} == {"no such key: nvlinkDomain"}

    play(demo_app(), script, LARGE)


def test_the_last_selector_that_compiled_stays_while_one_types():
    async def script(ui):
        await ui.press("5")
        ui.app.view.editor.text = "true"
        await ui.settle()
        assert "All 47 devices match" in ui.screen
        ui.app.view.editor.text = "true &&"
        await ui.settle()
        assert "Does not compile" in ui.screen
        assert "The last selector that compiled:" in "\n".join(ui.app.view.page.lines)
        assert "All 47 devices match" in "\n".join(ui.app.view.page.lines)
        await ui.press("f4")
        assert "it does not compile" in ui.crumbs

    play(demo_app(), script, LARGE)


def test_what_a_claim_with_it_would_get():
    async def script(ui):
        await ui.press("5")
        ui.app.view.editor.text = 'device.attributes["gpu.example.com"].model == "H100"'
        await ui.settle()
        # Without a class it is the one of which the selector matches most, and fails on none.
        await ui.press("ctrl+g")
        assert "a claim with it" in ui.crumbs
        text = " ".join(ui.screen.split())
        device = "gpu.example.com/gke-prod-h100-5f3a2b1c-x9zk/gpu-5"
        assert f"A claim of class gpu.example.com with this selector would get {device} now" in text
        assert "fits 7 more times now" in text
        await ui.press("enter")
        assert "gpu-5" in ui.crumbs
        await ui.press("escape", "escape", "e", "f3", "ctrl+g")
        assert "class any-device" in ui.screen or "any-device" in str(ui.app.view.question)
        await ui.press("escape")
        ui.app.view.editor.text = 'device.attributes["gpu.example.com"].model == "B200"'
        await ui.settle()
        await ui.press("f3", "ctrl+g")
        assert ui.app.view.question.device_class == "gpu.example.com"
        assert "does not fit" in ui.screen
        assert "their model is H100" in " ".join(ui.screen.split())
        assert not ui.app.offers("open")

    play(demo_app(), script, LARGE)


def test_a_claim_gets_what_the_scheduler_would_give_it():
    cluster = ClusterState(*with_features(load_demo()), SYSTEM)
    for expression, number in (("true", 1), ("false", 0), ("device.nosuch", 0), ("1", 0)):
        found = try_claim(cluster, "nic.example.com", expression, "default")
        assert len(found.devices) == number
        assert bool(found.node) is bool(number)
    # What it gets is free, and a claim of the same name is not in its way.
    key = next(iter(cluster.inventory.claims))
    assert try_claim(cluster, "gpu.example.com", "true", key.namespace).devices[0] not in held(cluster)


def held(cluster):
    return set(cluster.inventory.holdings_by_device)


def test_free_devices_of_a_model_to_start_from():
    async def script(ui):
        await ui.press("5")
        assert "Or begin with one of f2: all H100, all free H100, all L40" in " ".join(ui.screen.split())
        await ui.press("f2")
        assert [row.name for row in ui.app.view.grid.rows][:2] == ["all H100", "all free H100"]
        assert 'model == "H100"' in ui.screen
        # The value of another attribute says nothing without the attribute's name.
        assert "all free with profile quarter" in [row.name for row in ui.app.view.grid.rows]
        await ui.press("down", "enter")
        assert "devices of the selector" in ui.crumbs
        rows = ui.app.view.grid.rows
        assert len(rows) == 7
        assert {(row.outcome, row.state) for row in rows} == {("matches", "free")}
        await ui.press("escape", "escape")
        assert ui.app.view.editor.text == 'device.attributes["gpu.example.com"].model == "H100"'

    play(demo_app(), script, LARGE)


def test_only_selectors_that_compile_are_remembered_in_passing():
    async def script(ui):
        await ui.press("5")
        await ui.type("x?")
        await ui.press("escape")
        assert ui.app.memory.selectors == ()
        ui.app.view.editor.text = "true"
        await ui.settle()
        await ui.press("e", "escape")
        assert ui.app.memory.selectors == ("true",)

    play(demo_app(), script)


def test_selectors_to_start_from_and_those_that_were_kept():
    async def script(ui):
        await ui.press("5", "f2", "slash")
        await ui.type("all h100")
        await ui.press("enter", "enter")
        assert ui.app.view.editor.text == 'device.attributes["gpu.example.com"].model == "H100"'
        await ui.press("escape")
        await ui.command("keep mine")
        assert ui.app.memory.saved == {"mine": 'device.attributes["gpu.example.com"].model == "H100"'}
        await ui.press("f2")
        assert [row.name for row in ui.app.view.grid.rows if row.kind == "saved"] == ["mine"]
        assert [row.index for row in ui.app.view.grid.rows if row.kind == "tried"] == [1]
        assert "saved mine" in ui.lines[4]

    play(demo_app(), script, LARGE)


def test_a_selector_in_an_editor(monkeypatch, tmp_path):
    from contextlib import nullcontext

    script_file = tmp_path / "editor.sh"
    script_file.write_text('#!/bin/sh\nprintf "true" > "$1"\n', encoding="utf-8")
    monkeypatch.setenv("EDITOR", f"sh {script_file}")
    monkeypatch.delenv("VISUAL", raising=False)

    async def script(ui):
        await ui.press("5", "f6")
        assert "not possible" in ui.crumbs or ui.app.view.editor.text == ""
        monkeypatch.setattr(type(ui.app), "can_leave_terminal", True)
        monkeypatch.setattr(ui.app, "suspend", nullcontext)
        await ui.press("f6")
        assert ui.app.view.editor.text == "true"
        monkeypatch.setenv("EDITOR", "false")
        await ui.press("f6")
        assert "nothing was taken over" in ui.crumbs
        monkeypatch.setenv("EDITOR", "/no/such/editor")
        await ui.press("f6")
        assert "/no/such/editor" in ui.crumbs
        assert ui.app.view.editor.text == "true"

    play(demo_app(), script, LARGE)


def test_nothing_is_counted_of_what_does_not_compile_or_could_not_be_read():
    """0 matches would be an answer."""
    inventory, evidence = load_demo()
    reads = tuple(
        msgspec.structs.replace(r, coverage=Coverage.PARTIAL) if r.kind == "ResourceSlice" else r
        for r in evidence.reads
    )
    partly = RereadFeed("prod", True, lambda: with_features((inventory, replace(evidence, reads=reads))))

    async def script(ui):
        await ui.press("5", *'device.driver == "')
        assert "does not compile" in ui.screen
        assert "0 match" not in ui.screen
        await ui.type('gpu.example.com"')
        assert "? match   ? no" in ui.screen

    play(DraApp(Settings(connect=lambda _context: partly)), script)


def test_the_selector_is_taken_from_the_list_of_its_devices_as_well():
    async def script(ui):
        await ui.press("5", *'device.driver == "nic.example.com"', "f7", "f4")
        assert "expression: device.driver ==" in ui.app.clipboard
        await ui.press("f9")
        assert ui.app.clipboard.startswith("kubectl dra test-selector 'device.driver ==")
        await ui.press("ctrl+g")
        assert "a claim with it" in ui.crumbs
        await ui.press("escape")
        assert "devices of the selector" in ui.crumbs

    play(demo_app(), script)
