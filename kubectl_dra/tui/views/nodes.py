"""Nodes with devices, and one of them: the devices of all drivers that can be used there, and who holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.output.devices.parts import number
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.base import Count
from kubectl_dra.reports.top import SHARED, By, TopRow, top_report
from kubectl_dra.reports.unread import POOLS
from kubectl_dra.tui.bars import amount_bar
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.layouts import Room
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import Devices
from kubectl_dra.tui.view import Subject
from kubectl_dra.tui.views.devices import DevicesView

_NONE: Final = Count(0)
_NAMED: Final = 2


@dataclass(frozen=True, slots=True)
class Nodes:
    """Every node that has devices of its own; those of no single node are not among them."""

    def compute(self, cluster: ClusterState) -> tuple[TopRow, ...]:
        """As ``top nodes``."""
        return tuple(row for row in top_report(cluster, By.NODES, "").rows if row.name != SHARED)


class NodesView(ListView[TopRow]):
    """The list, the fullest first."""

    crumb = Safe("nodes")
    nothing = Safe("No node has devices of its own.")
    about = POOLS
    extras = frozenset({"taint"})
    markable = True

    def queries(self) -> Sequence[Nodes]:
        """All nodes."""
        return (Nodes(),)

    def columns(self) -> Sequence[Column[TopRow]]:
        """Devices of each, as numbers and as a bar."""
        return [
            Column("NODE", lambda r: safe(r.name), least=16, key=lambda r: r.name, frozen=True, inside=True),
            Column("DEVICES", lambda r: number(r.devices or _NONE), True, key=lambda r: (r.devices or _NONE).value),
            Column("FREE", lambda r: number(r.free or _NONE), True, key=lambda r: (r.free or _NONE).value),
            Column("USED", lambda r: number(r.used), True, key=lambda r: r.used.value),
            Column("IDLE", _idle, True, key=lambda r: r.idle.value),
            Column("", lambda _r: Safe(" " * 6), draw=_bar, stretch=40, drop=1),
        ]

    def all_rows(self) -> Sequence[TopRow] | None:
        """Those that hold most first."""
        return self.worker.record(Nodes())

    def identity(self, row: TopRow) -> str:
        """The node."""
        return row.name

    def is_fault(self, row: TopRow) -> bool:
        """Devices are held and not used."""
        return row.idle.value > 0

    def opened(self, row: TopRow) -> None:
        """Its devices."""
        self.dra.push(NodeView(row.name))

    @property
    def subject(self) -> Subject | None:
        """The node under the cursor."""
        row = self.grid.selected
        return Subject(row.name, lambda: None) if row is not None else None

    @property
    def targets(self) -> Sequence[str]:
        """Whole nodes."""
        return [f"node/{row.name}" for row in self.marked_rows]


class NodeView(DevicesView):
    """Devices of one node, whichever driver and pool they are of."""

    def __init__(self, node: str) -> None:
        super().__init__(Devices(node=node), fmt("node {}", node))
        self.node = node

    @property
    def info(self) -> Safe:
        """How many there are, and who holds them."""
        if self._seen is None or self.is_filtered:
            return super().info
        held = (row for row in self._seen if self._facts.inventory.holdings_by_device.get(row.id))
        users = list(dict.fromkeys(self._users(row) for row in held))
        if self.dra.room < Room.SPLIT:
            return super().info + (fmt("   held by {}", len(users)) if users else Safe(""))
        more = [fmt("{} more", len(users) - _NAMED)] if len(users) > _NAMED else []
        return super().info + (fmt("   held by {}", Safe(", ").join([*users[:_NAMED], *more])) if users else Safe(""))

    def do_node(self) -> None:
        """It is this one."""
        self.dra.say(fmt("this is node {}", self.node))


def _idle(row: TopRow) -> Safe:
    return styled(number(row.idle), Style.WARN) if row.idle.value else styled(Safe("0"), Style.DIM)


def _bar(row: TopRow, columns: int) -> Safe:
    return amount_bar(row.used.value, max((row.devices or _NONE).value, 1), columns)
