"""One pool opened up: the allocator's judgement and counters, who holds its devices, the rules that touch it.

Every view of pools and devices (pages, lists, classes, taints) starts from here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import msgspec

from kubectl_dra.allocation.checks.counters import PoolCounters
from kubectl_dra.allocation.input.allocated import DeviceHold
from kubectl_dra.allocation.input.pools import NodePool
from kubectl_dra.allocation.input.taints import is_narrowed, selects
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.evidence import Evidence, pool_fields
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import Device, DeviceTaintRule, ResourceSlice
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.closed_nodes import Closed, closed_nodes, closed_scope
from kubectl_dra.reports.devices.device_state import DeviceState, device_state
from kubectl_dra.reports.devices.pool_state import ALLOCATED_FROM, PoolVerdict, PoolView, Views, node_views, whole_pool
from kubectl_dra.reports.devices.totals import state_bounds
from kubectl_dra.reports.scope import ScopeKind, device_scope, slice_scope, usable_on
from kubectl_dra.reports.taints.taints import TaintRecord, device_taints
from kubectl_dra.selectors.visible import is_broken

T = TypeVar("T")


class ListedState(msgspec.Struct, gc=False):
    """One published device as it stands; ``tainted`` if a taint keeps requests without a toleration away.

    Not watched for cycles, of which there are none: there may be 80,000.
    """

    slice: ResourceSlice
    device: Device
    state: DeviceState
    tainted: bool


class PoolCache(msgspec.Struct, eq=False):
    """What was worked out of one pool; true as long as nothing of the pool has changed."""

    verdict: PoolVerdict
    views: Views
    counters: PoolCounters | None
    held: Mapping[str, DeviceHold]
    admin: Collection[str]
    rules: Sequence[DeviceTaintRule]
    slices: tuple[ResourceSlice, ...]
    by_selector: bool
    listed_states: tuple[ListedState, ...] | None = None
    #: What reports made of it, by the name of the report.
    made: dict[str, Any] = msgspec.field(default_factory=dict)


class PoolFacts(msgspec.Struct):
    """One pool opened up: the allocator's record of it, its counters, the rules that touch it."""

    id: PoolId
    state: ClusterState
    cache: PoolCache

    @property
    def judged(self) -> PoolVerdict:
        """What the allocator makes of it, for a node that can use every slice."""
        return self.cache.verdict

    @property
    def views(self) -> Views:
        """How nodes see it."""
        return self.cache.views

    @property
    def counters(self) -> PoolCounters | None:
        return self.cache.counters

    @property
    def held(self) -> Mapping[str, DeviceHold]:
        return self.cache.held

    @property
    def rules(self) -> Sequence[DeviceTaintRule]:
        return self.cache.rules

    @property
    def slices(self) -> tuple[ResourceSlice, ...]:
        return self.cache.slices

    def listed_states(self) -> tuple[ListedState, ...]:
        """Its devices as they stand, in search order; worked out once."""
        cache = self.cache
        if cache.listed_states is None:
            cache.listed_states = tuple(self._listed_states())
        return cache.listed_states

    def _listed_states(self) -> Iterator[ListedState]:
        # There may be 80,000 devices: what is the same for all of a pool is asked about once.
        held, counters, features = self.held, self.counters, self.state.features
        ruled, differs, offered = bool(self.rules), self.views.ready is not None, self.view.state in ALLOCATED_FROM
        last, per_device, closed = None, False, False
        for slice_, device in self.devices():
            tainted = False
            if ruled or device.taints:
                tainted = any(taint.prevents for taint in self.taints(device, slice_))
            if differs:
                offered = self.offered(device, slice_)
            if slice_ is not last or per_device:
                last, per_device = slice_, slice_scope(slice_, self.state).kind is ScopeKind.PER_DEVICE
                closed = self.closed(device, slice_) is not None
            state = device_state(device, held.get(device.name), offered, tainted, counters, closed, features)
            yield ListedState(slice_, device, state, tainted)

    def kinds(self, listed_states: Iterable[ListedState]) -> Counter[tuple[DeviceState, bool, bool]]:
        """How many there are of each kind that a tally tells apart: state, tainted, held with admin access only."""
        return Counter((each.state, each.tainted, self.admin_only(each.device)) for each in listed_states)

    def once(self, name: str, make: Callable[[PoolFacts], T]) -> T:
        """What ``make`` makes of the pool, made once for each ``name`` while nothing of the pool changes."""
        made = self.cache.made
        if name not in made:
            made[name] = make(self)
        return cast("T", made[name])

    @property
    def evidence(self) -> Evidence:
        """What is known of this pool: other pools' slices need not have been read."""
        return self.state.evidence.within(pool_fields(self.id))

    @property
    def view(self) -> PoolView:
        """The pool as a node sees it that can use every slice."""
        return self.judged.view

    @property
    def pool(self) -> NodePool | None:
        return self.judged.pool

    def devices(self) -> Iterator[tuple[ResourceSlice, Device]]:
        """The devices that the newest generation publishes, in search order."""
        return self.state.published(self.id)

    def state_of(self, device: Device, slice_: ResourceSlice, tainted: bool) -> DeviceState:
        held, features = self.held.get(device.name), self.state.features
        closed = self.closed(device, slice_) is not None
        return device_state(device, held, self.offered(device, slice_), tainted, self.counters, closed, features)

    def closed(self, device: Device, slice_: ResourceSlice) -> Closed | None:
        """Why no node takes new pods that could use the device; None where one does, or may."""
        return closed_scope(device_scope(device, slice_, self.state), self.state)

    def offered(self, device: Device, slice_: ResourceSlice) -> bool:
        """Whether some node that can use the device sees a pool that is ready."""
        ready = self.views.ready
        if ready is None:
            return self.view.state in ALLOCATED_FROM
        scope = device_scope(device, slice_, self.state)
        return any(usable_on(node, scope, self.state) for node in ready)

    def taints(self, device: Device, slice_: ResourceSlice) -> tuple[TaintRecord, ...]:
        if not device.taints and not self.rules:
            return ()
        return device_taints(device, slice_.spec, self.rules, self.state.narrowing, self.state.features)

    @property
    def state_bounds(self) -> Mapping[DeviceState, Bound]:
        """How sure each state of its devices is."""
        return self.once("state bounds", lambda opened: state_bounds(opened.evidence))

    @property
    def holders_bound(self) -> Bound:
        return Bound.EXACT if self.state.evidence.complete("ResourceClaim") else Bound.AT_LEAST

    @property
    def taints_bound(self) -> Bound:
        return Bound.EXACT if self.state.evidence.complete("DeviceTaintRule") else Bound.AT_LEAST

    def device_id(self, device: Device) -> DeviceId:
        return DeviceId(self.id.driver, self.id.pool, device.name)

    def admin_only(self, device: Device) -> bool:
        """Whether only admin access holds it."""
        admin = self.cache.admin
        return bool(admin) and device.name in admin and device.name not in self.held

    @property
    def all_sound(self) -> bool:
        """Whether every attribute of its devices can be given to CEL."""
        return self.once("sound", lambda opened: not any(is_broken(device) for _, device in opened.devices()))


def _same(old: Sequence[object], new: Sequence[object]) -> bool:
    return old is new or (len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True)))


def _still_known(
    known: dict[PoolId, PoolCache], before: ClusterState, after: ClusterState
) -> dict[PoolId, PoolCache] | None:
    """Pools of which nothing has changed that any report of pools depends on."""
    old, new = before.inventory, after.inventory
    same_rules = _same(tuple(old.taint_rules.values()), tuple(new.taint_rules.values()))
    same_rules &= old.classes is new.classes or not any(map(is_narrowed, before.rules))
    if not same_rules or before.evidence.extent != after.evidence.extent or old.nodes.keys() != new.nodes.keys():
        return None
    known = dict(known)
    if after.allocated is not before.allocated:
        for pool in after.allocated.changed:
            known.pop(PoolId(*pool), None)
    if old.nodes is not new.nodes:
        if closed_nodes(before) != closed_nodes(after):
            return None
        known = {pool: cache for pool, cache in known.items() if not cache.by_selector}
    if old.slices is not new.slices:
        slices, later = old.slices_by_pool, new.slices_by_pool
        known = {pool: known[pool] for pool in known if _same(slices.get(pool, ()), later.get(pool, ()))}
    return known


@derived(later=_still_known)
def known_pools(_state: ClusterState) -> dict[PoolId, PoolCache]:
    """What was worked out of pools so far; filled by :func:`open_pool`."""
    return {}


def open_pool(pool: PoolId, state: ClusterState) -> PoolFacts:
    """Open one pool of the inventory; where the facts keep what was worked out, nothing is worked out twice."""
    known = known_pools(state)
    cache = known.get(pool)
    if cache is None:
        cache = _cached(pool, state)
        if state.keeps:
            known[pool] = cache
    return PoolFacts(pool, state, cache)


def _cached(pool: PoolId, state: ClusterState) -> PoolCache:
    judged, held = whole_pool(pool, state), state.allocated.pool(*pool)
    counters = PoolCounters(judged.pool, held) if judged.pool is not None and judged.pool.counter_sets else None
    rules = tuple([rule for rule in state.rules if selects(rule, *pool)])
    specs = [slice_.spec for slice_ in state.inventory.slices_by_pool.get(pool, ())]
    by_selector = any(spec.node_selector is not None or spec.per_device_node_selection for spec in specs)
    admin, views = state.allocated.admin(*pool), node_views(pool, state)
    return PoolCache(judged, views, counters, held, admin, rules, state.newest(pool), by_selector)
