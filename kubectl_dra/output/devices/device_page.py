"""One device on one page: state, users, taints, attributes, capacity, counters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.output.devices.capacity import capacity_cell, policy_text
from kubectl_dra.output.devices.holders import holder_text, taint_lines
from kubectl_dra.output.devices.parts import device_state_text, pairs_text, ranges, scope_text
from kubectl_dra.output.layout import Column, paragraphs, table, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import lasting, listed
from kubectl_dra.reports.devices.attributes import short_name
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.pool import DeviceRecord, PoolReport
from kubectl_dra.reports.scope import ScopeKind


def device_page(device: DeviceRecord, pool: PoolReport, now: datetime) -> list[Safe]:
    """All lines; ``pool`` is the report that the record comes from."""
    blocks: list[list[Safe]] = [
        list(_head(device, pool)),
        list(_users(device, pool, now)),
        list(_taints(device, now)),
        list(_attributes(device, pool)),
        list(_capacity(device, pool)),
        list(_counters(device)),
        list(_conditions(device)),
    ]
    return paragraphs(blocks)


def _head(device: DeviceRecord, pool: PoolReport) -> Iterator[Safe]:
    name = fmt("Device {}/{}/{}", pool.driver, pool.pool, device.name)
    yield from wrapped(styled(name, Style.BOLD) + ": " + device_state_text(device))
    yield from wrapped(fmt("  on {}, slice {}", scope_text(device.scope or pool.scope), device.slice), indent=2)
    if device.state is DeviceState.BLOCKED:
        yield from wrapped(fmt("its counters are taken by {}", Safe(", ").join(ranges(device.held_back_by))), indent=2)
    if device.feature:
        yield from wrapped(fmt("it needs the feature gate {}", device.feature), indent=2)
    for health in device.health:
        text = fmt(": {}", health.message) if health.message else Safe("")
        yield from wrapped(fmt("health in pod {}: {}{}", health.pod, health.health, text), indent=2)


def _users(device: DeviceRecord, pool: PoolReport, now: datetime) -> Iterator[Safe]:
    if not device.holders:
        return
    yield Safe("Used by")
    node = pool.scope.node if pool.scope.kind is ScopeKind.NODE else ""
    for holder in device.holders:
        yield from wrapped(holder_text(holder, now, node), indent=4, first=2)


def _taints(device: DeviceRecord, now: datetime) -> Iterator[Safe]:
    if device.taints:
        yield Safe("Taints")
    for taint, (text, source) in zip(device.taints, taint_lines(device.taints), strict=True):
        since = fmt(", {}", lasting(taint.time_added, now)) if taint.time_added else Safe("")
        yield from wrapped(fmt("{}, {}{}", styled(text, Style.WARN), source, since), indent=4, first=2)


def _attributes(device: DeviceRecord, pool: PoolReport) -> Iterator[Safe]:
    if not device.attributes:
        return
    yield Safe("Attributes")
    rows = [[safe(short_name(n, pool.driver)), safe(attribute_text(a))] for n, a in sorted(device.attributes.items())]
    yield from table([Column(flexible=True), Column(flexible=True)], rows, indent=2, header=False)


def _capacity(device: DeviceRecord, pool: PoolReport) -> Iterator[Safe]:
    if not device.capacity:
        return
    yield Safe("Capacity, shared by requests") if device.shareable else Safe("Capacity")
    rows = []
    for each in device.capacity:
        left = fmt("{} used, {} left", each.consumed, each.available) if each.consumed else Safe("")
        rule = policy_text(each.policy) if device.shareable else Safe("")
        rows.append([safe(short_name(each.name, pool.driver)), safe(each.total), left, rule])
    columns = [Column(flexible=True), Column(right=True), Column(flexible=True), Column(flexible=True)]
    yield from table(columns, rows, indent=2, header=False)
    for line in capacity_cell(device) if device.shareable else ():
        yield Safe("  ") + line


def _counters(device: DeviceRecord) -> Iterator[Safe]:
    if device.consumes:
        yield Safe("Takes of shared counters")
    for each in device.consumes:
        amounts = {name: str(counter.value) for name, counter in sorted(each.counters.items())}
        yield from wrapped(fmt("{}: {}", each.counter_set, pairs_text(amounts)), indent=4, first=2)
    if device.excludes:
        yield from wrapped(fmt("not beside {}", Safe(", ").join(ranges(device.excludes))), indent=4, first=2)


def _conditions(device: DeviceRecord) -> Iterator[Safe]:
    if device.binding_conditions:
        yield from wrapped(fmt("Binding waits for {}", listed(device.binding_conditions)), indent=2, first=0)
    if device.binding_failure_conditions:
        yield from wrapped(
            fmt("Binding fails on {}", listed(device.binding_failure_conditions, "or")), indent=2, first=0
        )
    if device.binds_to_node:
        yield Safe("A claim with it is bound to one node")
