"""What lists share: filters, marks, faults, tables as files, columns of devices; and views that are only lists."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from functools import partial

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.taints import CommandTaintWriter
from kubectl_dra.output.safe import Safe, plain
from kubectl_dra.source.demo import load_demo
from kubectl_dra.source.file import assemble
from kubectl_dra.source.manifests import read_manifests
from kubectl_dra.tui import grid as grid_module
from kubectl_dra.tui import shell
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.feed import Link, RereadFeed
from kubectl_dra.tui.filters import is_kept
from kubectl_dra.tui.settings import Settings
from kubectl_dra.tui.theme import DARK
from kubectl_dra.tui.tools import format_of, table_text
from tests.reports.clusters import DEMO, document
from tests.tui.support import LARGE, SMALL, demo_app, play, with_features

pytestmark = pytest.mark.one_in(12)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", None),
        ("  ! ", None),
        ("free h100", {"h100 free"}),
        ("!free", {"h100 used", "l40 used"}),
        ("! h100 free", {"h100 used", "l40 used", "l40 free"}),
        ("-f hfr", {"h100 free"}),
        ("-f L4 FE", {"l40 free"}),
        ("!-f h1d", {"h100 free", "l40 free", "l40 used"}),
    ],
)
def test_filters(text, kept):
    test = is_kept(text)
    rows = {"h100 free", "h100 used", "l40 free", "l40 used"}
    assert (test is None) if kept is None else ({row for row in rows if test(row)} == kept)


COLUMNS = [
    Column("NAME", lambda row: Safe(row[0])),
    Column("", lambda row: Safe("bar")),
    Column("IN USE", lambda row: Safe(row[1])),
]
ROWS = [("a|b", "1"), ("=cmd()", "2, 3")]


def test_tables_as_text():
    assert json.loads(table_text(COLUMNS, ROWS, "json")) == [
        {"name": "a|b", "in_use": "1"},
        {"name": "=cmd()", "in_use": "2, 3"},
    ]
    # A spreadsheet would carry out what begins with an equals sign.
    assert list(csv.reader(table_text(COLUMNS, ROWS, "csv").splitlines())) == [
        ["NAME", "IN USE"],
        ["a|b", "1"],
        ["'=cmd()", "2, 3"],
    ]
    assert table_text(COLUMNS, ROWS, "markdown").splitlines() == [
        "| NAME | IN USE |",
        "| --- | --- |",
        "| a\\|b | 1 |",
        "| =cmd() | 2, 3 |",
    ]
    assert [format_of(name) for name in ("x.csv", "x.JSON", "x.md", "x.txt")] == ["csv", "json", "markdown", None]


def test_the_table_on_the_screen_is_saved_and_copied(tmp_path):
    file = tmp_path / "free.csv"

    async def script(ui):
        await ui.command("devices")
        await ui.press("slash")
        await ui.type("h100 free")
        await ui.press("enter")
        await ui.command(f"save {file}")
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
        assert [row["STATE"] for row in rows] == ["free"] * 7
        assert rows[0]["MODEL"] == "H100"
        assert "saved 7 rows" in ui.screen
        # Nothing is ever written over.
        await ui.command(f"save {file}")
        assert "was not saved" in ui.crumbs
        await ui.command("save x.txt")
        assert "does not end in" in ui.crumbs
        await ui.press("ctrl+s")
        assert "Save as" in ui.lines[-1]
        assert "all-devices.csv" in ui.lines[-1]
        await ui.press("escape")
        await ui.press("Y")
        assert ui.app.clipboard.startswith("| DRIVER |") or ui.app.clipboard.startswith("| POOL |")
        await ui.command("copytable json")
        assert len(json.loads(ui.app.clipboard)) == 7

    play(demo_app(), script, LARGE)


def test_pods_are_saved_with_their_reason_and_without_headings(tmp_path):
    file = tmp_path / "pods.csv"

    async def script(ui):
        await ui.press("4", "ctrl+s")
        # What is typed replaces what is suggested.
        await ui.type(str(file))
        await ui.press("enter")
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
        assert len(rows) == 21
        assert {row["POD"]: row["REASON"] for row in rows}["ml/trainer-0"] == "DRA-220"
        assert "saved 21 rows" in ui.screen
        await ui.press("Y")
        assert len(ui.app.clipboard.splitlines()) == 2 + 21

    play(demo_app(), script, LARGE)


def test_faults_only():
    async def script(ui):
        await ui.press("2", "f")
        assert {row.pool for row in ui.app.view.grid.rows} == {"gke-prod-h100-5f3a2b1c-k4tq", "rack-7"}
        assert "faults only" in ui.crumbs
        await ui.press("escape")
        assert len(ui.app.view.grid.rows) == 7
        await ui.press("3", "f")
        assert all(row.printed_state != "allocated,reserved" for row in ui.app.view.grid.rows)
        await ui.press("f")
        assert len(ui.app.view.grid.rows) == 35

    play(demo_app(), script)


def test_marked_rows_are_tainted_together():
    async def script(ui):
        await ui.command("devices")
        await ui.press("space", "space", "a")
        assert (
            "taint gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0 gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-1 "
            in ui.lines[-1]
        )
        assert "2 marked" in ui.lines[2] or "▌" in ui.screen
        await ui.press("escape", "2", "a")
        assert "taint gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/*" in ui.lines[-1]
        await ui.type("upgrade:NoSchedule")
        await ui.press("enter")
        assert ui.app.view.order.words == ("gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/*", "upgrade:NoSchedule")
        await ui.press("escape")
        await ui.command("taint node/gke-prod-h100-5f3a2b1c-x9zk upgrade:NoSchedule")
        assert ui.app.view.order.words == ("node/gke-prod-h100-5f3a2b1c-x9zk", "upgrade:NoSchedule")

    play(demo_app(writer=partial(CommandTaintWriter, Options(from_="demo"))), script, LARGE)


def test_columns_of_devices():
    async def script(ui):
        await ui.command("devices")
        for title in ("POOL", "DEVICE", "STATE", "MODEL", "MEMORY", "USED BY"):
            assert title in ui.lines[3]
        assert ui.lines[3].index("STATE") < ui.lines[3].index("MODEL") < ui.lines[3].index("MEMORY")
        await ui.press("slash")
        await ui.type("h100")
        await ui.press("enter")
        # One driver is left, so that its column says nothing.
        assert "DRIVER" not in ui.lines[3]
        await ui.press("W")
        while ui.app.view.grid.selected.name != "uuid":
            await ui.press("down")
        await ui.press("space", "escape")
        assert "UUID" in ui.lines[3]
        await ui.press("right")
        # The identity stays where the rest scrolls.
        assert ui.lines[4].strip().startswith("gke-p")
        # Those that were shown by themselves stay.
        assert set(ui.app.memory.columns) == {"uuid", "model", "memory"}
        await ui.press("W", "W", "escape")
        assert "MODEL" in ui.lines[3]

    play(demo_app(), script)


def test_nodes_and_the_tree():
    async def script(ui):
        await ui.command("no")
        assert "gke-prod-h100-5f3a2b1c-x9zk" in ui.screen
        await ui.press("enter")
        assert "node gke-prod-h100-5f3a2b1c-x9zk" in ui.crumbs
        assert "held by pod ml/serve-1" in ui.crumbs
        assert {row.id.driver for row in ui.app.view.grid.rows} == {"gpu.example.com", "nic.example.com"}
        await ui.press("P")
        assert "gpu.example.com/gke-prod-h100-5f3a2b1c-x9zk" in ui.crumbs
        await ui.command("pod ml/serve-1")
        await ui.press("X")
        assert [row.type for row in ui.app.view.grid.rows][:4] == ["pod", "claim", "device", "node"]
        await ui.press("down", "down", "enter")
        assert "device gpu-0" in ui.crumbs
        await ui.command("xray")
        await ui.press("slash")
        await ui.type("trainer-0")
        assert {row.type for row in ui.app.view.grid.rows} == {"pod", "claim"}

    play(demo_app(), script, LARGE)


def test_history_aliases_and_the_log():
    async def script(ui):
        await ui.press("2", "enter", "3")
        await ui.press("left_square_bracket")
        assert ui.crumbs.startswith("pools › gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq")
        await ui.press("left_square_bracket")
        assert ui.crumbs.startswith("pools")
        assert "gke-prod-h100-5f3a2b1c-k4tq" not in ui.crumbs
        await ui.press("right_square_bracket")
        assert ui.crumbs.startswith("pools › gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq")
        await ui.press("right_square_bracket")
        assert ui.crumbs.startswith("claims")
        await ui.press("right_square_bracket")
        assert "there is no view after" in ui.crumbs
        await ui.press("ctrl+a", "slash")
        await ui.type("oldest")
        assert "nothing contains" in ui.screen
        await ui.press("escape", "slash")
        await ui.type("resourceslices")
        await ui.press("enter", "enter")
        assert ui.crumbs.startswith("pools")
        await ui.command("log")
        assert "No command was copied" in ui.screen
        await ui.command("pod ml/trainer-0")
        await ui.press("x", "c")
        await ui.command("log")
        assert "copied" in ui.screen
        assert "kubectl replace" in ui.screen

    play(demo_app(), script, LARGE)


def test_the_palette_finds_objects():
    async def script(ui):
        await ui.press("ctrl+p")
        await ui.type("serve-1-gpus")
        await ui.press("enter")
        await ui.press("enter") if len(ui.app.screen_stack) > 1 else None
        assert "serve-1-gpus" in ui.crumbs

    play(demo_app(), script, LARGE)


def test_a_paused_screen_shows_later_what_came_meanwhile():
    readings = iter(range(100))

    def load():
        inventory, evidence = load_demo()
        if next(readings):
            inventory = inventory.replace(claims={})
        return with_features((inventory, evidence))

    from kubectl_dra.tui.app import DraApp
    from kubectl_dra.tui.settings import Settings

    feed = RereadFeed("ctx x", True, load)

    async def script(ui):
        await ui.press("3", "z")
        assert "paused" in ui.lines[0]
        await ui.press("r")
        assert len(ui.app.view.grid.rows) == 35
        await ui.press("z")
        assert "There are no ResourceClaims" in ui.screen
        assert "paused" not in ui.lines[0]
        assert ui.app.status.link is not Link.FAILED

    play(DraApp(Settings(connect=lambda _context: feed)), script)


def test_hits_one_after_the_other():
    async def script(ui):
        await ui.command("pod ml/trainer-0")
        await ui.press("slash")
        await ui.type("gke-prod-h100-5f3a2b1c-x9zk")
        await ui.press("enter")
        page = ui.app.view.page
        first = page._hit
        await ui.press("n")
        assert page._hit > first
        await ui.press("N")
        assert page._hit == first
        await ui.press("N")
        assert page._hit > first

    play(demo_app(), script)


def test_clicks_on_headers_crumbs_and_the_footer():
    async def script(ui):
        await ui.command("claims")
        at = ui.lines[3].index("AGE")
        await ui.pilot.click(ui.app.view.grid, offset=(at + 1, 0))
        await ui.settle()
        assert "AGE↑" in ui.lines[3] or "AGE↓" in ui.lines[3]
        await ui.press("enter", "y")
        assert "› yaml" in ui.crumbs
        await ui.pilot.click("Crumbs", offset=(2, 0))
        await ui.settle()
        assert ui.crumbs.startswith("claims")
        assert "›" not in ui.crumbs
        await ui.pilot.click("Footer", offset=(ui.lines[-1].index("? help") + 1, 0))
        await ui.settle()
        assert "╭─ Here" in ui.screen

    play(demo_app(), script)


def names(ui):
    """The first column of the tree as it is drawn."""
    column = ui.app.view.columns()[0]
    return [str(plain(column.cell(row))) for row in ui.app.view.grid.rows]


def test_the_tree_folds():
    async def script(ui):
        await ui.command("xray")
        whole = names(ui)
        assert whole[:6] == [
            "pod dev/nb",
            "├─ claim dev/nb-gpu",
            "│  └─ device gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-4",
            "│     └─ node gke-prod-h100-5f3a2b1c-k4tq",
            "└─ claim dev/nb-net",
            "   └─ device nic.example.com/rack-1/nic-3",
        ]
        await ui.press("down", "space")
        assert names(ui)[:3] == ["pod dev/nb", "├─ claim dev/nb-gpu ▸ 1", "└─ claim dev/nb-net"]
        await ui.press("left")
        assert str(ui.app.view.grid.selected.of) == "dev/nb"
        await ui.press("left")
        assert names(ui)[:2] == ["pod dev/nb ▸ 2", "pod dev/nb-2"]
        await ui.press("right", "right", "right")
        assert names(ui)[:3] == whole[:3]
        await ui.press("Z")
        assert all(len(row.path) == 1 for row in ui.app.view.grid.rows)
        await ui.press("Z")
        assert names(ui) == whole
        # What the filter keeps stands below what it belongs to, also where that is folded.
        await ui.press("Z")
        await ui.type("/nic-3")
        await ui.press("enter")
        assert names(ui)[:3] == ["pod dev/nb", "└─ claim dev/nb-net", "   └─ device nic.example.com/rack-1/nic-3"]
        assert not any("nb-gpu" in name for name in names(ui))
        await ui.press("escape", "f")
        assert "pod dev/nb-2" in names(ui)
        assert "pod dev/nb" not in names(ui)
        assert not ui.app.offers("sort")

    play(demo_app(), script, LARGE)


def test_rows_that_change_are_highlighted_for_a_moment(monkeypatch):
    """Of a live cluster only; by another background, on that row alone, and not for ever."""
    monkeypatch.setattr(grid_module, "_NEWS_SECONDS", 3600.0)
    first, second = document(DEMO), document(DEMO)
    second["items"] = [each for each in second["items"] if (each["kind"], each["metadata"]["name"]) != ("Pod", "nb")]
    given = iter([first, second, first])
    feed = RereadFeed(
        "test", True, lambda: with_features(assemble(read_manifests(json.dumps(next(given)).encode(), "test")))
    )

    async def script(ui):
        changed = DARK.variables["changed"]

        def highlighted():
            strips = [list(strip) for strip in ui.app.screen._compositor.render_strips()]
            texts = {
                "".join(segment.text for segment in strip): {s.style.bgcolor.name for s in strip if s.style.bgcolor}
                for strip in strips
                if any(s.style is not None for s in strip)
            }
            return [text.split()[1] for text, behind in texts.items() if changed in behind]

        await ui.press("3", "down")
        assert highlighted() == []
        feed.refresh()
        await ui.holds(lambda: "pod nb (gone)" in ui.screen)
        await ui.settle()
        assert set(highlighted()) == {"nb-gpu", "nb-net"}
        # It ends with time.
        ui.app.view.grid._news = dict.fromkeys(ui.app.view.grid._news, 0.0)
        ui.app.view.grid._forget_news()
        await ui.settle()
        assert highlighted() == []

    play(DraApp(Settings(connect=lambda _context: feed)), script, LARGE)


def test_a_cell_is_made_once_for_a_line_that_is_drawn():
    """Also where rows that change are highlighted: a thousand events in a second make all of them anew."""

    async def script(ui):
        await ui.press("3")
        grid = ui.app.view.grid
        made = []
        counted = [replace(c, cell=lambda row, c=c: made.append(c.title) or c.cell(row)) for c in grid.columns_now]
        grid.highlights = True
        grid.set_columns(counted)
        grid.show(grid.rows[:1])
        drawn = [column.title for column in grid._fit().columns]
        made.clear()
        grid.render_line(1)
        assert made == drawn

    play(demo_app(), script, LARGE)


def test_who_goes_on_at_an_end_is_told(monkeypatch):
    """Of hits at both ends, of the only one, and of a pool that several nodes can use."""
    # However long a machine needs for a key.
    monkeypatch.setattr(shell, "_NOTICE_SECONDS", 3600.0)

    async def script(ui):
        await ui.press("3", "slash", *"train", "enter")
        rows = ui.app.view.grid.rows
        await ui.press("N")
        assert "this is the first hit" in ui.screen
        await ui.press(*("n" for _ in rows))
        assert "this is the last hit" in ui.screen
        await ui.press("escape", "slash", *"nothing has this", "enter", "n")
        assert "nothing was found" in ui.screen
        await ui.press("escape", "y", "slash", *"kind: ResourceClaim", "enter", "n")
        assert "this is the only hit" in ui.screen, ui.screen
        await ui.press("2")
        tied = [bool(row.scope.node) for row in ui.app.view.grid.rows]
        ui.app.view.grid.go_to(tied.index(False))
        await ui.press("o")
        assert "this pool is not tied to one node" in ui.screen

    play(demo_app(), script, LARGE)


def _pods(ui):
    return [row.pod.name for row in ui.app.view.grid.rows if row.pod is not None]


def test_groups_of_pending_pods_fold():
    """`enter` on a heading does what people expect of one; the cursor begins on a pod all the same."""

    async def script(ui):
        await ui.press("4")
        everything = _pods(ui)
        assert ui.app.view.grid.selected.pod.name == everything[0] == "render-5"
        await ui.press("up")
        assert "▾ devices in use" in ui.screen
        assert not any(map(ui.app.offers, ("tree", "used_by", "describe", "yaml", "copy")))
        await ui.press("enter")
        assert "▸ devices in use" in ui.screen
        assert _pods(ui) == everything[5:]
        assert "16 of 21 pods, 15 reasons" in ui.crumbs
        await ui.press("down", "down", "space")
        assert ui.app.view.grid.selected.code == "DRA-310"
        assert _pods(ui) == everything[8:]
        # What was folded is found, and folded again afterwards.
        await ui.press("slash", *"sweep", "enter", "home", "n", "n")
        assert _pods(ui) == ["sweep-0", "sweep-1", "sweep-2", "sweep-3"]
        assert ui.app.view.grid.selected.pod.name == "sweep-1"
        await ui.press("N", "N")
        assert ui.app.view.grid.selected.pod.name == "sweep-0"
        await ui.press("N")
        assert "this is the first hit" in ui.screen
        await ui.press("space")
        assert "do not fold while a filter is active" in ui.screen
        await ui.press("escape", "Z")
        assert _pods(ui) == everything
        await ui.press("Z")
        assert _pods(ui) == []
        await ui.press("home", "right")
        assert _pods(ui) == everything[:5]
        await ui.press("left")
        assert _pods(ui) == []
        await ui.pilot.click(ui.app.view.grid, offset=(4, 1))
        await ui.settle()
        assert _pods(ui) == everything[:5]

    play(demo_app(), script)


def test_the_preview_of_a_heading_is_its_reason():
    async def script(ui):
        await ui.press("4", "up")
        assert "What it means" in ui.screen
        await ui.press("down")
        assert "What it means" not in ui.screen

    play(demo_app(), script, (200, 50))


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_who_holds_devices_of_a_node_counts_once(size):
    """A device with several users names the first and how many more: the first may be another device's only one."""

    async def script(ui):
        await ui.command("nodes")
        ui.app.view.grid.select(lambda row: row.name == "gke-prod-h100-5f3a2b1c-k4tq")
        await ui.press("enter")
        assert "USED BY" in ui.screen
        assert ("held by 6 users" if size == SMALL else "held by pod ml/serve-0, pod dev/nb, 4 more") in ui.crumbs

    play(demo_app(), script, size)


def test_a_node_is_described_as_by_its_command(capfd):
    """From the list, from its devices, and where it has none."""

    def printed(name):
        assert run(["describe-node", name, "--from", "demo", "--color", "never"]) == 0
        return capfd.readouterr().out.split()

    async def script(ui):
        await ui.command("nodes")
        ui.app.view.grid.select(lambda row: row.name == "gke-prod-h100-5f3a2b1c-k4tq")
        await ui.press("d")
        assert "describe" in ui.crumbs
        shown = plain(Safe(" ").join(ui.app.view.page.lines)).split()
        assert shown == printed("gke-prod-h100-5f3a2b1c-k4tq")
        await ui.press("escape")
        await ui.command("nodes cpu-1")
        assert "d says how the node stands" in ui.screen
        await ui.press("d")
        assert "taints: maintenance:NoSchedule" in ui.screen
        assert plain(Safe(" ").join(ui.app.view.page.lines)).split() == printed("cpu-1")

    play(demo_app(), script, (100, 60))


def test_the_nodes_are_those_of_get_and_who_takes_no_pods_stands_out():
    content = document(DEMO)
    (node,) = (each for each in content["items"] if each["kind"] == "Node" and each["metadata"]["name"] == "cpu-2")
    node["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]
    loaded = assemble(read_manifests(json.dumps(content).encode(), "cluster"))
    feed = RereadFeed("demo", False, lambda: with_features(loaded))

    async def script(ui):
        await ui.command("nodes")
        shown = {line.split()[0]: line.split()[1:] for line in ui.lines[4:10]}
        # It has no devices, and may have to have some.
        assert shown["cpu-1"][:2] == ["Ready", "0"]
        assert shown["cpu-2"][0] == "NotReady"
        assert ui.app.view.grid.rows[0].name == "gke-prod-h100-5f3a2b1c-x9zk"
        await ui.press("f")
        assert {row.name for row in ui.app.view.grid.rows} == {"cpu-2", "ip-192-168-153-160.ec2.internal"}

    play(DraApp(Settings(connect=lambda _context: feed)), script, (120, 36))


def test_the_node_under_the_cursor_is_described_beside_the_list():
    async def script(ui):
        await ui.command("nodes")
        assert "Ready, created" in ui.screen

    play(demo_app(), script, (200, 50))


def test_what_is_typed_replaces_the_last_filter():
    async def script(ui):
        await ui.press("2")
        await ui.type("/mig")
        await ui.press("enter", "slash")
        await ui.type("rack")
        await ui.press("enter")
        assert [row.pool for row in ui.app.view.grid.rows] == ["rack-1", "rack-7"]
        # An arrow goes into it.
        await ui.press("slash", "right")
        await ui.type("-7")
        await ui.press("enter")
        assert [row.pool for row in ui.app.view.grid.rows] == ["rack-7"]

    play(demo_app(), script)


def test_a_message_of_the_scheduler_that_is_out_of_date_takes_no_room_from_other_pods():
    async def script(ui):
        await ui.press("4")
        line = next(line for line in ui.lines if "ml/sweep-0" in line)
        assert re.search(r"no node has 6 free gpu.example.com device\S*…? {2,4}52m", line), line
        assert "stale" not in ui.screen
        await ui.press(*"/nb-2", "enter", "enter")
        assert "outdated: the cluster has changed since" in " ".join(ui.screen.split())

    play(demo_app(), script)

    async def wide(ui):
        await ui.press("4", *"/nb-2", "enter")
        assert " stale " in ui.screen

    play(demo_app(), wide, LARGE)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_marked_devices_stand_beside_each_other(size):
    async def script(ui):
        await ui.command("devices")
        await ui.press("space", "down", "space")
        ui.app.view.grid.select(lambda row: row.id.pool == "ip-192-168-153-160.ec2.internal")
        await ui.press("space", "d")
        assert ui.crumbs.split("   ")[0].endswith("compared")
        page = [" ".join(plain(line).split()) for line in ui.app.view.lines()]
        assert page[0] == "gpu-0 gpu-2 gpu-0"
        # Each has a column of its own, however narrow the screen is.
        assert "used by pod ml/serve-0 - -" in page
        assert "model H100 H100 L40" in page
        assert "state in use free free" in page
        # All three are of one driver.
        assert not any(line.startswith("driver ") for line in page)
        await ui.press("escape", "home")
        for _ in range(12):
            await ui.press("space")
        await ui.press("d")
        assert "8 devices fit beside each other at most" in ui.crumbs

    play(demo_app(), script, size)
