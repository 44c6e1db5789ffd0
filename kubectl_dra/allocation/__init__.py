"""Decides whether claims fit on nodes exactly as the scheduler's structured allocator does.

``Cluster.of`` prepares one scheduling attempt, ``allocate`` answers for one node, ``allocate_many`` for many nodes.
Nothing here knows pods, and nothing here words a sentence: errors are typed records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubectl_dra.allocation.alike import Answers, Group
from kubectl_dra.allocation.allocator import Attempt, Cluster
from kubectl_dra.allocation.outcome import Allocated, Fatal, Outcome, Undecided, Unsatisfiable
from kubectl_dra.allocation.steps import Budget, TimeLimit
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import ResourceClaim

_BUDGET = Budget()


def allocate(
    cluster: Cluster,
    node: Node,
    claims: Sequence[ResourceClaim],
    *,
    budget: Budget = _BUDGET,
) -> Outcome:
    """Allocate all ``claims`` (of one pod, in its order, none of them allocated yet) together on ``node``."""
    return Attempt(cluster, claims).on(node, budget)


def allocate_many(
    cluster: Cluster,
    nodes: Iterable[Node],
    claims: Sequence[ResourceClaim],
    *,
    budget: Budget = _BUDGET,
) -> Answers:
    """The same for many nodes, each on its own; nodes that the search can't tell apart share one search."""
    return Answers(Attempt(cluster, claims), nodes, budget)


__all__ = [
    "Allocated",
    "Answers",
    "Attempt",
    "Budget",
    "Cluster",
    "Fatal",
    "Group",
    "Outcome",
    "TimeLimit",
    "Undecided",
    "Unsatisfiable",
    "allocate",
    "allocate_many",
]
