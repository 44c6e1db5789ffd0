"""The one door from diagnosis to the allocator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubectl_dra.allocation.allocator import Attempt, Cluster
from kubectl_dra.allocation.outcome import Outcome
from kubectl_dra.allocation.steps import Budget
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import ResourceClaim


def search(cluster: Cluster, nodes: Sequence[Node], claims: Sequence[ResourceClaim]) -> Mapping[str, Outcome]:
    """The outcome of allocating all ``claims`` together, by node name."""
    attempt = Attempt(cluster, claims)
    return {node.metadata.name: attempt.on(node, Budget(), None) for node in nodes}
