"""The columns of lists, each defined once: for tables of ``get``, for ``--sort-by``, for grids of the TUI."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.output.columns import ListColumn, Shown, count_column
from kubectl_dra.output.devices.holders import consumer_text, holder_text, short_state
from kubectl_dra.output.devices.parts import (
    UNKNOWN,
    device_state_text,
    known_or,
    nobody,
    number,
    ranges,
    scope_cell,
    shown_taints,
    told_only,
)
from kubectl_dra.output.devices.state_columns import state_columns, with_present
from kubectl_dra.output.layout import Column, table
from kubectl_dra.output.pending.asks import ask_words
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import age, counted
from kubectl_dra.reports.base import Bound, Count
from kubectl_dra.reports.claims.claim_list import ClaimRow
from kubectl_dra.reports.devices.attributes import varying_or_all
from kubectl_dra.reports.devices.class_list import ClassRow, NodeOffer
from kubectl_dra.reports.devices.device_list import ListedDevice
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.holders import Consumer
from kubectl_dra.reports.devices.object_lists import SliceRow, TemplateRow
from kubectl_dra.reports.devices.pool import DeviceRecord
from kubectl_dra.reports.groups.group_state import GroupRow
from kubectl_dra.reports.scope import ScopeKind
from kubectl_dra.reports.taints.taint_list import TaintRow


def _one_line(expression: str) -> Safe:
    """A selector of several lines on one, as a list has one object per line."""
    return safe(" ".join(expression.split()))


# --- devices --------------------------------------------------------------------------------------------------------


#: Those of every device; what drivers publish has columns of its own.
DEVICES: Final[tuple[ListColumn[ListedDevice], ...]] = (
    ListColumn("DRIVER", lambda each, _: safe(each.driver), lambda each: (each.driver, each.pool, each.device.name)),
    ListColumn("POOL", lambda each, _: safe(each.pool), lambda each: (each.pool, each.driver, each.device.name)),
    ListColumn("DEVICE", lambda each, _: safe(each.device.name), lambda each: each.device.name),
    ListColumn(
        "STATE",
        lambda each, _: _state_cell(each, wide=False),
        lambda each: each.device.state,
        detail=lambda each, _: _state_cell(each, wide=True),
    ),
    ListColumn(
        "USED BY",
        lambda each, _: short_users(each.device),
        lambda each: short_users(each.device),
        detail=lambda each, now: _all_users(each, now),
    ),
    ListColumn("NODES", lambda each, _: scope_cell(each.where), lambda each: scope_cell(each.where), shown=Shown.WIDE),
    ListColumn("TAINTS", lambda each, _: _taints_cell(each), lambda each: _taints_cell(each), shown=Shown.WIDE),
)


def device_columns(devices: Iterable[ListedDevice], *, wide: bool) -> tuple[ListColumn[ListedDevice], ...]:
    """The columns of devices; wide has one for every attribute, which takes a look at all of them."""
    names = varying_or_all(each.device.values for each in devices) if wide else ()
    return (*DEVICES, *(_attribute(name) for name in names))


def _attribute(name: str) -> ListColumn[ListedDevice]:
    """Without a key: amounts are not sorted by their digits."""
    return ListColumn(safe(name.upper()), lambda each, _: safe(each.device.values.get(name, "-")), shown=Shown.WIDE)


def _all_users(listed: ListedDevice, now: datetime) -> Safe:
    node = listed.where.node if listed.where.kind is ScopeKind.NODE else ""
    return Safe("; ").join(holder_text(holder, now, node) for holder in listed.device.holders) or nobody(
        listed.device.holders_bound
    )


def _taints_cell(listed: ListedDevice) -> Safe:
    return Safe(", ").join(safe(taint_text(taint)) for taint in listed.device.taints) or nobody(
        listed.device.taints_bound
    )


def short_users(device: DeviceRecord) -> Safe:
    """The first of its users, and how many more there are."""
    users = users_of([device])
    more = fmt(" +{}", len(users) - 1) if len(users) > 1 else Safe("")
    return users[0] + more if users else nobody(device.holders_bound)


def users_of(devices: Iterable[DeviceRecord]) -> list[Safe]:
    """The pods by name, or the claims that hold a device for nobody, each once."""
    users: list[Safe] = []
    for holder in (holder for device in devices for holder in device.holders):
        users += [_user(each, f"{each.namespace}/{each.name}") for each in holder.consumers]
        users += [] if holder.consumers else [fmt("claim {}/{}", holder.namespace, holder.claim)]
    return list(dict.fromkeys(users))


def _user(consumer: Consumer, name: str) -> Safe:
    state = short_state(consumer)
    kind = Safe("pod") if consumer.resource == "pods" else safe(consumer.resource)
    return fmt("{} {}{}", kind, name, fmt(" ({})", state) if state else state)


#: In use and tainted, a device is not for the next pod either; of one that nobody gets the taint is beside the point.
_WITH_TAINT: Final = (DeviceState.TAINTED, DeviceState.IN_USE, DeviceState.PARTLY)


def _state_cell(listed: ListedDevice, *, wide: bool) -> Safe:
    """The taint itself says more than the word "tainted", where it has no column of its own."""
    device, state = listed.device, device_state_text(listed.device)
    if wide:
        return state
    shown = shown_taints(device) if device.state in _WITH_TAINT else told_only(device)
    if not shown:
        return state
    more = fmt(" +{}", len(shown) - 1) if len(shown) > 1 else Safe("")
    taint = styled(safe(taint_text(shown[0])) + more, Style.WARN)
    return taint if device.state is DeviceState.TAINTED else fmt("{}, {}", state, taint)


# --- claims ---------------------------------------------------------------------------------------------------------


#: kubectl's NAME, STATE and AGE, and between them what is held and by whom.
CLAIMS: Final[tuple[ListColumn[ClaimRow], ...]] = (
    ListColumn("NAMESPACE", lambda claim, _: safe(claim.namespace), lambda claim: (claim.namespace, claim.name)),
    ListColumn("NAME", lambda claim, _: safe(claim.name), lambda claim: claim.name),
    ListColumn("STATE", lambda claim, _: safe(claim.printed_state), lambda claim: claim.printed_state),
    ListColumn(
        "DEVICES",
        lambda claim, _: held_devices(claim),
        lambda claim: len(claim.devices),
        detail=lambda claim, _: held_devices(claim, wide=True),
    ),
    ListColumn(
        "USED BY",
        lambda claim, _: claim_users(claim),
        lambda claim: claim_users(claim),
        detail=lambda claim, now: claim_users(claim, now),
    ),
    ListColumn("CLASSES", lambda claim, _: _classes_cell(claim), lambda claim: _classes_cell(claim), shown=Shown.WIDE),
    ListColumn("NODES", lambda claim, _: _nodes_cell(claim), lambda claim: _nodes_cell(claim), shown=Shown.WIDE),
    ListColumn("AGE", lambda claim, now: age(claim.created, now), lambda claim: claim.created),
)


def _classes_cell(claim: ClaimRow) -> Safe:
    return Safe(", ").join(map(safe, claim.classes)) or Safe("-")


def _nodes_cell(claim: ClaimRow) -> Safe:
    return scope_cell(claim.scope) if claim.scope is not None else Safe("-")


def held_devices(claim: ClaimRow, *, wide: bool = False) -> Safe:
    """How many devices, of how many where it has none yet (``-`` where only a driver knows); wide names them."""
    if not claim.devices and claim.asked == 0:
        return Safe("-")
    if not claim.devices:
        return fmt("0/{}", claim.asked) if claim.asked is not None else Safe("0/all")
    return Safe(", ").join(ranges(claim.devices)) if wide else fmt("{}", len(claim.devices))


def claim_users(claim: ClaimRow, wide: datetime | None = None) -> Safe:
    """Who holds a reservation; without one, whether that is known to be nobody. ``wide``: all of it, at that time."""
    # A consumer lives in the claim's namespace, so its name will do.
    users = [consumer_text(each, wide) if wide else _user(each, each.name) for each in claim.reserved_for]
    if not users:
        return UNKNOWN if claim.unused is None else Safe("-")
    if wide or len(users) == 1:
        return Safe(", ").join(users)
    return fmt("{} +{}", users[0], len(users) - 1)


# --- classes --------------------------------------------------------------------------------------------------------


CLASSES: Final[tuple[ListColumn[ClassRow], ...]] = (
    ListColumn("NAME", lambda row, _: safe(row.name), lambda row: row.name),
    *state_columns(lambda row: row.totals),
    count_column("CLAIMS", lambda row: row.claims),
    count_column("PENDING", lambda row: row.pending),
    ListColumn(
        "LARGEST SET ON A NODE",
        lambda row, _: best_offer(row),
        lambda row: _largest(row),
        detail=lambda row, _: every_offer(row),
    ),
    ListColumn(
        "EXTENDED RESOURCE",
        lambda row, _: safe(row.extended_resource or "-"),
        lambda row: row.extended_resource,
        shown=Shown.WIDE,
    ),
    ListColumn(
        "SELECTORS",
        lambda row, _: Safe(" && ").join(map(_one_line, row.selectors)) or Safe("-"),
        lambda row: row.selectors,
        shown=Shown.WIDE,
    ),
    ListColumn("AGE", lambda row, now: age(row.created, now), lambda row: row.created),
)


def class_columns(rows: Iterable[ClassRow]) -> tuple[ListColumn[ClassRow], ...]:
    """The columns of a list of classes, with every state that some of their devices have."""
    return with_present(CLASSES, list(rows))


def _largest(row: ClassRow) -> int:
    return max((offer.together.value for offer in row.offers or ()), default=0)


def best_offer(row: ClassRow) -> Safe:
    """``4 on node-b +1``; on how many devices the selectors fail."""
    return _offers_text(row, lambda offers: offer_text(offers[0]))


def every_offer(row: ClassRow) -> Safe:
    """``5 on node-a, node-b; 4 on node-c (3 with one nvlinkDomain)``: the largest sets first."""
    return _offers_text(row, lambda offers: Safe("; ").join(offer_text(offer, named=True) for offer in offers))


def _offers_text(row: ClassRow, text_of: Callable[[Sequence[NodeOffer]], Safe]) -> Safe:
    if row.problem:
        return Safe("its selectors don't compile")
    offers = [offer for offer in row.offers or () if offer.together.value]
    if row.offers is None or (not offers and row.totals.free.bound in (Bound.UNKNOWN, Bound.AT_LEAST)):
        return UNKNOWN
    text = text_of(offers) if offers else Safe("none is free")
    failing = sum(row.errors.values())
    return text + fmt("; fails on {}", counted(failing, "device")) if failing else text


def offer_text(offer: NodeOffer, *, named: bool = False) -> Safe:
    """``4 on node-b +1 (3 with one nvlinkDomain)``; ``named``: all the nodes that the report names."""
    nodes = offer.nodes if named else offer.nodes[:1]
    names = Safe(", ").join(ranges(nodes)) + (fmt(" +{}", offer.count - len(nodes)) if offer.count > len(nodes) else "")
    alike = [fmt("{} with one {}", number(each.size), each.attribute.rpartition("/")[2]) for each in offer.alike]
    inside = fmt(" ({})", Safe(", ").join(alike)) if alike else Safe("")
    return fmt("{} on {}{}", number(offer.together), names, inside)


def offers_table(row: ClassRow) -> list[Safe]:
    """Node by node what a class still offers, the largest sets first; alike nodes on one line."""
    attributes = list(dict.fromkeys(each.attribute for offer in row.offers or () for each in offer.alike))
    columns = [Column("NODES", flexible=True)]
    columns += [Column(title, right=True) for title in ("DEVICES", "FREE", "TOGETHER")]
    columns += [Column(fmt("ONE {}", name.rpartition("/")[2].upper()), right=True) for name in attributes]
    rows = []
    for offer in row.offers or ():
        sizes = {each.attribute: each.size for each in offer.alike}
        more = offer.count - len(offer.nodes)
        names = Safe(", ").join(ranges(offer.nodes)) + (fmt(" +{}", more) if more else Safe(""))
        cells = [names, fmt("{}", offer.devices), number(offer.free), number(offer.together)]
        rows.append([*cells, *(number(sizes.get(name, Count(0))) for name in attributes)])
    return table(columns, rows, indent=2)


# --- taints ---------------------------------------------------------------------------------------------------------


#: Rules and drivers' taints: whom they hit, and how many of those are in use.
TAINTS: Final[tuple[ListColumn[TaintRow], ...]] = (
    ListColumn("TAINT", lambda row, _: taint_cell(row), lambda row: (row.key, row.value)),
    ListColumn("FROM", lambda row, _: taint_source(row), lambda row: row.rule),
    ListColumn(
        "DEVICES",
        lambda row, _: _hit(row, wide=False),
        lambda row: _hit(row, wide=False),
        detail=lambda row, _: _hit(row, wide=True),
    ),
    count_column("TAINTED", lambda row: row.device_count),
    count_column("IN USE", lambda row: row.in_use),
    count_column("CLAIMS", lambda row: row.claims, Shown.WIDE),
    ListColumn("STATUS", lambda row, _: _status(row), lambda row: row.status, shown=Shown.WIDE),
    ListColumn(
        "AGE", lambda row, now: age(row.time_added or row.created, now), lambda row: row.time_added or row.created
    ),
)


def taint_cell(row: TaintRow) -> Safe:
    return fmt("{}{}:{}", row.key, f"={row.value}" if row.value else "", row.effect)


def taint_source(row: TaintRow) -> Safe:
    return fmt("rule {}", row.rule) if row.rule else Safe("driver")


def _status(row: TaintRow) -> Safe:
    return Safe("; ").join(fmt("{}: {}", c.reason, c.message) for c in row.conditions) or Safe("-")


def _hit(row: TaintRow, *, wide: bool) -> Safe:
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
    named += [fmt("CEL {}", _one_line(each.expression)) for each in selector.selectors]
    return Safe(", ").join(named) if named else Safe("every device of the cluster")


# --- groups ---------------------------------------------------------------------------------------------------------


#: kubectl's NAME and AGE, and between them the policy, the pods and what the scheduler wrote.
GROUPS: Final[tuple[ListColumn[GroupRow], ...]] = (
    ListColumn("NAMESPACE", lambda row, _: safe(row.namespace), lambda row: (row.namespace, row.name)),
    ListColumn("NAME", lambda row, _: safe(row.name), lambda row: row.name),
    ListColumn("POLICY", lambda row, _: _policy(row), lambda row: row.min_count or 0),
    ListColumn("PODS", lambda row, _: known_or(row.pods), lambda row: row.pods or 0),
    ListColumn("RUNNING", lambda row, _: known_or(row.running), lambda row: row.running or 0),
    ListColumn("STATE", lambda row, _: safe(row.state) or Safe("-"), lambda row: row.state),
    ListColumn(
        "TOPOLOGY", lambda row, _: safe(row.topology_key) or Safe("-"), lambda row: row.topology_key, shown=Shown.WIDE
    ),
    ListColumn(
        "CLAIMS",
        lambda row, _: Safe(",").join(map(safe, row.claims)) or Safe("-"),
        lambda row: row.claims,
        shown=Shown.WIDE,
    ),
    ListColumn("WORKLOAD", lambda row, _: _workload(row), lambda row: _workload(row), shown=Shown.WIDE),
    ListColumn("AGE", lambda row, now: age(row.created, now), lambda row: row.created or ""),
)


def _policy(row: GroupRow) -> Safe:
    """``gang 4``, or ``basic``."""
    return fmt("gang {}", row.min_count) if row.min_count is not None else Safe("basic")


def _workload(row: GroupRow) -> Safe:
    return safe(row.workload.name) if row.workload is not None else Safe("-")


# --- slices and templates -------------------------------------------------------------------------------------------


SLICES: Final[tuple[ListColumn[SliceRow], ...]] = (
    ListColumn("NAME", lambda row, _: safe(row.name), lambda row: row.name),
    ListColumn("DRIVER", lambda row, _: safe(row.driver), lambda row: (row.driver, row.pool)),
    ListColumn("POOL", lambda row, _: safe(row.pool), lambda row: (row.pool, row.driver)),
    ListColumn("NODES", lambda row, _: scope_cell(row.scope), lambda row: scope_cell(row.scope)),
    ListColumn("DEVICES", lambda row, _: fmt("{}", row.devices), lambda row: row.devices, right=True),
    ListColumn(
        "GENERATION",
        lambda row, _: fmt("{}{}", row.generation, Safe(" (outdated)" if row.outdated else "")),
        lambda row: row.generation,
    ),
    ListColumn("SLICES OF POOL", lambda row, _: fmt("{}", row.expected), right=True, shown=Shown.WIDE),
    ListColumn("AGE", lambda row, now: age(row.created or None, now), lambda row: row.created),
)

TEMPLATES: Final[tuple[ListColumn[TemplateRow], ...]] = (
    ListColumn("NAMESPACE", lambda row, _: safe(row.namespace), lambda row: (row.namespace, row.name)),
    ListColumn("NAME", lambda row, _: safe(row.name), lambda row: row.name),
    ListColumn("REQUESTS", lambda row, _: ask_words([row.asks]) or Safe("-"), lambda row: ask_words([row.asks])),
    ListColumn("PODS", lambda row, _: fmt("{}", row.pods), lambda row: row.pods, right=True),
    ListColumn("AGE", lambda row, now: age(row.created or None, now), lambda row: row.created),
)
