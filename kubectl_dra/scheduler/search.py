"""The one door from diagnosis to the allocator's search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kubectl_dra.allocation import Answers, Budget, ClaimSearch, Cluster, Outcome, TimeLimit, Unsatisfiable
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import ResourceClaim


@dataclass(frozen=True)
class Searched:
    """The answer for one node. ``shared`` is that of all nodes alike, with the names of the first of them.

    Nodes alike on which nothing fits share this as well: ``node`` is the first of them then.
    ``attempt`` remembers what selectors said of devices, so that explaining need not evaluate them again.
    """

    shared: Outcome
    answers: Answers
    attempt: ClaimSearch
    node: str

    @cached_property
    def own(self) -> Outcome:
        """The answer with this node's own devices; made when it is asked for."""
        return self.answers[self.node]


def search(cluster: Cluster, nodes: Sequence[Node], claims: Sequence[ResourceClaim]) -> Mapping[str, Searched]:
    """Allocate all ``claims`` together on each of the nodes."""
    attempt = ClaimSearch(cluster, claims)
    answers = Answers(attempt, nodes, Budget())
    found: dict[str, Searched] = {}
    for group in answers.groups:
        outcome, names = group.outcome, group.nodes
        if isinstance(outcome, Unsatisfiable) and outcome.time_limit is TimeLimit.WITHIN:
            found |= dict.fromkeys(names, Searched(outcome, answers, attempt, names[0]))
        else:
            found |= {name: Searched(outcome, answers, attempt, name) for name in names}
    return found
