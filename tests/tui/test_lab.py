"""The selector lab: completion, live report, marks, and that nothing typed is ever lost."""

from __future__ import annotations

from tests.tui.support import LARGE, demo_app, play


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
        assert ui.app.view.editor.text == 'device.driver == "gpu.example.com"'
        await ui.press("f8")
        assert ui.app.view.editor.text == written
        await ui.press("f2", "down", "enter", "ctrl+z")
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
