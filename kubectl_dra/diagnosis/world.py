"""What one diagnosis works with: the Inventory, how complete it is, the features, and indexes shared by all pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from kubectl_dra.allocation.allocated import AllocatedState
from kubectl_dra.allocation.allocator import Cluster
from kubectl_dra.diagnosis.agreement import newest_versions
from kubectl_dra.diagnosis.gates import DEFAULT_SCHEDULER
from kubectl_dra.diagnosis.nodefilters.repelled import Repelled, Repelling, repelling
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.scheduler.binding import parse_time
from kubectl_dra.scheduler.claims import extended_claims
from kubectl_dra.scheduler.extended import ClassMap, clashing, class_by_resource
from kubectl_dra.scheduler.snapshot import DEFAULT_BINDING_TIMEOUT


@dataclass(frozen=True, slots=True)
class Options:
    """What can't be read from the API.

    ``now``: the time of the evidence, None takes that of its latest read. ``schedulers``: names that the default
    scheduler's configuration has profiles for.
    """

    now: datetime | None = None
    binding_timeout: timedelta = DEFAULT_BINDING_TIMEOUT
    schedulers: frozenset[str] = frozenset({DEFAULT_SCHEDULER})


#: What is derived, and the parts of the Inventory that it is made from.
_MADE_FROM: Final[Mapping[str, tuple[str, ...]]] = {
    "cluster": ("slices", "classes", "claims", "taint_rules"),
    "served": ("classes",),
    "clashes": ("classes",),
    "extended_claims": ("claims",),
    "nominated": ("pods",),
    "usage": ("usage",),
    "repelling": ("usage", "nodes"),
    "sharing_hides_counters": ("slices",),
}


#: What also depends on how completely kinds were read.
_READ: Final = frozenset({"usage", "repelling"})


@dataclass(frozen=True)
class World:
    """The facts; everything derived is made once, when it is first needed."""

    inventory: Inventory
    evidence: Evidence
    features: Features
    options: Options = Options()

    @cached_property
    def cluster(self) -> Cluster:
        """The devices, as the allocator sees them."""
        inventory = self.inventory
        return Cluster.of(
            inventory.slices.values(),
            inventory.classes.values(),
            inventory.claims.values(),
            self.features,
            tuple(inventory.taint_rules.values()),
        )

    def changed(self, inventory: Inventory, evidence: Evidence | None = None) -> World:
        """The World of a changed Inventory; what its changes can't touch is taken over as it is.

        With other ``evidence`` it is the same cluster later: what depends on what was read is made anew.
        """
        world = World(inventory, evidence if evidence is not None else self.evidence, self.features, self.options)
        old = self.inventory
        for name, fields in _MADE_FROM.items():
            if evidence is not None and name in _READ:
                continue
            if name in vars(self) and all(getattr(old, field) is getattr(inventory, field) for field in fields):
                vars(world)[name] = vars(self)[name]
        same = inventory.slices is old.slices and inventory.taint_rules is old.taint_rules
        if same and "cluster" not in vars(world) and (evidence is None or "cluster" in vars(self)):
            vars(world)["cluster"] = self._cluster_of(inventory)
        return world

    def _cluster_of(self, inventory: Inventory) -> Cluster:
        """The cluster of an Inventory with the same slices and taint rules."""
        held = self.cluster.allocated
        if inventory.claims is not self.inventory.claims:
            held = AllocatedState(inventory.claims.values(), self.features)
        return Cluster(self.cluster.index, dict(inventory.classes), held, self.features)

    @cached_property
    def served(self) -> ClassMap:
        """The class behind each extended resource; empty while that feature is off."""
        return class_by_resource(self.inventory.classes.values()) if self.features.extended_resource else {}

    @cached_property
    def clashes(self) -> tuple[str, ...]:
        """Extended resources that several classes claim."""
        return clashing(self.inventory.classes.values())

    @cached_property
    def extended_claims(self) -> Mapping[tuple[Key, str], ResourceClaim]:
        """The claims made for extended resources, by pod name and uid."""
        return extended_claims(self.inventory)

    @cached_property
    def nominated(self) -> tuple[Pod, ...]:
        """Pods that are about to get a node."""
        pods = self.inventory.pods.values()
        return tuple(pod for pod in pods if pod.status.nominated_node_name and not pod.spec.node_name)

    @cached_property
    def usage(self) -> Mapping[str, NodeUsage] | None:
        """What pods take of each node; None if not all pods are known."""
        return self.inventory.usage if self.evidence.complete("Pod") else None

    @cached_property
    def repelling(self) -> Repelling:
        """The required anti-affinity of pods on nodes, and the labels of those nodes; empty if pods are not known."""
        return repelling(self.inventory.nodes.values(), self.usage) if self.usage is not None else {}

    def repelled(self, pod: Pod) -> Repelled:
        """From where pods that are there keep ``pod`` away."""
        return Repelled.of(pod, self.repelling, self.inventory.namespaces, self.evidence.complete("Namespace"))

    @cached_property
    def newest(self) -> tuple[tuple[int, str], ...]:
        """The highest resource versions of what decisions depend on, with the uid of the object."""
        return newest_versions(self.inventory)

    @cached_property
    def now(self) -> datetime | None:
        """The time that the evidence is of; None if nothing tells."""
        if self.options.now is not None:
            return self.options.now
        times = [read.time for read in self.evidence.reads if read.time]
        return parse_time(max(times)) if times else None

    @cached_property
    def blind(self) -> bool:
        """Whether devices may be in use or tainted that look free."""
        rules = not self.features.device_taint_rules or self.evidence.complete("DeviceTaintRule")
        return not (rules and self.evidence.complete("ResourceClaim"))

    @cached_property
    def sharing_hides_counters(self) -> bool:
        """Whether a device may be shared and draws on counters: once shared, its counters are not looked at again.

        Only then can an unseen allocation make more devices available instead of fewer.
        """
        devices = (device for slice_ in self.inventory.slices.values() for device in slice_.spec.devices)
        return any(device.allow_multiple_allocations and device.consumes_counters for device in devices)
