"""The capacity screen: one cell and one line per node, other shapes, what is supposed, and the command's page."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from kubectl_dra.diagnosis.capacity.records import Devices, NodeRoom
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Bound, Count
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.capacity.node_room import RoomKind, room_kinds
from kubectl_dra.reports.switches import OPTIONS
from kubectl_dra.source.demo import CLUSTER
from kubectl_dra.tui.room_strip import _SIGNS, MOST_CELLS, room_strip
from tests.reports.clusters import withheld
from tests.tui.support import LARGE, SMALL, demo_app, file_app, play

pytestmark = pytest.mark.one_in(8)


def test_capacity():
    async def script(ui):
        await ui.command("capacity")
        assert ui.crumbs.startswith("pools › capacity for 1 × gpu.example.com")
        await ui.command("shape gpu.example.com 4")
        assert "capacity for 4 × gpu.example.com" in ui.app.view.crumb
        assert "only 3 free here" in ui.screen
        rows = {row.name: row.room.copies for row in ui.app.view.grid.rows}
        assert rows == {
            "gke-prod-h100-5f3a2b1c-k4tq": 1,
            "gke-prod-h100-5f3a2b1c-x9zk": 0,
            "ip-192-168-153-160.ec2.internal": 1,
            "ip-192-168-171-24.ec2.internal": 1,
            "cpu-1": 0,
            "cpu-2": 0,
        }
        await ui.press("plus")
        assert "capacity for 5 × gpu.example.com" in ui.app.view.crumb
        await ui.press("underscore", "underscore")
        assert "capacity for 3 × gpu.example.com" in ui.app.view.crumb
        await ui.command("shape gpu.example.com 8")
        await ui.command("whatif add-node like=gke-prod-h100-5f3a2b1c-x9zk,count=2,free")
        assert "1 supposed" in ui.app.view.crumb
        rows = {row.name: row.room.copies for row in ui.app.view.grid.rows}
        assert (
            rows["gke-prod-h100-5f3a2b1c-x9zk-new-1"],
            rows["gke-prod-h100-5f3a2b1c-x9zk-new-2"],
        ) == (1, 1)
        await ui.press("d")
        assert "What if: 2 more nodes like gke-prod-h100-5f3a2b1c-x9zk" in ui.screen
        await ui.press("escape")
        await ui.command("whatif drain")
        assert "suppose one of" in ui.app.notice
        await ui.command("whatif drain nosuch")
        assert "what is supposed does not exist" in ui.screen
        await ui.command("whatif")
        assert len(ui.app.view.grid.rows) == 6
        await ui.command("shape gpu.example.com 99")
        assert "is not a number of devices" in ui.app.notice
        await ui.command("shape gpu.example.com 32")
        await ui.press("plus")
        assert "32 devices are the most that one claim may hold" in ui.crumbs
        assert "capacity for 32 × gpu.example.com" in ui.app.view.crumb
        await ui.press("enter")
        assert "node " in ui.app.view.crumb

    play(demo_app(), script, size=LARGE)


H100 = "gke-prod-h100-5f3a2b1c-x9zk"


def cells(ui):
    return ui.lines[3].strip()


def legend(ui):
    return ui.lines[4].strip()


def test_one_cell_per_node_and_only_the_signs_that_occur():
    async def script(ui):
        await ui.command("capacity")
        await ui.command("shape gpu.example.com 4")
        assert cells(ui) == "◆11·T-"
        assert legend(ui) == "1 more fit  · devices in use  - too few such devices  T taint"
        await ui.command("shape any-device")
        assert cells(ui) == "◆5541T"
        assert legend(ui) == "1–5 more fit  + more than 9  T taint"
        await ui.command("whatif drain nosuch")
        assert (cells(ui), ui.app.view._strip.display) == ("", False)

    play(demo_app(), script, size=SMALL)


def test_cells_follow_the_cursor_the_filter_and_the_order():
    async def script(ui):
        await ui.command("capacity")
        await ui.command("shape gpu.example.com 4")
        await ui.press("right", "right")
        assert cells(ui) == "11◆·T-"
        assert ui.app.view.grid.selected.name == ui.app.view.grid.rows[2].name
        await ui.press("h")
        assert cells(ui) == "1◆1·T-"
        await ui.command("sort node")
        assert "".join(sorted(cells(ui))) == "".join(sorted("1◆1·T-"))
        names = [row.name for row in ui.app.view.grid.rows]
        assert names == sorted(names)
        assert cells(ui).index("◆") == ui.app.view.grid.cursor
        await ui.type("/gke")
        await ui.press("enter")
        assert (len(cells(ui)), len(ui.app.view.grid.rows)) == (2, 2)
        assert legend(ui) in ("1 more fit  · devices in use", "· devices in use", "1 more fit")
        await ui.press("Y")
        assert ui.app.clipboard.count("gke-prod") == 2
        assert "ip-192" not in ui.app.clipboard

    play(demo_app(), script, size=SMALL)


def test_the_class_that_most_claims_name_is_counted_first():
    async def script(ui):
        await ui.command("capacity")
        assert "capacity for 1 × gpu.example.com" in ui.app.view.crumb
        report = ui.app.worker.record(ui.app.view.asked)
        assert "gpu.example.com" in str(report.shapes[0].asks)
        ui.send(*":shape g")
        await ui.settle()
        assert "gpu.example.com" in ui.screen

    play(demo_app(), script, size=SMALL)


def test_every_switch_of_the_command_can_be_supposed(monkeypatch):
    # Without colours the cells say the same.
    monkeypatch.setenv("NO_COLOR", "1")
    node = "ip-192-168-171-24.ec2.internal"
    supposed = {
        "add-node": (f"like={H100},free", "2111·T-"),
        "remove-node": (H100, "111T-"),
        "drain": (node, "11U·T-"),
        "add-devices": (f"like=gpu.example.com/{H100}/gpu-0,count=4", "1111T-"),
        "taint": (f"{node},a=b:NoSchedule", "11T·T-"),
        "untaint": ("cpu-1,maintenance", "111·--"),
    }
    assert set(supposed) == set(OPTIONS)

    async def script(ui):
        await ui.command("capacity")
        await ui.command("shape gpu.example.com 4")
        for option, (value, expected) in supposed.items():
            await ui.command("whatif")
            await ui.command(f"whatif {option} {value}")
            assert "1 supposed" in ui.app.view.crumb, ui.app.notice
            assert cells(ui) == f"◆{expected[1:]}", option
        await ui.command(f"whatif --remove-node {H100}")
        assert "2 supposed" in ui.app.view.crumb
        assert cells(ui) == "◆11--"

    play(demo_app(), script, size=SMALL)


def report(*rooms, fits=Bound.EXACT, devices=Bound.EXACT):
    """What the cells are made from."""
    nodes = tuple(
        NodeRoom(count, (), count, copies, Devices(), (SimpleNamespace(code=code),) if code else ())
        for count, copies, code in rooms
    )
    shape = SimpleNamespace(capacity=SimpleNamespace(nodes=nodes, copies=Count(0, fits)))
    certainty = SimpleNamespace(devices=devices, free_devices=devices, nodes=Bound.EXACT)
    return SimpleNamespace(shapes=(shape,), certainty=certainty)


def drawn(*rooms, **known):
    return plain(room_strip(report(*rooms, **known))).splitlines()


def test_many_nodes_are_counted():
    in_use = Code.DEVICES_IN_USE
    assert drawn((MOST_CELLS - 1, 2, in_use), (1, 0, in_use))[0] == "2" * (MOST_CELLS - 1) + "·"
    assert drawn((MOST_CELLS - 1, 2, in_use), (2, 0, in_use)) == [
        f"{MOST_CELLS + 1} nodes:  2 more on each of {MOST_CELLS - 1}  · 2 devices in use"
    ]
    assert drawn((1200, 2, in_use), (1, 12, in_use)) == ["1,201 nodes:  2–12 more on each of 1,201"]
    assert drawn() == []


def test_cells_are_as_sure_as_the_report():
    rooms = ((1, 3, Code.DEVICES_IN_USE), (1, 0, Code.DEVICES_IN_USE), (1, 0, Code.NODE_TAINTS), (1, 0, None))
    assert drawn(*rooms)[0] == "3·T?"
    assert drawn(*rooms, fits=Bound.UNKNOWN) == ["????", "? unknown"]
    # A device that was not read may be free; a taint stays a taint.
    least = drawn(*rooms, fits=Bound.AT_LEAST, devices=Bound.AT_LEAST)
    assert least == ["3?T?", "3 at least so many fit  T taint  ? unknown"]
    assert drawn(*rooms, fits=Bound.AT_MOST)[1].startswith("3 at most so many fit  ")
    assert [kind for kind, _ in room_kinds(report((1, 0, Code.POOL_INVALID)))] == [RoomKind.OTHER]


def test_every_kind_has_a_sign_of_its_own():
    assert set(_SIGNS) == set(RoomKind) - {RoomKind.FITS}
    signs = [str(sign) for sign, _, _ in _SIGNS.values()]
    assert len(set(signs)) == len(signs)
    assert not set(signs) & set("0123456789+")


@pytest.mark.parametrize(("size", "words"), [(SMALL, "17 more fit"), (LARGE, "fits 17 more times now.")])
def test_the_shape_is_never_cut(size, words):
    async def script(ui):
        await ui.command("capacity")
        assert "› capacity for 1 × gpu.example.com " in ui.crumbs
        assert ui.crumbs.endswith(words)
        for end in ("-k4tq ", "-x9zk ", "153-160", "171-24"):
            assert any(end in line for line in ui.lines), "what tells this name from others is cut"

    play(demo_app(), script, size)


@pytest.mark.parametrize("kind", ["ResourceClaim", "Pod"])
def test_no_device_is_called_unused_or_left_where_that_was_not_read(tmp_path, kind):
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(withheld(json.loads(CLUSTER.read_bytes()), (kind,))), encoding="utf-8")

    async def script(ui):
        await ui.command("capacity")
        await ui.command("shape gpu.example.com 4")
        titles = next(line for line in ui.lines if "LEFT OVER" in line)
        rows = [line for line in ui.lines if "≤" in line and " 8 " in line]
        assert rows
        for row in rows:
            fit, _, used, left = row[: titles.index("LEFT OVER") + len("LEFT OVER")].split()[1:]
            assert fit in ("≤1", "≤2")
            assert used == "?" if kind == "ResourceClaim" else used.isdecimal()
            assert left == "?"
            assert not set(row) & set("█▓░▒")

    play(file_app(path), script, size=LARGE)


@pytest.mark.parametrize(
    ("line", "crumb", "copies"),
    [
        ("shape gpu.example.com 4 H100", '4 × gpu.example.com with model == "H100"', 1),
        ("shape gpu.example.com h100", '1 × gpu.example.com with model == "H100"', 7),
        (
            'shape gpu.example.com 2 device.attributes["gpu.example.com"].model == "L40"',
            '2 × gpu.example.com with model == "L40"',
            4,
        ),
        ("shape gpu.example.com 2", "2 × gpu.example.com", 7),
    ],
)
def test_shapes_of_a_model(line, crumb, copies):
    async def script(ui):
        await ui.command(line)
        assert ui.app.view.crumb == f"capacity for {crumb}"
        assert sum(row.room.copies for row in ui.app.view.grid.rows) == copies

    play(demo_app(), script, size=LARGE)


def test_a_shape_of_a_value_that_no_device_has():
    async def script(ui):
        await ui.command("shape gpu.example.com 4 B200")
        assert "no attribute has the value “B200”, and it is not a valid selector" in ui.crumbs
        assert ui.app.view.crumb == "capacity for 1 × gpu.example.com"

    play(demo_app(), script, size=LARGE)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_drain_says_what_becomes_of_the_pods(size):
    async def script(ui):
        await ui.command("drain gke-prod-h100-5f3a2b1c-x9zk")
        said = " ".join(ui.screen.split())
        assert "pods on gke-prod-h100-5f3a2b1c-x9zk" in said or "on gke-prod-h100-5f3a2b1c-x9zk" in said
        assert "d names them." in said
        await ui.press("d")
        assert "ml/serve-1" in ui.screen
        await ui.press("escape")
        await ui.command("whatif")
        assert "d names them" not in ui.screen

    play(demo_app(), script, size=size)
