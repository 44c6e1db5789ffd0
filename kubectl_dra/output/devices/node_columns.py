"""The columns of a list of nodes, for tables of ``get``, for ``--sort-by``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.output.columns import ListColumn, Shown, count_column
from kubectl_dra.output.devices.parts import UNKNOWN, nobody, number
from kubectl_dra.output.devices.state_columns import state_columns, with_present
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import age
from kubectl_dra.reports.devices.nodes import NodeSummary
from kubectl_dra.reports.devices.totals import sum_totals

NODES: Final[tuple[ListColumn[NodeSummary], ...]] = (
    ListColumn("NAME", lambda node, _: safe(node.name), lambda node: node.name),
    ListColumn("STATUS", lambda node, _: status_text(node), lambda node: status_text(node)),
    *state_columns(lambda node: node.totals),
    ListColumn(
        "DRIVERS",
        lambda node, _: Safe(",").join(node.drivers) or nobody(node.totals.devices.bound),
        lambda node: node.drivers,
    ),
    ListColumn("FREE BY DRIVER", lambda node, _: _by_driver(node), shown=Shown.WIDE),
    ListColumn("TAINTS", lambda node, _: Safe(",").join(node.taints) or Safe("-"), shown=Shown.WIDE),
    ListColumn("INSTANCE TYPE", lambda node, _: safe(node.instance_type or "-"), shown=Shown.WIDE),
    ListColumn("AGE", lambda node, now: age(node.created or None, now), lambda node: node.created),
)


def _by_driver(node: NodeSummary) -> Safe:
    """``gpu.example.com=4/8``: so many of the devices are free, those that it shares with other nodes included."""
    sums = ((each.driver, sum_totals((each.totals, each.shared))) for each in node.by_driver)
    cells = [fmt("{}={}/{}", name, number(each.free), number(each.devices)) for name, each in sums]
    return Safe(",").join(cells) or nobody(node.totals.devices.bound)


#: Only where some node has such devices.
_MORE: Final[tuple[ListColumn[NodeSummary], ...]] = (
    count_column("SHARED", lambda node: node.shared.devices),
    count_column("SHARED FREE", lambda node: node.shared.free),
    count_column("SHARED PARTLY", lambda node: node.shared.partly),
    ListColumn("UNPUBLISHED", lambda node, _: fmt("{}", node.unpublished), lambda node: node.unpublished, right=True),
)


def node_columns(nodes: Sequence[NodeSummary]) -> tuple[ListColumn[NodeSummary], ...]:
    """The columns of a list of nodes, behind ``DRIVERS`` those that say something of any of them."""
    shown = [column.title for column in _MORE if any(column.key is not None and column.key(node) for node in nodes)]
    shown += ["SHARED FREE"] if "SHARED" in shown else []
    more = [column for column in _MORE if column.title in shown]
    at = next(place for place, column in enumerate(NODES) if column.title == "TAINTS")
    return with_present((*NODES[:at], *more, *NODES[at:]), nodes)


def status_text(node: NodeSummary) -> Safe:
    """kubectl's words; a question mark where the node could not be read."""
    ready = {"True": "Ready", "": str(UNKNOWN)}.get(node.ready, "NotReady")
    return Safe(f"{ready},SchedulingDisabled" if node.cordoned else ready)
