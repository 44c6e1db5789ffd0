"""Devices that are shared: which capacity is used up, how far, and what is left of it, device by device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.diagnosis.capacity.records import NodeRoom
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Funnel, Short, StageName
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
