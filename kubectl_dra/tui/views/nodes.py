"""Nodes with devices, and one of them: the devices of all drivers that can be used there, and who holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.output.devices.lists import users_of
from kubectl_dra.output.devices.node_page import node_page
from kubectl_dra.output.devices.parts import number
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.top.page import top_columns
from kubectl_dra.output.words import counted
from kubectl_dra.reports.top import SHARED, By, TopRow, top_report
from kubectl_dra.reports.unread import POOLS
from kubectl_dra.tui.bars import amount_bar
from kubectl_dra.tui.columns import Column, Look, chosen
from kubectl_dra.tui.host import Host
from kubectl_dra.tui.layouts import Room
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import DevicesQuery, NodeQuery, Report
from kubectl_dra.tui.views.devices import DevicesView
from kubectl_dra.tui.views.reader import PrintedPage, ReportView, is_wide

_NAMED: Final = 2


def _own_devices(state: ClusterState) -> tuple[TopRow, ...]:
    """Every node that has devices of its own; those of no single node are not among them."""
    return tuple(row for row in top_report(state, By.NODES, "").rows if row.name != SHARED)


class NodesView(ListView[TopRow]):
    """The list, the fullest first."""

    question = Report(_own_devices)
    crumb = Safe("nodes")
    nothing = Safe("No node has devices of its own.")
    about = POOLS
    extras = frozenset({"taint"})
    markable = True
    describes_row = True

    def columns(self) -> Sequence[Column[TopRow]]:
        return chosen(top_columns(By.NODES), lambda: self.dra.now, _LOOKS)

    def identity(self, row: TopRow) -> str:
        return row.name

    def is_fault(self, row: TopRow) -> bool:
        return row.idle.value > 0

    def opened(self, row: TopRow) -> None:
        self.dra.push(NodeView(row.name))

    def preview_of(self, row: TopRow) -> ReportView:
        return node_description(self.dra, row.name)

    def do_describe(self) -> None:
        if self.grid.selected is not None:
            self.dra.push(node_description(self.dra, self.grid.selected.name))

    @property
    def targets(self) -> Sequence[str]:
        return [f"node/{row.name}" for row in self.marked_rows]


class NodeView(DevicesView):
    """Devices of one node, whichever driver and pool they are of."""

    nothing = Safe("No devices; d says how the node stands.")

    def __init__(self, node: str) -> None:
        super().__init__(DevicesQuery(node=node), fmt("node {}", node))
        self.node = node

    @property
    def info(self) -> Safe:
        if self._seen is None or self.is_filtered:
            return super().info
        held = (row for row in self._seen if self._facts.inventory.holdings_by_device.get(row.id))
        users = users_of(map(self.record, held))
        if not users:
            return super().info
        named = users[:_NAMED] if self.dra.room >= Room.SPLIT else []
        rest = len(users) - len(named)
        # "pod a/b, pod a/c, 3 more", or without room "5 users".
        more = [fmt("{} more", rest)] if named else [counted(rest, "user")]
        return super().info + fmt("   held by {}", Safe(", ").join([*named, *(more if rest else [])]))

    def do_describe(self) -> None:
        self.dra.push(node_description(self.dra, self.node))

    def do_node(self) -> None:
        self.dra.say(fmt("this is node {}", self.node))


def node_description(dra: Host, name: str) -> ReportView:
    """describe-node, without what it reads of DaemonSets only then; every attribute where there is room."""
    return PrintedPage(NodeQuery(name), lambda record: node_page(record, dra.now, is_wide(), dra.address))


def _idle(row: TopRow) -> Safe:
    return styled(number(row.idle), Style.WARN) if row.idle.value else styled(Safe("0"), Style.DIM)


def _bar(row: TopRow, columns: int) -> Safe:
    return amount_bar(row.used.value, max(row.devices.value if row.devices else 0, 1), columns)


_LOOKS: Final[tuple[Look | Column[TopRow], ...]] = (
    Look("NODE", least=16, frozen=True, inside=True),
    *(Look("DEVICES"), Look("FREE"), Look("PARTLY", drop=1), Look("USED"), Look("IDLE", cell=_idle)),
    Column("", lambda _r: Safe(" " * 6), draw=_bar, stretch=40, drop=1),
)
