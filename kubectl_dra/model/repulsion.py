"""Required anti-affinity of pods that are there, which keeps other pods away: comparable terms, and what they match.

Upstream: the scheduler's AffinityTerm and its namespaces. What follows for nodes is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kubectl_dra.model.affinity import PodAffinityTerm
from kubectl_dra.model.core import Pod
from kubectl_dra.model.meta import LabelSelector, NodeSelectorRequirement

Requirements = tuple[NodeSelectorRequirement, ...]


@dataclass(frozen=True, slots=True)
class Repulsion:
    """One term: pods of ``namespaces``, or of those that ``namespace_selector`` takes, with labels of ``selector``.

    A selector that is None takes nothing, an empty one everything.
    """

    topology_key: str
    namespaces: frozenset[str]
    selector: Requirements | None
    namespace_selector: Requirements | None = None

    def needs_labels_of(self, namespace: str) -> bool:
        """Whether it depends on the labels of a namespace if it matches pods there."""
        return namespace not in self.namespaces and bool(self.namespace_selector)

    def matches(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        """Whether it keeps a pod of ``namespace`` with ``labels`` away."""
        inside = namespace in self.namespaces or _selects(self.namespace_selector, namespace_labels)
        return inside and _selects(self.selector, labels)


def repulsions(pod: Pod) -> Iterator[Repulsion]:
    """The required anti-affinity terms of a pod."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return
    for term in affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution:
        yield _repulsion(term, pod.metadata.namespace)


def _repulsion(term: PodAffinityTerm, own: str) -> Repulsion:
    """Without namespaces and their selector it is about the namespace of the pod itself."""
    about = term.namespaces or (() if term.namespace_selector is not None else (own,))
    return Repulsion(
        term.topology_key,
        frozenset(about),
        _requirements(term.label_selector),
        _requirements(term.namespace_selector),
    )


def _requirements(selector: LabelSelector | None) -> Requirements | None:
    if selector is None:
        return None
    equal = (NodeSelectorRequirement(key, "In", (value,)) for key, value in sorted(selector.match_labels.items()))
    return (*equal, *selector.match_expressions)


def _selects(requirements: Requirements | None, labels: Mapping[str, str]) -> bool:
    return requirements is not None and all(_holds(requirement, labels) for requirement in requirements)


def _holds(requirement: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    return False
