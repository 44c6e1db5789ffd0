"""Bars of used, free, tainted and unknown devices, in colours that repeat what the shapes say."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.devices.parts import bar, by_state, spoken
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.totals import CapacityTotal, DeviceTotals

_USED, _PARTLY, _FREE, _TAINTED, _OUT, _UNKNOWN = map(Safe, "█▓░▒·?")
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_STYLES: Final = {
    "█": Style.NAME,
    "▓": Style.NAME,
    "░": Style.GOOD,
    "▒": Style.WARN,
    "·": Style.DIM,
    "?": Style.DIM,
}
_SIGNS: Final = (
    (_USED, (DeviceState.IN_USE,)),
    (_PARTLY, (DeviceState.PARTLY,)),
    (_FREE, (DeviceState.FREE,)),
    (_TAINTED, (DeviceState.TAINTED,)),
    (_OUT, (DeviceState.BLOCKED, DeviceState.CLOSED, DeviceState.NOT_OFFERED)),
)
_WORDS: Final = {
    DeviceState.FREE: "free",
    DeviceState.PARTLY: "partly",
    DeviceState.IN_USE: "used",
    DeviceState.TAINTED: "tainted",
    DeviceState.BLOCKED: "blocked",
    DeviceState.CLOSED: "on closed nodes",
    DeviceState.NOT_OFFERED: "not offered",
}
LEGEND: Final = Safe("  ").join(
    styled(Safe(sign), _STYLES[sign]) + Safe(f" {word}")
    for sign, word in (("█", "used"), ("▓", "partly"), ("░", "free"), ("▒", "tainted"), ("·", "out"))
)


def use_bar(totals: DeviceTotals, columns: int) -> Safe:
    """The devices of a pool, a driver or a class; question marks where free can't be told from used."""
    values = {state: count.value for state, count in by_state(totals)}
    parts = [(sign, sum(values[state] for state in states)) for sign, states in _SIGNS]
    shape = bar(parts, columns)
    return painted(shape if totals.free.bound is Bound.EXACT else Safe(shape.replace(_FREE, _UNKNOWN)))


def level(totals: DeviceTotals, *, broken: bool) -> Safe:
    """One cell of a strip: the higher, the more is used; a colour and another sign for what is not allocatable.

    A question mark where it is not known whether anything is used.
    """
    if broken:
        return styled(Safe("✗"), Style.BAD)
    devices = max(totals.devices.value, 1)
    used = totals.in_use.value + totals.partly.value
    if not used and totals.free.bound is not Bound.EXACT:
        return styled(_UNKNOWN, Style.DIM)
    sign = Safe(_LEVELS[min(used * len(_LEVELS) // devices, len(_LEVELS) - 1)])
    if totals.tainted.value:
        return styled(sign, Style.WARN)
    return styled(sign, Style.NAME if used else Style.GOOD)


def amount_bar(amount: int, whole: int, columns: int) -> Safe:
    return painted(bar(((_USED, amount), (Safe(" "), whole - amount)), columns))


def capacity_bar(capacity: CapacityTotal, columns: int) -> Safe:
    """How much of a capacity is used; question marks where more of it may be."""
    used, total = Quantity.parse(capacity.consumed.value), Quantity.parse(capacity.total)
    scale = min(used.scale, total.scale)
    amount, whole = used.at_scale(scale)[0], total.at_scale(scale)[0]
    amount = max(0, min(amount, whole))
    rest = _FREE if capacity.consumed.bound is Bound.EXACT else _UNKNOWN
    return painted(bar(((_USED, amount), (rest, whole - amount)), columns))


def painted(shape: Safe) -> Safe:
    runs = (("".join(run), sign) for sign, run in groupby(str(shape)))
    return Safe("").join(styled(Safe(text), _STYLES[sign]) if sign in _STYLES else Safe(text) for text, sign in runs)


def totals_words(totals: DeviceTotals) -> Safe:
    """``17 free  14 used  1 tainted``: states without devices are left out."""
    parts = [
        fmt("{} {}", spoken(count), Safe(_WORDS[state]))
        for state, count in by_state(totals)
        if count.value or count.bound is Bound.AT_LEAST
    ]
    return Safe("  ").join(parts)
