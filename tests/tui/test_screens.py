"""Every screen with all its keys, one run of the app each, on the demo cluster."""

from __future__ import annotations

import json
import re
from functools import partial

import pytest
from msgspec.structs import replace

from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.safe import plain
from kubectl_dra.source.demo import load_demo
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import RereadFeed
from kubectl_dra.tui.settings import Settings
from tests.kit.sample import sampled
from tests.reports.clusters import DEMO, document, withheld
from tests.tui.support import LARGE, SMALL, demo_app, file_app, play, with_features

pytestmark = pytest.mark.one_in(12)


def test_overview():
    async def script(ui):
        for text in ("gpu.example.com", "17 free", "Pending, by reason", "devices in use", "rack-7", "Last changes"):
            assert text in ui.screen
        assert "21" in ui.lines[1]
        # Trouble comes first, and says since when.
        assert ui.app.focused.id == "waiting"
        assert "52m" in next(line for line in ui.lines if "devices in use" in line)
        await ui.press("down", "enter")
        assert "overview › DRA-310" in ui.crumbs
        assert str(ui.app.view.subject.name) == "ml/infer-7c9f8d6b54-kcqfk"
        await ui.press("escape")
        ui.app.query_one("#use").focus()
        await ui.press("down", "enter")
        assert ui.crumbs.startswith("overview › gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq")
        await ui.press("escape")
        assert ui.crumbs.startswith("overview")
        await ui.press("up", "enter")
        assert "/gpu.example.com/" in ui.crumbs
        assert "4 of 7" in ui.crumbs
        await ui.press("1")
        ui.app.query_one("#broken").focus()
        await ui.press("enter")
        assert "rack-7" in ui.crumbs
        assert "Incomplete" in ui.screen
        await ui.press("escape")
        assert "held but unused" in ui.screen
        ui.app.query_one("#broken").focus()
        await ui.press("end", "enter")
        assert [row.name for row in ui.app.view.grid.rows] == ["leftover"]
        await ui.press("escape", "up", "enter")
        assert ui.crumbs.startswith("taints")
        await ui.press("escape")
        ui.app.query_one("#recent").focus()
        await ui.press("end", "enter", "escape", "home", "enter")
        assert "infer" in ui.crumbs

    play(demo_app(), script)


def test_wide_overview_has_classes():
    async def script(ui):
        assert "Classes" in ui.screen
        assert re.search(r"gpu\.example\.com +[█▓░▒·]+ +32 +17 free", ui.screen)
        ui.app.query_one("#classes").focus()
        await ui.press("enter")
        assert "DeviceClass any-device" in ui.screen

    play(demo_app(), script, LARGE)


def test_a_node_that_has_the_name_of_its_pool_is_not_repeated():
    """The pool's name has the room; a table that is copied says both in full."""

    async def script(ui):
        await ui.press("2")
        (line,) = (line for line in ui.screen.splitlines() if "x9zk" in line)
        assert re.search(r" gke-prod-h100-5f3a2b1c-x9zk +same name +8 ", line)
        assert re.search(r" rack-1 +rack=rack-1 ", ui.screen)
        await ui.command("copytable csv")
        assert "gpu.example.com,gke-prod-h100-5f3a2b1c-x9zk,gke-prod-h100-5f3a2b1c-x9zk,8" in ui.app.clipboard

    play(demo_app(), script, (120, 36))


def test_an_overview_of_hundreds_of_pools():
    """Healthy pools are folded into a strip, in which arrows walk."""
    inventory, evidence = load_demo()
    one = next(each for each in inventory.slices.values() if each.spec.pool.name == "gke-prod-h100-5f3a2b1c-k4tq")
    slices = dict(inventory.slices)
    for number in range(300):
        name = f"n-{number:03}"
        spec = replace(one.spec, node_name=name, pool=replace(one.spec.pool, name=name))
        slices[name] = replace(one, metadata=replace(one.metadata, name=name, uid=name), spec=spec)
    loaded = with_features((inventory.replace(slices=slices), evidence))
    feed = RereadFeed("many", False, lambda: loaded)

    async def script(ui):
        assert "304 pools" in ui.screen
        ui.app.query_one("#use").focus()
        await ui.press("down")
        assert "gke-prod-h100-5f3a2b1c-k4tq … n-001 (6 pools)" in ui.crumbs
        await ui.press("right")
        assert "n-002 … n-007 (6 pools)" in ui.crumbs
        await ui.press("enter")
        assert len(ui.app.view.grid.rows) == 6
        await ui.press("escape")
        assert ui.crumbs.startswith("overview")

    play(DraApp(Settings(connect=lambda _context: feed)), script, LARGE)


def test_pools_and_devices():
    async def script(ui):
        await ui.press("2")
        assert "7" in ui.crumbs
        assert "incomplete" in ui.screen
        await ui.press("s", "S")
        assert "DRIVER" in ui.screen
        await ui.command("sort free")
        assert "FREE↓" in ui.screen
        first = ui.app.view.grid.rows[0]
        assert first.totals.free.value == max(row.totals.free.value for row in ui.app.view.grid.rows)
        await ui.press("d")
        assert f"Pool {first.driver}/{first.pool}" in ui.screen
        await ui.press("escape", "home")
        await ui.command("sort pool")
        await ui.command("pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq")
        assert "8 devices: 4 free" in ui.screen
        await ui.press("W")
        assert "uuid" in ui.screen
        await ui.press("escape", "d")
        assert "Pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq" in ui.screen
        await ui.press("escape", "y")
        assert "apiVersion: resource.k8s.io/v1" in ui.screen
        assert "gpu-1" not in ui.screen
        await ui.press("escape", "enter")
        assert "Device gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0" in ui.screen
        await ui.press("u")
        assert "serve-0-gpus" in ui.crumbs
        await ui.press("escape", "o")
        assert "node gke-prod-h100-5f3a2b1c-k4tq" in ui.crumbs
        assert "nic-0" in ui.screen
        await ui.press("escape", "escape", "c")
        assert "copied" in ui.screen
        assert ui.app.clipboard == "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0"

    play(demo_app(), script)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_partitioned_pool_says_what_is_used_of_its_counters(size):
    async def script(ui):
        await ui.command("pool mig.example.com/cpu-2")
        assert "counters of card-0: compute 3 of 4, memory 18Gi of 24Gi used" in ui.screen

    play(demo_app(), script, size)


def test_enter_on_a_pod_that_runs_opens_its_claims():
    async def script(ui):
        await ui.command("pod dev/nb")
        assert "Pod dev/nb is not pending" in ui.screen
        await ui.press("enter")
        assert "its claims" in ui.crumbs
        assert "nb-gpu" in ui.screen

    play(demo_app(), script)


def test_filters_by_text_and_by_cel():
    async def script(ui):
        await ui.command("devices")
        assert "47" in ui.crumbs
        await ui.press("slash")
        await ui.type("h100 free")
        assert "7 of 47" in ui.screen.replace(",", "")
        await ui.press("enter")
        assert {row.device.attributes["model"].string for row in ui.app.view.grid.rows} == {"H100"}
        assert all(row.made_text for row in ui.app.view.grid.rows)
        await ui.press("escape")
        assert "/h100" not in ui.crumbs
        # What was looked through is kept no longer than somebody looks.
        assert len(ui.app.view.grid.rows) == 47
        assert not any(row.made_text for row in ui.app.view.grid.rows)
        await ui.press("slash")
        await ui.type('device.driver == "mig.example.com"')
        assert "7 of 47" in ui.crumbs
        await ui.press("enter", "slash", "right")
        await ui.type(" &&")
        assert "Syntax error" in ui.screen
        await ui.press("escape")
        assert len(ui.app.view.grid.rows) == 47

    play(demo_app(), script)


def test_claims():
    async def script(ui):
        await ui.press("3")
        assert "35" in ui.crumbs
        assert "allocated, unused" in ui.app.view.grid.rows[9].printed_state + ", unused"
        await ui.command("ns lab")
        assert "ns lab" in ui.lines[0]
        assert all(row.namespace == "lab" for row in ui.app.view.grid.rows)
        await ui.press("0")
        assert "all namespaces" in ui.lines[0]
        await ui.command("claim ml/serve-0-gpus-ppjs4")
        assert "ResourceClaim ml/serve-0-gpus-ppjs4 is in use" in ui.screen
        await ui.press("enter")
        assert "its devices" in ui.crumbs
        assert len(ui.app.view.grid.rows) == 2
        await ui.press("escape", "u")
        assert "ml/serve-0" in ui.crumbs
        await ui.press("escape", "w")
        assert "has its devices and is in use" in ui.screen
        await ui.press("escape", "y")
        assert "kind: ResourceClaim" in ui.screen
        await ui.press("c")
        assert "kind: ResourceClaim" in ui.app.clipboard
        await ui.press("escape", "escape", "w", "escape", "d", "escape", "u")
        assert "claims ›" in ui.crumbs

    play(demo_app(), script)


def test_pending_and_diagnosis():
    async def script(ui):
        await ui.press("4")
        assert "21 pods, 15 reasons" in ui.crumbs
        await ui.press("slash")
        await ui.type("trainer")
        assert "1 of 21 pods" in ui.crumbs
        assert "no set satisfies a constraint" in ui.screen
        assert "devices in use" not in ui.screen
        await ui.press("enter", "enter")
        assert "Pod ml/trainer-0 is pending" in ui.screen
        assert "Any one of these would make it fit" in "\n".join(ui.app.view.page.lines)
        assert any("x shows the commands" in line for line in ui.app.view.page.lines)
        await ui.press("end")
        assert "matches this diagnosis" in ui.screen
        await ui.press("x")
        assert "kubectl" in ui.screen
        await ui.press("escape", "v")
        assert "devices behind the numbers" in ui.crumbs
        await ui.press("down")
        row = ui.app.view.grid.selected
        assert f"{len(row.devices)} device" in ui.screen
        await ui.press("enter")
        behind = {str(each.id) for each in ui.app.view.grid.rows}
        assert behind == {*row.devices, *(name for removal in row.removed for name in removal.devices)}
        await ui.press("escape", "escape", "u")
        assert "trainer-0-gpus" in ui.crumbs
        await ui.press("escape", "y")
        assert "kind: Pod" in ui.screen
        await ui.press("escape", "t")
        assert "5 SELECTOR LAB" in ui.lines[1]
        assert 'model == "H100"' in ui.app.view.editor.text

    play(demo_app(), script)


def test_wide_pending_shows_the_diagnosis_beside():
    async def script(ui):
        await ui.press("4")
        assert "Pod lab/render-5" in ui.screen
        await ui.press("down")
        assert "Pod ml/sweep-0 is pending" in ui.screen

    play(demo_app(), script, LARGE)


def test_taints_and_classes():
    async def script(ui):
        await ui.press("6")
        assert "ecc:NoSchedule" in ui.screen
        await ui.press("y")
        assert "kind: DeviceTaintRule" in ui.screen
        await ui.press("escape", "d", "escape", "enter")
        assert [str(row.id) for row in ui.app.view.grid.rows] == ["gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-7"]
        await ui.command("classes")
        assert "l40.example.com" in ui.screen
        await ui.press("enter")
        assert "DeviceClass any-device" in ui.screen
        await ui.press("escape", "down", "y", "escape", "t")
        assert "5 SELECTOR LAB" in ui.lines[1]
        assert "device.driver" in ui.app.view.editor.text

    play(demo_app(), script)


def test_help_has_what_is_offered_here_and_runs_it():
    async def script(ui):
        await ui.press("3", "question_mark")
        here, everywhere = ui.app.screen.lists
        assert {option.id for option in here.options} >= {"open", "why", "preview", "faults", "save"}
        assert "apply" not in {option.id for option in here.options}
        assert {option.id for option in everywhere.options} >= {"overview", "pools", "theme", "quit", "aliases"}
        # What the footer leaves out, too.
        assert {option.id for option in (*here.options, *everywhere.options)} >= {"namespace", "taint", "next_part"}
        assert "unlock" not in {option.id for option in (*here.options, *everywhere.options)}
        assert "╭─ Here" in ui.screen
        await ui.type("faults")
        assert [option.id for option in here.options] == ["faults"]
        await ui.press("enter")
        assert "faults only" in ui.crumbs
        # Letters are typed into it, and nothing else.
        await ui.press("question_mark")
        await ui.type("q")
        await ui.press("escape")
        assert ui.crumbs.startswith("claims")
        await ui.press("question_mark")
        await ui.type("reasons why")
        await ui.press("escape", "f1", "tab", "down", "enter")
        assert ui.crumbs.startswith("pools")

    play(demo_app(), script)


def test_commands_and_their_mistakes():
    async def script(ui):
        await ui.command("nonsense")
        assert "no command “nonsense”" in ui.crumbs
        await ui.command("pool")
        assert ":pool needs" in ui.crumbs
        await ui.command("pool nowhere")
        assert "not found" in ui.crumbs
        await ui.command("po")
        assert "4 PENDING" in ui.lines[1]
        await ui.command("tai")
        assert "6 TAINTS" in ui.lines[1]
        await ui.command("ctx other")
        assert "not possible here" in ui.crumbs
        await ui.press("colon", "escape")
        assert not ui.app.query_one("Prompt").is_open
        await ui.press("colon")
        await ui.type("pod ml/train")
        await ui.press("right", "enter")
        assert "ml/train" in ui.crumbs

    play(demo_app(), script)


def test_palette_and_theme():
    async def script(ui):
        before = ui.app.theme
        await ui.press("T")
        assert ui.app.theme != before
        await ui.press("ctrl+p")
        await ui.type("taints")
        await ui.press("enter")
        await ui.press("enter")
        assert "6 TAINTS" in ui.lines[1]

    play(demo_app(), script)


def test_lists_to_choose_from():
    def connect(context):
        return RereadFeed(f"ctx {context or 'one'}", True, lambda: with_features(load_demo()))

    async def script(ui):
        await ui.press("3", "n")
        assert "all namespaces" in ui.screen
        await ui.type("ops")
        await ui.press("enter")
        await ui.press("enter") if len(ui.app.screen_stack) > 1 else None
        assert "ns ops" in ui.lines[0]
        assert {row.namespace for row in ui.app.view.grid.rows} == {"ops"}
        await ui.press("n", "escape")
        assert "ns ops" in ui.lines[0]
        await ui.press("0")
        assert "all namespaces" in ui.lines[0]
        await ui.command("ctx")
        await ui.type("tw")
        await ui.press("enter")
        await ui.press("enter") if len(ui.app.screen_stack) > 1 else None
        assert "ctx two" in ui.lines[0]
        assert ui.crumbs.startswith("overview")

    play(DraApp(Settings(connect=connect, contexts=lambda: ["one", "two"])), script)


def test_keys_in_bursts_go_where_they_belong():
    async def script(ui):
        # Faster than any screen is drawn: none of these letters may be taken for a key.
        ui.send("4", "/", *"q0:?trainer")
        await ui.settle()
        assert "/q0:?trainer" in ui.crumbs
        ui.send("escape", "/", *"trainer", "enter")
        await ui.settle()
        assert "1 of 21 pods" in ui.crumbs
        ui.send(":", *"claim ml/serve-0-gpus-ppjs4", "enter")
        await ui.settle()
        assert "claims › ml/serve-0-gpus-ppjs4" in ui.crumbs
        # Before the program has the terminal, this makes a line feed of what enter sends.
        ui.send(":", *"pod ml/trainer-0", "ctrl+j")
        await ui.settle()
        assert "pending › ml/trainer-0" in ui.crumbs

    play(demo_app(), script)


def test_mouse():
    async def script(ui):
        await ui.pilot.click("Tabs", offset=(16, 0))
        await ui.settle()
        assert "2 POOLS" in ui.lines[1]
        await ui.pilot.click(ui.app.view.grid, offset=(10, 3), times=2)
        await ui.settle()
        assert "ip-192-168-153-160.ec2.internal" in ui.crumbs

    play(demo_app(), script)


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_leaving(key):
    async def script(ui):
        await ui.pilot.press(key)
        await ui.holds(lambda: not ui.app.is_running)

    play(demo_app(), script)


@pytest.mark.parametrize("size", sampled(zip([(80, 24), (100, 30), (200, 60), (60, 16), (20, 6)]), 3))
def test_any_size(size):
    async def script(ui):
        for key in "123456":
            await ui.press(key)
            assert all(len(line) <= size[0] for line in ui.lines if line.isascii())
            if key == "5":
                await ui.press("escape")
        await ui.pilot.resize_terminal(120, 35)
        await ui.press("4")
        assert "PENDING" in ui.screen

    play(demo_app(), script, size)


def test_a_list_says_the_cause_as_the_page_does():
    async def script(ui):
        await ui.press("4")
        view = ui.app.view
        why = next(column for column in view.columns() if column.title == "WHY")
        rows = [row for row in view.grid.rows if row.pod is not None]
        assert len(rows) > 15
        for row in rows:
            assert plain(why.cell(row)) in plain(pending_summary(row.report)), row.pod

    play(demo_app(), script)


def test_the_header_says_when_a_file_was_recorded():
    async def script(ui, words):
        assert words in ui.lines[0]

    for size, words in ((SMALL, "recorded 2026-11-21 12:04, read once"), (LARGE, "12:04 UTC, read once   read-only")):
        play(demo_app(), partial(script, words=words), size)


def test_the_overview_cuts_names_inside_and_no_words():
    async def script(ui):
        rows = [line for line in ui.lines if "1 tain" in line]
        assert [("1 tainted" in row) for row in rows] == [True, True]
        assert all(any(name in line for line in ui.lines) for name in ("b1c-k4tq ", "b1c-x9zk "))

    play(demo_app(), script, (120, 36))


@pytest.mark.parametrize(
    ("kind", "screens", "wrong"),
    [
        ("ResourceClaim", ("xray", "claim ml/serve-0-gpus-ppjs4"), ("does not exist", "not found")),
        ("ResourceSlice", ("taints", "pool mig.example.com/cpu-2"), (" none ", "not found")),
        ("DeviceClass", ("capacity",), ("There is no DeviceClass",)),
        ("Node", ("capacity",), ("There is no DeviceClass",)),
        ("Pod", ("pod ml/trainer-0",), ("not found",)),
    ],
)
def test_what_was_not_read_is_not_called_absent(tmp_path, kind, screens, wrong):
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(withheld(document(DEMO), (kind,))), encoding="utf-8")

    async def script(ui):
        for screen in screens:
            await ui.command(screen)
            assert not [words for words in wrong if words in ui.screen]
            assert re.search(rf"not read|{kind} could not be read|rule ecc-errors +\?", ui.screen)

    play(file_app(path), script, LARGE)
