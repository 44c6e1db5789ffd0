"""How many copies of each shape fit: the number first, then devices as a bar, the nodes, and what makes more room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.capacity.records import Capacity, Devices, Moves, NodeRoom
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Bound, Cause, Count, NodeShortage, NodeTaint
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.devices.parts import bar
from kubectl_dra.output.layout import Column, table, wrapped
from kubectl_dra.output.pending.asks import ask_words
from kubectl_dra.output.pending.reasons import reason_sentence, title
from kubectl_dra.output.pending.remedies import recorded_lines
from kubectl_dra.output.safe import Safe, Style, command, fmt, styled
from kubectl_dra.output.unread import missing_lines
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.output.words import counted, listed, plural
from kubectl_dra.reports.capacity import CapacityReport, ShapeCapacity, WayOut

_BAR: Final = 40
_NAMES_SHOWN: Final = 3
_ROWS_SHOWN: Final = 12
_IN_USE, _TAKEN, _LEFT, _UNUSABLE = (Safe("█"), Safe("▓"), Safe("░"), Safe("▒"))
_SIGN_STYLES: Final = {_IN_USE: Style.NAME, _TAKEN: Style.GOOD, _LEFT: Style.WARN, _UNUSABLE: Style.DIM}
_COLUMNS: Final = (
    Column("NODES", flexible=True),
    Column("FIT", right=True),
    Column("DEVICES", right=True),
    Column("IN USE", right=True),
    Column("LEFT OVER", right=True),
    Column("WHY NO MORE", flexible=True),
)
#: Pods and claims that could not be read may hold such devices.
_OPEN: Final = Safe("Whether restarting pods would bring more is unknown.")


def capacity_page(report: CapacityReport, address: Address) -> list[Safe]:
    """All lines."""
    blocks: list[list[Safe]] = [list(missing_lines(report.missing, address))]
    if report.what_if is not None:
        blocks.append(whatif_lines(report.what_if))
    for shape in report.shapes:
        blocks += _shape_blocks(shape, address, partial=report.partial)
    if report.more:
        blocks.append(wrapped(fmt("{} more shapes of the file were left out.", report.more)))
    if not report.shapes:
        blocks.append([Safe("The file has no pod, workload, claim or template to count.")])
    lines: list[Safe] = []
    for block in filter(None, blocks):
        lines += [Safe(""), *block] if lines else block
    return lines


def capacity_summary(report: CapacityReport) -> Safe:
    """The sentence of the first shape."""
    if not report.shapes:
        return Safe("The file has no pod, workload, claim or template to count.")
    return _headline(report.shapes[0])


def _shape_blocks(shape: ShapeCapacity, address: Address, *, partial: bool) -> Iterator[list[Safe]]:
    """The blocks of one shape; ``partial``: something that decides could not be read."""
    found = shape.capacity
    yield [*wrapped(styled(_headline(shape), Style.BOLD)), *_second(shape, partial=partial)]
    if found.devices.matching:
        yield list(_device_lines(found))
    if found.nodes and found.fits.bound is not Bound.UNKNOWN:
        yield _node_table(found.nodes)
    for way in shape.ways:
        yield list(_way_lines(way, address))


# --- the numbers ----------------------------------------------------------------------------------------------------


def _headline(shape: ShapeCapacity) -> Safe:
    found, name = shape.capacity, _name(shape)
    if found.fits.bound is Bound.UNKNOWN:
        text = "How many times {} fits is unknown: data needed for a number could not be read."
        return fmt(text, _name(shape, inside=True))
    if not found.nodes and found.causes:
        return fmt("{} does not fit: {}.", name, reason_sentence(found.causes[0]))
    times = counted(found.fits.value, "more time")
    if not found.fits.value:
        return fmt("{} does not fit on any node now.", name)
    return fmt("{} fits {}{} now.", name, _sign(found.fits), times)


def _name(shape: ShapeCapacity, *, inside: bool = False) -> Safe:
    """What is counted; ``inside``: of a sentence, which it does not begin."""
    asks, one = ask_words(shape.asks), Safe("a pod" if inside else "A pod")
    if not shape.subject.kind:
        return fmt("{} that requests {}", one, asks) if asks else Safe("such a pod" if inside else "Such a pod")
    role = fmt(" ({})", shape.role) if shape.role else Safe("")
    of = fmt("{} {}", one, Safe("like" if shape.subject.kind == "Pod" else "of"))
    kind = Safe("") if shape.subject.kind == "Pod" else fmt("{} ", shape.subject.kind)
    which = fmt("{} {}{}{}", of, kind, str(shape.subject.key), role)
    return fmt("{} ({})", which, asks) if asks else which


def _sign(amount: Count) -> Safe:
    return {Bound.AT_LEAST: Safe("at least "), Bound.AT_MOST: Safe("at most ")}.get(amount.bound, Safe(""))


def _second(shape: ShapeCapacity, *, partial: bool) -> Iterator[Safe]:
    """What moving pods could bring, and what a quota admits."""
    found = shape.capacity
    if found.quota is not None and found.quota < found.fits.value:
        text = "The namespace's ResourceQuota admits only {} more; raise it before you add devices."
        yield from wrapped(fmt(text, found.quota), indent=2)
    if found.fits.bound is Bound.UNKNOWN or not found.nodes:
        return
    if shape.min_count is not None and shape.min_count > 1:
        text = (
            "Of its PodGroup {} have to find a node at the same time, or none is placed; here they are counted one by "
            "one."
        )
        yield from wrapped(fmt(text, counted(shape.min_count, "pod")), indent=2)
    if not found.side_by_side:
        text = (
            "Copies depend on each other (shared devices, spread, affinity or volumes), so moving pods was not tried."
        )
        yield from wrapped(Safe(text), indent=2)
    elif found.repacked.bound is not Bound.UNKNOWN:
        yield from wrapped(_OPEN if partial and not _brings_more(found) else _repacked(found), indent=2)
        if _brings_more(found) and not shape.ways:
            yield from wrapped(Safe("No restarts were found that make room for one more."), indent=2)


def _brings_more(found: Capacity) -> bool:
    return found.repacked.value > found.fits.value


def _repacked(found: Capacity) -> Safe:
    movable = counted(found.movable, "pod")
    if not found.movable and not found.devices.in_use:
        return Safe("There is nothing to restart: no pod holds such devices.")
    if not found.movable:
        return Safe("Restarting pods brings no more: none of the pods that hold such devices may be restarted.")
    if found.repacked.value == found.fits.value:
        return fmt("Restarting pods brings no more, however the {} that may be restarted are placed.", movable)
    text = "If the {} that may be restarted were placed anew, {} would fit{}."
    number = fmt("at most {:,}", found.repacked.value) if not found.reached else fmt("{:,}", found.repacked.value)
    return fmt(text, movable, number, Safe("") if found.reached else Safe(" (an upper bound)"))


# --- devices --------------------------------------------------------------------------------------------------------


def _device_lines(found: Capacity) -> Iterator[Safe]:
    devices = found.devices
    yield from wrapped(fmt("{} match the request:", counted(devices.matching, "device")))
    yield Safe("  ") + device_bar(devices, _BAR)
    # More than there are: several copies share a device.
    share = Safe(f"{plural('share', devices.taken)} " if devices.taken > devices.matching else "")
    parts = [
        (_IN_USE, devices.in_use, Safe("in use")),
        (_TAKEN, devices.taken, fmt("{}taken by the {} that fit", share, counted(found.fits.value, "copy"))),
        (_LEFT, devices.left, Safe("free but left over: too few on one node for another copy")),
        (_UNUSABLE, devices.unusable, Safe("tainted or short of capacity or counters")),
    ]
    for sign, value, words in parts:
        if value:
            yield fmt("  {} {:,} {}", styled(sign, _SIGN_STYLES[sign]), value, words)


def device_bar(devices: Devices, columns: int) -> Safe:
    """The devices as a bar in colours."""
    parts = [(_IN_USE, devices.in_use), (_TAKEN, devices.taken), (_LEFT, devices.left), (_UNUSABLE, devices.unusable)]
    shape = bar(parts, columns)
    found = Safe("")
    for sign, _ in parts:
        number = str(shape).count(str(sign))
        found += styled(Safe(str(sign) * number), _SIGN_STYLES[sign]) if number else Safe("")
    return found


# --- nodes ----------------------------------------------------------------------------------------------------------


def _node_table(nodes: Sequence[NodeRoom]) -> list[Safe]:
    rows = []
    for room in nodes[:_ROWS_SHOWN]:
        devices = room.devices
        rows.append(
            [
                _nodes(room),
                fmt("{}", room.copies),
                fmt("{}", devices.matching),
                fmt("{}", devices.in_use),
                fmt("{}", devices.left),
                why_no_more(room),
            ]
        )
    lines = table(_COLUMNS, rows)
    left = sum(room.count for room in nodes[_ROWS_SHOWN:])
    return [*lines, *wrapped(fmt("and {} more", counted(left, "node")))] if left else lines


def _nodes(room: NodeRoom) -> Safe:
    if room.count <= _NAMES_SHOWN:
        return listed(room.names)
    return fmt("{} and {} alike", room.names[0], room.count - 1)


def why_no_more(room: NodeRoom) -> Safe:
    """What keeps the next copy off such a node, in a few words."""
    cause = room.causes[0] if room.causes else None
    if cause is None:
        return Safe("-")
    return _fragment(room, cause) or _of_node(cause) or title(cause.code)


def _fragment(room: NodeRoom, cause: Cause) -> Safe:
    """Free devices that are too few here, though there may be enough of them elsewhere."""
    if cause.code is Code.DEVICES_IN_USE and room.devices.left:
        return fmt("only {} free here", room.devices.left)
    if cause.code is Code.DEVICES_IN_USE and room.copies and not room.devices.in_use:
        return Safe("all taken by these")
    if cause.code is Code.CONSTRAINT:
        return Safe("free devices differ in a value that must be the same")
    return Safe("")


def _of_node(cause: Cause) -> Safe:
    match cause.detail:
        case NodeShortage():
            return fmt("not enough {}", cause.detail.resource)
        case NodeTaint():
            return fmt("taint {}", cause.detail.taint)
    return Safe("")


# --- moves ----------------------------------------------------------------------------------------------------------


def _way_lines(way: WayOut, address: Address) -> Iterator[Safe]:
    moves = way.moves
    pods = counted(len(moves.moves), "pod")
    room = fmt("Room for {}: restart {} {}", counted(moves.more, "more copy"), pods, _proof(moves))
    yield from wrapped(styled(room, Style.BOLD))
    for move in moves.moves:
        devices = fmt(" ({})", Safe(", ").join(move.devices)) if move.devices else Safe("")
        other = Safe(", or a node as good") if move.equal else Safe("")
        text = fmt("{} leaves {} and would run on {}{}{}", str(move.pod.key), move.from_node, move.to, other, devices)
        yield from wrapped(text, indent=4, first=2)
    yield from recorded_lines(address)
    for words in way.commands:
        line = command(words)
        if line is not None:
            yield fmt("  {}", line)
    if way.commands:
        wait = "Before an uncordon, wait until the restarted pods run: until then the scheduler could put them back."
        yield from wrapped(Safe(wait), indent=2)


def _proof(moves: Moves) -> Safe:
    if moves.smallest:
        return Safe("(no smaller set is enough)")
    return fmt("(the smallest set found; at least {} needed)", moves.at_least)
