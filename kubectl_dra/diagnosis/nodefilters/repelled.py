"""InterPodAffinity, one half: pods that are there keep the new one away by their required anti-affinity.

Upstream: plugins/interpodaffinity, satisfyExistingPodsAntiAffinity. What the new pod itself asks of others is not
simulated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.meta import LocalObject
from kubectl_dra.model.terms import AffinityTerm

PLUGIN: Final = "InterPodAffinity"
TEXT: Final = "node(s) didn't satisfy existing pods anti-affinity rules"
_NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})
Pair = tuple[str, str]
Repelling = Mapping[AffinityTerm, frozenset[Pair]]


@derived("usage", "nodes", read=True)
def repelling(state: ClusterState) -> Repelling:
    """Where each anti-affinity of pods on nodes holds: labels, key and value, of those nodes; none if unknown."""
    found: dict[AffinityTerm, set[Pair]] = {}
    usage = state.usage
    for node in state.inventory.nodes.values() if usage is not None else ():
        of_node = usage.get(node.metadata.name) if usage is not None else None
        for each in of_node.repels if of_node is not None else ():
            value = node.metadata.labels.get(each.topology_key)
            if value is not None:
                found.setdefault(each, set()).add((each.topology_key, value))
    return {each: frozenset(pairs) for each, pairs in found.items()}


@dataclass(frozen=True, slots=True)
class Repelled:
    """One pod among others: the labels of nodes from which it is kept away.

    ``unsure``: topology keys of terms that depend on labels of its namespace, which are not known.
    """

    namespace: str
    labels: Mapping[str, str]
    namespace_labels: Mapping[str, str]
    pairs: frozenset[Pair]
    unsure: tuple[str, ...] = ()

    @staticmethod
    def of(pod: Pod, known: Repelling, namespaces: Mapping[str, LocalObject], complete: bool) -> Repelled:
        """The pod's place. ``complete``: a namespace that is not among ``namespaces`` does not exist."""
        metadata = pod.metadata
        own = namespaces.get(metadata.namespace)
        labels = own.metadata.labels if own is not None else _NO_LABELS
        blind = own is None and not complete
        pairs: set[Pair] = set()
        unsure: dict[str, None] = {}
        for each, of_nodes in known.items():
            if blind and each.needs_labels_of(metadata.namespace):
                unsure[each.topology_key] = None
            elif each.matches(metadata.namespace, metadata.labels, labels):
                pairs |= of_nodes
        return Repelled(metadata.namespace, metadata.labels, labels, frozenset(pairs), tuple(unsure))

    def keys(self, node: Node, nominated: Iterable[AffinityTerm] = ()) -> Iterator[str]:
        """The topology keys by which the pod is kept from ``node``; pods about to come there count there only."""
        labels = node.metadata.labels
        for key in dict.fromkeys(key for key, _ in self.pairs):
            if key in labels and (key, labels[key]) in self.pairs:
                yield key
        for each in nominated:
            if each.topology_key in labels and each.matches(self.namespace, self.labels, self.namespace_labels):
                yield each.topology_key


def repelled(state: ClusterState, pod: Pod) -> Repelled:
    """From where pods that are there keep ``pod`` away."""
    return Repelled.of(pod, repelling(state), state.inventory.namespaces, state.evidence.complete("Namespace"))


NOBODY: Final = Repelled("", _NO_LABELS, _NO_LABELS, frozenset())
