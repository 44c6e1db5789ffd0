"""The cluster at one time: everything that was read, how completely, what the server can do, what time it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final
from weakref import ReferenceType, ref

from kubectl_dra.allocation.input import nodes
from kubectl_dra.allocation.input.allocated import AllocatedState
from kubectl_dra.allocation.input.pools import SliceIndex
from kubectl_dra.allocation.input.taints import Narrowing, is_narrowed, merge_rules, selects
from kubectl_dra.allocation.search.allocator import Cluster
from kubectl_dra.cluster.derived import ALL, derived
from kubectl_dra.model import differences
from kubectl_dra.model.clock import Clock, parse_time
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.resource import Device, DeviceTaintRule, ResourceSlice
from kubectl_dra.model.usage import NodeUsage

#: The timeout (bindingTimeout of DynamicResources) of a scheduler without a configuration of its own.
DEFAULT_BINDING_TIMEOUT: Final = timedelta(seconds=600)


def _later_allocated(held: AllocatedState, before: ClusterState, after: ClusterState) -> AllocatedState:
    return held.later(before.inventory.claims, after.inventory.claims)


def _later_slices(index: SliceIndex, before: ClusterState, after: ClusterState) -> SliceIndex:
    return index.following(after.inventory.slices.values())


def _later_devices(devices: Cluster, before: ClusterState, after: ClusterState) -> Cluster | None:
    old, new = before.inventory, after.inventory
    if any(map(is_narrowed, (*before.rules, *after.rules))):
        return None
    index = devices.index
    if old.slices is not new.slices or old.taint_rules is not new.taint_rules:
        if before.rules or after.rules:
            tainted = merge_rules(new.slices.values(), after.rules, after.features, after.narrowing)
            index = index.following(tainted)
        else:
            index = after.slices
    return Cluster(index, dict(new.classes), after.allocated, after.features, devices)


def _later_nominated(found: tuple[Pod, ...], before: ClusterState, after: ClusterState) -> tuple[Pod, ...] | None:
    """The same where no pod that is about to get a node is among those that have changed."""
    old, new = before.inventory.pods, after.inventory.pods
    others = differences.changed(old, new)
    if found or any(new[key].status.nominated_node_name for key in others):
        return None
    return found


@dataclass(frozen=True, eq=False)
class ClusterState:
    """One Inventory with its evidence, the features assumed, and the clock for what has no time of its own.

    ``schedulers`` (names with a profile of the default scheduler) and ``binding_timeout`` can't be read from the API.
    With ``keeps``, what was worked out of a pool is kept for the next question. ``revision`` grows with every
    :meth:`later` state.
    """

    inventory: Inventory
    evidence: Evidence
    features: Features
    clock: Clock
    keeps: bool = False
    schedulers: frozenset[str] = frozenset({DEFAULT_SCHEDULER})
    binding_timeout: timedelta = DEFAULT_BINDING_TIMEOUT
    revision: int = 0
    _former: ClusterState | None = field(default=None, repr=False)

    # --- states that follow -------------------------------------------------------------------------------------------

    def later(self, inventory: Inventory, evidence: Evidence, features: Features | None = None) -> ClusterState:
        """The same cluster later; what its changes can't touch is not derived again."""
        features = self.features if features is None else features
        former = self._base if features == self.features else None
        return replace(
            self,
            inventory=inventory,
            evidence=evidence,
            features=features,
            revision=self.revision + 1,
            _former=former,
        )

    def changed(self, inventory: Inventory) -> ClusterState:
        """The same cluster as it would be with another Inventory."""
        if inventory.slices is self.inventory.slices and inventory.taint_rules is self.inventory.taint_rules:
            # One of many changes that are tried: what they have in common is made once.
            _ = self.devices
        return replace(self, inventory=inventory, _former=self._base)

    @property
    def _base(self) -> ClusterState:
        """Where facts of a following state come from: from here, or where this state would have had them from."""
        return self if self._former is None else self._former

    @property
    def origin(self) -> ClusterState | None:
        """The state whose facts this one has taken over, while somebody else still needs it."""
        found: ReferenceType[ClusterState] | None = vars(self).get("_origin")
        return found() if found is not None else None

    def settle(self) -> None:
        """Take over from the former state what is still true; then it is not needed any more."""
        former = self._former
        if former is None:
            return
        if former.revision != self.revision:
            self.inventory.follow(former.inventory)
        # Facts that follow from a fact taken over find it there.
        vars(self)["_former"], vars(self)["_origin"] = None, ref(former)
        for fact in ALL:
            fact.take_over(former, self)

    # --- time ---------------------------------------------------------------------------------------------------------

    @cached_property
    def as_of(self) -> str:
        """The time of the last list that was read (RFC 3339, UTC); empty where no read says."""
        times = {read.time: time for read in self.evidence.reads if (time := parse_time(read.time)) is not None}
        return max(times, key=lambda text: times[text], default="")

    @property
    def observed_at(self) -> datetime | None:
        """The time that the evidence is of; None if nothing tells."""
        return parse_time(self.as_of)

    @property
    def now(self) -> datetime:
        """The time that ages are counted from: that of the evidence, so that an old snapshot reads as it was."""
        return self.observed_at or self.clock.now()

    @property
    def ahead(self) -> timedelta:
        """How far the newest object is ahead of :attr:`now`: about so far the clocks disagree. Zero if it is not."""
        newest = parse_time(max((time for time in self._creations() if time.endswith("Z")), default=""))
        return max(newest - self.now, timedelta()) if newest is not None else timedelta()

    def _creations(self) -> Iterator[str]:
        """When objects were created; as texts, which sort as the times do, since there may be 200,000."""
        inventory = self.inventory
        kinds = (inventory.pods, inventory.claims, inventory.classes, inventory.slices, inventory.taint_rules)
        for objects in kinds:
            yield from (record.metadata.creation_timestamp or "" for record in objects.values())

    # --- devices ------------------------------------------------------------------------------------------------------

    @derived("slices", later=_later_slices)
    def slices(self) -> SliceIndex:
        """All slices as they are published, as the allocator indexes them."""
        return SliceIndex(self.inventory.slices.values(), self.features)

    @derived("slices")
    def pools(self) -> tuple[PoolId, ...]:
        return tuple(sorted(self.inventory.slices_by_pool))

    def newest(self, pool: PoolId) -> tuple[ResourceSlice, ...]:
        """The slices of a pool's newest generation, by name."""
        return self.inventory.newest(pool)

    def published(self, pool: PoolId) -> Iterator[tuple[ResourceSlice, Device]]:
        """The devices that a pool's newest generation publishes, in search order."""
        return self.inventory.published(pool, self.features.partitionable_devices)

    def device(self, name: str) -> tuple[ResourceSlice, Device] | None:
        """The published device ``DRIVER/POOL/DEVICE``, in its slice; names of pools may have slashes."""
        return next(iter(self.named(DeviceId.of(name))), None)

    def named(self, id_: DeviceId) -> Sequence[tuple[ResourceSlice, Device]]:
        """What is published under a name, each in its slice: more than one device only by a driver's mistake."""
        found = self.inventory.named(id_)
        if not self.features.partitionable_devices:
            return found
        return [(slice_, device) for slice_, device in found if not slice_.spec.shared_counters]

    @derived("claims", later=_later_allocated)
    def allocated(self) -> AllocatedState:
        return AllocatedState(self.inventory.claims.values(), self.features)

    @derived("taint_rules")
    def rules(self) -> tuple[DeviceTaintRule, ...]:
        """The taint rules that the scheduler merges, in the order read."""
        return tuple(self.inventory.taint_rules.values()) if self.features.device_taint_rules else ()

    @derived("classes")
    def narrowing(self) -> Narrowing:
        """What classes and selectors leave to taint rules that have some."""
        return Narrowing(self.inventory.classes)

    def selects(self, rule: DeviceTaintRule, id_: DeviceId) -> bool:
        """Whether a taint rule selects a device; one that is not published only by its name."""
        if not selects(rule, *id_) or not is_narrowed(rule):
            return selects(rule, *id_)
        return any(self.narrowing.admits(rule, id_.driver, device) for _, device in self.named(id_))

    def selected(self, rule: DeviceTaintRule) -> Iterator[DeviceId]:
        """The published devices that a taint rule selects."""
        for pool in self.pools:
            for _, device in self.published(pool) if selects(rule, *pool) else ():
                if selects(rule, *pool, device.name) and self.narrowing.admits(rule, pool.driver, device):
                    yield DeviceId(*pool, device.name)

    @derived("slices", "classes", "claims", "taint_rules", later=_later_devices)
    def devices(self) -> Cluster:
        """Slices with the taints of rules, classes and what claims hold, as the allocator sees them."""
        classes, index = dict(self.inventory.classes), self.slices
        if self.rules:
            tainted = merge_rules(self.inventory.slices.values(), self.rules, self.features, self.narrowing)
            index = SliceIndex(tainted, self.features)
        return Cluster(index, classes, self.allocated, self.features)

    @property
    def blind(self) -> bool:
        """Whether devices may be in use or tainted that look free."""
        rules = not self.features.device_taint_rules or self.evidence.complete("DeviceTaintRule")
        return not (rules and self.evidence.complete("ResourceClaim"))

    @derived("slices")
    def sharing_hides_counters(self) -> bool:
        """Whether a device may be shared and draws on counters: once shared, its counters are not looked at again.

        Only then can an unseen allocation make more devices available instead of fewer.
        """
        devices = (device for slice_ in self.inventory.slices.values() for device in slice_.spec.devices)
        return any(device.allow_multiple_allocations and device.consumes_counters for device in devices)

    # --- nodes and pods -----------------------------------------------------------------------------------------------

    @property
    def usage(self) -> Mapping[str, NodeUsage] | None:
        """What pods take of each node; None if not all pods are known."""
        return self.inventory.usage if self.evidence.complete("Pod") else None

    @derived("pods", later=_later_nominated)
    def nominated(self) -> tuple[Pod, ...]:
        """Pods that are about to get a node."""
        pods = self.inventory.pods.values()
        return tuple(pod for pod in pods if pod.status.nominated_node_name and not pod.spec.node_name)

    def matching_nodes(self, selector: NodeSelector) -> frozenset[str] | None:
        """The names of the nodes that a selector matches; None where nodes were not read or it can't be parsed."""
        if selector not in self._matching:
            parsed = nodes.parse(selector)
            known = self.evidence.complete("Node") and not parsed.problems
            found = (name for name, node in self.inventory.nodes.items() if parsed.matches(node)) if known else ()
            self._matching[selector] = frozenset(found) if known else None
        return self._matching[selector]

    @derived("nodes", read=True)
    def _matching(self) -> dict[NodeSelector, frozenset[str] | None]:
        return {}
