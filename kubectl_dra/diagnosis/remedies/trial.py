"""Trying a remedy: the same attempt on the changed cluster.

Two sizes: a few nodes of every explanation to sort candidates out, then all nodes to verify those that are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain import staying
from kubectl_dra.diagnosis.explain.attempt import attempt
from kubectl_dra.diagnosis.gates.gates import other_scheduler
from kubectl_dra.diagnosis.pod.choice import choice
from kubectl_dra.diagnosis.pod.judgement import judge
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import PodDiagnosis, Verdict
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.together import GroupOfPod
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.claims import ClaimProblem, resolve

_NODES_PER_GROUP: Final = 3
_MAX_SAMPLE: Final = 60
_WORLDS: Final = 4
# How many trials there may be: as many as are made in two seconds of 10,000 nodes. One on all nodes counts for some.
_MOST: Final = 240
_EFFORT: Final = 700_000
_LEAST: Final = 24
_WHOLE: Final = 3


class Result(msgspec.Struct, frozen=True):
    """``tried``: nothing keeps the pod from being tried any more. ``nodes``: where it fits, if it would be bound."""

    tried: bool
    nodes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        return bool(self.nodes)


class Trials:
    """Trials for one pod. What all of them take is bounded, so that an answer comes on large clusters, too."""

    def __init__(self, state: ClusterState, diagnosis: PodDiagnosis, group: GroupOfPod | None = None) -> None:
        self._state = state
        self._key = diagnosis.pod.key
        self._group = group
        #: A few nodes of every explanation.
        self.near = frozenset(_sample(diagnosis))
        nodes = len(state.inventory.nodes)
        self._budget = group.budget if group is not None else max(_LEAST, min(_MOST, _EFFORT // max(nodes, 1)))
        # What was tried once is not tried again: on a few nodes (None: on all), with these changes.
        self._known: dict[tuple[tuple[Change, ...], frozenset[str] | None], Result] = {}
        self._worlds: dict[tuple[Change, ...], ClusterState] = {}

    @property
    def exhausted(self) -> bool:
        return self._budget <= 0

    def sample(self, *changes: Change, nodes: Collection[str] | None = None) -> Result:
        """The result on a few nodes: of every explanation, or those given."""
        if self._group is not None:
            return self.all(*changes)
        wanted = self.near if nodes is None else frozenset(nodes)
        return self._try(changes, wanted or None)

    def all(self, *changes: Change) -> Result:
        return self._try(changes, None)

    def taken_from(self, changes: Sequence[Change], nodes: tuple[str, ...], owners: Owners) -> tuple[str, ...]:
        """Of ``nodes``, on which the pod fits with these changes, those of which the scheduler takes one."""
        if self._group is not None or len(nodes) < 2:
            return nodes
        return choice(self.state(changes), self._key, nodes, owners)

    def state(self, changes: Sequence[Change]) -> ClusterState:
        """The cluster with the changes, and with what they change of other pods of the group.

        A few are kept, so that what follows from a change is worked out once for all questions about it.
        """
        key = tuple(changes)
        found = self._worlds.pop(key, None)
        if found is None:
            inventory = self._state.inventory
            for change in key if self._group is None else self._group.spread(key):
                inventory = change(inventory)
            found = self._state.changed(inventory)
            if len(self._worlds) >= _WORLDS:
                del self._worlds[next(iter(self._worlds))]
        self._worlds[key] = found
        return found

    def _try(self, changes: tuple[Change, ...], among: frozenset[str] | None) -> Result:
        asked = changes, among
        if asked not in self._known:
            self._budget -= _WHOLE if among is None and self._group is None else 1
            state = self.state(changes)
            if self._group is None:
                self._known[asked] = outcome(state, self._key, among)
            else:
                found = self._group.outcome(state)
                self._known[asked] = Result(found.tried, found.nodes)
        return self._known[asked]


def outcome(state: ClusterState, key: Key, among: frozenset[str] | None = None) -> Result:
    """What becomes of the pod, without explanations; ``among``: only these nodes are tried."""
    pod = state.inventory.pods[key]
    entries = resolve(state.inventory, state.evidence, state.features, pod)
    gated = bool(pod.spec.scheduling_gates) or any(entry.problem is not None for entry in entries)
    if gated or other_scheduler(pod, state.schedulers) is not None:
        unreadable = any(entry.problem is ClaimProblem.UNREADABLE for entry in entries)
        return Result(tried=unreadable and not pod.spec.scheduling_gates)
    tried = attempt(state, pod, [entry.claim for entry in entries if entry.claim is not None], among)
    if judge(state, pod, tried).verdict is not Verdict.SCHEDULABLE:
        return Result(tried=True)
    return Result(True, staying.staying(state, tried))


def verdict(state: ClusterState, key: Key) -> Verdict:
    """What an attempt of a pod comes to that nothing keeps out of the queue."""
    pod = state.inventory.pods[key]
    entries = resolve(state.inventory, state.evidence, state.features, pod)
    return judge(state, pod, attempt(state, pod, [e.claim for e in entries if e.claim is not None])).verdict


def _sample(diagnosis: PodDiagnosis) -> Iterable[str]:
    """The first nodes of every group, the nearest groups first."""
    found: list[str] = []
    for group in diagnosis.nodes:
        found += group.nodes[:_NODES_PER_GROUP]
    return found[:_MAX_SAMPLE]
