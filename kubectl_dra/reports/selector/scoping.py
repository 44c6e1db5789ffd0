"""The devices that selectors are tried on, and their state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kubectl_dra.allocation import Cluster
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import Device, DeviceClass
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.device_state import AVAILABLE, DeviceState
from kubectl_dra.reports.devices.open_pool import open_pool
from kubectl_dra.reports.scope import device_scope, usable_on
from kubectl_dra.selectors.catalog import Catalog, PublishedDevices
from kubectl_dra.selectors.values import ValueIndex


@dataclass(frozen=True, slots=True)
class Where:
    """Which devices are in scope; None everywhere means all."""

    driver: str | None = None
    pool: str | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True)
class ScopedDevice:
    """A device in scope. ``skipped``: the scheduler does not evaluate selectors on it now."""

    driver: str
    pool: str
    device: Device
    state: DeviceState
    state_bound: Bound
    skipped: bool

    @property
    def id(self) -> DeviceId:
        return DeviceId(self.driver, self.pool, self.device.name)

    @property
    def free(self) -> bool:
        """Whether a request without tolerations could get it, or a share of it."""
        return self.state in AVAILABLE


@dataclass(frozen=True)
class Setting:
    """What all questions of one call share. ``extra`` are classes of manifests, which hide those of the cluster."""

    state: ClusterState
    where: Where = Where()
    extra: Mapping[str, DeviceClass] = field(default_factory=dict)

    @cached_property
    def classes(self) -> Mapping[str, DeviceClass]:
        return dict(sorted({**self.state.inventory.classes, **self.extra}.items()))

    @cached_property
    def cluster(self) -> Cluster:
        """What a scheduling attempt sees."""
        return self.state.changed(self.state.inventory.replace(classes=self.classes)).devices

    @cached_property
    def _scoped(self) -> tuple[tuple[ScopedDevice, ...], Mapping[PoolId, int]]:
        members: list[ScopedDevice] = []
        not_ready: dict[PoolId, int] = {}
        for pool in self.state.pools:
            if self.where.driver in (None, pool.driver) and self.where.pool in (None, pool.pool):
                for member, offered in _members(pool, self.state, self.where.node):
                    members.append(member)
                    if not offered:
                        not_ready[pool] = not_ready.get(pool, 0) + 1
        return tuple(members), not_ready

    @property
    def members(self) -> tuple[ScopedDevice, ...]:
        """The devices in scope, by driver and pool, in search order."""
        return self._scoped[0]

    @property
    def not_ready(self) -> Mapping[PoolId, int]:
        """Pools in scope whose devices the scheduler does not look at, with the number of those."""
        return self._scoped[1]

    @cached_property
    def published(self) -> PublishedDevices[ScopedDevice]:
        """The devices in scope, to try selectors on."""
        return PublishedDevices(self.members)

    @property
    def catalog(self) -> Catalog:
        return self.published.catalog


@derived()
def value_index(state: ClusterState) -> ValueIndex:
    return ValueIndex(all_devices(state).members)


@derived()
def all_devices(state: ClusterState) -> Setting:
    return Setting(state)


def _members(pool: PoolId, state: ClusterState, node: str | None) -> Iterable[tuple[ScopedDevice, bool]]:
    opened = open_pool(pool, state)
    for slice_, device in opened.devices():
        if node is not None and not usable_on(node, device_scope(device, slice_, state), state):
            continue
        tainted = any(taint.prevents for taint in opened.taints(device, slice_))
        offered = opened.offered(device, slice_)
        held = opened.held.get(device.name)
        skipped = not offered or (held is not None and held.dedicated)
        found = opened.state_of(device, slice_, tainted)
        yield ScopedDevice(pool.driver, pool.pool, device, found, opened.state_bounds[found], skipped), offered
