"""The words about new nodes of the files that bring no room, because something that nodes have is not in the files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import listed, shortened
from kubectl_dra.reports.simulation import SimulationReport

_NAMED: Final = 5
_NO_SLICES: Final = (
    "{} {} no devices of {} own: drivers publish their ResourceSlices once a node has joined, and the files have none. "
    "Add slices with -f, or leave the node out and suppose one with devices: --add-node like={}."
)
_UNREADY: Final = (
    "{} has the taint {}, which {} removes once the node is ready. Leave the taint out to see what fits then."
)


def planned_head(report: SimulationReport) -> Iterator[Safe]:
    """Why the new nodes do not help, where pods lack room: that is what was asked."""
    if _is_the_reason(report):
        yield from wrapped(styled(Safe("The planned nodes take no pod of the files:"), Style.BOLD))
        yield from _planned(report, indent=2)


def planned_lines(report: SimulationReport) -> Iterator[Safe]:
    """The same where all pods fit without them."""
    return iter(()) if _is_the_reason(report) else _planned(report)


def _is_the_reason(report: SimulationReport) -> bool:
    effects = report.effects
    idle = {*effects.empty_nodes, *effects.without_slices, *(each.node for each in effects.unready)}
    used = {each.node for pod in report.pods for each in pod.nodes}
    return bool(idle) and idle.isdisjoint(used) and any(pod.lacks and pod.wanted is not None for pod in report.pods)


def _planned(report: SimulationReport, indent: int = 0) -> Iterator[Safe]:
    effects = report.effects
    like = next((each.node for pod in report.pods for each in pod.nodes if each.node not in effects.nodes), "NODE")
    if effects.empty_nodes:
        text = "{}: no status.allocatable with pods, so nothing fits onto it: copy that of a node like it."
        yield from wrapped(fmt(text, listed(effects.empty_nodes[:_NAMED])), indent=indent, first=indent)
    if effects.without_slices:
        new = shortened(effects.without_slices, _NAMED)
        one = len(effects.without_slices) == 1
        yield from wrapped(
            fmt(_NO_SLICES, new, Safe("has" if one else "have"), Safe("its" if one else "their"), like),
            indent=indent,
            first=indent,
        )
    for taint in effects.unready:
        yield from wrapped(fmt(_UNREADY, taint.node, taint.key, taint.remover), indent=indent, first=indent)
