"""How many pods of a shape each node takes: one cell per node on top, then one line each: what is free, why no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual.widgets import Static

from kubectl_dra.allocation.checks.requests import MAX_RESULTS
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.capacity.records import NodeRoom
from kubectl_dra.diagnosis.records import Count
from kubectl_dra.diagnosis.whatif import Switch, WhatIf, WhatIfError
from kubectl_dra.output.capacity.page import ROOMS, capacity_page, capacity_summary, device_bar
from kubectl_dra.output.devices.parts import number, spoken
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.whatif.page import whatif_summary
from kubectl_dra.reports.capacity.capacity import CapacityReport, CapacityRequest, capacity_report
from kubectl_dra.reports.claims.claim_list import classes_named
from kubectl_dra.reports.selector.scoping import all_devices, value_index
from kubectl_dra.reports.switches import OPTIONS, SwitchError, read_switches
from kubectl_dra.reports.unread import ROOM
from kubectl_dra.selectors.comparisons import short_clause
from kubectl_dra.selectors.completion import with_value
from kubectl_dra.selectors.evaluate import SelectorSet
from kubectl_dra.tui.columns import Column, Look, chosen
from kubectl_dra.tui.layouts import Room
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.room_strip import room_strip
from kubectl_dra.tui.text import content
from kubectl_dra.tui.views.reader import PrintedPage

_SWITCHES = Safe("add-node like=NODE · remove-node NODE · drain NODE · add-devices like=DEVICE · taint · untaint")


@derived("classes", "claims")
def usual_class(cluster: ClusterState) -> str:
    """The class that most claims name, of several the first by name; empty where there is no class."""
    claims = cluster.inventory.claims.values()
    named = Counter(name for claim in claims for name in classes_named(claim))
    return min(cluster.inventory.classes, key=lambda name: (-named[name], name), default="")


@dataclass(frozen=True, slots=True)
class RoomFor:
    """Room for pods that request ``count`` devices of a class, with ``switches`` supposed; no class: the usual one.

    ``selector``: what the devices have to match besides, empty for nothing.
    """

    device_class: str
    count: int
    namespace: str
    switches: tuple[Switch, ...] = ()
    selector: str = ""

    def compute(self, cluster: ClusterState) -> CapacityReport | None:
        """The report with all nodes; None where there is no class, or what a switch names is gone."""
        name = self.device_class or usual_class(cluster)
        request = CapacityRequest(name, self.count, (self.selector,) if self.selector else ())
        try:
            return capacity_report(cluster, request, self.namespace, self.switches, names=None) if name else None
        except WhatIfError:
            return None


@dataclass(frozen=True, slots=True)
class NodeCell:
    """One node with what holds for all nodes like it."""

    name: str
    room: NodeRoom


def _fit(cell: NodeCell) -> Safe:
    return styled(number(Count(cell.room.copies, cell.room.bound)), Style.GOOD if cell.room.copies else Style.DIM)


_LOOKS: tuple[Look | Column[NodeCell], ...] = (
    Column("NODE", lambda c: safe(c.name), least=12, key=lambda c: c.name, inside=True),
    *(Look("FIT", cell=_fit), Look("DEVICES", drop=2), Look("IN USE", drop=2), Look("LEFT OVER")),
    Column("", lambda _c: Safe(" " * 6), draw=lambda c, w: device_bar(c.room.devices, w), stretch=24, drop=1),
    Look("WHY NO MORE", least=16),
)


class CapacityView(ListView[NodeCell]):
    """The nodes, the roomiest first."""

    DEFAULT_CSS = """
    CapacityView #room-strip { height: auto; max-height: 9; padding: 0 1 1 1; }
    """
    about = ROOM
    nothing = Safe("There is no DeviceClass or no node, or what is supposed does not exist; :whatif starts anew.")

    def __init__(self) -> None:
        self._class, self._count, self._selector = "", 1, ""
        self._switches: tuple[Switch, ...] = ()
        self._cells: tuple[CapacityReport | None, tuple[NodeCell, ...]] = (None, ())
        self._strip = Static(id="room-strip")
        super().__init__()
        self.grid.sideways = self._walk

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        yield self._strip
        yield from super().compose()

    def show(self) -> None:
        """Rows, and a cell for each of them in the same order."""
        super().show()
        self._show_strip()

    def moved(self, row: NodeCell | None) -> None:
        self._show_strip()

    def _show_strip(self) -> None:
        report, row = self.worker.record(self.asked), self.grid.selected
        names = [each.name for each in self.grid.rows]
        cells = room_strip(report, names, row.name if row is not None else "") if report is not None else Safe("")
        moved = self._moved(report.what_if) if report is not None and report.what_if is not None else []
        self._strip.display = bool(cells)
        self._strip.update(content(Safe("\n").join([cells, *moved])))

    def _moved(self, found: WhatIf) -> list[Safe]:
        """What becomes of the pods that have to leave; ``d`` names them."""
        if not found.displaced and not found.more_pods:
            return []
        return [Safe(""), *wrapped(whatif_summary(found) + Safe(" d names them."))]

    def _walk(self, where: str) -> bool:
        """From cell to cell, which are the rows in their order."""
        self.grid.action_move("down" if where == "right" else "up")
        return True

    @property
    def asked(self) -> RoomFor:
        return RoomFor(self._class, self._count, self.dra.namespace or "default", self._switches, self._selector)

    @property
    def crumb(self) -> Safe:  # type: ignore[override]
        name = self._class or (usual_class(self.dra.cluster) if self.dra.cluster is not None else "")
        what = fmt("{} × {}", self._count, name) if name else fmt("{} per pod", self._count)
        what += fmt(" with {}", short_clause(self._selector)) if self._selector else Safe("")
        supposed = fmt(" · {} supposed", len(self._switches)) if self._switches else Safe("")
        return fmt("capacity for {}{}", what, supposed)

    def queries(self) -> Sequence[RoomFor]:
        return (self.asked,)

    def columns(self) -> Sequence[Column[NodeCell]]:
        return chosen(ROOMS, lambda: self.dra.now, _LOOKS, lambda cell: cell.room)

    def all_rows(self) -> Sequence[NodeCell] | None:
        result = self.worker.answer(self.asked)
        if result is None:
            return None
        report = result.record
        if report is not self._cells[0] or report is None:
            shapes = report.shapes if report is not None else ()
            rooms = (room for shape in shapes for room in shape.capacity.nodes)
            self._cells = report, tuple(NodeCell(name, room) for room in rooms for name in room.names)
        return self._cells[1]

    def identity(self, row: NodeCell) -> str:
        return row.name

    @property
    def info(self) -> Safe:
        report = self.worker.record(self.asked)
        if report is None or not report.shapes:
            return Safe("")
        if self.dra.room >= Room.SPLIT and report.answered:
            return capacity_summary(report)
        # The shape, which stands at the left, must not be cut.
        return fmt("{} more fit", spoken(report.shapes[0].capacity.copies))

    def opened(self, row: NodeCell) -> None:
        self.dra.open_node(row.name)

    def do_describe(self) -> None:
        """The page of the command, with the moves that make room."""
        self.dra.push(PrintedPage(self.asked, lambda record: capacity_page(record, self.dra.address)))

    def do_shape(self, argument: str = "") -> None:
        """Another class and number of devices: ``:shape CLASS [COUNT] [VALUE|SELECTOR]``."""
        name, _, rest = argument.strip().partition(" ")
        number, _, having = rest.strip().partition(" ")
        if number and not number[0].isdecimal():
            number, having = "", rest.strip()
        if number and not (number.isascii() and number.isdecimal() and 0 < int(number[:4]) <= MAX_RESULTS):
            self.dra.say(fmt("“{}” is not a number of devices from 1 to {}", number, MAX_RESULTS))
            return
        cluster = self.dra.cluster
        classes = cluster.inventory.classes if cluster is not None else {}
        if name and name not in classes and cluster is not None and cluster.evidence.complete("DeviceClass"):
            named = Safe(", ").join(map(safe, sorted(classes))) or Safe("there are none")
            self.dra.say(fmt("no DeviceClass “{}”: {}", name, named))
            return
        selector = self._selector_of(having.strip())
        if selector is not None:
            self._class, self._count, self._selector = name, int(number or 1), selector
            self._ask_anew()

    def _selector_of(self, having: str) -> str | None:
        """A selector as it is typed, or that a text attribute has this value; None, said why, where it is neither."""
        if not having or self.dra.cluster is None:
            return ""
        known = all_devices(self.dra.cluster)
        found = next(with_value(having, 0, known.catalog, value_index(self.dra.cluster)), None)
        if found is not None:
            return found.text
        problem = SelectorSet.of_text(having, self.dra.cluster.features.shows_sharing).problem
        if problem is None:
            return having
        self.dra.say(fmt("no attribute has the value “{}”, and it is not a valid selector: {}", having, problem))
        return None

    def do_more(self) -> None:
        if self._count == MAX_RESULTS:
            self.dra.say(fmt("{} devices are the most that one claim may hold", MAX_RESULTS))
            return
        self._count += 1
        self._ask_anew()

    def do_fewer(self) -> None:
        if self._count == 1:
            self.dra.say(Safe("one device is the least"))
            return
        self._count -= 1
        self._ask_anew()

    def do_whatif(self, argument: str = "") -> None:
        """Suppose one more change, ``:whatif drain NODE``; without one the cluster as it is."""
        option, _, value = argument.strip().removeprefix("--").partition(" ")
        if not option:
            self._switches = ()
        elif option not in OPTIONS or not value.strip():
            self.dra.say(fmt("suppose one of: {}", _SWITCHES))
            return
        else:
            given = dict.fromkeys(OPTIONS.values(), ()) | {OPTIONS[option]: (value.strip(),)}
            try:
                self._switches = (*self._switches, *read_switches(given))
            except SwitchError as error:
                self.dra.say(fmt("{}: {}", error.what, error.hint))
                return
        self._ask_anew()

    def _ask_anew(self) -> None:
        self.dra.queries_changed()
        self.show()
        self.dra.refresh_frame()
