"""Real searches that end with an error: a claim is tried on nodes by the allocator itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.allocation import Answers, Budget, ClaimSearch, Fatal
from kubectl_dra.allocation.errors import AllocationError, SelectorFailed
from kubectl_dra.allocation.search.allocator import Cluster
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.taint_text import PREVENTING
from kubectl_dra.scheduler.allocation_errors import allocation_error

_AT_ONCE: Final = 256


def ended_by_selectors(
    state: ClusterState, cluster: Cluster, claim: ResourceClaim, only: str | None
) -> Iterator[tuple[str, SelectorFailed, str]]:
    """The nodes by name, one of those alike, on which a selector's error ends the search: the error, the message.

    ``cluster``: what the attempt sees of devices. ``only``: this node, and nothing where not all nodes are known.
    """
    if not state.evidence.complete("Node"):
        return
    known = sorted(state.inventory.nodes.items())
    nodes = [node for name, node in known if name == only or (only is None and _is_open(node))]
    for node, error in _errors(ClaimSearch(cluster, (claim,)), nodes):
        if isinstance(error, SelectorFailed):
            yield node, error, allocation_error(error)


def _is_open(node: Node) -> bool:
    """Whether the search comes to the node for a pod without tolerations: TaintToleration is asked before."""
    closing = any(taint.effect in PREVENTING for taint in node.spec.taints)
    return not closing and not node.spec.unschedulable


def _errors(attempt: ClaimSearch, nodes: Sequence[Node]) -> Iterator[tuple[str, AllocationError]]:
    """The errors that end searches, each for the first of nodes alike; nodes are searched some at a time."""
    for start in range(0, len(nodes), _AT_ONCE):
        for group in Answers(attempt, nodes[start : start + _AT_ONCE], Budget()).groups:
            if isinstance(group.outcome, Fatal):
                yield group.nodes[0], group.outcome.error
