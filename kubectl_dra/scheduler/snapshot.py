"""The cluster as one scheduling attempt sees it: nodes with the pods on them, and everything that plugins look up.

Upstream: the scheduler's Snapshot and NodeInfo, and the informers behind the plugins. What is derived is made once and
shared by all attempts on the same snapshot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import eq, is_
from types import MappingProxyType
from typing import Any, Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model import differences
from kubectl_dra.model.core import Node
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.podinfo import PodInfo, PodShape, pod_info
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.terms import NO_TERMS, AffinityTerm
from kubectl_dra.model.usage import Ledger, NodeUsage, is_terminal, usage_of
from kubectl_dra.scheduler.claims import known_extended_claims
from kubectl_dra.scheduler.extended import ClassMap, served_resources

_NOTHING: Final = NodeUsage()
# Where pods change on more nodes than this, counting them anew is as quick.
_FEW: Final = 100
_CHANGED: Final = f"{__name__}._changed_nodes"
_NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node and what is on it; never changed but for a ledger, :meth:`plus` and :meth:`minus` make another one."""

    node: Node
    usage: NodeUsage | Ledger = _NOTHING
    #: The node's name: each kind of waiting pod asks for that of each node several times.
    name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.node.metadata.name)

    @property
    def labels(self) -> Mapping[str, str]:
        return self.node.metadata.labels

    @property
    def pods(self) -> tuple[PodInfo, ...]:
        """The pods on the node that are not finished."""
        return self.usage.placed

    def plus(self, pod: PodInfo) -> NodeInfo:
        return NodeInfo(self.node, self.usage.plus(usage_of(pod)))

    def minus(self, pod: PodInfo) -> NodeInfo:
        """Without one of its pods; host ports become free as upstream frees them, see :meth:`NodeUsage.minus`."""
        return NodeInfo(self.node, self.usage.minus(usage_of(pod)))


class AlikePods(msgspec.Struct, frozen=True):
    """Pods that plugins can't tell apart, and how many of them are on which node."""

    shape: PodShape
    nodes: Mapping[str, int]


class Image(msgspec.Struct, frozen=True):
    """An image: its bytes on the first node that has it, and how many nodes have it."""

    size: int
    nodes: int


# --- facts that stay true until their parts change ------------------------------------------------------------------


def _changed_nodes(before: ClusterState, after: ClusterState) -> list[str] | None:
    """The nodes on which other pods are than before, and those that have come; None if more has changed than that."""
    known: dict[str, Any] = vars(after)
    # Several facts ask the same; what is compared is kept with the answer.
    compared = before.inventory.nodes, before.usage
    if _CHANGED in known and all(map(is_, known[_CHANGED][0], compared)):
        found: list[str] | None = known[_CHANGED][1]
        return found
    found = _compared(before, after)
    known[_CHANGED] = compared, found
    return found


def _compared(before: ClusterState, after: ClusterState) -> list[str] | None:
    nodes = after.inventory.nodes
    come = _new_nodes(before.inventory.nodes, nodes)
    if come is None or (before.usage is None) != (after.usage is None):
        return None
    old, new = before.usage or {}, after.usage or {}
    # New ones first, in their order.
    found = dict.fromkeys((*come, *differences.changed(old, new), *differences.gone(old, new)))
    return [name for name in found if name in nodes]


def _new_nodes(before: Mapping[str, Node], after: Mapping[str, Node]) -> list[str] | None:
    """The nodes that have come after all others; None if any has gone, or is another one."""
    if before is after:
        return []
    kept = len(before) <= len(after) and all(map(eq, before, after)) and all(map(is_, before.values(), after.values()))
    return list(after)[len(before) :] if kept else None


def _later_nodes(
    nodes: Mapping[str, NodeInfo], before: ClusterState, after: ClusterState
) -> Mapping[str, NodeInfo] | None:
    changed = _changed_nodes(before, after)
    if changed is None:
        return None
    usage, known = after.usage or {}, after.inventory.nodes
    return {**nodes, **{name: NodeInfo(known[name], usage.get(name, _NOTHING)) for name in changed}}


@derived("nodes", "usage", read=True, later=_later_nodes)
def _nodes(state: ClusterState) -> Mapping[str, NodeInfo]:
    usage = state.usage or {}
    return {name: NodeInfo(node, usage.get(name, _NOTHING)) for name, node in state.inventory.nodes.items()}


@derived("nodes")
def _places(state: ClusterState) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(state.inventory.nodes)}


def _later_shapes(
    shapes: Mapping[int, AlikePods], before: ClusterState, after: ClusterState
) -> Mapping[int, AlikePods] | None:
    changed = _changed_nodes(before, after)
    if changed is None or len(changed) > _FEW:
        return None
    found, alike = dict(shapes), dict[int, PodShape]()
    differs: dict[int, Counter[str]] = {}
    for name in changed:
        old = _nodes(before)[name].pods if name in before.inventory.nodes else ()
        for pods, delta in ((old, -1), (_nodes(after)[name].pods, 1)):
            for pod in pods:
                alike[id(pod.shape)] = pod.shape
                differs.setdefault(id(pod.shape), Counter())[name] += delta
    for shape, numbers in differs.items():
        # A copy has all of thousands of nodes: only where pods have come or gone.
        if any(numbers.values()):
            nodes = dict(found[shape].nodes) if shape in found else {}
            for name, delta in numbers.items():
                if not (number := nodes.pop(name, 0) + delta):
                    continue
                nodes[name] = number
            found[shape] = AlikePods(alike[shape], nodes)
    return found


@derived("nodes", "usage", read=True, later=_later_shapes)
def _shapes(state: ClusterState) -> Mapping[int, AlikePods]:
    """By identity of the shape, which is kept with it."""
    found: dict[int, tuple[PodShape, dict[str, int]]] = {}
    for name, info in _nodes(state).items():
        for pod in info.usage.placed:
            _, nodes = found.setdefault(id(pod.shape), (pod.shape, {}))
            nodes[name] = nodes.get(name, 0) + 1
    return {key: AlikePods(shape, nodes) for key, (shape, nodes) in found.items()}


@derived("nodes", "usage", read=True)
def _placed(state: ClusterState) -> tuple[AlikePods, ...]:
    return tuple(_shapes(state).values())


@derived("nodes", "usage", read=True)
def _placed_by_namespace(state: ClusterState) -> Mapping[str, tuple[AlikePods, ...]]:
    found: dict[str, list[AlikePods]] = {}
    for each in _placed(state):
        found.setdefault(each.shape.namespace, []).append(each)
    return {namespace: tuple(placed) for namespace, placed in found.items()}


@derived("nodes", "usage", read=True)
def _placed_with_terms(state: ClusterState) -> tuple[AlikePods, ...]:
    return tuple(each for each in _placed(state) if each.shape.terms != NO_TERMS)


def _later_anti_affinity(found: Any, before: ClusterState, after: ClusterState) -> Any:  # noqa: ANN401
    """The same where the pods that ask anything of others are where they were."""
    if _changed_nodes(before, after) is None:
        return None
    old, new = _placed_with_terms(before), _placed_with_terms(after)
    return found if len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True)) else None


@derived("nodes", "usage", read=True, later=_later_anti_affinity)
def _anti_affinity(state: ClusterState) -> Mapping[AffinityTerm, Mapping[tuple[str, str], int]]:
    found: dict[AffinityTerm, dict[tuple[str, str], int]] = {}
    nodes = state.inventory.nodes
    for placed in _placed_with_terms(state):
        for term in placed.shape.terms.required_anti_affinity:
            pairs = found.setdefault(term, {})
            for name, number in placed.nodes.items():
                value = nodes[name].metadata.labels.get(term.topology_key)
                if value is not None:
                    pair = term.topology_key, value
                    pairs[pair] = pairs.get(pair, 0) + number
    return found


@derived("pods")
def _nominated(state: ClusterState) -> Mapping[str, tuple[PodInfo, ...]]:
    found: dict[str, tuple[PodInfo, ...]] = {}
    for pod in state.nominated:
        ours = (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in state.schedulers
        if ours and not is_terminal(pod):
            node = pod.status.nominated_node_name
            found[node] = (*found.get(node, ()), pod_info(pod))
    return found


def _later_images(images: Mapping[str, Image], before: ClusterState, after: ClusterState) -> Mapping[str, Image] | None:
    come = _new_nodes(before.inventory.nodes, after.inventory.nodes)
    return _with_images(images, map(after.inventory.nodes.__getitem__, come)) if come is not None else None


@derived("nodes", later=_later_images)
def _images(state: ClusterState) -> Mapping[str, Image]:
    return _with_images({}, state.inventory.nodes.values())


def _with_images(before: Mapping[str, Image], nodes: Iterable[Node]) -> Mapping[str, Image]:
    """With the images of further nodes."""
    found = dict(before)
    for node in nodes:
        for image in node.status.images:
            for name in image.names:
                known = found.get(name)
                found[name] = Image(image.size_bytes, 1) if known is None else Image(known.size, known.nodes + 1)
    return found


class Snapshot(msgspec.Struct, frozen=True):
    """The view of a ClusterState that plugins have.

    ``pending``: the claims whose allocation was made in the same cycle of a group and is written nowhere. ``copied``:
    it is a copy of the scheduler's own snapshot, which has lost on how many nodes an image is, so that none counts.
    """

    state: ClusterState
    pending: frozenset[Key] = frozenset()
    copied: bool = False

    @property
    def inventory(self) -> Inventory:
        return self.state.inventory

    @property
    def evidence(self) -> Evidence:
        """How completely they were read."""
        return self.state.evidence

    @property
    def features(self) -> Features:
        return self.state.features

    def complete(self, kind: str) -> bool:
        return self.state.evidence.complete(kind)

    @property
    def served(self) -> ClassMap:
        """The class behind each extended resource; empty while that feature is off."""
        return served_resources(self.state)

    @property
    def extended_claims(self) -> Mapping[tuple[Key, str], ResourceClaim]:
        """The claims made for extended resources, by pod name and uid."""
        return known_extended_claims(self.state)

    @property
    def images(self) -> Mapping[str, Image]:
        """Images by all their names."""
        return {} if self.copied else _images(self.state)

    @property
    def nodes(self) -> Mapping[str, NodeInfo]:
        """All nodes by name, in the order in which they were read; without pods if not all pods are known."""
        return _nodes(self.state)

    @property
    def places(self) -> Mapping[str, int]:
        """The place of each node in that order."""
        return _places(self.state)

    @property
    def placed(self) -> tuple[AlikePods, ...]:
        """All pods on nodes of the cluster, those that plugins can't tell apart together."""
        return _placed(self.state)

    @property
    def placed_by_namespace(self) -> Mapping[str, tuple[AlikePods, ...]]:
        """The same by namespace of the pods."""
        return _placed_by_namespace(self.state)

    @property
    def placed_with_terms(self) -> tuple[AlikePods, ...]:
        """Those that ask anything of other pods."""
        return _placed_with_terms(self.state)

    @property
    def anti_affinity(self) -> Mapping[AffinityTerm, Mapping[tuple[str, str], int]]:
        """The required anti-affinity of pods on nodes: how many have each term, by key and value of their node."""
        return _anti_affinity(self.state)

    @property
    def nominated(self) -> Mapping[str, tuple[PodInfo, ...]]:
        """By node, the waiting pods of these profiles that are about to get it."""
        return _nominated(self.state)

    def labels_of_namespace(self, namespace: str) -> Mapping[str, str]:
        """The labels of a namespace; none if there is no such object."""
        found = self.state.inventory.namespaces.get(namespace)
        return found.metadata.labels if found is not None else _NO_LABELS
