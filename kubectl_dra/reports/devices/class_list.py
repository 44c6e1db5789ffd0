"""get classes: what each DeviceClass offers, how much of it is free, and the largest set that still fits together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from typing import Final

import msgspec

from kubectl_dra.allocation.checks.constraints import lookup
from kubectl_dra.allocation.checks.counters import Consumption, PoolCounters
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.forms import class_names
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import Device, DeviceClass
from kubectl_dra.reports.base import Bound, Count, ReportRecord
from kubectl_dra.reports.devices.device_state import AVAILABLE, DeviceState
from kubectl_dra.reports.devices.open_pool import ListedState, PoolFacts, open_pool
from kubectl_dra.reports.devices.partitions import largest_set
from kubectl_dra.reports.devices.totals import DeviceTally, DeviceTotals, bound_of
from kubectl_dra.reports.scope import Scope, ScopeKind, device_scope, slice_scope, usable_on
from kubectl_dra.selectors.evaluate import Decision, Outcome, SelectorSet

_SHOWN = 20
_NO_ERRORS: Mapping[str, int] = {}


class AlikeSet(ReportRecord, frozen=True):
    """The largest free set on a node with one value of an attribute that claims constrain: how fragmented it is."""

    attribute: str
    value: str
    size: Count


class NodeOffer(ReportRecord, frozen=True):
    """What nodes offer of a class: the first 20 of ``count`` nodes with the same numbers.

    ``free`` devices one by one, ``together`` the largest set that one claim could get (partitions exclude each other),
    ``alike`` the largest sets with one value of an attribute that claims or templates for this class ask to match.
    """

    nodes: tuple[str, ...]
    count: int
    devices: int
    free: Count
    together: Count
    alike: tuple[AlikeSet, ...]


class ClassRow(ReportRecord, frozen=True):
    """One class. ``problem`` says why its selectors can't be used; ``errors`` on how many devices they fail, by text.

    ``claims`` ask for it, ``pending`` of them have no devices yet. ``offers`` is None where nodes were not read.
    """

    name: str
    extended_resource: str
    selectors: tuple[str, ...]
    configs: int
    problem: str
    errors: Mapping[str, int]
    totals: DeviceTotals
    claims: Count
    pending: Count
    offers: tuple[NodeOffer, ...] | None
    created: str


class _Member(msgspec.Struct, gc=False):
    """One free or taken device of a class; not watched for cycles, of which there are none, and not kept."""

    pool: PoolId
    counters: PoolCounters | None
    device: Device
    scope: Scope
    free: bool


@dataclass(slots=True)
class _OfPool:
    """The devices of one pool that are of a class, and on how many the class's selectors fail.

    ``scopes``: where each can be used; one where all can be at the same place.
    """

    devices: Sequence[ListedState]
    scopes: Sequence[Scope]
    tally: DeviceTally
    errors: Mapping[str, int]


_NONE_OF_POOL: Final = _OfPool((), (), DeviceTally(), _NO_ERRORS)


@dataclass(slots=True)
class _Members:
    tally: DeviceTally = field(default_factory=DeviceTally)
    errors: Counter[str] = field(default_factory=Counter)
    local: defaultdict[str, list[_Member]] = field(default_factory=lambda: defaultdict(list))
    shared: list[_Member] = field(default_factory=list)


def class_rows(classes: Iterable[DeviceClass], state: ClusterState) -> tuple[ClassRow, ...]:
    pools = [open_pool(pool, state) for pool in state.pools]
    return tuple(_row(device_class, pools, state) for device_class in sorted(classes, key=lambda c: c.metadata.name))


def _row(device_class: DeviceClass, pools: Sequence[PoolFacts], state: ClusterState) -> ClassRow:
    name, selectors = device_class.metadata.name, SelectorSet.of_class(device_class, state.features.shows_sharing)
    members = _members(pools, selectors)
    claims = [claim for claim in state.inventory.claims.values() if name in class_names(claim.spec)]
    sure = Bound.EXACT if state.evidence.complete("ResourceClaim") else Bound.AT_LEAST
    return ClassRow(
        name=name,
        extended_resource=device_class.spec.extended_resource_name or "",
        selectors=tuple(each.expression for each in device_class.spec.selectors),
        configs=len(device_class.spec.config),
        problem=selectors.problem or "",
        errors=dict(members.errors),
        totals=members.tally.totals(state.evidence),
        claims=Count(len(claims), sure),
        pending=Count(sum(claim.status.allocation is None for claim in claims), sure),
        offers=_offers(members, _constrained(name, state), state),
        created=device_class.metadata.creation_timestamp or "",
    )


def _members(pools: Sequence[PoolFacts], selectors: SelectorSet) -> _Members:
    members, name = _Members(), f"class of {[selector.expression for selector in selectors.selectors]}"
    for opened in pools:
        found = opened.once(name, lambda pool: _of_pool(pool, selectors))
        members.tally.plus(found.tally)
        members.errors.update(found.errors)
        scopes = found.scopes if len(found.scopes) > 1 else repeat(found.scopes[0]) if found.scopes else ()
        for each, scope in zip(found.devices, scopes, strict=False):
            member = _Member(opened.id, opened.counters, each.device, scope, each.state in AVAILABLE)
            (members.local[scope.node] if scope.kind is ScopeKind.NODE else members.shared).append(member)
    return members


def _of_pool(opened: PoolFacts, selectors: SelectorSet) -> _OfPool:
    listed_states, errors = opened.listed_states(), Counter[str]()
    decisions: Iterable[Decision]
    if listed_states and selectors.reads_driver_only and opened.all_sound:
        decisions = repeat(selectors.of(opened.id.driver, listed_states[0].device), len(listed_states))
    else:
        decisions = (selectors.of(opened.id.driver, each.device) for each in listed_states)
    matching = []
    for each, decision in zip(listed_states, decisions, strict=True):
        if decision.outcome is Outcome.ERROR and decision.compiles:
            errors[decision.error] += 1
        if decision.outcome is Outcome.MATCHES:
            matching.append(each)
    # What thousands of pools have in common is one object.
    devices = listed_states if len(matching) == len(listed_states) else tuple(matching)
    if not devices and not errors:
        return _NONE_OF_POOL
    scopes = tuple(_scopes(devices, opened))
    scopes = scopes[:1] if all(each is scopes[0] for each in scopes) else scopes
    return _OfPool(devices, scopes, _tally(frozenset(opened.kinds(devices).items())), errors or _NO_ERRORS)


@lru_cache(maxsize=1024)
def _tally(kinds: frozenset[tuple[tuple[DeviceState, bool, bool], int]]) -> DeviceTally:
    """How many there are of each kind, once for all pools with the same numbers; nobody adds to it."""
    tally = DeviceTally()
    for kind, number in kinds:
        tally.device(*kind, number)
    return tally


def _scopes(listed_states: Iterable[ListedState], opened: PoolFacts) -> Iterator[Scope]:
    """Where each of the devices can be used; those of a slice can be at the same place, or it says for each."""
    of_slice, last = Scope(ScopeKind.PER_DEVICE), None
    for each in listed_states:
        if each.slice is not last:
            of_slice, last = slice_scope(each.slice, opened.state), each.slice
        own = of_slice.kind is ScopeKind.PER_DEVICE
        yield device_scope(each.device, each.slice, opened.state) if own else of_slice


# --- per node -------------------------------------------------------------------------------------------------------


def _offers(members: _Members, constrained: Sequence[str], state: ClusterState) -> tuple[NodeOffer, ...] | None:
    if members.shared and not state.evidence.complete("Node"):
        return None
    nodes = sorted(set(members.local) | (set(state.inventory.nodes) if members.shared else set()))
    by_offer: defaultdict[NodeOffer, list[str]] = defaultdict(list)
    for node in nodes:
        near = [member for member in members.shared if usable_on(node, member.scope, state)]
        here = members.local.get(node, []) + near
        if here:
            by_offer[_offer(here, constrained, state)].append(node)
    offers = [
        NodeOffer(tuple(names[:_SHOWN]), len(names), offer.devices, offer.free, offer.together, offer.alike)
        for offer, names in by_offer.items()
    ]
    return tuple(sorted(offers, key=lambda offer: (-offer.together.value, -offer.free.value, offer.nodes)))


def _offer(members: Sequence[_Member], constrained: Sequence[str], state: ClusterState) -> NodeOffer:
    sure = bound_of(DeviceState.FREE, state.evidence)
    free = [member for member in members if member.free]
    size, exact = _together(free)
    together = Count(size, sure if exact else Bound.UNKNOWN if sure is not Bound.EXACT else Bound.AT_LEAST)
    alike = tuple(found for name in constrained if (found := _alike(name, free, sure)) is not None)
    return NodeOffer((), 0, len(members), Count(len(free), sure), together, alike)


def _together(members: Sequence[_Member]) -> tuple[int, bool]:
    """The largest set of these devices that can be allocated at once, and whether that is exact."""
    size, exact = 0, True
    consuming: defaultdict[PoolId, list[tuple[PoolCounters, Consumption]]] = defaultdict(list)
    for member in members:
        if member.counters is None or not member.device.consumes_counters:
            size += 1
        else:
            consuming[member.pool].append((member.counters, member.counters.consumption(member.device)))
    for entries in consuming.values():
        found, sure = largest_set([consumption for _, consumption in entries], entries[0][0].available)
        size, exact = size + found, exact and sure
    return size, exact


def _alike(attribute: str, free: Sequence[_Member], sure: Bound) -> AlikeSet | None:
    by_value: defaultdict[str, list[_Member]] = defaultdict(list)
    for member in free:
        value = lookup(member.device, member.pool.driver, attribute)
        if value is not None:
            by_value[attribute_text(value)].append(member)
    sizes = Counter({value: _together(members)[0] for value, members in by_value.items()})
    if not sizes:
        return None
    best, size = min(sizes.items(), key=lambda item: (-item[1], item[0]))
    return AlikeSet(attribute, best, Count(size, sure))


# --- what claims ask for --------------------------------------------------------------------------------------------


def _constrained(device_class: str, state: ClusterState) -> tuple[str, ...]:
    """The attributes that claims and templates for this class ask to match."""
    inventory = state.inventory
    specs = [claim.spec for claim in inventory.claims.values()]
    specs += [template.spec.spec for template in inventory.templates.values()]
    names = {
        constraint.match_attribute
        for spec in specs
        if device_class in class_names(spec)
        for constraint in spec.devices.constraints
        if constraint.match_attribute
    }
    return tuple(sorted(names))
