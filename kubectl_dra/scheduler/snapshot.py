"""The cluster as one scheduling attempt sees it: nodes with the pods on them, and everything that plugins look up.

Upstream: the scheduler's Snapshot and NodeInfo, and the informers behind the plugins. What is derived is made once and
shared by all attempts on the same snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import Final

from kubectl_dra.allocation.allocator import Cluster
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.podinfo import PodInfo, PodShape, pod_info
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.terms import NO_TERMS, AffinityTerm
from kubectl_dra.model.usage import NodeUsage, is_terminal, usage_of
from kubectl_dra.scheduler.claims import extended_claims
from kubectl_dra.scheduler.extended import ClassMap, class_by_resource

DEFAULT_SCHEDULER: Final = "default-scheduler"
DEFAULT_BINDING_TIMEOUT: Final = timedelta(seconds=600)
_NOTHING: Final = NodeUsage()
_NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node and what is on it; never changed, :meth:`plus` and :meth:`minus` make another one."""

    node: Node
    usage: NodeUsage = _NOTHING

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.metadata.name

    @property
    def labels(self) -> Mapping[str, str]:
        """The node's labels."""
        return self.node.metadata.labels

    @property
    def pods(self) -> tuple[PodInfo, ...]:
        """The pods on the node that are not finished."""
        return self.usage.placed

    def plus(self, pod: PodInfo) -> NodeInfo:
        """With one more pod."""
        return replace(self, usage=self.usage.plus(usage_of(pod)))

    def minus(self, pod: PodInfo) -> NodeInfo:
        """Without one of its pods; host ports become free as upstream frees them, see :meth:`NodeUsage.minus`."""
        return replace(self, usage=self.usage.minus(usage_of(pod)))


@dataclass(frozen=True)
class Placed:
    """Pods that plugins can't tell apart, and how many of them are on which node."""

    shape: PodShape
    nodes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Image:
    """An image: its bytes on the first node that has it, and how many nodes have it."""

    size: int
    nodes: int


@dataclass(frozen=True)
class Snapshot:
    """The facts. ``devices``: slices, classes and what claims hold, as the allocator sees them.

    ``profiles``: the names of schedulers that have the default profile. ``now``: the time of the facts.
    """

    inventory: Inventory
    evidence: Evidence
    features: Features
    devices: Cluster
    now: datetime | None = None
    profiles: frozenset[str] = frozenset({DEFAULT_SCHEDULER})
    binding_timeout: timedelta = DEFAULT_BINDING_TIMEOUT

    @staticmethod
    def of(inventory: Inventory, evidence: Evidence, features: Features) -> Snapshot:
        """The snapshot of everything that was read."""
        devices = Cluster.of(
            inventory.slices.values(),
            inventory.classes.values(),
            inventory.claims.values(),
            features,
            tuple(inventory.taint_rules.values()),
        )
        return Snapshot(inventory, evidence, features, devices)

    @cached_property
    def served(self) -> ClassMap:
        """The class behind each extended resource; empty while that feature is off."""
        return class_by_resource(self.inventory.classes.values()) if self.features.extended_resource else {}

    @cached_property
    def extended_claims(self) -> Mapping[tuple[Key, str], ResourceClaim]:
        """The claims made for extended resources, by pod name and uid."""
        return extended_claims(self.inventory)

    @cached_property
    def images(self) -> Mapping[str, Image]:
        """Images by all their names."""
        found: dict[str, Image] = {}
        for node in self.inventory.nodes.values():
            for image in node.status.images:
                for name in image.names:
                    known = found.get(name)
                    found[name] = Image(image.size_bytes, 1) if known is None else Image(known.size, known.nodes + 1)
        return found

    def complete(self, kind: str) -> bool:
        """Whether every object of ``kind`` is known."""
        return self.evidence.complete(kind)

    @cached_property
    def nodes(self) -> Mapping[str, NodeInfo]:
        """All nodes by name, in the order in which they were read."""
        usage = self.inventory.usage
        return {name: NodeInfo(node, usage.get(name, _NOTHING)) for name, node in self.inventory.nodes.items()}

    @cached_property
    def placed(self) -> tuple[Placed, ...]:
        """All pods on nodes of the cluster, those that plugins can't tell apart together."""
        found: dict[int, tuple[PodShape, dict[str, int]]] = {}
        for name, info in self.nodes.items():
            for pod in info.usage.placed:
                _, nodes = found.setdefault(id(pod.shape), (pod.shape, {}))
                nodes[name] = nodes.get(name, 0) + 1
        return tuple(Placed(shape, nodes) for shape, nodes in found.values())

    @cached_property
    def placed_by_namespace(self) -> Mapping[str, tuple[Placed, ...]]:
        """The same by namespace of the pods."""
        found: dict[str, list[Placed]] = {}
        for each in self.placed:
            found.setdefault(each.shape.namespace, []).append(each)
        return {namespace: tuple(placed) for namespace, placed in found.items()}

    @cached_property
    def placed_with_terms(self) -> tuple[Placed, ...]:
        """Those that ask anything of other pods."""
        return tuple(each for each in self.placed if each.shape.terms != NO_TERMS)

    @cached_property
    def anti_affinity(self) -> Mapping[AffinityTerm, Mapping[tuple[str, str], int]]:
        """The required anti-affinity of pods on nodes: how many have each term, by key and value of their node."""
        found: dict[AffinityTerm, dict[tuple[str, str], int]] = {}
        for placed in self.placed_with_terms:
            for term in placed.shape.terms.required_anti_affinity:
                pairs = found.setdefault(term, {})
                for name, number in placed.nodes.items():
                    value = self.nodes[name].labels.get(term.topology_key)
                    if value is not None:
                        pair = term.topology_key, value
                        pairs[pair] = pairs.get(pair, 0) + number
        return found

    @cached_property
    def nominated(self) -> Mapping[str, tuple[PodInfo, ...]]:
        """By node, the waiting pods of these profiles that are about to get it."""
        found: dict[str, tuple[PodInfo, ...]] = {}
        for pod in self.inventory.pods.values():
            node = pod.status.nominated_node_name
            if node and self._waits(pod):
                found[node] = (*found.get(node, ()), pod_info(pod))
        return found

    def _waits(self, pod: Pod) -> bool:
        ours = (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in self.profiles
        return ours and not pod.spec.node_name and not is_terminal(pod)

    def labels_of_namespace(self, namespace: str) -> Mapping[str, str]:
        """The labels of a namespace; none if there is no such object."""
        found = self.inventory.namespaces.get(namespace)
        return found.metadata.labels if found is not None else _NO_LABELS
