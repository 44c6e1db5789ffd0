"""describe-pool as a page: the answer, counters and partitions, every device, what all have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.console import page_width
from kubectl_dra.output.devices.capacity import capacity_cell, capacity_lines, policy_lines
from kubectl_dra.output.devices.holders import holder_text, taint_lines
from kubectl_dra.output.devices.misnamed import misnamed_lines
from kubectl_dra.output.devices.partitions import exclusion_lines, partition_lines
from kubectl_dra.output.devices.parts import (
    device_state_text,
    nobody,
    pairs_text,
    ranges,
    scope_cell,
    scope_text,
    totals_text,
    use_bar,
)
from kubectl_dra.output.devices.pool_lack import lack_lines, without_sets
from kubectl_dra.output.devices.pool_status import status_lines
from kubectl_dra.output.devices.unpublished import advertised_lines, unpublished_table
from kubectl_dra.output.layout import PAGE, Column, padded, paragraphs, table, width, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.unread import around
from kubectl_dra.output.words import age, counted, listed
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.pool import DeviceRecord, PoolReport, PoolSummary
from kubectl_dra.reports.devices.pool_state import FAULTS, Fault, PoolState, PoolView
from kubectl_dra.reports.scope import ScopeKind

_GROUPING_COLUMNS: Final = 2
_GROUPING_WIDTH: Final = 26
_BAR: Final = 24


def pool_page(
    report: PoolReport, now: datetime, wide: bool = False, address: Address | None = None, *, rights: bool = True
) -> list[Safe]:
    """All lines of one report; ``wide`` shows every attribute as a column, as wide as it gets.

    Without ``rights``: another place says what could not be read.
    """
    blocks: list[list[Safe]] = [
        [*_head(report, wide), *advertised_lines(report.also_advertised)],
        list(partition_lines(report)),
        [line for name in report.meant for line in misnamed_lines(report.scope.node, name, address or HERE)],
        [*_devices(report, now, wide), *_footnotes(report, wide)],
        _allocated(report, now, wide),
        list(exclusion_lines(report, wide)),
        [line for status in report.statuses for line in status_lines(status, now)],
        list(_slices(report, now, wide)) if _tells_slices(report) or wide else [],
        list(lack_lines(report, now, address or HERE)),
    ]
    return around(paragraphs(blocks), report.missing if rights else (), address)


# --- the answer -----------------------------------------------------------------------------------------------------


def _head(report: PoolReport, wide: bool) -> list[Safe]:
    view = report.view
    name = styled(fmt("Pool {}/{}", report.driver, report.pool), Style.BOLD)
    parts = [
        name,
        scope_text(report.scope),
        fmt("generation {}", view.generation),
        fmt("{} of {} slices", view.seen, view.expected),
    ]
    line = Safe("    ").join(parts)
    lines = [line] if width(line) <= page_width() or wide else wrapped(Safe(", ").join(parts), indent=2, first=0)
    lines += wrapped(styled(trouble_text(report), Style.BAD)) if _troubled(report) else []
    lines += _disagreement(report)
    return [*lines, *_totals(report), *capacity_lines(report.capacity)]


def pool_summary_text(report: PoolSummary) -> Safe:
    """The answer in a sentence or two: what is in it, and what is wrong with it."""
    text = fmt("Pool {}/{} has {}.", report.driver, report.pool, totals_text(report.totals))
    return fmt("{} {}", text, trouble_text(report)) if _troubled(report) else text


def _totals(report: PoolReport) -> list[Safe]:
    text = totals_text(report.totals)
    shape = use_bar(report.totals, _BAR)
    lines = wrapped(text)
    room = page_width() - width(lines[-1]) - 4
    if report.totals.devices.value > 1 and len(lines) == 1 and room >= _BAR:
        return [padded(lines[0], page_width() - _BAR) + shape]
    return lines


def _troubled(report: PoolSummary) -> bool:
    return report.view.state is not PoolState.READY or bool(report.views) or report.views_bound is Bound.UNKNOWN


def trouble_text(pool: PoolSummary) -> Safe:
    """What keeps the scheduler from allocating from a pool, or might; one or two sentences."""
    if pool.views:
        seen = [fmt("for {} {}", _nodes(view), _lowered(view_text(view))) for view in pool.views]
        return fmt("Nodes disagree about it: {}.", Safe("; ").join(seen))
    if pool.views_bound is Bound.UNKNOWN:
        return Safe("Its slices are for different nodes, and nodes could not be read: each may see another pool.")
    return fmt("{}.", view_text(pool.view))


def _nodes(view: PoolView) -> Safe:
    more = (view.count or 0) - 3
    names = listed(view.nodes[:3]) if more <= 0 else Safe(", ").join(view.nodes[:3])
    return fmt("{} +{}", names, more) if more > 0 else names


def _lowered(text: Safe) -> Safe:
    return Safe(text[:1].lower() + text[1:])


def view_text(view: PoolView) -> Safe:
    """What the scheduler makes of a pool, in a sentence without a full stop."""
    consequence = Safe("the scheduler skips it, and requests for all devices fail on every node that sees it")
    match view.state:
        case PoolState.READY:
            return fmt("It is complete, with generation {}", view.generation)
        case PoolState.INCOMPLETE:
            seen = fmt("{} of {} slices of generation {}", view.seen, view.expected, view.generation)
            return fmt("Incomplete ({}{}): {}", seen, without_sets(view.undefined), consequence)
        case PoolState.INVALID:
            return fmt("Invalid ({}): {}", _fault(view.fault), consequence)
        case PoolState.PARTIAL:
            seen = fmt("{} of {} slices of generation {}", view.seen, view.expected, view.generation)
            return fmt("Incomplete ({}): requests for all devices fail on every node that sees it, others use it", seen)
        case PoolState.FATAL:
            return fmt("Invalid ({}): a pod whose search comes to it is not scheduled at all", _fault(view.fault))
        case PoolState.OBSOLETE:
            return fmt("It is left out: generation {} is not the newest", view.generation)
        case PoolState.UNPARSABLE:
            return Safe("A node selector can't be parsed: the scheduler gives up on every pod with claims")
    return Safe("The scheduler ignores it: it needs a feature that is off, or names its nodes in an unknown way")


def _fault(fault: Fault | None) -> Safe:
    return (
        fmt(FAULTS[fault.kind], fault.name, fault.counter_set) if fault is not None else Safe("it contradicts itself")
    )


def _disagreement(report: PoolReport) -> Iterator[Safe]:
    """The scheduler takes the number of the first slice that it has (structured/internal/*/pools_*.go)."""
    expected = sorted({each.expected for each in report.slices if each.current})
    if len(expected) > 1:
        text = (
            "Its slices disagree about their number ({}). The scheduler believes any one of them, so that it may take "
            "the pool for complete or incomplete: its driver has to write the same resourceSliceCount into all."
        )
        yield from wrapped(styled(fmt(text, listed([fmt("{}", each) for each in expected])), Style.BAD))


# --- devices --------------------------------------------------------------------------------------------------------


def _devices(report: PoolReport, now: datetime, wide: bool) -> Iterator[Safe]:
    if not report.devices:
        yield Safe("  No devices.")
        return
    shown = list(report.differing) if wide else grouping_names(report)
    scopes = any(device.scope is not None for device in report.devices)
    shares = any(device.shareable for device in report.devices)
    columns = [Column("DEVICE", flexible=True), *(Column(safe(name.upper())) for name in shown)]
    columns += [Column("NODES", flexible=True)] if scopes else []
    columns += [
        Column("STATE", flexible=True),
        *([Column("SHARED")] if shares else []),
        Column("USED BY", flexible=True),
    ]
    rows: list[list[Safe]] = []
    for device in report.devices:
        cells = [safe(device.name), *(safe(device.values.get(name, "-")) for name in shown)]
        cells += [scope_cell(device.scope or report.scope)] if scopes else []
        for index, (state, share, used) in enumerate(_device_lines(report, device, now)):
            left = cells if index == 0 else [Safe("")] * len(cells)
            rows.append([*left, state, *([share] if shares else []), used])
    yield from table(columns, rows, columns_wide=None if wide else PAGE, indent=2)


def grouping_names(report: PoolReport) -> list[str]:
    """The differing attributes that group devices and fit in: those that identify every device are left to wide."""
    chosen: list[str] = []
    room = _GROUPING_WIDTH
    for name in sorted(report.differing, key=lambda name: _TYPES.index(name) if _is_type(name) else len(_TYPES)):
        values = {device.values.get(name, "-") for device in report.devices}
        needed = max(len(name), *(len(value) for value in values)) + 2
        if len(chosen) < _GROUPING_COLUMNS and needed <= room and (len(values) < len(report.devices) or _is_type(name)):
            chosen.append(name)
            room -= needed
    return chosen


#: What tells kinds of devices apart, the finest first.
_TYPES: Final = ("profile", "type", "productName")


def _is_type(name: str) -> bool:
    return name in _TYPES


def _device_lines(report: PoolReport, device: DeviceRecord, now: datetime) -> list[tuple[Safe, Safe, Safe]]:
    """State, shared amounts and users of one device; the first line has its state."""
    node = report.scope.node if report.scope.kind is ScopeKind.NODE else ""
    users = [holder_text(holder, now, node) for holder in device.holders]
    taints = [(styled(taint, Style.WARN), source) for taint, source in taint_lines(device.taints)]
    if device.state is DeviceState.TAINTED:
        states = [*taints, *((Safe(""), user) for user in users)]
    else:
        first, *others = users or [_why(device)]
        states = [
            (device_state_text(device), first),
            *((Safe(""), user) for user in others),
            *taints,
        ]
    shares = capacity_cell(device) if device.shareable else []
    missing = len(shares) - len(states)
    states += [(Safe(""), Safe(""))] * max(0, missing)
    shares += [Safe("")] * max(0, -missing)
    return [(state, share, used) for (state, used), share in zip(states, shares, strict=True)]


def _why(device: DeviceRecord) -> Safe:
    if device.state is DeviceState.BLOCKED:
        return fmt("its counters are taken by {}", Safe(", ").join(ranges(device.held_back_by)))
    if device.state is DeviceState.NOT_OFFERED and device.feature:
        return fmt("needs the feature gate {}", device.feature)
    return nobody(device.holders_bound)


def _allocated(report: PoolReport, now: datetime, wide: bool) -> list[Safe]:
    if not report.allocated:
        return []
    node = report.scope.node if report.scope.kind is ScopeKind.NODE else ""
    head = fmt("Claims have {} of it that no current slice publishes:", counted(report.unpublished, "device"))
    return [*wrapped(head, indent=4, first=2), *unpublished_table(report.allocated, now, node, wide)]


# --- footnotes ------------------------------------------------------------------------------------------------------


def _footnotes(report: PoolReport, wide: bool) -> Iterator[Safe]:
    if report.same:
        label = Safe("same for all" if len(report.devices) > 1 else "attributes")
        yield from wrapped(fmt("{}: {}", label, pairs_text(report.same)), indent=4, first=2)
    hidden = [] if wide else [name for name in report.differing if name not in grouping_names(report)]
    if hidden:
        yield from wrapped(fmt("also differ: {} (-o wide shows them)", Safe(", ").join(hidden)), indent=4, first=2)
    devices = report.devices
    notes = (policy_lines(devices), _binding(devices), _groups(devices), _node_resources(devices), _health(devices))
    for line in (line for lines in notes for line in lines):
        yield from wrapped(line, indent=4, first=2)


def _binding(devices: Sequence[DeviceRecord]) -> Iterator[Safe]:
    groups: dict[tuple[object, ...], list[str]] = {}
    for device in devices:
        if device.binding_conditions or device.binding_failure_conditions or device.binds_to_node:
            key = (device.binding_conditions, device.binding_failure_conditions, device.binds_to_node)
            groups.setdefault(key, []).append(device.name)
    for (conditions, failures, binds), names in groups.items():
        who = _all_or(names, devices)
        if conditions and isinstance(conditions, tuple):
            yield fmt("binding conditions of {}: {}", who, listed(conditions))
        if failures and isinstance(failures, tuple):
            yield fmt("binding fails for {} on: {}", who, listed(failures, "or"))
        if binds:
            yield fmt("a claim with {} is bound to one node", who)


def _groups(devices: Sequence[DeviceRecord]) -> Iterator[Safe]:
    """Compatibility groups: beside devices of other groups a device is refused."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for device in devices:
        for each in device.consumes:
            if each.compatibility_groups:
                found.setdefault((each.counter_set, each.compatibility_groups), []).append(device.name)
    for (counter_set, groups), names in found.items():
        yield fmt("compatibility groups of {} in set {}: {}", _all_or(names, devices), counter_set, listed(groups))


def _node_resources(devices: Sequence[DeviceRecord]) -> Iterator[Safe]:
    found: dict[bytes, list[str]] = {}
    for device in devices:
        if device.node_allocatable_resources is not None:
            found.setdefault(bytes(device.node_allocatable_resources), []).append(device.name)
    for raw, names in found.items():
        text = msgspec.json.format(raw, indent=-1).decode("utf-8", "backslashreplace")
        yield fmt("node resources that come with {}: {}", _all_or(names, devices), text)


def _health(devices: Sequence[DeviceRecord]) -> Iterator[Safe]:
    groups: dict[tuple[str, str], list[str]] = {}
    for device in devices:
        for each in device.health:
            names = groups.setdefault((each.health, each.message), [])
            names += [device.name] if device.name not in names else []
    for (health, message), names in sorted(groups.items()):
        text = fmt(": {}", message) if message else Safe("")
        yield fmt("health by pod status: {} {}{}", _all_or(names, devices), health, text)


def _all_or(names: Sequence[str], devices: Sequence[DeviceRecord]) -> Safe:
    if len(names) == len(devices) > 1:
        return Safe("all")
    return Safe(", ").join(ranges(names))


# --- slices ---------------------------------------------------------------------------------------------------------


def _tells_slices(report: PoolReport) -> bool:
    return bool(report.stale_slices) or report.view.state is not PoolState.READY or bool(report.views)


def _of_older(generation: int, report: PoolReport) -> Safe:
    """What becomes of a slice of an older generation: a node that sees no newer one uses it."""
    views = [view for view in report.views if view.state is PoolState.READY and view.generation == generation]
    return fmt("older, used on {}", listed(list(map(_nodes, views)))) if views else Safe("stale, not used")


def _slices(report: PoolReport, now: datetime, wide: bool) -> Iterator[Safe]:
    rows = []
    for each in report.slices:
        holds = [counted(each.devices, "device")] if each.devices or not each.counter_sets else []
        holds += [counted(len(each.counter_sets), "counter set")] if each.counter_sets else []
        holds += [] if each.current else [_of_older(each.generation, report)]
        holds += [Safe("ignored: it needs a feature that is off")] if each.ignored else []
        holds += [fmt("skips {}", listed(each.skip_node_operations))] if each.skip_node_operations else []
        holds += [fmt("partitions by {}", each.partition_type_attribute)] if each.partition_type_attribute else []
        generation = fmt("{}", each.generation)
        rows.append(
            [safe(each.name), generation, scope_cell(each.scope), Safe(", ").join(holds), age(each.created, now)]
        )
    columns = [Column("SLICE", flexible=True), Column("GENERATION", right=True), Column("NODES", flexible=True)]
    columns += [Column("HOLDS", flexible=True), Column("AGE")]
    yield from table(columns, rows, columns_wide=None if wide else PAGE, indent=2)
