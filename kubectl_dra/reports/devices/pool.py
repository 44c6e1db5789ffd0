"""describe-pool: is the pool usable, what is in it, how much of it is taken, by whom, and what still fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kubectl_dra.allocation.input.allocated import DeviceHold, nano
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain.gone_nodes import meant_by
from kubectl_dra.diagnosis.records import Missing, ObjectRef
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import (
    CapacityRequestPolicy,
    CounterConsumption,
    Device,
    DeviceAttribute,
    ResourceSlice,
)
from kubectl_dra.reports import base
from kubectl_dra.reports.claims.health import Health, health_by_device
from kubectl_dra.reports.devices.advertised import AdvertisedResource, advertised
from kubectl_dra.reports.devices.attributes import common_values, device_values, varying_names
from kubectl_dra.reports.devices.closed_nodes import closed_scope
from kubectl_dra.reports.devices.device_state import (
    AVAILABLE,
    DeviceState,
    feature_missing,
    left_of,
    shareable,
    used_text,
)
from kubectl_dra.reports.devices.holders import Holder, holder_of
from kubectl_dra.reports.devices.open_pool import ListedState, PoolFacts, open_pool
from kubectl_dra.reports.devices.partitions import (
    CounterRecord,
    PartitionType,
    counter_records,
    exclusions,
    partition_types,
)
from kubectl_dra.reports.devices.pool_state import PoolState, PoolView
from kubectl_dra.reports.devices.pool_status import DeviceUse, PoolStatusRecord, pool_statuses
from kubectl_dra.reports.devices.totals import (
    CapacityTotal,
    DeviceTally,
    DeviceTotals,
    bound_of,
)
from kubectl_dra.reports.devices.unpublished import AllocatedDevice, unpublished_names, unpublished_of_pool
from kubectl_dra.reports.devices.value_types import with_types
from kubectl_dra.reports.pending.drivers import plugins
from kubectl_dra.reports.scope import Scope, device_scope, joint_scope, slice_scope
from kubectl_dra.reports.taints.taints import TaintRecord
from kubectl_dra.reports.unread import missing_rights

KINDS = ("ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Pod", "Node")


class CapacityRecord(base.ReportRecord, frozen=True):
    """One capacity of one device; ``consumed`` and ``available`` are None where the device is not shareable."""

    name: str
    total: str
    consumed: str
    available: str
    policy: CapacityRequestPolicy | None


class DeviceRecord(base.ReportRecord, frozen=True):
    """One device. ``values`` are all attributes and capacities as text by short name, for tables.

    ``feature`` is the gate that is missing where the state is ``notOffered`` for that reason; ``excludes`` are devices
    that can't be allocated beside it, ``held_back_by`` the allocated ones that take the counter which a blocked device
    lacks first. ``scope`` is None where it is the pool's. ``state_bound`` is ``atMost`` where claims or taint rules
    could not be read, so that the device may be less available than ``state`` says; ``holders_bound`` ``atLeast``
    where others may hold it, ``taints_bound`` where it may have other taints. ``node_closed``: why no node takes new
    pods that could use it, ``cordoned``, ``notReady`` or ``noNode``; else empty.
    """

    name: str
    slice: str
    state: DeviceState
    state_bound: base.Bound
    feature: str
    shareable: bool
    values: dict[str, str]
    attributes: dict[str, DeviceAttribute]
    capacity: tuple[CapacityRecord, ...]
    consumes: tuple[CounterConsumption, ...]
    excludes: tuple[str, ...]
    held_back_by: tuple[str, ...]
    taints: tuple[TaintRecord, ...]
    taints_bound: base.Bound
    health: tuple[Health, ...]
    holders: tuple[Holder, ...]
    holders_bound: base.Bound
    scope: Scope | None
    node_closed: str
    binds_to_node: bool
    binding_conditions: tuple[str, ...]
    binding_failure_conditions: tuple[str, ...]
    node_allocatable_resources: msgspec.Raw | None


class SliceRecord(base.ReportRecord, frozen=True):
    """One slice of the pool; ``current`` if it is of the newest generation, else stale and not used.

    ``ignored``: the scheduler does not look at it, because it needs a feature that is off.
    """

    name: str
    generation: int
    expected: int
    current: bool
    ignored: bool
    devices: int
    counter_sets: tuple[str, ...]
    scope: Scope
    created: str
    partition_type_attribute: str
    skip_node_operations: tuple[str, ...]


class PoolSummary(base.ReportRecord, frozen=True):
    """One line of the list of pools, with ``views`` where nodes disagree; ``views_bound`` is unknown where they may.

    ``unpublished``: how many of its devices claims have that no slice of its newest generation publishes.
    """

    driver: str
    pool: str
    scope: Scope
    view: PoolView
    views: tuple[PoolView, ...]
    views_bound: base.Bound
    stale_slices: int
    totals: DeviceTotals
    capacity: tuple[CapacityTotal, ...]
    unpublished: int


class PoolReport(PoolSummary, frozen=True):
    """Everything about one pool. ``same`` is what all its devices have in common, ``differing`` the other names.

    ``also_advertised``: what device plugins of its nodes offer, which may be the same devices. ``allocated``: what
    claims have that is not published. ``meant``: where its node does not exist, the nodes that its name may mean.
    ``driver_pods``: of a pool of one node that can't be allocated from, what probably runs its driver there.
    """

    slices: tuple[SliceRecord, ...]
    same: dict[str, str]
    differing: tuple[str, ...]
    counters: tuple[CounterRecord, ...]
    partitions: tuple[PartitionType, ...]
    devices: tuple[DeviceRecord, ...]
    allocated: tuple[AllocatedDevice, ...]
    meant: tuple[str, ...]
    statuses: tuple[PoolStatusRecord, ...]
    driver_pods: tuple[ObjectRef, ...]
    also_advertised: tuple[AdvertisedResource, ...]
    missing: tuple[Missing, ...]
    assumed: tuple[str, ...]
    features: base.FeatureRecord
    read: tuple[base.ReadRecord, ...]
    as_of: str


# --- summary --------------------------------------------------------------------------------------------------------


def pool_summaries(state: ClusterState) -> tuple[PoolSummary, ...]:
    """One summary per pool, sorted by driver and pool."""
    return tuple(pool_summary(open_pool(pool, state)) for pool in state.pools)


def pool_summary(opened: PoolFacts) -> PoolSummary:
    return opened.once("summary", _summary)


def _summary(opened: PoolFacts) -> PoolSummary:
    facts, tally = opened.state, tally_of(opened)
    return PoolSummary(
        driver=opened.id.driver,
        pool=opened.id.pool,
        scope=pool_scope(opened),
        view=opened.view,
        views=opened.views.differing,
        views_bound=base.Bound.EXACT if opened.views.known else base.Bound.UNKNOWN,
        stale_slices=len(facts.inventory.slices_by_pool.get(opened.id, ())) - len(opened.slices),
        totals=tally.totals(opened.evidence),
        capacity=tally.capacity_totals(opened.evidence),
        unpublished=len(unpublished_names(opened)),
    )


def tally_of(opened: PoolFacts) -> DeviceTally:
    tally, shares = DeviceTally(), opened.state.features.consumable_capacity
    for kind, number in opened.kinds(opened.listed_states()).items():
        tally.device(*kind, number)
    for each in opened.listed_states() if shares else ():
        if each.device.allow_multiple_allocations:
            _tally_capacity(tally, each.device, opened.held.get(each.device.name), each.state)
    return tally


def _tally_capacity(tally: DeviceTally, device: Device, held: DeviceHold | None, state: DeviceState) -> None:
    for name, capacity in device.capacity.items():
        left = left_of(device, name, held)
        consumed = held.consumed.get(name, 0) if held is not None else 0
        if held is not None and held.dedicated:
            consumed, left = nano(capacity.value), 0
        tally.capacity(name, capacity.value, consumed, left if state in AVAILABLE else 0)


def pool_scope(opened: PoolFacts) -> Scope:
    """Where the devices of a pool can be used, as far as all its slices agree."""
    return joint_scope(slice_scope(slice_, opened.state) for slice_ in opened.slices)


def is_troubled(pool: PoolSummary) -> bool:
    """Whether the scheduler can't allocate from it, for some node or for any."""
    views = pool.views or (pool.view,)
    return any(view.state is not PoolState.READY for view in views)


# --- report ---------------------------------------------------------------------------------------------------------


def pool_report(pool: PoolId, state: ClusterState) -> PoolReport:
    """The report of one pool of the inventory."""
    opened = open_pool(pool, state)
    summary = pool_summary(opened)
    devices = with_types(device_records(opened, summary.scope), pool.driver)
    values = [device.values for device in devices]
    same = common_values(values)
    return PoolReport(
        **{name: getattr(summary, name) for name in PoolSummary.__struct_fields__},
        slices=tuple(_slice_records(opened)),
        same=same,
        differing=varying_names(values, same),
        counters=_counters(opened),
        partitions=_partitions(opened),
        devices=devices,
        allocated=tuple(unpublished_of_pool(opened)),
        statuses=_statuses(opened, devices),
        driver_pods=plugins(pool.driver, summary.scope.node, state.inventory)
        if summary.scope.node and is_troubled(summary)
        else (),
        meant=meant_by((summary.scope.node,), state.inventory.nodes) if summary.scope.nodes == 0 else (),
        also_advertised=advertised(state, filter(None, (s.spec.node_name for s in opened.slices)), (opened.id.driver,)),
        missing=missing_rights(opened.evidence, KINDS),
        assumed=base.assumptions_of(state.evidence),
        features=base.feature_record(state.features),
        read=base.reads_of(state.evidence),
        as_of=state.as_of,
    )


def _statuses(opened: PoolFacts, devices: Iterable[DeviceRecord]) -> tuple[PoolStatusRecord, ...]:
    uses = [DeviceUse(device.holders, device.taints) for device in devices]
    view = opened.judged.view
    return pool_statuses(opened.id, opened.state.inventory, view.generation, view.seen, uses)


def _slice_records(opened: PoolFacts) -> Iterator[SliceRecord]:
    slices = opened.state.inventory.slices_by_pool.get(opened.id, ())
    for slice_ in sorted(slices, key=lambda s: (-s.spec.pool.generation, s.metadata.name)):
        spec = slice_.spec
        yield SliceRecord(
            name=slice_.metadata.name,
            generation=spec.pool.generation,
            expected=spec.pool.resource_slice_count,
            current=spec.pool.generation == opened.slices[0].spec.pool.generation,
            ignored=slice_.metadata.name in opened.judged.ignored,
            devices=len(spec.devices),
            counter_sets=tuple(counter_set.name for counter_set in spec.shared_counters),
            scope=slice_scope(slice_, opened.state),
            created=slice_.metadata.creation_timestamp or "",
            partition_type_attribute=spec.partition_type_attribute or "",
            skip_node_operations=spec.skip_node_operations,
        )


def _counters(opened: PoolFacts) -> tuple[CounterRecord, ...]:
    if opened.pool is None or opened.counters is None:
        return ()
    return counter_records(opened.pool, opened.counters, opened.holders_bound)


def _partitions(opened: PoolFacts) -> tuple[PartitionType, ...]:
    if opened.counters is None:
        return ()
    return partition_types(_members(opened), opened.counters, bound_of(DeviceState.FREE, opened.evidence))


def _members(opened: PoolFacts) -> list[ListedState]:
    return [each for each in opened.listed_states() if each.device.consumes_counters]


def device_records(
    opened: PoolFacts, scope: Scope, chosen: Iterable[tuple[ResourceSlice, Device]] | None = None
) -> tuple[DeviceRecord, ...]:
    """The records of all devices of a pool (or of those chosen), in search order; ``scope`` is the pool's."""
    excludes: Mapping[str, tuple[str, ...]] = {}
    if opened.pool is not None and opened.counters is not None:
        excludes = exclusions(_members(opened), opened.pool, opened.counters)
    return tuple(
        _device_record(opened, slice_, device, scope, excludes.get(device.name, ()))
        for slice_, device in (opened.devices() if chosen is None else chosen)
    )


def _device_record(
    opened: PoolFacts, slice_: ResourceSlice, device: Device, scope: Scope, excludes: tuple[str, ...]
) -> DeviceRecord:
    facts, held = opened.state, opened.held
    taints = opened.taints(device, slice_)
    device_id = opened.device_id(device)
    own_scope = device_scope(device, slice_, facts)
    holdings = facts.inventory.holdings_by_device.get(device_id, ())
    state = opened.state_of(device, slice_, any(taint.prevents for taint in taints))
    return DeviceRecord(
        name=device.name,
        slice=slice_.metadata.name,
        state=state,
        state_bound=opened.state_bounds[state],
        feature=feature_missing(device, facts.features) or "",
        shareable=shareable(device, facts.features),
        values=device_values(device, opened.id.driver),
        attributes=dict(device.attributes),
        capacity=tuple(_capacity_records(device, held.get(device.name), shareable(device, facts.features))),
        consumes=device.consumes_counters,
        excludes=excludes,
        held_back_by=_held_back_by(opened, device) if state is DeviceState.BLOCKED else (),
        taints=taints,
        taints_bound=opened.taints_bound,
        health=health_by_device(facts).get(device_id, ()),
        holders=tuple(sorted((holder_of(h, facts) for h in holdings), key=_holder_order)),
        holders_bound=opened.holders_bound,
        scope=own_scope if own_scope != scope else None,
        node_closed=closed_scope(own_scope, facts) or "",
        binds_to_node=bool(device.binds_to_node),
        binding_conditions=device.binding_conditions or (),
        binding_failure_conditions=device.binding_failure_conditions or (),
        node_allocatable_resources=base.raw_or_none(device.node_allocatable_resources),
    )


def _held_back_by(opened: PoolFacts, device: Device) -> tuple[str, ...]:
    if opened.counters is None:
        return ()
    lacking = opened.counters.shortage(opened.counters.consumption(device))
    if lacking is None:
        return ()
    return tuple(
        other.name
        for _, other in opened.devices()
        if other.name in opened.held
        and any(c.counter_set == lacking[0] and lacking[1] in c.counters for c in other.consumes_counters)
    )


def _holder_order(holder: Holder) -> tuple[str, str, str, str]:
    return holder.namespace, holder.claim, holder.request, holder.share_id or ""


def _capacity_records(device: Device, held: DeviceHold | None, shares: bool) -> Iterator[CapacityRecord]:
    for name, capacity in sorted(device.capacity.items()):
        value = capacity.value
        consumed = available = ""
        if shares or (held is not None and held.shared):
            amount = held.consumed.get(name, 0) if held is not None else 0
            consumed = used_text(amount, value)
            available = used_text(0 if held is not None and held.dedicated else left_of(device, name, held), value)
        yield CapacityRecord(name, str(value), consumed, available, capacity.request_policy)
