"""The small parts that pages and tables of devices share: counts, states, scopes, bars, ranges of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.meta import Condition
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import lasting, plural
from kubectl_dra.reports.base import Bound, Count
from kubectl_dra.reports.devices.device_state import AVAILABLE, DeviceState
from kubectl_dra.reports.devices.pool import DeviceRecord
from kubectl_dra.reports.devices.totals import DeviceTotals
from kubectl_dra.reports.scope import Scope, ScopeKind
from kubectl_dra.reports.taints.taints import TaintRecord

STATE_WORDS: Final = {
    DeviceState.FREE: "free",
    DeviceState.PARTLY: "partly used",
    DeviceState.IN_USE: "in use",
    DeviceState.TAINTED: "tainted",
    DeviceState.BLOCKED: "blocked",
    DeviceState.CLOSED: "free on closed nodes",
    DeviceState.NOT_OFFERED: "not offered",
}
_STYLES: Final = {
    DeviceState.FREE: Style.GOOD,
    DeviceState.PARTLY: Style.GOOD,
    DeviceState.TAINTED: Style.WARN,
    DeviceState.BLOCKED: Style.DIM,
    DeviceState.CLOSED: Style.DIM,
    DeviceState.NOT_OFFERED: Style.BAD,
}
_NUMBERED: Final = re.compile(r"(.*?)([0-9]{1,9})\Z", re.DOTALL)
_PREFIX: Final = re.compile(r"[-A-Za-z0-9_.]+/")
_USED, _SOME, _FREE, _OUT = Safe("█"), Safe("▓"), Safe("░"), Safe("▒")


#: What stands where something was not read.
UNKNOWN: Final = Safe("?")


def number(count: Count) -> Safe:
    """A count in a table as far as it is known: ``4``, ``≥4``, ``≤4``; ``?`` where what was seen says nothing about it.

    No number is below zero: at most none is none, and at least none says nothing.
    """
    return _number(count, Safe(str(count.value)))


def spoken(count: Count) -> Safe:
    """:func:`number` in a sentence or a title: ``16,500``."""
    return _number(count, Safe(f"{count.value:,}"))


def _number(count: Count, value: Safe) -> Safe:
    match count.bound:
        case Bound.UNKNOWN:
            return UNKNOWN
        case Bound.AT_LEAST if not count.value:
            return UNKNOWN
        case Bound.AT_MOST if not count.value:
            return Safe("0")
    return Safe(count.bound.sign) + value


def state_text(state: DeviceState, bound: Bound = Bound.EXACT) -> Safe:
    """A state as a coloured word; ``free?`` where the device may be less available than what was read says."""
    word = state_word(state, bound)
    return styled(word, _STYLES[state]) if state in _STYLES and bound is Bound.EXACT else word


#: Why no node takes new pods that could use a device.
_NO_NODE: Final = Safe("no such node")
CLOSED: Final = {
    "cordoned": Safe("cordoned"),
    "notReady": Safe("not ready"),
    "pressure": Safe("under pressure"),
    "leaving": Safe("being removed"),
    "noNode": _NO_NODE,
}


def device_state_text(device: DeviceRecord) -> Safe:
    """:func:`state_text` of a device; of one that is free but for its nodes: ``free (node cordoned)``."""
    if device.state is not DeviceState.CLOSED:
        return state_text(device.state, device.state_bound)
    free = Safe(STATE_WORDS[DeviceState.PARTLY if device.holders and device.shareable else DeviceState.FREE])
    why = CLOSED[device.node_closed]
    return styled(fmt("{} ({}{})", free, Safe("" if why is _NO_NODE else "node "), why), _STYLES[device.state])


def shown_taints(device: DeviceRecord) -> list[TaintRecord]:
    """Those that keep pods away; where there are none, those that only tell something of the device."""
    return [taint for taint in device.taints if taint.prevents] or told_only(device)


def told_only(device: DeviceRecord) -> list[TaintRecord]:
    """Taints of the effect None: as drivers report what is not yet a fault (KEP-5055)."""
    return [taint for taint in device.taints if taint.effect == "None"]


def state_word(state: DeviceState, bound: Bound) -> Safe:
    """The same without colours."""
    open_ = bound is not Bound.EXACT and state in AVAILABLE
    return fmt("{}{}", Safe(STATE_WORDS[state]), UNKNOWN if open_ else Safe(""))


def nobody(bound: Bound) -> Safe:
    """What stands for nobody and nothing, where all were read."""
    return Safe("-") if bound is Bound.EXACT else UNKNOWN


def known_or(value: int | None) -> Safe:
    return UNKNOWN if value is None else fmt("{}", value)


def by_state(totals: DeviceTotals) -> Iterator[tuple[DeviceState, Count]]:
    """The seven disjoint numbers in the order of their words."""
    yield DeviceState.FREE, totals.free
    yield DeviceState.PARTLY, totals.partly
    yield DeviceState.IN_USE, totals.in_use
    yield DeviceState.TAINTED, totals.tainted
    yield DeviceState.BLOCKED, totals.blocked
    yield DeviceState.CLOSED, totals.closed
    yield DeviceState.NOT_OFFERED, totals.not_offered


def totals_text(totals: DeviceTotals) -> Safe:
    """``8 devices: 4 free, 3 in use (1 of them tainted), 1 tainted``; states without any device are left out."""
    head = fmt("{} {}", spoken(totals.devices), plural("device", totals.devices.value))
    shown = [_part(state, count, totals) for state, count in by_state(totals) if is_worth_saying(count)]
    return head + Safe(": ") + Safe(", ").join(shown) if shown else head


def is_worth_saying(count: Count) -> bool:
    """Whether there are such devices, or may be some."""
    return count.value > 0 or count.bound is Bound.AT_LEAST


def _part(state: DeviceState, count: Count, totals: DeviceTotals) -> Safe:
    words = in_use_words(totals) if state is DeviceState.IN_USE else Safe(STATE_WORDS[state])
    return fmt("{} {}", spoken(count), words)


def in_use_words(totals: DeviceTotals) -> Safe:
    """``in use (1 of them tainted)``: of the tainted ones only those are counted as such that nobody has."""
    tainted = totals.in_use_tainted
    return fmt("in use ({} of them tainted)", spoken(tainted)) if tainted.value else Safe("in use")


_OUT_OF_REACH: Final = (DeviceState.TAINTED, DeviceState.BLOCKED, DeviceState.CLOSED, DeviceState.NOT_OFFERED)


def use_bar(totals: DeviceTotals, columns: int) -> Safe:
    """A bar of used █, partly used ▓, free ░ (? where these may be used as well) and other ▒ devices."""
    values = {state: count.value for state, count in by_state(totals)}
    out = sum(values[state] for state in _OUT_OF_REACH)
    parts = ((_USED, values[DeviceState.IN_USE]), (_SOME, values[DeviceState.PARTLY]))
    free = _FREE if totals.free.bound is Bound.EXACT else UNKNOWN
    return bar((*parts, (free, values[DeviceState.FREE]), (_OUT, out)), columns)


def amount_bar(used: int, total: int, columns: int, rest: Safe = _FREE) -> Safe:
    """A bar of an amount: used █ and the ``rest``, which is free ░."""
    used = max(0, min(used, total))
    return bar(((_USED, used), (rest, total - used)), columns)


def bar(parts: Sequence[tuple[Safe, int]], columns: int) -> Safe:
    """Parts of a whole in ``columns``; a part that is not zero gets at least one column while there is room."""
    total = sum(value for _, value in parts)
    if total <= 0:
        return Safe("")
    widths = [max(1, value * columns // total) if value else 0 for _, value in parts]
    while sum(widths) > columns:
        widths[widths.index(max(widths))] -= 1
    exact = [value * columns / total for _, value in parts]
    while sum(widths) < columns:
        widths[max(range(len(parts)), key=lambda i: (exact[i] - widths[i], exact[i]))] += 1
    return Safe("".join(str(sign) * width for (sign, _), width in zip(parts, widths, strict=True)))


def scope_text(scope: Scope) -> Safe:
    """Where something can be used, for a headline: ``node node-a``, ``nodes with rack=1 (4)``, ``all nodes``."""
    match scope.kind:
        case ScopeKind.NODE:
            gone = Safe(" (does not exist)") if scope.nodes == 0 else Safe("")
            return fmt("node {}{}", scope.node, gone)
        case ScopeKind.SELECTOR:
            return fmt("nodes with {}{}", scope.expression, _count(scope))
        case ScopeKind.ALL:
            return fmt("all nodes{}", _count(scope))
        case ScopeKind.PER_DEVICE:
            return Safe("nodes per device")
        case ScopeKind.MIXED:
            return Safe("nodes per slice")
    return Safe("no nodes")


def scope_cell(scope: Scope) -> Safe:
    """The same for a cell of a table: ``node-a``, ``rack=1`` (label keys without their prefix), ``all``."""
    words = {ScopeKind.ALL: "all", ScopeKind.PER_DEVICE: "per device", ScopeKind.MIXED: "per slice"}
    if scope.kind in words:
        return Safe(words[scope.kind])
    gone = Safe(" (no such node)") if scope.kind is ScopeKind.NODE and scope.nodes == 0 else Safe("")
    return fmt("{}{}", scope.node or _PREFIX.sub("", scope.expression) or "none", gone)


def _count(scope: Scope) -> Safe:
    return fmt(" ({})", scope.nodes) if scope.nodes is not None else Safe("")


def ranges(names: Iterable[str]) -> list[Safe]:
    """Names with runs of numbers drawn together: ``gpu-0 … gpu-3``, ``nic-7``. Order as given."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    texts: list[Safe] = []
    for run in runs:
        texts += [fmt("{} … {}", run[0], run[-1])] if len(run) > 2 else [safe(name) for name in run]
    return texts


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names as people count: ``gpu-2`` before ``gpu-10``."""
    return tuple(sorted(names, key=_place))


def _place(name: str) -> tuple[str, int, str]:
    match = _NUMBERED.match(name)
    return (match[1], int(match[2]), name) if match is not None else (name, -1, name)


def _follows(before: str, name: str) -> bool:
    a, b = _NUMBERED.match(before), _NUMBERED.match(name)
    return a is not None and b is not None and a[1] == b[1] and len(b[2]) >= len(a[2]) and int(a[2]) + 1 == int(b[2])


def pairs_text(values: dict[str, str]) -> Safe:
    """``model H100, memory 80Gi``."""
    return Safe(", ").join(fmt("{} {}", name, value) for name, value in values.items())


def condition_text(condition: Condition, now: datetime) -> Safe:
    """``Ready False (Reason): message, for 3d``."""
    reason = fmt(" ({})", condition.reason) if condition.reason else Safe("")
    message = fmt(": {}", condition.message) if condition.message else Safe("")
    since = fmt(", {}", lasting(condition.last_transition_time, now)) if condition.last_transition_time else Safe("")
    return fmt("{} {}{}{}{}", condition.type, condition.status, reason, message, since)
