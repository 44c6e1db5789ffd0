"""Labels by which slices choose the nodes that reach their devices, where no node of the cluster has them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain.rejections import nowhere
from kubectl_dra.diagnosis.records import LabelOnNodes
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement

#: Of a class with more selectors than these nothing is said: each is compared with the labels of all nodes.
_SELECTORS: Final = 20


def labels_of_no_node(world: ClusterState, selectors: Collection[NodeSelector]) -> tuple[LabelOnNodes, ...]:
    """For each term of each selector a label that no node has; nothing where some term may match a node."""
    if not selectors or len(selectors) > _SELECTORS or not world.evidence.complete("Node", ""):
        return ()
    found: dict[LabelOnNodes, None] = {}
    for selector in selectors:
        for term in selector.node_selector_terms:
            wishes = [text for each in term.match_expressions for text in _wish(each)]
            label = next(nowhere(world, wishes), None)
            if label is None:
                return ()
            found[label] = None
    return tuple(found)


def _wish(requirement: NodeSelectorRequirement) -> Iterator[str]:
    """What the node has to have, as :class:`LabelOnNodes` writes it; nothing for operators that exclude."""
    if requirement.operator == "In" and len(requirement.values) == 1:
        yield f"{requirement.key}={requirement.values[0]}"
    elif requirement.operator == "In" and requirement.values:
        yield f"{requirement.key} In [{' '.join(requirement.values)}]"
    elif requirement.operator == "Exists":
        yield f"{requirement.key} Exists"
