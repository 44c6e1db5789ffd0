"""Devices that are shared: which capacity is used up, how far, and what is left of it, device by device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Final

from kubectl_dra.diagnosis.capacity.records import NodeRoom
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Funnel, Short, StageName
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import listed

_SHOWN: Final = 4


def shorts(room: NodeRoom) -> tuple[str, Sequence[Short]]:
    """The capacity of which too little is left on every device of the node that matches, with the amounts of each."""
    cause = room.causes[0] if room.causes else None
    if cause is None or cause.code is not Code.CAPACITY_TOO_SMALL or not isinstance(cause.detail, Funnel):
        return "", ()
    removed = cause.detail.stage(StageName.CAPACITY).removed
    found = [each.short for each in removed if each.short is not None for _ in each.devices]
    names = {each.reason for each in removed}
    shared = any(each.users for each in found)
    whole = len(found) == room.devices.matching
    return (names.pop(), found) if len(names) == 1 and shared and whole else ("", ())


def too_little_left(room: NodeRoom) -> Safe:
    """``dra.cpu/cpu: 22 needed, 20 and 0 of 60 left``; empty for devices that nobody shares."""
    name, found = shorts(room)
    totals = {each.total for each in found}
    if not found or len({each.needs for each in found}) > 1:
        return Safe("")
    lefts = [safe(each.left) for each in found]
    more = [fmt("{} more", len(lefts) - _SHOWN)] if len(lefts) > _SHOWN else []
    of = fmt(" of {}", totals.pop()) if len(totals) == 1 else Safe("")
    return fmt("{}: {} needed, {}{} left", name, found[0].needs, listed([*lefts[:_SHOWN], *more]), of)


def share_lines(nodes: Sequence[NodeRoom], *, single: bool) -> Iterator[Safe]:
    """The amounts of each node together; ``single``: a copy takes them for one request, so that its part is known."""
    for room in nodes[:_SHOWN]:
        name, found = shorts(room)
        if not found or any(not (each.total and each.left) for each in found):
            continue
        total, left = (_sum(texts) for texts in zip(*((each.total, each.left) for each in found), strict=True))
        taken = _sum([found[0].needs] * room.copies * _needed(room))
        used = total.sub(left)
        where = fmt("{} {}", name, _where(room))
        if single and len({each.needs for each in found}) == 1 and used.cmp(taken) >= 0:
            text = "{}: {} of {} in use, {} taken by these copies, {} left over"
            yield from wrapped(fmt(text, where, str(used.sub(taken)), str(total), str(taken), str(left)))
        else:
            yield from wrapped(
                fmt("{}: {} of {} used with these copies, {} left over", where, str(used), str(total), str(left))
            )


def _where(room: NodeRoom) -> Safe:
    first = fmt("on {}", room.names[0])
    return fmt("{} and {} alike, each", first, room.count - 1) if room.count > 1 else first


def _needed(room: NodeRoom) -> int:
    detail = room.causes[0].detail
    return detail.needed if isinstance(detail, Funnel) else 0


def _sum(texts: Iterable[str]) -> Quantity:
    return reduce(Quantity.add, map(Quantity.parse, texts), Quantity(0))
