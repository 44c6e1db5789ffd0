"""Trying a remedy: the same attempt on the changed cluster.

Two sizes: a few nodes of every story to sort candidates out, then all nodes to verify those that are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.attempt import attempt
from kubectl_dra.diagnosis.gates import other_scheduler
from kubectl_dra.diagnosis.judgement import judge
from kubectl_dra.diagnosis.records import NodeOutcome, PodDiagnosis, Verdict
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.together import Together
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.scheduler.claims import Problem, resolve

_NODES_PER_GROUP: Final = 3
_MAX_SAMPLE: Final = 60


@dataclass(frozen=True, slots=True)
class Result:
    """``tried``: nothing keeps the pod from being tried any more. ``nodes``: where it fits, if it would be bound."""

    tried: bool
    nodes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the pod would be bound."""
        return bool(self.nodes)


class Trials:
    """Trials for one pod; ``budget`` bounds the number of all of them."""

    def __init__(
        self, world: ClusterState, diagnosis: PodDiagnosis, group: Together | None = None, budget: int = 200
    ) -> None:
        self._world = world
        self._key = diagnosis.pod.key
        self._group = group
        self._sample = frozenset(_sample(diagnosis))
        self._budget = budget if group is None else group.budget
        # A group is tried on all nodes at once.
        self._known: dict[tuple[Change, ...], Result] = {}

    @property
    def exhausted(self) -> bool:
        """Whether no more trials are allowed."""
        return self._budget <= 0

    def sample(self, *changes: Change, nodes: Collection[str] | None = None) -> Result:
        """The result on a few nodes: of every story, or those given."""
        if self._group is not None:
            return self.all(*changes)
        wanted = self._sample if nodes is None else frozenset(nodes)
        return self._try(changes, wanted or None)

    def all(self, *changes: Change) -> Result:
        """The result on all nodes."""
        if self._group is None:
            return self._try(changes)
        if changes not in self._known:
            self._budget -= 1
            found = self._group.outcome(self._world.changed(self.applied(changes)))
            self._known[changes] = Result(found.tried, found.nodes)
        return self._known[changes]

    def applied(self, changes: Iterable[Change]) -> Inventory:
        """The cluster with the changes, and with what they change of other pods of the group."""
        inventory = self._world.inventory
        for change in changes if self._group is None else self._group.spread(changes):
            inventory = change(inventory)
        return inventory

    def _try(self, changes: Iterable[Change], among: frozenset[str] | None = None) -> Result:
        self._budget -= 1
        return outcome(self._world.changed(self.applied(changes)), self._key, among)


def outcome(world: ClusterState, key: Key, among: frozenset[str] | None = None) -> Result:
    """What becomes of the pod, without explanations; ``among``: only these nodes are tried."""
    pod = world.inventory.pods[key]
    entries = resolve(world.inventory, world.evidence, world.features, pod)
    gated = bool(pod.spec.scheduling_gates) or any(entry.problem is not None for entry in entries)
    if gated or other_scheduler(pod, world.schedulers) is not None:
        unreadable = any(entry.problem is Problem.UNREADABLE for entry in entries)
        return Result(tried=unreadable and not pod.spec.scheduling_gates)
    tried = attempt(world, pod, [entry.claim for entry in entries if entry.claim is not None], among)
    if judge(world, pod, tried).verdict is not Verdict.SCHEDULABLE:
        return Result(tried=True)
    return Result(True, tuple(node.metadata.name for node, _ in tried.nodes(NodeOutcome.FITS)))


def verdict(world: ClusterState, key: Key) -> Verdict:
    """What an attempt of a pod comes to that nothing keeps out of the queue."""
    pod = world.inventory.pods[key]
    entries = resolve(world.inventory, world.evidence, world.features, pod)
    return judge(world, pod, attempt(world, pod, [e.claim for e in entries if e.claim is not None])).verdict


def _sample(diagnosis: PodDiagnosis) -> Iterable[str]:
    """The first nodes of every group, the nearest groups first."""
    found: list[str] = []
    for group in diagnosis.nodes:
        found += group.nodes[:_NODES_PER_GROUP]
    return found[:_MAX_SAMPLE]
