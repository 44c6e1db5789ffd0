"""NodeName and NodeAffinity: nodeSelector and the required terms, and what they preselect before any node is filtered.

Upstream: plugins/nodename, plugins/nodeaffinity. Terms that do not parse are skipped, and the others still count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from kubectl_dra.allocation import nodes
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm

NODE_NAME_TEXT: Final = "node(s) didn't match the requested node name"
AFFINITY_TEXT: Final = "node(s) didn't match Pod's node affinity/selector"
CONFLICT_TEXT: Final = "pod affinity terms conflict"


def required_terms(pod: Pod) -> tuple[NodeSelectorTerm, ...] | None:
    """The terms of the required node affinity; None where the pod has none."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return required.node_selector_terms if required is not None else None


def matches(node_selector: Mapping[str, str], terms: tuple[NodeSelectorTerm, ...] | None, node: Node) -> bool:
    """Whether a node has all labels of ``node_selector`` and matches one of the terms, if there are terms."""
    labels = node.metadata.labels
    if any(labels.get(key) != value for key, value in node_selector.items()):
        return False
    return terms is None or any(nodes.matches(_alone(term), node) for term in terms)


@lru_cache(maxsize=1024)
def _alone(term: NodeSelectorTerm) -> NodeSelector:
    return NodeSelector((term,))


def names_in_terms(terms: tuple[NodeSelectorTerm, ...] | None) -> frozenset[str] | None:
    """The node names that the terms allow by ``metadata.name``; None where some term allows any.

    An empty set means that every term contradicts itself.
    """
    if not terms:
        return None
    names: set[str] = set()
    for term in terms:
        named = [set(field.values) for field in term.match_fields if _is_name(field)]
        if not named:
            return None
        names |= set.intersection(*named)
    return frozenset(names)


def _is_name(field: NodeSelectorRequirement) -> bool:
    return field.key == nodes.NAME_FIELD and field.operator == "In"


def unmatched(
    node_selector: Mapping[str, str], terms: tuple[NodeSelectorTerm, ...] | None, node: Node
) -> Iterator[str]:
    """What keeps the pod off the node: labels of the nodeSelector, then the terms, in the words of the API."""
    labels = node.metadata.labels
    for key, value in sorted(node_selector.items()):
        if labels.get(key) != value:
            yield f"{key}={value}"
    if terms is not None and not matches({}, terms, node):
        for term in terms:
            yield (
                " and ".join(_requirement_text(r) for r in (*term.match_expressions, *term.match_fields))
                or "empty term"
            )


def _requirement_text(requirement: NodeSelectorRequirement) -> str:
    values = f" [{' '.join(requirement.values)}]" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"
