"""Nodes with devices, and one of them: the devices of all drivers that can be used there, and who holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.output.devices.lists import users_of
from kubectl_dra.output.devices.node_columns import NODES as NODE_COLUMNS
from kubectl_dra.output.devices.node_columns import status_text
from kubectl_dra.output.devices.node_page import node_page
from kubectl_dra.output.devices.parts import CLOSED, number
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import counted
from kubectl_dra.reports.base import Count
from kubectl_dra.reports.devices.nodes import NodeSummary, node_summaries
from kubectl_dra.reports.top import By, top_report
from kubectl_dra.reports.unread import NODES
from kubectl_dra.tui.bars import use_bar
from kubectl_dra.tui.columns import Column, Look, chosen
from kubectl_dra.tui.host import Host
from kubectl_dra.tui.layouts import Room
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import DevicesQuery, NodeQuery, Report
from kubectl_dra.tui.views.devices import DevicesView
from kubectl_dra.tui.views.reader import PrintedPage, ReportView, is_wide

_NAMED: Final = 2


class NodeRow(msgspec.Struct, frozen=True):
    """A node; ``idle``: how many of its devices are held and not used, None where it has none of its own."""

    node: NodeSummary
    idle: Count | None

    @property
    def name(self) -> str:
        return self.node.name


def _rows(state: ClusterState) -> tuple[NodeRow, ...]:
    """Every node, as get has them; the fullest first."""
    idle = {row.name: row.idle for row in top_report(state, By.NODES, "").rows}
    rows = (NodeRow(node, idle.get(node.name)) for node in node_summaries(state))
    return tuple(sorted(rows, key=lambda row: (-row.node.totals.in_use.value, not row.node.totals.devices.value)))


class NodesView(ListView[NodeRow]):
    """The list, the fullest first."""

    question = Report(_rows)
    crumb = Safe("nodes")
    nothing = Safe("There are no nodes.")
    about = NODES
    extras = frozenset({"taint"})
    markable = True
    describes_row = True

    def columns(self) -> Sequence[Column[NodeRow]]:
        return chosen(NODE_COLUMNS, lambda: self.dra.now, _LOOKS, lambda row: row.node)

    def identity(self, row: NodeRow) -> str:
        return row.name

    def text_of(self, row: NodeRow) -> str:
        """With the taints, and what devices of a node are said to be that kubectl calls SchedulingDisabled."""
        cordoned = [str(CLOSED["cordoned"])] if row.node.cordoned else []
        return " ".join((row.name, *row.node.taints, *cordoned))

    def is_fault(self, row: NodeRow) -> bool:
        """Whose devices are held for nothing, who takes no pods, or claims have devices that are not there."""
        return bool((row.idle is not None and row.idle.value) or _is_off(row.node) or row.node.unpublished)

    def opened(self, row: NodeRow) -> None:
        self.dra.push(NodeView(row.name))

    def preview_of(self, row: NodeRow) -> ReportView:
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
        held = (row for row in self._seen if self._state.inventory.holdings_by_device.get(row.id))
        users = users_of(map(self.record, held))
        if not users:
            return super().info
        named = users[:_NAMED] if self.dra.room >= Room.SPLIT else []
        rest = len(users) - len(named)
        # "pod a/b, pod a/c, 3 more", or without room "5 users".
        more = [fmt("{} more", rest)] if named else [counted(rest, "user")]
        return super().info + fmt("   held by {}", Safe(", ").join([*named, *(more if rest else [])]))

    def describe_alone(self) -> None:
        self.dra.push(node_description(self.dra, self.node))

    def do_node(self) -> None:
        self.dra.say(fmt("this is node {}", self.node))


def node_description(dra: Host, name: str) -> ReportView:
    """describe-node; every attribute where there is room."""
    return PrintedPage(NodeQuery(name), lambda record: node_page(record, dra.now, is_wide(), dra.address))


def _is_off(node: NodeSummary) -> bool:
    """Whether it is not ready, or takes no pods; one that was not read may be both."""
    return bool(node.closed or node.cordoned or node.ready not in ("True", ""))


def _idle(row: NodeRow) -> Safe:
    if row.idle is None:
        return styled(Safe("-"), Style.DIM)
    return styled(number(row.idle), Style.WARN) if row.idle.value else styled(Safe("0"), Style.DIM)


def _status(row: NodeRow) -> Safe:
    text = status_text(row.node)
    return styled(text, Style.WARN) if _is_off(row.node) else text


def _bar(row: NodeRow, columns: int) -> Safe:
    return use_bar(row.node.totals, columns) if row.node.totals.devices.value else Safe("")


_LOOKS: Final[tuple[Look | Column[NodeRow], ...]] = (
    Column("NODE", lambda row: safe(row.name), least=16, key=lambda row: row.name, frozen=True, inside=True),
    Look("STATUS", cell=_status),
    *(Look("DEVICES"), Look("FREE"), Look("PARTLY", drop=1), Look("USED"), Look("TAINTED", drop=2)),
    Column("IDLE", _idle, right=True, key=lambda row: row.idle.value if row.idle is not None else -1),
    Column("", lambda _r: Safe(" " * 6), draw=_bar, stretch=40, drop=1),
)
