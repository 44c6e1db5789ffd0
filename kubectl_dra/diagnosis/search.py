"""The one door from diagnosis to the allocator's search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kubectl_dra.allocation import Answers, Cluster, Outcome, allocate_many
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import ResourceClaim


@dataclass(frozen=True, slots=True)
class Searched:
    """The answer for one node. ``shared`` is that of all nodes alike, with the names of the first of them."""

    shared: Outcome
    answers: Answers
    node: str

    @property
    def own(self) -> Outcome:
        """The answer with this node's own devices; made when it is asked for."""
        return self.answers[self.node]


def search(cluster: Cluster, nodes: Sequence[Node], claims: Sequence[ResourceClaim]) -> Mapping[str, Searched]:
    """Allocate all ``claims`` together on each of the nodes."""
    answers = allocate_many(cluster, nodes, claims)
    return {name: Searched(group.outcome, answers, name) for group in answers.groups for name in group.nodes}
