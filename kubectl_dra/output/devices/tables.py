"""The tables of ``get``: kubectl's way of columns, and more of them with ``-o wide``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from kubectl_dra.output.devices.holders import consumer_text, holder_text
from kubectl_dra.output.devices.parts import by_state, number, ranges, scope_cell, state_text, used_count
from kubectl_dra.output.layout import PAGE, Column, long_table, table
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import age, counted
from kubectl_dra.reports.attributes import varying_or_all
from kubectl_dra.reports.base import Bound, Count
from kubectl_dra.reports.claim_list import ClaimRow
from kubectl_dra.reports.class_list import ClassRow, NodeOffer
from kubectl_dra.reports.device_list import ListedDevice
from kubectl_dra.reports.device_state import DeviceState
from kubectl_dra.reports.holders import Consumer, ConsumerState, Holder
from kubectl_dra.reports.pool import PoolSummary
from kubectl_dra.reports.scope import ScopeKind
from kubectl_dra.reports.taint_list import TaintRow
from kubectl_dra.reports.taints import taint_text

Cells = list[Safe]


def _table(columns: Sequence[Column], rows: Sequence[Cells], headers: bool) -> list[Safe]:
    """A row is a line with whole names, in a pipe and on any terminal: grep, awk and wc count on it."""
    return table(columns, rows, columns_wide=None, header=headers)


def _texts(*titles: str) -> list[Column]:
    return [Column(title) for title in titles]


def _numbers(*titles: str) -> list[Column]:
    return [Column(title, right=True) for title in titles]


# --- pools ----------------------------------------------------------------------------------------------------------


def pools_table(pools: Iterable[PoolSummary], wide: bool = False, headers: bool = True) -> Iterator[Safe]:
    """One line per pool. USED are devices that somebody holds; wide tells apart PARTLY (something is left) and FULL."""
    columns = _texts("DRIVER", "POOL", "NODES")
    if wide:
        columns += _numbers("DEVICES", "FREE", "PARTLY", "FULL", "TAINTED", "BLOCKED", "NOT OFFERED")
        columns += _numbers("GENERATION", "SLICES")
    else:
        columns += _numbers("DEVICES", "FREE", "USED", "TAINTED")
    columns += [Column("STATE")]
    return long_table(columns, (_pool_cells(pool, wide) for pool in pools), header=headers)


def _pool_cells(pool: PoolSummary, wide: bool) -> Cells:
    totals, view = pool.totals, pool.view
    cells = [safe(pool.driver), safe(pool.pool), scope_cell(pool.scope)]
    if wide:
        cells += [number(count) for count in (totals.devices, *(count for _, count in by_state(totals)))]
        cells += [fmt("{}", view.generation), fmt("{}/{}", view.seen, view.expected)]
    else:
        cells += map(number, (totals.devices, totals.free, used_count(totals), totals.tainted))
    return [*cells, pool_state_cell(pool)]


def pool_state_cell(pool: PoolSummary) -> Safe:
    """``ready``, ``incomplete``, …; ``differs`` where nodes disagree, ``?`` where they might."""
    if pool.views:
        return Safe("differs")
    return Safe("?") if pool.views is None else safe(pool.view.state.value)


# --- devices --------------------------------------------------------------------------------------------------------


def devices_table(
    devices: Iterable[ListedDevice], now: datetime, wide: bool = False, headers: bool = True
) -> Iterator[Safe]:
    """One line per device, wide with every attribute, which takes a look at all of them before the first line."""
    names = varying_or_all(each.device.values for each in devices) if wide else ()
    columns = _texts("DRIVER", "POOL", "DEVICE", "STATE", "USED BY")
    columns += [Column("NODES"), Column("TAINTS"), *(Column(safe(name.upper())) for name in names)] if wide else []
    return long_table(columns, (_device_cells(each, now, wide, names) for each in devices), header=headers)


def _device_cells(listed: ListedDevice, now: datetime, wide: bool, names: Sequence[str]) -> Cells:
    device = listed.device
    cells = [safe(listed.driver), safe(listed.pool), safe(device.name), _state_cell(listed, wide)]
    if not wide:
        return [*cells, _short_users(device.holders)]
    node = listed.where.node if listed.where.kind is ScopeKind.NODE else ""
    cells.append(Safe("; ").join(holder_text(holder, now, node) for holder in device.holders) or Safe("-"))
    cells.append(scope_cell(listed.where))
    cells.append(Safe(", ").join(safe(taint_text(taint)) for taint in device.taints) or Safe("-"))
    return [*cells, *(safe(device.values.get(name, "-")) for name in names)]


def _short_users(holders: Sequence[Holder]) -> Safe:
    """The pods by name, or the claims that hold a device for nobody."""
    users: list[Safe] = []
    for holder in holders:
        users += [_user(each) for each in holder.consumers]
        users += [] if holder.consumers else [fmt("claim {}/{}", holder.namespace, holder.claim)]
    users = list(dict.fromkeys(users))
    more = fmt(" +{}", len(users) - 1) if len(users) > 1 else Safe("")
    return users[0] + more if users else Safe("-")


def _user(consumer: Consumer) -> Safe:
    over = consumer.state in (ConsumerState.GONE, ConsumerState.FINISHED)
    kind = Safe("pod") if consumer.resource == "pods" else safe(consumer.resource)
    return fmt("{} {}/{}{}", kind, consumer.namespace, consumer.name, Safe(" (gone)") if over else Safe(""))


def _state_cell(listed: ListedDevice, wide: bool) -> Safe:
    """The taint itself says more than the word "tainted", where it has no column of its own."""
    device = listed.device
    preventing = [taint for taint in device.taints if taint.prevents]
    if device.state is DeviceState.TAINTED and preventing and not wide:
        more = fmt(" +{}", len(preventing) - 1) if len(preventing) > 1 else Safe("")
        return safe(taint_text(preventing[0])) + more
    return state_text(device.state)


# --- claims ---------------------------------------------------------------------------------------------------------


def claims_table(
    claims: Sequence[ClaimRow], now: datetime, wide: bool = False, headers: bool = True, namespaces: bool = False
) -> list[Safe]:
    """kubectl's columns NAME STATE AGE, and between them what is held and by whom."""
    columns = [*_texts(*(["NAMESPACE"] if namespaces else []), "NAME"), Column("STATE")]
    columns += _texts("DEVICES", "USED BY")
    columns += _texts("CLASSES", "NODES") if wide else []
    columns += [Column("AGE")]
    return _table(columns, [_claim_cells(claim, now, wide, namespaces) for claim in claims], headers)


def _claim_cells(claim: ClaimRow, now: datetime, wide: bool, namespaces: bool) -> Cells:
    cells = [safe(claim.namespace)] if namespaces else []
    cells += [safe(claim.name), safe(claim.printed_state), held_devices(claim, wide=wide), _users(claim, wide)]
    if wide:
        cells.append(Safe(", ").join(map(safe, claim.classes)) or Safe("-"))
        cells.append(scope_cell(claim.scope) if claim.scope is not None else Safe("-"))
    return [*cells, age(claim.created, now)]


def held_devices(claim: ClaimRow, *, wide: bool = False) -> Safe:
    """How many devices, of how many where it has none yet (``-`` where only a driver knows); wide names them."""
    if not claim.devices and claim.asked == 0:
        return Safe("-")
    if not claim.devices:
        return fmt("0/{}", claim.asked) if claim.asked is not None else Safe("0/all")
    return Safe(", ").join(ranges(claim.devices)) if wide else fmt("{}", len(claim.devices))


def _users(claim: ClaimRow, wide: bool) -> Safe:
    """Who holds a reservation; without one, whether that is known to be nobody."""
    users = [consumer_text(each) if wide else _short_user(each) for each in claim.reserved_for]
    if not users:
        return Safe("?") if claim.unused is None else Safe("-")
    if wide or len(users) == 1:
        return Safe(", ").join(users)
    return fmt("{} +{}", users[0], len(users) - 1)


def _short_user(consumer: Consumer) -> Safe:
    """A consumer lives in the claim's namespace, so its name will do."""
    over = consumer.state in (ConsumerState.GONE, ConsumerState.FINISHED)
    kind = Safe("pod") if consumer.resource == "pods" else safe(consumer.resource)
    return fmt("{} {}{}", kind, consumer.name, Safe(" (gone)") if over else Safe(""))


# --- classes --------------------------------------------------------------------------------------------------------


def classes_table(rows: Sequence[ClassRow], now: datetime, wide: bool = False, headers: bool = True) -> list[Safe]:
    """What classes offer: AVAILABLE devices are free, or shared with something left."""
    columns = [
        *_texts("NAME"),
        *_numbers("DEVICES", "AVAILABLE", "CLAIMS", "PENDING"),
        *_texts("LARGEST SET ON A NODE"),
    ]
    columns += _texts("EXTENDED RESOURCE", "SELECTORS") if wide else []
    columns += [Column("AGE")]
    return _table(columns, [_class_cells(row, now, wide) for row in rows], headers)


def _class_cells(row: ClassRow, now: datetime, wide: bool) -> Cells:
    totals = row.totals
    available = Count(totals.free.value + totals.partly.value, totals.free.bound)
    cells = [safe(row.name), *map(number, (totals.devices, available, row.claims, row.pending)), _best(row)]
    if wide:
        cells += [safe(row.extended_resource or "-"), Safe(" && ").join(map(safe, row.selectors)) or Safe("-")]
    return [*cells, age(row.created, now)]


def _best(row: ClassRow) -> Safe:
    if row.problem:
        return Safe("its selectors don't compile")
    best = next((offer for offer in row.offers or () if offer.together.value), None)
    if row.offers is None or (best is None and row.totals.free.bound in (Bound.UNKNOWN, Bound.AT_LEAST)):
        return Safe("?")
    text = offer_text(best) if best is not None else Safe("none is free")
    failing = sum(row.errors.values())
    return text + fmt("; fails on {}", counted(failing, "device")) if failing else text


def offer_text(offer: NodeOffer) -> Safe:
    """``4 on node-b (3 with one nvlinkDomain)``."""
    more = fmt(" +{}", offer.count - 1) if offer.count > 1 else Safe("")
    alike = [fmt("{} with one {}", number(each.size), each.attribute.rpartition("/")[2]) for each in offer.alike]
    inside = fmt(" ({})", Safe(", ").join(alike)) if alike else Safe("")
    return fmt("{} on {}{}{}", number(offer.together), offer.nodes[0], more, inside)


def offers_table(row: ClassRow, wide: bool = False) -> list[Safe]:
    """Node by node what a class still offers, the largest sets first; alike nodes on one line."""
    attributes = list(dict.fromkeys(each.attribute for offer in row.offers or () for each in offer.alike))
    columns = [Column("NODES", flexible=True), *_numbers("DEVICES", "AVAILABLE", "TOGETHER")]
    columns += [Column(fmt("ONE {}", name.rpartition("/")[2].upper()), right=True) for name in attributes]
    rows = []
    for offer in row.offers or ():
        sizes = {each.attribute: each.size for each in offer.alike}
        more = offer.count - len(offer.nodes)
        names = Safe(", ").join(ranges(offer.nodes)) + (fmt(" +{}", more) if more else Safe(""))
        cells = [names, fmt("{}", offer.devices), number(offer.free), number(offer.together)]
        rows.append([*cells, *(number(sizes.get(name, Count(0))) for name in attributes)])
    return table(columns, rows, columns_wide=None if wide else PAGE, indent=2)


# --- taints ---------------------------------------------------------------------------------------------------------


def taints_table(rows: Sequence[TaintRow], now: datetime, wide: bool = False, headers: bool = True) -> list[Safe]:
    """Rules and drivers' taints: whom they hit, and how many of those are in use."""
    columns = _texts("TAINT", "FROM", "DEVICES") + _numbers("HIT", "IN USE")
    columns += [*_numbers("CLAIMS"), *_texts("STATUS")] if wide else []
    columns += [Column("AGE")]
    return _table(columns, [_taint_cells(row, now, wide) for row in rows], headers)


def _taint_cells(row: TaintRow, now: datetime, wide: bool) -> Cells:
    value = f"={row.value}" if row.value else ""
    source = fmt("rule {}", row.rule) if row.rule else Safe("driver")
    cells = [fmt("{}{}:{}", row.key, value, row.effect), source, _hit(row, wide)]
    cells += map(number, (row.device_count, row.in_use))
    if wide:
        cells.append(number(row.claims))
        cells.append(Safe("; ").join(fmt("{}: {}", c.reason, c.message) for c in row.conditions) or Safe("-"))
    return [*cells, age(row.time_added or row.created, now)]


def _hit(row: TaintRow, wide: bool) -> Safe:
    """What the rule selects, or the driver's devices."""
    if not row.rule:
        names = ranges(row.devices if wide else row.devices[:3])
        more = row.device_count.value - len(row.devices if wide else row.devices[:3])
        return Safe(", ").join(names) + (fmt(" +{}", more) if more > 0 else Safe(""))
    selector = row.selector
    if selector is None:
        return Safe("none: no selector")
    parts = ((selector.driver, "driver"), (selector.pool, "pool"), (selector.device, "device"))
    if all(value is not None for value, _ in parts) and not (selector.device_class_name or selector.selectors):
        return Safe("/").join(value or "" for value, _ in parts)
    old = ((selector.device_class_name, "class"),)
    named = [fmt("{} {}", Safe(what), value) for value, what in (*parts, *old) if value is not None]
    named += [fmt("CEL {}", each.expression) for each in selector.selectors]
    return Safe(", ").join(named) if named else Safe("every device of the cluster")
