"""The one door from diagnosis to the allocator's search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kubectl_dra.allocation import Answers, Budget, ClaimSearch, Cluster, Outcome, TimeLimit, Unsatisfiable
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import ResourceClaim


@dataclass(frozen=True)
class Searched:
    """The answer for one node. ``shared`` is that of all nodes alike, with the names of the first of them.

    Nodes alike on which nothing fits share this as well: ``node`` is the first of them then.
    ``attempt`` remembers what selectors said of devices, so that explaining need not evaluate them again. ``place``:
    the node where it is one that is alike to one that was searched, which is ``like``.
    """

    shared: Outcome
    answers: Answers
    attempt: ClaimSearch
    node: str
    place: Node | None = None
    like: str = ""
    _alike: dict[str, Searched] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def own(self) -> Outcome:
        """The answer with this node's own devices; made when it is asked for."""
        return self.answers[self.node] if self.place is None else self.answers.on(self.place, self.like)

    def on(self, node: Node) -> Searched:
        """The answer for a node that is alike."""
        name = node.metadata.name
        if name == self.node or _names_nobody(self.shared):
            return self
        if name not in self._alike:
            like = self.like or self.node
            self._alike[name] = Searched(self.shared, self.answers, self.attempt, name, node, like)
        return self._alike[name]


def _names_nobody(outcome: Outcome) -> bool:
    return isinstance(outcome, Unsatisfiable) and outcome.time_limit is TimeLimit.WITHIN


def search(
    cluster: Cluster, nodes: Sequence[Node], claims: Sequence[ResourceClaim], prepared: ClaimSearch | None = None
) -> Mapping[str, Searched]:
    """Allocate all ``claims`` together on each of the nodes; ``prepared`` for just these claims, where it is."""
    attempt = prepared or ClaimSearch(cluster, claims)
    answers = Answers(attempt, nodes, Budget())
    found: dict[str, Searched] = {}
    for group in answers.groups:
        outcome, names = group.outcome, group.nodes
        if _names_nobody(outcome):
            found |= dict.fromkeys(names, Searched(outcome, answers, attempt, names[0]))
        else:
            found |= {name: Searched(outcome, answers, attempt, name) for name in names}
    return found
