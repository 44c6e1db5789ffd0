"""One pool opened up: the allocator's judgement and counters, who holds its devices, the rules that touch it.

Every view of pools and devices (pages, lists, classes, taints) starts from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kubectl_dra.allocation.allocated import DeviceState as Held
from kubectl_dra.allocation.counters import PoolCounters
from kubectl_dra.allocation.pools import Pool
from kubectl_dra.allocation.taints import selects
from kubectl_dra.model.evidence import Evidence, pool_fields
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import Device, DeviceTaintRule, ResourceSlice
from kubectl_dra.reports.device_state import DeviceState, device_state
from kubectl_dra.reports.facts import Facts
from kubectl_dra.reports.pool_state import Judged, PoolState, PoolView, Views, node_views, whole_pool
from kubectl_dra.reports.scope import device_scope, usable_on
from kubectl_dra.reports.taints import TaintRecord, device_taints


@dataclass(slots=True)
class PoolFacts:
    """One pool opened up: the allocator's record of it, its counters, the rules that touch it."""

    id: PoolId
    facts: Facts
    judged: Judged
    views: Views
    counters: PoolCounters | None
    held: Mapping[str, Held]
    rules: Sequence[DeviceTaintRule]
    slices: tuple[ResourceSlice, ...]

    @property
    def evidence(self) -> Evidence:
        """What is known of this pool: other pools' slices need not have been read."""
        return self.facts.evidence.within(pool_fields(self.id))

    @property
    def view(self) -> PoolView:
        """The pool as a node sees it that can use every slice."""
        return self.judged.view

    @property
    def pool(self) -> Pool | None:
        """The allocator's record of it."""
        return self.judged.pool

    def devices(self) -> Iterator[tuple[ResourceSlice, Device]]:
        """The devices that the newest generation publishes, in search order."""
        partitionable = self.facts.features.partitionable_devices
        for slice_ in self.slices:
            # A device list beside shared counters is ignored.
            if not (partitionable and slice_.spec.shared_counters):
                for device in slice_.spec.devices:
                    yield slice_, device

    def state(self, device: Device, slice_: ResourceSlice, tainted: bool) -> DeviceState:
        """The state of one of its devices."""
        held, features = self.held.get(device.name), self.facts.features
        return device_state(device, held, self.offered(device, slice_), tainted, self.counters, features)

    def offered(self, device: Device, slice_: ResourceSlice) -> bool:
        """Whether some node that can use the device sees a pool that is ready."""
        ready = self.views.ready
        if ready is None:
            return self.view.state is PoolState.READY
        scope = device_scope(device, slice_, self.facts)
        return any(usable_on(node, scope, self.facts) for node in ready)

    def taints(self, device: Device, slice_: ResourceSlice) -> tuple[TaintRecord, ...]:
        """The taints of one of its devices."""
        if not device.taints and not self.rules:
            return ()
        return device_taints(device, slice_.spec, self.rules, self.facts.features)

    def device_id(self, device: Device) -> DeviceId:
        """The id of one of its devices."""
        return DeviceId(self.id.driver, self.id.pool, device.name)

    def admin_only(self, device: Device) -> bool:
        """Whether only admin access holds it."""
        return device.name not in self.held and self.device_id(device) in self.facts.inventory.holdings_by_device


def open_pool(pool: PoolId, facts: Facts) -> PoolFacts:
    """Open one pool of the inventory."""
    judged = whole_pool(pool, facts)
    held = facts.allocated.pool(*pool)
    counters = PoolCounters(judged.pool, held) if judged.pool is not None and judged.pool.counter_sets else None
    rules = [rule for rule in facts.rules if selects(rule, *pool)]
    return PoolFacts(pool, facts, judged, node_views(pool, facts), counters, held, rules, facts.newest(pool))
