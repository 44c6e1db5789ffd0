"""Whether a fresh node of a group would take a pod: the group's template joins the cluster, and the pod is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Put, edited
from kubectl_dra.diagnosis.autoscaling.records import Doubt, GroupVerdict
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.attempt import attempt
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser, diagnoser
from kubectl_dra.diagnosis.records import Cause, Missing, MissingEvidence, NodeGroup, NodeOutcome, Verdict
from kubectl_dra.diagnosis.whatif.daemons import daemon_pods
from kubectl_dra.diagnosis.whatif.nodes import NodeTemplate
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.scheduler.claims import resolve

#: Kinds that say of a fresh node whether its devices may be used; other nodes and their pods don't.
_DECIDING: Final = ("DeviceClass", "DeviceTaintRule", "ResourceClaim", "ResourceSlice")
_TRIED: Final = (Verdict.SCHEDULABLE, Verdict.UNSCHEDULABLE, Verdict.SCHEDULER_ERROR)


@dataclass(frozen=True, slots=True)
class ScalableGroup:
    """A group and the template of its nodes; ``like``: the existing node that it is taken from.

    ``unread``: what tells more of its nodes and could not be read, so that one that does not fit as it is known may.
    ``failed``: why the last node could not be launched, and when.
    ``nodes``: where the group may make several kinds of nodes, those that it could make for a pod, likely ones first.
    """

    kind: str
    name: str
    template: NodeTemplate
    doubts: tuple[Doubt, ...] = ()
    size: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    like: str = ""
    nodes: Callable[[Pod], Iterator[NodeTemplate]] | None = None
    unread: tuple[Missing, ...] = ()
    failed: str = ""
    failed_at: str = ""

    def templates(self, pod: Pod) -> Iterator[NodeTemplate]:
        """What to try for a pod."""
        return iter((self.template,)) if self.nodes is None else self.nodes(pod)


def judged(state: ClusterState, pod: Key, groups: Iterable[ScalableGroup]) -> Iterator[GroupVerdict]:
    """The answer about each group; groups that take the pod come first."""
    before = diagnoser(state).pod(pod)
    waits = before.verdict in (*_TRIED, Verdict.UNKNOWN)
    found = [
        _Case(state, state.inventory.pods[pod], group).verdict() if waits else _open(group, before.causes)
        for group in groups
    ]
    full = (Doubt.AT_MAXIMUM, Doubt.AT_LIMIT)
    yield from sorted(
        found, key=lambda each: (not each.fits, any(d in each.doubts for d in full), each.kind, each.name)
    )


@dataclass(frozen=True, slots=True)
class _Case:
    state: ClusterState
    pod: Pod
    group: ScalableGroup

    def verdict(self) -> GroupVerdict:
        name, nearest = _name(self.state.inventory, self.group), self.group.template
        best = _WORST
        for template in self.group.templates(self.pod):
            outcome = self._tried(template, name)
            if outcome is NodeOutcome.FITS:
                open_ = self._unread(template, name) or self._unknown_nodes()
                return _verdict(self.group, NodeOutcome.UNDECIDED if open_ else outcome, _devices(template), open_)
            # The plugins run in their order: who comes further is nearer.
            if _REACHED.get(outcome, 0) > best:
                best, nearest = _REACHED.get(outcome, 0), template
        if self.group.unread:
            return _verdict(self.group, NodeOutcome.UNDECIDED, _devices(nearest), (self._lacking(),))
        after = self._with(nearest, name)
        diagnosis = Diagnoser(after).pod(key_of(self.pod.metadata))
        mine = next((each for each in diagnosis.nodes if name in each.nodes), None)
        if mine is None:
            return _verdict(self.group, NodeOutcome.UNDECIDED, _devices(nearest), diagnosis.causes)
        return _verdict(self.group, mine.outcome, _devices(nearest), _renamed(mine, name))

    def _tried(self, template: NodeTemplate, name: str) -> NodeOutcome:
        after = self._with(template, name)
        entries = resolve(after.inventory, after.evidence, after.features, self.pod)
        tried = attempt(after, self.pod, [e.claim for e in entries if e.claim is not None], [name])
        return tried.results[0][1].outcome if len(tried.results) == 1 else NodeOutcome.UNDECIDED

    def _unread(self, template: NodeTemplate, name: str) -> tuple[Cause, ...]:
        """Why it is open whether a node that seems to fit does: a rule that was not read may taint its devices."""
        if all(map(self.state.evidence.complete, _DECIDING)):
            return ()
        found = Diagnoser(self._with(template, name)).pod(key_of(self.pod.metadata))
        return found.causes if any(each.decides and each.kind in _DECIDING for each in found.missing) else ()

    def _unknown_nodes(self) -> tuple[Cause, ...]:
        """Autoscalers but Karpenter go by the nodes that a group has, not by what describes it."""
        nodes = any(each.kind == "Node" for each in self.group.unread)
        return (self._lacking(),) if nodes and self.group.kind != "NodePool" else ()

    def _lacking(self) -> Cause:
        return Cause(Code.EVIDENCE_MISSING, MissingEvidence(self.group.unread))

    def _with(self, template: NodeTemplate, name: str) -> ClusterState:
        after = edited(self.state, template.edits(name))
        daemons = [] if template.pods else list(daemon_pods(after, name))
        return edited(after, (Put("Pod", pod) for pod in daemons))


_REACHED: Final = {NodeOutcome.CANNOT_ALLOCATE: 2, NodeOutcome.REJECTED: 1, NodeOutcome.FITS: 3}
_WORST: Final = -1


def _devices(template: NodeTemplate) -> int:
    return sum(len(slice_.spec.devices) for slice_ in template.slices)


def _open(group: ScalableGroup, causes: tuple[Cause, ...]) -> GroupVerdict:
    return _verdict(group, NodeOutcome.UNDECIDED, _devices(group.template), causes)


def _verdict(group: ScalableGroup, outcome: NodeOutcome, devices: int, causes: tuple[Cause, ...] = ()) -> GroupVerdict:
    doubts = list(group.doubts)
    if group.maximum is not None and group.size is not None and group.size >= group.maximum:
        doubts.append(Doubt.AT_MAXIMUM)
    return GroupVerdict(
        group.kind,
        group.name,
        outcome,
        causes,
        tuple(dict.fromkeys(doubts)),
        devices,
        group.size,
        group.minimum,
        group.maximum,
        group.like,
        group.failed,
        group.failed_at,
    )


def _name(inventory: Inventory, group: ScalableGroup) -> str:
    """A name that no node has."""
    name, number = f"new-{group.name}", 0
    while name in inventory.nodes:
        number += 1
        name = f"new-{group.name}-{number}"
    return name


def _renamed(group: NodeGroup, name: str) -> tuple[Cause, ...]:
    return tuple(msgspec.structs.replace(cause, nodes=(name,)) for cause in group.causes)
