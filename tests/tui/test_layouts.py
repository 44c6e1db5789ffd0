"""Layouts: two panes where there is room, one thing after the other where there is not; previews beside lists."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
import textual.containers
import textual.widgets
from textual.screen import Screen

from kubectl_dra import tui
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, plain, styled
from kubectl_dra.tui import queries
from kubectl_dra.tui.layouts import Room, page_columns, room_of
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.text import clipped_inside
from tests.tui.support import SMALL, demo_app, play

pytestmark = pytest.mark.one_in(12)

TUI = Path(tui.__file__).parent
MEDIUM, LARGEST = (120, 36), (200, 50)


@pytest.mark.parametrize(("columns", "room"), [(80, 0), (109, 0), (110, 110), (139, 110), (140, 140), (200, 140)])
def test_the_room_of_a_terminal(columns, room):
    assert room_of(columns) is Room(room)
    assert 40 <= page_columns(columns) <= 120


def test_a_colour_stays_on_all_lines():
    """Each line is drawn by itself, so that each has to begin and end it."""
    lines = wrapped(styled(Safe("one two three"), Style.BOLD) + Safe(" four"), 9, indent=1)
    assert [str(plain(line)) for line in lines] == [" one two", " three", " four"]
    assert [str(line) for line in lines] == [" \x1b[1mone two\x1b[0m", " \x1b[1mthree\x1b[0m", " four"]


def style_of(ui, line, text):
    """The style of a word on the screen."""
    strip = ui.app.screen._compositor.render_strips()[line]
    return next(segment.style for segment in strip if text == segment.text.strip())


@pytest.mark.parametrize("size", [MEDIUM, LARGEST])
def test_the_diagnosis_in_two_panes(size):
    async def script(ui):
        await ui.command("pod ml/trainer-0")
        assert "Pod ml/trainer-0 is pending: no node has 4 free H100 devices" in ui.lines[3]
        assert "╭─ Checks" in ui.screen
        assert "Ways out (checked)" in ui.screen
        assert "DRA-220" in ui.crumbs
        # What decides on a node is red: too few left, or too few in one domain.
        closest = next(i for i, line in enumerate(ui.lines) if re.search("8 +8 +8 +3 +3 ", line))
        red = style_of(ui, closest, "3").color
        second = next(i for i, line in enumerate(ui.lines) if re.search("8 +8 +7 +4 +2 ", line))
        assert style_of(ui, second, "2").color == red
        assert style_of(ui, second, "4").color != red
        # A digit belongs to the tabs until the list of ways out has the focus.
        await ui.press("x", "2")
        assert "Command 2" in ui.screen
        await ui.press("enter")
        assert "way out 2" in ui.crumbs
        await ui.press("escape", "end", "enter")
        assert "How to fix it" in "\n".join(ui.app.view.page.lines)
        await ui.press("escape")
        assert ui.app.view.ways.grid.has_focus
        # The reason under the cursor; of a way out the main one.
        await ui.press("E")
        assert "› DRA-412" in ui.crumbs
        await ui.press("escape", "home", "E")
        assert "› DRA-220" in ui.crumbs

    play(demo_app(), script, size)


def test_the_page_of_a_pod_that_runs_has_all_the_room():
    async def script(ui):
        await ui.command("pod ml/serve-0")
        assert "Ways out" not in ui.screen
        assert "nic.example.com/rack-1/nic-0, gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0," in ui.screen
        await ui.command("pod ml/trainer-0")
        assert "Ways out" in ui.screen

    play(demo_app(), script, (130, 40))


def test_the_diagnosis_one_after_the_other():
    async def script(ui):
        await ui.command("pod ml/trainer-0")
        assert "╭─ Checks" not in ui.screen
        await ui.press("x")
        assert ui.crumbs.startswith("pending › ml/trainer-0 › ways out")
        await ui.press("2", "enter")
        assert "way out 2" in ui.crumbs
        await ui.press("c")
        # What is copied can be pasted into a shell: its commands, without the sentences above them.
        first, second, *_ = ui.app.clipboard.splitlines()
        assert first.startswith("# 2 ")
        assert second.startswith("kubectl replace ")
        assert ui.app.clipboard.count("kubectl replace") == 1
        await ui.press("escape", "escape")
        await ui.pilot.resize_terminal(*MEDIUM)
        # A busy machine may draw it later than all else has come to rest.
        await ui.holds(lambda: "╭─ Checks" in ui.screen)

    play(demo_app(), script, SMALL)


@pytest.mark.parametrize("size", [SMALL, MEDIUM])
@pytest.mark.parametrize("key", ["c", "C"])
def test_the_key_of_the_ways_out_counts_while_they_are_being_checked(key, size, monkeypatch):
    """Who is faster than the checks waits for them there; what is not known yet is neither refused nor called none."""
    checked = threading.Event()
    compute = queries.PodQuery.compute_with

    def late(query, *arguments):
        if query.remedies:
            checked.wait()
        return compute(query, *arguments)

    monkeypatch.setattr(queries.PodQuery, "compute_with", late)

    async def script(ui):
        ui.send(":", *"pod ml/trainer-0", "enter")
        await ui.holds(lambda: "ml/trainer-0 is pending" in ui.screen)
        ui.send("x", key)
        await ui.holds(lambda: "! the ways out are still being checked" in ui.screen)
        assert "Ways out are being checked" in ui.screen
        assert "No way out was found" not in ui.screen
        checked.set()
        await ui.settle()
        await ui.press(key)
        assert "count: 3" in ui.app.clipboard

    try:
        play(demo_app(), script, size)
    finally:
        checked.set()


def test_the_preview_follows_the_cursor():
    async def script(ui):
        await ui.press("3")
        assert "ResourceClaim dev/nb-2-gpus has no devices yet" in ui.screen
        await ui.press("down")
        assert "ResourceClaim dev/nb-gpu is in use" in ui.screen
        await ui.press("p")
        assert "ResourceClaim dev/nb-gpu" not in ui.screen
        # What was chosen counts everywhere.
        await ui.press("2")
        assert "Pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq" not in ui.screen
        await ui.press("p")
        assert "Pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq" in ui.screen
        await ui.command("classes")
        assert "DeviceClass any-device" in ui.screen

    play(demo_app(), script, LARGEST)


def test_the_preview_below_a_narrow_list():
    async def script(ui):
        await ui.command("devices")
        assert "Device gpu.example.com" not in ui.screen
        await ui.press("p")
        assert "Device gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0" in ui.screen

    play(demo_app(), script, SMALL)


@pytest.mark.parametrize("keys", [("4", "down", "enter"), ("2", "y"), ("2", "d")])
def test_a_page_is_made_once_its_width_is_known(monkeypatch, keys):
    """It would be folded at the least width, and be drawn like that for a moment."""
    made, put = [], Page._put

    def recorded(self, lines):
        made.append((self, self.text_columns))
        put(self, lines)

    monkeypatch.setattr(Page, "_put", recorded)

    async def script(ui):
        await ui.press(*keys)
        page = ui.app.view.page
        assert {columns for each, columns in made if each is page} == {page.text_columns}

    play(demo_app(), script, MEDIUM)


def test_a_page_that_is_laid_out_unannounced_is_made():
    """Textual sends no Resize to a widget that its map held before it was laid out, as after any look at a size."""

    async def script(ui):
        await ui.press("2", "d")
        page, resized = ui.app.view.page, Page.on_resize
        try:
            Page.on_resize = lambda _page: None
            await ui.press("escape", "d")
            assert ui.app.view.page is not page
            assert "Pool " in ui.screen
            page = ui.app.view.page
            page.make(lambda: [Safe(f"as wide as {page_width()}")])
            await ui.settle()
            assert f"as wide as {page.text_columns}" in ui.screen
            await ui.pilot.resize_terminal(100, 30)
            await ui.settle()
            assert f"as wide as {page.text_columns}" in ui.screen
            assert page.text_columns < 100
        finally:
            Page.on_resize = resized

    play(demo_app(), script, MEDIUM)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
def test_names_of_pools_and_nodes_differ_however_they_are_cut(size):
    async def script(ui):
        for command, title in (("pools", "POOL"), ("devices", "POOL"), ("nodes", "NODE"), ("capacity", "NODE")):
            await ui.command(command)
            grid = ui.app.view.grid
            column = next(each for each in grid.columns_now if each.title == title)
            columns = next(w for c, w in zip(grid._fit().columns, grid._fit().widths, strict=True) if c.title == title)
            whole = {str(column.cell(row)) for row in grid.rows}
            shown = {str(grid._fit()._cell(column, row, column.cell(row), columns)) for row in grid.rows}
            assert len(shown) == len(whole) > 4

    play(demo_app(), script, size)


@pytest.mark.parametrize(
    ("name", "columns", "shown"),
    [
        ("ip-192-168-153-160.ec2.internal", 31, "ip-192-168-153-160.ec2.internal"),
        ("ip-192-168-153-160.ec2.internal", 24, "ip-192-168-153-160…"),
        ("ip-192-168-153-160.ec2.internal", 14, "ip-1…-153-160…"),
        ("  ip-192-168-153-160.ec2.internal", 24, "  ip-192-168-153-160…"),
        ("gke-prod-h100-5f3a2b1c-k4tq", 14, "gke-p…b1c-k4tq"),
        # No domain of hosts: what differs may be at the end.
        ("accelerators.rack.seventeen", 14, "accel…eventeen"),
        ("node-1.5.17", 10, "nod…1.5.17"),
    ],
)
def test_what_is_cut_from_a_name(name, columns, shown):
    assert clipped_inside(Safe(name), columns) == shown


def test_other_pages_beside_a_list_do_not_lay_out_the_screen(monkeypatch):
    """Textual does so for each change of a page's length, and draws everything: most of the time from key to frame."""
    laid_out = []
    refresh_layout = Screen._refresh_layout
    monkeypatch.setattr(Screen, "_refresh_layout", lambda *a, **k: laid_out.append(refresh_layout(*a, **k)))

    async def script(ui):
        await ui.command("devices")
        assert ui.app.view.has_class("previewing")
        heights = set()
        laid_out.clear()
        for _ in range(4):
            await ui.press("down")
            heights.add(ui.app.view.preview.virtual_size.height)
        assert len(heights) > 1
        assert not laid_out
        # Where scroll bars come or go it is necessary.
        await ui.command("pending")
        assert ui.app.view.grid.show_vertical_scrollbar
        laid_out.clear()
        await ui.press("Z")
        assert laid_out
        assert not ui.app.view.grid.show_vertical_scrollbar

    play(demo_app(), script, (140, 30))


def test_rules_of_css_are_about_widgets_that_exist():
    """Whoever renames a view renames its rules, or it loses its margins without a word."""
    sources = [path.read_text(encoding="utf-8") for path in TUI.rglob("*.py")]
    known = {name for source in sources for name in re.findall(r"(?m)^class (\w+)", source)}
    known |= {*textual.widgets.__all__, *dir(textual.containers), "Screen"}
    rules = [text for source in sources for text in re.findall(r'CSS = """(.*?)"""', source, re.DOTALL)]
    assert rules
    for text in rules:
        assert {*re.findall(r"\b[A-Z]\w+\b(?=[^{}]*\{)", text)} <= known
