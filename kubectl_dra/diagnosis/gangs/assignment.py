"""Another assignment of a group's pods to nodes, where the scheduler's own order finds none.

The scheduler takes for each pod the node that a single pod would get and never turns back. Here all choices are tried,
one after the other, until one places enough pods or so many nodes were asked that it takes too long. They are counted,
and no time is measured: the answer is the same on a slow or busy machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived_for_each
from kubectl_dra.model.affinity import Affinity, NodeAffinity
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_dra.scheduler.attempt import attempt, scores
from kubectl_dra.scheduler.gangs.decision import GroupOutcome, decide_group
from kubectl_dra.scheduler.gangs.group import Gang
from kubectl_dra.scheduler.gangs.placements import DomainError, placements
from kubectl_dra.scheduler.gangs.world import with_pod
from kubectl_dra.scheduler.snapshot import Snapshot

#: So many nodes are asked in all attempts together, in about two seconds; an attempt takes as long as `_EACH` of them.
NODES: Final = 100_000
_EACH: Final = 20


class Assignment(msgspec.Struct, frozen=True):
    """The node of each pod that is placed, empty if there is no such assignment. ``searched`` False: too many."""

    nodes: Mapping[Key, str]
    searched: bool = True


_NONE: Final = Assignment({})
_NOT_SEARCHED: Final = Assignment({}, searched=False)


@derived_for_each()
def assignment_of(state: ClusterState, group: Key) -> Assignment:
    """The assignment for a group that does not fit; looked for once."""
    return search(state, group)


def search(state: ClusterState, group: Key, limit: int = NODES) -> Assignment:
    """Look for an assignment that the scheduler takes once every pod may only run on its node."""
    gang = Gang(Snapshot(state), state.inventory.groups.pod_groups[group])
    tree = _Tree(gang, limit)
    try:
        domains = placements(gang, gang.snapshot)
    except DomainError:
        return _NONE
    for nodes in domains.values():
        found = tree.place(gang.snapshot, nodes)
        if found is not None:
            pinned = state.changed(pin(state.inventory, found))
            decision = decide_group(Snapshot(pinned), gang.group)
            # Not even then: there may be others, which nobody looked for.
            return Assignment(found) if decision.outcome is GroupOutcome.SCHEDULED else _NOT_SEARCHED
        if tree.late:
            return _NOT_SEARCHED
    return _NONE


class _Tree:
    """Pod after pod in the scheduler's order; pods that are alike take nodes in one order only."""

    def __init__(self, gang: Gang, limit: int) -> None:
        self._pods = gang.tried
        self._needed = gang.group.min_count - len(gang.scheduled)
        self._left = limit
        self.late = False

    def place(self, there: Snapshot, nodes: Sequence[str]) -> dict[Key, str] | None:
        """Nodes for enough pods; None if there are none, or it is ``late``."""
        return self._from(0, there, tuple(nodes), {}, 0)

    def _from(
        self, index: int, there: Snapshot, nodes: Sequence[str], taken: dict[Key, str], first: int
    ) -> dict[Key, str] | None:
        if len(taken) >= self._needed:
            return taken
        if len(taken) + len(self._pods) - index < self._needed:
            return None
        if self._left <= 0:
            self.late = True
            return None
        self._left -= _EACH + len(nodes)
        pod = self._pods[index]
        found = attempt(there, pod, among=nodes)
        feasible = [name for name in found.feasible if nodes.index(name) >= first]
        best = scores(found).best if feasible else ()
        for name in sorted(feasible, key=lambda name: name not in best):
            alike = index + 1 < len(self._pods) and _alike(pod, self._pods[index + 1])
            start = nodes.index(name) if alike else 0
            placed = self._from(index + 1, with_pod(found, name), nodes, {**taken, key_of(pod.metadata): name}, start)
            if placed is not None or self.late:
                return placed
        return self._from(index + 1, there, nodes, taken, 0)


def _alike(pod: Pod, other: Pod) -> bool:
    """Whether two pods differ in their names only; those with claims of their own never count as alike."""
    named = any(entry.resource_claim_name for entry in pod.spec.resource_claims)
    return not named and pod.spec == other.spec and pod.metadata.labels == other.metadata.labels


def pin(inventory: Inventory, nodes: Mapping[Key, str]) -> Inventory:
    """With every one of these pods bound to its node by its affinity."""
    pods = {key: _pinned(inventory.pods[key], node) for key, node in nodes.items()}
    return inventory.replace(pods={**inventory.pods, **pods})


def _pinned(pod: Pod, node: str) -> Pod:
    affinity = pod.spec.affinity or Affinity()
    own = affinity.node_affinity or NodeAffinity()
    here = NodeSelectorRequirement("metadata.name", "In", (node,))
    before = own.required_during_scheduling_ignored_during_execution
    terms = before.node_selector_terms if before is not None else (NodeSelectorTerm(),)
    both = tuple(msgspec.structs.replace(term, match_fields=(*term.match_fields, here)) for term in terms)
    own = msgspec.structs.replace(own, required_during_scheduling_ignored_during_execution=NodeSelector(both))
    return with_spec(pod, affinity=msgspec.structs.replace(affinity, node_affinity=own))
