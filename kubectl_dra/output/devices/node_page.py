"""describe-node as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

import msgspec

from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.output.devices.holders import holder_text
from kubectl_dra.output.devices.misnamed import misnamed_lines
from kubectl_dra.output.devices.node_columns import status_text
from kubectl_dra.output.devices.parts import (
    device_state_text,
    in_use_words,
    is_worth_saying,
    nobody,
    scope_cell,
    shown_taints,
    spoken,
)
from kubectl_dra.output.devices.pool_columns import pool_state_cell
from kubectl_dra.output.devices.unpublished import unpublished_table
from kubectl_dra.output.layout import PAGE, Column, paragraphs, table, wrapped
from kubectl_dra.output.pending.driver_pods import (
    failing_sentence,
    idle_advice,
    idle_commands,
    idle_sentence,
    kept_off_driver_lines,
    known_cure,
    rollout_lines,
    why_words,
)
from kubectl_dra.output.pending.lingering import same_devices_text
from kubectl_dra.output.pending.pressure import pressure_lines
from kubectl_dra.output.pending.unready import unready_lines, unready_sentence, unready_steps
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, safe, styled
from kubectl_dra.output.unread import around
from kubectl_dra.output.words import age, counted, lasting, listed, plural
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.advertised import OfferedResource
from kubectl_dra.reports.devices.device_list import ListedDevice
from kubectl_dra.reports.devices.nodes import NodeReport
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, plain_word, reading
from kubectl_dra.reports.pending.failing_pods import FailingPod
from kubectl_dra.reports.scope import ScopeKind

_CLOSED: Final = {
    "cordoned": "is cordoned",
    "notReady": "is not ready",
    "pressure": "is short of disk space, memory or process ids",
    "leaving": "is being removed",
}


def node_summary_text(report: NodeReport) -> Safe:
    own = report.totals.devices
    if not report.devices:
        unknown = own.bound is not Bound.EXACT
        none = "Node {} has no devices that claims could get" if report.offered else "Node {} has no devices"
        older = next(_older_pools(report), None)
        if older is not None:
            text = "Node {} has devices of an older generation than that of pool {} on other nodes"
            return fmt(text, report.name, older[0]) + Safe(".")
        text = "Which devices node {} has is unknown" if unknown else none
        known = fmt(text, report.name)
        if report.allocated:
            taken, verb = len(report.allocated), Safe("is" if len(report.allocated) == 1 else "are")
            text = "Node {} has at least {}, which {} in use; whether it has more is unknown"
            text = text if unknown else "Node {} publishes no devices, but {} {} allocated there"
            known = fmt(text, report.name, counted(taken, "device"), verb)
        return Safe(". ").join([known, *drivers_down(report)]) + Safe(".")
    totals = report.totals
    states = [
        (totals.closed if report.closed else totals.free, Safe("free")),
        (totals.partly, Safe("partly used")),
        (totals.in_use, in_use_words(totals)),
        (totals.tainted, Safe("tainted")),
        (totals.blocked, Safe("blocked")),
        (totals.not_offered, Safe("not offered")),
    ]
    told = listed([fmt("{} {}", spoken(count), word) for count, word in states if is_worth_saying(count)])
    shared = sum(each.where.kind is not ScopeKind.NODE for each in report.devices)
    devices = fmt("{} {}", spoken(own), Safe(plural("device", own.value)))
    text = fmt("Node {} has {} of its own", report.name, devices)
    parts = fmt("{}: {}", text, told) if told else text
    parts += fmt("; {} it shares with other nodes", shared) if shared else Safe("")
    if report.closed and totals.closed.value:
        parts += fmt(". No new pod gets what is free: the node {}", Safe(_CLOSED[report.closed]))
    if report.allocated:
        more = counted(len(report.allocated), "more device")
        parts += fmt(". Claims have {} there that no current slice publishes", more)
    return Safe(". ").join([parts, *drivers_down(report)]) + Safe(".")


def node_page(
    report: NodeReport, now: datetime, wide: bool = False, address: Address | None = None, *, rights: bool = True
) -> list[Safe]:
    blocks = [
        [*wrapped(styled(node_summary_text(report), Style.BOLD)), *_state(report, now)],
        list(_pools(report)),
        list(_older_lines(report, address or HERE)),
        [line for name in report.misnamed for line in misnamed_lines(name, report.name, address or HERE)],
        list(_same_devices(report, address or HERE)),
        list(_unready(report, now, address or HERE)),
        list(repair_lines(report, address or HERE)),
        list(kept_off_driver_lines(each for each in report.kept_off if each.beside)),
        list(_absent_lines(report, address or HERE)),
        _devices(report, now, wide),
        _allocated(report, now, wide),
    ]
    return around(paragraphs(blocks), report.missing if rights else (), address)


def _state(report: NodeReport, now: datetime) -> Iterator[Safe]:
    facts = [_status(report, now)] if report.ready else [_no_status(report)]
    facts += [safe(report.instance_type)] if report.instance_type else []
    facts += [fmt("created {} ago", age(report.created, now))] if report.created else []
    yield from wrapped(Safe(", ").join(facts), indent=2)
    if report.offered:
        yield from wrapped(
            fmt("extended resources: {}", Safe(", ").join(map(_offered, report.offered))), indent=4, first=2
        )
    if report.taints:
        yield from wrapped(fmt("taints: {}", Safe(", ").join(report.taints)), indent=4, first=2)


def _offered(each: OfferedResource) -> Safe:
    """``nvidia.com/gpu 8 (4 requested by pods)``."""
    return fmt("{} {} ({} requested by pods)", each.resource, each.amount, spoken(each.requested))


def _no_status(report: NodeReport) -> Safe:
    """Why nothing is told of its readiness: only what was not read is called so."""
    if any(each.kind == "Node" for each in report.missing):
        return Safe("Its Node object was not read")
    return Safe("Its readiness is unknown: it has no Node object, or its kubelet has not reported yet")


def _status(report: NodeReport, now: datetime) -> Safe:
    """Since when a node is not ready, and that its kubelet has stopped reporting (pkg/controller/nodelifecycle)."""
    if report.ready == "True" or not report.ready_since:
        return status_text(report)
    since = fmt("{} {}", status_text(report), lasting(report.ready_since, now))
    return fmt("{} (its kubelet has stopped reporting)", since) if report.ready == "Unknown" else since


def _pools(report: NodeReport) -> Iterator[Safe]:
    """The pools that are not used: their devices are in no table."""
    for pool in report.pools:
        name = f"{pool.driver}/{pool.pool}"
        if name in report.troubled:
            yield from wrapped(fmt("Pool {} is {}.", name, pool_state_cell(pool)), indent=2, first=0)


def _older_pools(report: NodeReport) -> Iterator[tuple[str, int, int]]:
    """Pools of which this node uses an older generation than is published for others: which, its own, the newest.

    Upstream: dynamic-resource-allocation, GatherPools, where only slices that a node can use count.
    """
    for pool in report.pools:
        own = next((view for view in pool.views if report.name in view.nodes), None)
        if own is not None and own.generation < pool.view.generation:
            yield f"{pool.driver}/{pool.pool}", own.generation, pool.view.generation


def _older_lines(report: NodeReport, address: Address) -> Iterator[Safe]:
    for name, own, newest in _older_pools(report):
        text = (
            "Several nodes publish a pool named {}: here it has generation {}, elsewhere up to {}. On each node the "
            "scheduler uses what that node publishes, but it tells devices apart only by pool and name: a device in "
            "use on one node counts as in use on all. Configure the driver to name the pool of each node differently."
        )
        yield from wrapped(fmt(text, name, own, newest))
        yield from command_line("The devices: {}", reading(dra("describe-pool", plain_word(name)), address))


def _same_devices(report: NodeReport, address: Address) -> Iterator[Safe]:
    """One machine under two names: the one that is not ready is left over."""
    if report.same_devices_on:
        yield from wrapped(same_devices_text(report.name, report.same_devices_on, left_over=report.one_left_over))
        if report.ready in ("False", "Unknown"):
            gone = changing(kubectl("delete", of("node", report.name)), address)
            yield from command_line("If this Node is left over: {}", gone)


def _unready(report: NodeReport, now: datetime, address: Address) -> Iterator[Safe]:
    """Why a taint is still there that another program removes."""
    if report.unready:
        yield from wrapped(fmt("{}.", Safe(". ").join(unready_sentence(report.unready))))
        yield from unready_lines([msgspec.structs.replace(each, joined="") for each in report.unready], now)
        yield from unready_steps(report.unready, address)
    yield from pressure_lines(report.pressed, now, address)


def _devices(report: NodeReport, now: datetime, wide: bool) -> list[Safe]:
    """Pool by pool, those of this node first."""
    pools: dict[tuple[str, str], list[ListedDevice]] = {}
    for each in sorted(report.devices, key=lambda each: each.where.kind is not ScopeKind.NODE):
        pools.setdefault((each.driver, each.pool), []).append(each)
    columns = [Column("DEVICE"), Column("STATE"), Column("USED BY", flexible=True)]
    lines: list[Safe] = []
    for (driver, pool), devices in pools.items():
        rows = [[safe(d.device.name), _device_state(d), _users(d, now, report.name)] for d in devices]
        shared = fmt(" (shared with {})", scope_cell(devices[0].where))
        own = devices[0].where.kind is ScopeKind.NODE
        lines += [Safe("")] if lines else []
        lines.append(fmt("{}/{}{}", driver, pool, Safe("") if own else shared))
        lines += table(columns, rows, columns_wide=None if wide else PAGE, indent=2)
    return lines


def _allocated(report: NodeReport, now: datetime, wide: bool) -> list[Safe]:
    """What only claims tell of, pool by pool."""
    lines: list[Safe] = []
    for (driver, pool), devices in groupby(report.allocated, lambda each: (each.driver, each.pool)):
        lines += [Safe("")] if lines else []
        lines.append(fmt("{}/{}", driver, pool))
        lines += unpublished_table(list(devices), now, report.name, wide)
    return lines


def _device_state(each: ListedDevice) -> Safe:
    taints, state = shown_taints(each.device), device_state_text(each.device)
    return fmt("{} ({})", state, taint_text(taints[0])) if taints else state


def _users(each: ListedDevice, now: datetime, node: str) -> Safe:
    return Safe("; ").join(holder_text(holder, now, node) for holder in each.device.holders) or nobody(
        each.device.holders_bound
    )


# --- drivers that do not run ------------------------------------------------------------------------------------------


def drivers_down(report: NodeReport) -> Iterator[Safe]:
    """``Driver gpu.example.com does not run there: its pod dra/plugin-x is in CrashLoopBackOff (41 restarts)``."""
    for drivers, pods in _alike(report):
        one = len(drivers) == 1
        lead = fmt("{} {} {} not run there", Safe("Driver" if one else "Drivers"), listed(drivers), _does(one))
        yield fmt("{}: {}", lead, failing_sentence(pods, "its" if one else "their"))


def _absent_lines(report: NodeReport, address: Address) -> Iterator[Safe]:
    """Drivers that run on other nodes of the same type, and what brings them here."""
    for each in report.kept_off:
        if not each.beside:
            yield from wrapped(fmt("{}.", idle_sentence(each)))
            yield from idle_advice(each)
            yield from idle_commands(each, address)


def repair_lines(report: NodeReport, address: Address) -> Iterator[Safe]:
    """What waits for the driver meanwhile, its last words, and how to keep other pods away."""
    found = list(_alike(report))
    if not found:
        return
    text = (
        "Until it runs, pods that are placed here with its devices hang in ContainerCreating, and those that are "
        "deleted hang in Terminating."
    )
    yield from wrapped(Safe(text if report.devices else "Once it runs, it publishes the devices that the node has."))
    for _, pods in found:
        cure = known_cure(pods)
        if cure is not None:
            yield from wrapped(fmt("What usually helps: {}", cure))
        for each in pods:
            yield from command_line("Why it does not run: {}", reading(why_words(each), address))
        yield from rollout_lines(pods, address)
    if report.devices and report.ready and not report.cordoned:
        words = changing(kubectl("cordon", of("node", report.name)), address)
        yield from command_line("To keep new pods away meanwhile: {}", words)


def _alike(report: NodeReport) -> Iterator[tuple[Sequence[str], Sequence[FailingPod]]]:
    """Drivers that run in the same pods together."""
    found: dict[tuple[FailingPod, ...], list[str]] = {}
    for each in report.drivers_down:
        found.setdefault(each.pods, []).append(each.driver)
    return ((drivers, pods) for pods, drivers in found.items())


def _does(one: bool) -> Safe:
    return Safe("does" if one else "do")
