"""The immutable Inventory: every object that was read, with the indexes that all other layers use.

An Inventory is never changed; :meth:`Inventory.replace` makes another one that shares what did not change.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, TypeVar

import msgspec

from kubectl_dra.model.admission import HorizontalPodAutoscaler, LimitRange, RuntimeClass
from kubectl_dra.model.classic import (
    PodSchedulingContext,
    ResourceClaimParameters,
    ResourceClass,
    ResourceClassParameters,
)
from kubectl_dra.model.core import Event, Node, Pod, ResourceQuota, Service
from kubectl_dra.model.gang_objects import NO_GANGS, GangObjects
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.model.makers import Maker
from kubectl_dra.model.meta import LocalObject, ObjectMeta, OwnerReference
from kubectl_dra.model.policy import PodDisruptionBudget, PriorityClass
from kubectl_dra.model.poolstatus import ResourcePoolStatusRequest
from kubectl_dra.model.queues import NO_QUEUES, QueueObjects
from kubectl_dra.model.resource import (
    ConsumerReference,
    Device,
    DeviceClass,
    DeviceRequestAllocationResult,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubectl_dra.model.scheduling import CompositePodGroup, PodGroup, Workload
from kubectl_dra.model.storage import (
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.model.workloads import WorkloadObject

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})
K = TypeVar("K")
V = TypeVar("V")


def key_of(meta: ObjectMeta) -> Key:
    """The key of an object by its metadata."""
    return Key(meta.namespace, meta.name)


def group_key(pod: Pod) -> Key | None:
    """The key of the PodGroup that a pod names."""
    group = pod.spec.scheduling_group
    return Key(pod.metadata.namespace, group.pod_group_name) if group is not None else None


class Holding(msgspec.Struct, frozen=True):
    """One allocation result of one claim: who holds a device or a share of it."""

    claim: ResourceClaim
    result: DeviceRequestAllocationResult


class ClassicObjects(msgspec.Struct, frozen=True):
    """Objects of v1alpha2 and v1alpha3 that have no v1 record. A scheduling context has its pod's key."""

    classes: Mapping[str, ResourceClass] = msgspec.field(default_factory=lambda: _EMPTY)
    class_parameters: Mapping[Key, ResourceClassParameters] = msgspec.field(default_factory=lambda: _EMPTY)
    claim_parameters: Mapping[Key, ResourceClaimParameters] = msgspec.field(default_factory=lambda: _EMPTY)
    scheduling_contexts: Mapping[Key, PodSchedulingContext] = msgspec.field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True)
class StorageObjects:
    """What is known of volumes, by name or key. A CSINode has its node's name."""

    claims: Mapping[Key, PersistentVolumeClaim] = field(default_factory=lambda: _EMPTY)
    volumes: Mapping[str, PersistentVolume] = field(default_factory=lambda: _EMPTY)
    classes: Mapping[str, StorageClass] = field(default_factory=lambda: _EMPTY)
    csi_nodes: Mapping[str, CsiNode] = field(default_factory=lambda: _EMPTY)
    csi_drivers: Mapping[str, CsiDriver] = field(default_factory=lambda: _EMPTY)
    capacities: Mapping[Key, CsiStorageCapacity] = field(default_factory=lambda: _EMPTY)
    attachments: Mapping[str, VolumeAttachment] = field(default_factory=lambda: _EMPTY)

    @cached_property
    def attachments_by_node(self) -> Mapping[str, tuple[VolumeAttachment, ...]]:
        return _group((attachment.spec.node_name, attachment) for attachment in self.attachments.values())

    @cached_property
    def volumes_by_class(self) -> Mapping[str, tuple[PersistentVolume, ...]]:
        """Volumes by storage class; those without one under the empty string."""
        return _group((volume.class_name, volume) for volume in self.volumes.values())

    @cached_property
    def capacities_by_class(self) -> Mapping[str, tuple[CsiStorageCapacity, ...]]:
        return _group((capacity.storage_class_name, capacity) for capacity in self.capacities.values())


@dataclass(frozen=True)
class GroupObjects:
    """What is known of pods that are scheduled together. ``workloads`` are those of scheduling.k8s.io."""

    pod_groups: Mapping[Key, PodGroup] = field(default_factory=lambda: _EMPTY)
    workloads: Mapping[Key, Workload] = field(default_factory=lambda: _EMPTY)
    composites: Mapping[Key, CompositePodGroup] = field(default_factory=lambda: _EMPTY)


_NO_GROUPS: Final = GroupObjects()


@dataclass(frozen=True)
class Inventory:
    """All objects by key, in the order of namespace and name.

    ``pods`` holds the pods that matter to claims (all pods, or those that were not reduced); ``usage`` the sums of all
    pods per node name. ``workloads`` and ``makers`` are keyed by (kind, namespace, name).
    """

    nodes: Mapping[str, Node] = field(default_factory=lambda: _EMPTY)
    namespaces: Mapping[str, LocalObject] = field(default_factory=lambda: _EMPTY)
    pods: Mapping[Key, Pod] = field(default_factory=lambda: _EMPTY)
    usage: Mapping[str, NodeUsage] = field(default_factory=lambda: _EMPTY)
    claims: Mapping[Key, ResourceClaim] = field(default_factory=lambda: _EMPTY)
    templates: Mapping[Key, ResourceClaimTemplate] = field(default_factory=lambda: _EMPTY)
    classes: Mapping[str, DeviceClass] = field(default_factory=lambda: _EMPTY)
    slices: Mapping[str, ResourceSlice] = field(default_factory=lambda: _EMPTY)
    taint_rules: Mapping[str, DeviceTaintRule] = field(default_factory=lambda: _EMPTY)
    events: tuple[Event, ...] = ()
    quotas: Mapping[Key, ResourceQuota] = field(default_factory=lambda: _EMPTY)
    workloads: Mapping[tuple[str, str, str], WorkloadObject] = field(default_factory=lambda: _EMPTY)
    pool_statuses: Mapping[str, ResourcePoolStatusRequest] = field(default_factory=lambda: _EMPTY)
    classic: ClassicObjects = field(default_factory=ClassicObjects)
    storage: StorageObjects = field(default_factory=StorageObjects)
    priority_classes: Mapping[str, PriorityClass] = field(default_factory=lambda: _EMPTY)
    budgets: Mapping[Key, PodDisruptionBudget] = field(default_factory=lambda: _EMPTY)
    services: Mapping[Key, Service] = field(default_factory=lambda: _EMPTY)
    limit_ranges: Mapping[Key, LimitRange] = field(default_factory=lambda: _EMPTY)
    runtime_classes: Mapping[str, RuntimeClass] = field(default_factory=lambda: _EMPTY)
    autoscalers: Mapping[Key, HorizontalPodAutoscaler] = field(default_factory=lambda: _EMPTY)
    groups: GroupObjects = field(default_factory=lambda: _NO_GROUPS)
    queues: QueueObjects = NO_QUEUES
    gangs: GangObjects = NO_GANGS
    makers: Mapping[tuple[str, str, str], Maker] = field(default_factory=lambda: _EMPTY)

    def replace(self, **changes: Any) -> Inventory:  # noqa: ANN401
        """Another Inventory with some fields replaced; indexes of fields that stay the same are not made again."""
        other = dataclasses.replace(self, **changes)
        for index, field_name in _INDEXED.items():
            if index in vars(self) and getattr(self, field_name) is getattr(other, field_name):
                vars(other)[index] = vars(self)[index]
        return other

    def follow(self, earlier: Inventory) -> None:
        """Take over what an Inventory of the same cluster has derived, as far as it is still true."""
        for index, field_name in _INDEXED.items():
            if index in vars(earlier) and index not in vars(self):
                if getattr(self, field_name) is getattr(earlier, field_name):
                    vars(self)[index] = vars(earlier)[index]
                elif index == "holdings_by_device":
                    vars(self)[index] = _later_holdings(earlier, self.claims)

    @cached_property
    def slices_by_node(self) -> Mapping[str, tuple[ResourceSlice, ...]]:
        """Slices by ``spec.nodeName``; those without one under the empty string."""
        return _group((slice_.spec.node_name or "", slice_) for slice_ in self.slices.values())

    @cached_property
    def slices_by_pool(self) -> Mapping[PoolId, tuple[ResourceSlice, ...]]:
        """All slices of a pool, every generation."""
        return _group((s.spec.pool_id, s) for s in self.slices.values())

    def newest(self, pool: PoolId) -> tuple[ResourceSlice, ...]:
        """The slices of a pool's newest generation, by name."""
        slices = self.slices_by_pool.get(pool, ())
        if len(slices) == 1:
            return slices
        generation = max((slice_.spec.pool.generation for slice_ in slices), default=0)
        current = (slice_ for slice_ in slices if slice_.spec.pool.generation == generation)
        return tuple(sorted(current, key=lambda slice_: slice_.metadata.name))

    def named(self, id_: DeviceId) -> Sequence[tuple[ResourceSlice, Device]]:
        """What the pool's newest generation lists under a name, in its slices: more than one by a driver's mistake."""
        known, pool = self._listed, id_.pool_id
        if pool not in known:
            known[pool] = {}
            for slice_ in self.newest(pool):
                for device in slice_.spec.devices:
                    known[pool].setdefault(device.name, []).append((slice_, device))
        return known[pool].get(id_.device, ())

    @cached_property
    def _listed(self) -> dict[PoolId, dict[str, list[tuple[ResourceSlice, Device]]]]:
        """Devices by name, of the pools that were asked about them."""
        return {}

    def published(self, pool: PoolId, partitionable: bool) -> Iterator[tuple[ResourceSlice, Device]]:
        """The devices of a pool's newest generation, in search order; ``partitionable`` devices are supported."""
        for slice_ in self.publishing((pool,), partitionable):
            for device in slice_.spec.devices:
                yield slice_, device

    def publishing(self, pools: Iterable[PoolId], partitionable: bool) -> Iterator[ResourceSlice]:
        """The slices of the newest generations of pools whose devices count."""
        for pool in pools:
            for slice_ in self.newest(pool):
                # A device list beside shared counters is ignored.
                if not (partitionable and slice_.spec.shared_counters):
                    yield slice_

    @cached_property
    def holdings_by_device(self) -> Mapping[DeviceId, tuple[Holding, ...]]:
        """Who holds each device according to ``status.allocation`` of the claims, admin access included."""
        return _group(pair for claim in self.claims.values() for pair in _holdings(claim))

    @cached_property
    def claims_by_namespace(self) -> Mapping[str, tuple[ResourceClaim, ...]]:
        return _group((key.namespace, claim) for key, claim in self.claims.items())

    @cached_property
    def claims_by_user(self) -> Mapping[str, tuple[ResourceClaim, ...]]:
        """Claims by the uids of their consumers; those without consumers by the uids of their owners."""
        return _group((uid, claim) for claim in self.claims.values() for uid in _users(claim))

    @cached_property
    def pods_by_uid(self) -> Mapping[str, Pod]:
        return {pod.metadata.uid: pod for pod in self.pods.values() if pod.metadata.uid}

    @cached_property
    def pods_by_claim(self) -> Mapping[Key, tuple[Pod, ...]]:
        """Pods by the claims that their spec names or their status records, ownership not checked."""
        return _group((key, pod) for pod in self.pods.values() if _has_claims(pod) for key in _claim_keys(pod))

    @cached_property
    def pods_by_group(self) -> Mapping[Key, tuple[Pod, ...]]:
        """Pods by the PodGroup that their spec names, those that have ended included."""
        return _group((key, pod) for pod in self.pods.values() if (key := group_key(pod)) is not None)

    @cached_property
    def events_by_object(self) -> Mapping[tuple[str, str, str], tuple[Event, ...]]:
        """Events by (kind, namespace, name) of the object they are about."""
        return _group((_about(event), event) for event in self.events)


def _later_holdings(earlier: Inventory, claims: Mapping[Key, ResourceClaim]) -> Mapping[DeviceId, tuple[Holding, ...]]:
    """The holdings of ``claims``, made from those of an earlier Inventory: only what has changed is looked at."""
    gone = {key: claim for key, claim in earlier.claims.items() if claims.get(key) is not claim}
    come = [claim for key, claim in claims.items() if earlier.claims.get(key) is not claim]
    index = dict(earlier.holdings_by_device)
    for device in {device for claim in gone.values() for device, _ in _holdings(claim)}:
        kept = tuple(holding for holding in index.pop(device) if key_of(holding.claim.metadata) not in gone)
        if kept:
            index[device] = kept
    for claim in come:
        for device, holding in _holdings(claim):
            index[device] = (*index.get(device, ()), holding)
    return index


def _holdings(claim: ResourceClaim) -> Iterator[tuple[DeviceId, Holding]]:
    if claim.status.allocation is not None:
        for result in claim.status.allocation.devices.results:
            yield DeviceId(result.driver, result.pool, result.device), Holding(claim, result)


def _users(claim: ResourceClaim) -> set[str]:
    users: Iterable[ConsumerReference | OwnerReference] = claim.status.reserved_for or claim.metadata.owner_references
    return {user.uid for user in users}


#: Each index, and the field that it is made from.
_INDEXED: Final[Mapping[str, str]] = {
    "slices_by_node": "slices",
    "slices_by_pool": "slices",
    "_listed": "slices",
    "holdings_by_device": "claims",
    "claims_by_namespace": "claims",
    "claims_by_user": "claims",
    "pods_by_uid": "pods",
    "pods_by_claim": "pods",
    "pods_by_group": "pods",
    "events_by_object": "events",
}


def _group(pairs: Iterable[tuple[K, V]]) -> dict[K, tuple[V, ...]]:
    groups: defaultdict[K, list[V]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return {key: tuple(values) for key, values in groups.items()}


def _has_claims(pod: Pod) -> bool:
    status = pod.status
    recorded = status.resource_claim_statuses or status.extended_resource_claim_status is not None
    return bool(recorded or pod.spec.resource_claims)


def _claim_keys(pod: Pod) -> set[Key]:
    namespace = pod.metadata.namespace
    names = {entry.resource_claim_name for entry in pod.spec.resource_claims}
    names |= {entry.source.resource_claim_name for entry in pod.spec.resource_claims if entry.source is not None}
    names |= {status.resource_claim_name for status in pod.status.resource_claim_statuses}
    if pod.status.extended_resource_claim_status is not None:
        names.add(pod.status.extended_resource_claim_status.resource_claim_name)
    return {Key(namespace, name) for name in names if name}


def _about(event: Event) -> tuple[str, str, str]:
    about = event.regarding if event.regarding is not None and event.regarding.name else event.involved_object
    return about.kind, about.namespace, about.name
