"""One cell per node: how many more copies fit there, or what keeps the next one away; and what the signs mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import counted
from kubectl_dra.reports.capacity.capacity import CapacityReport
from kubectl_dra.reports.capacity.node_room import RoomKind, room_kinds

#: With more nodes the kinds are counted.
MOST_CELLS: Final = 120
_MOST_DIGIT: Final = 9
_SIGNS: Final = {
    RoomKind.IN_USE: (Safe("·"), Style.NAME, Safe("devices in use")),
    RoomKind.USED_UP: (Safe("%"), Style.NAME, Safe("capacity or counters used up")),
    RoomKind.CONSTRAINT: (Safe("x"), Style.WARN, Safe("constraint")),
    RoomKind.NO_DEVICES: (Safe("-"), Style.DIM, Safe("too few such devices")),
    RoomKind.TAINT: (Safe("T"), Style.WARN, Safe("taint")),
    RoomKind.CORDONED: (Safe("U"), Style.WARN, Safe("cordoned")),
    RoomKind.RESOURCES: (Safe("C"), Style.BAD, Safe("cpu, memory or pods")),
    RoomKind.SELECTION: (Safe("S"), Style.DIM, Safe("node selector or affinity")),
    RoomKind.OTHER_PODS: (Safe("P"), Style.BAD, Safe("other pods")),
    RoomKind.VOLUMES: (Safe("V"), Style.BAD, Safe("volumes")),
    RoomKind.OTHER: (Safe("!"), Style.BAD, Safe("another reason")),
    RoomKind.UNKNOWN: (Safe("?"), Style.WARN, Safe("unknown")),
}
_CURSOR: Final = styled(Safe("◆"), Style.BOLD)
_FITS: Final = {
    Bound.AT_LEAST: Safe("at least so many fit"),
    Bound.AT_MOST: Safe("at most so many fit"),
}


@dataclass(frozen=True, slots=True)
class _Node:
    """A node, or several that have no names here: what they are to one more copy."""

    kind: RoomKind
    copies: int
    name: str = ""


def room_strip(report: CapacityReport, names: Sequence[str] | None = None, at: str = "") -> Safe:
    """The cells, and below them the signs that occur; no text where there is no node.

    ``names``: only these nodes, in this order; all, the roomiest first, where it is None. ``at`` is under the cursor.
    """
    nodes = list(_nodes(report))
    if names is not None:
        by_name = {node.name: node for node in nodes}
        nodes = [by_name[name] for name in names if name in by_name]
    kinds = Counter(node.kind for node in nodes)
    digits = {node.copies for node in nodes if node.kind is RoomKind.FITS}
    if not nodes:
        return Safe("")
    if len(nodes) > MOST_CELLS:
        parts = (styled(sign, style) + fmt(" {:,} {}", kinds[kind], word) for kind, sign, style, word in _kinds(kinds))
        return fmt("{}:  ", counted(len(nodes), "node")) + Safe("  ").join([*_folded_fits(kinds, digits), *parts])
    cells = Safe("").join(_CURSOR if at and node.name == at else _cell(node.kind, node.copies) for node in nodes)
    legend = [*_fits(report, digits)]
    legend += [styled(sign, style) + fmt(" {}", word) for _, sign, style, word in _kinds(kinds)]
    return cells + Safe("\n") + Safe("  ").join(legend)


def _nodes(report: CapacityReport) -> Iterator[_Node]:
    for kind, room in room_kinds(report):
        unnamed = room.count - len(room.names)
        yield from (_Node(kind, room.copies, name) for name in (*room.names, *[""] * unnamed))


def _cell(kind: RoomKind, copies: int) -> Safe:
    if kind is RoomKind.FITS:
        return styled(fmt("{}", copies) if copies <= _MOST_DIGIT else Safe("+"), Style.GOOD)
    return styled(*_SIGNS[kind][:2])


def _kinds(kinds: Counter[RoomKind]) -> Iterator[tuple[RoomKind, Safe, Style, Safe]]:
    for kind, (sign, style, word) in _SIGNS.items():
        if kinds[kind]:
            yield kind, sign, style, word


def _fits(report: CapacityReport, digits: set[int]) -> Iterator[Safe]:
    few = sorted(each for each in digits if each <= _MOST_DIGIT)
    word = _FITS.get(report.shapes[0].capacity.copies.bound, Safe("more fit"))
    if few:
        span = fmt("{}", few[0]) if len(few) == 1 else fmt("{}–{}", few[0], few[-1])
        yield styled(span, Style.GOOD) + fmt(" {}", word)
    if max(digits, default=0) > _MOST_DIGIT:
        yield styled(Safe("+"), Style.GOOD) + Safe(" more than 9")


def _folded_fits(kinds: Counter[RoomKind], digits: set[int]) -> Iterator[Safe]:
    if kinds[RoomKind.FITS]:
        low, high = min(digits), max(digits)
        span = fmt("{:,}", low) if low == high else fmt("{:,}–{:,}", low, high)
        yield styled(span, Style.GOOD) + fmt(" more on each of {:,}", kinds[RoomKind.FITS])
