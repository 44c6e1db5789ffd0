"""capacity of devices that pods share: which capacity is used up, and how far."""

from __future__ import annotations

from kubectl_dra.diagnosis.capacity.records import Devices, NodeRoom
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, Funnel, Removal, Short, StageName
from kubectl_dra.output.capacity.page import ROOMS
from kubectl_dra.output.capacity.parts import share_lines
from tests.kit.clock import CLOCK


def room_of(*removed: Removal, matching: int = 2) -> NodeRoom:
    funnel = Funnel("node-1", 1, matching, removed, ())
    return NodeRoom(1, ("node-1",), 0, 2, Devices(matching, taken=2), (Cause(Code.CAPACITY_TOO_SMALL, funnel),))


def cells(*removed: Removal) -> dict[str, str]:
    room = room_of(*removed)
    return {column.title: str(column.cell(room, CLOCK.now())) for column in ROOMS}


def short(device: str, left: str, *users: str) -> Removal:
    return Removal(StageName.CAPACITY, "dra.cpu/cpu", (device,), short=Short("22", left, "60", users=users))


def test_what_is_left_of_each_device_is_told() -> None:
    found = cells(short("a", "20", "ran/du-0"), short("b", "0", "ran/du-1", "copy"))
    assert found["WHY NO MORE"] == "dra.cpu/cpu: 22 needed, 20 and 0 of 60 left"
    assert (found["DEVICES"], found["IN USE"], found["LEFT OVER"]) == ("2", "-", "-")


def test_devices_that_nobody_shares_are_counted() -> None:
    found = cells(short("a", "20"), short("b", "20"))
    assert found["WHY NO MORE"] == "all taken by these"
    assert (found["IN USE"], found["LEFT OVER"]) == ("0", "0")


def test_where_something_else_takes_a_device_amounts_of_the_others_are_not_all() -> None:
    assert "needed" not in cells(short("a", "20", "ran/du-0"))["WHY NO MORE"]


def test_the_amounts_of_a_node_add_up() -> None:
    room = room_of(short("a", "20", "ran/du-0"), short("b", "0", "ran/du-1", "copy"))
    (line,) = share_lines([room], single=True)
    assert line == "dra.cpu/cpu on node-1: 56 of 120 in use, 44 taken by these copies, 20 left over"
    (line,) = map(str, [" ".join(share_lines([room], single=False))])
    assert line == "dra.cpu/cpu on node-1: 100 of 120 used with these copies, 20 left over"
    assert list(share_lines([room_of(short("a", "20"), short("b", "20"))], single=True)) == []
