"""Ways out for pods that are placed together: tried on the whole group, and changes that concern all of its pods.

Ways out for a gang of another scheduler: by the default one's rules, those of its first pod that finds no node. Beside
it the others of the gang that find one are taken to have theirs. Whether the gang is started is decided by its own
scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.assignment import assignment_of, pin
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together, cycle_of
from kubectl_dra.diagnosis.gangs.elsewhere import placed_of
from kubectl_dra.diagnosis.gangs.groups import pods_of
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.remedies.actions import EditGroup
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, ClaimEditor, first_of
from kubectl_dra.diagnosis.remedies.changes import Change, ClaimEdit, PodEdit, edit_object
from kubectl_dra.diagnosis.remedies.edits import with_count
from kubectl_dra.diagnosis.remedies.records import (
    Action,
    CreateObject,
    EditClaim,
    PinPods,
    PodOnNode,
    RemedyKind,
)
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, PodResourceClaim, PodSpec
from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key, key_of
from kubectl_dra.model.scheduling import GangPolicy, PodGroup, PodGroupSchedulingPolicy
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.claims import claim_names
from kubectl_dra.scheduler.gangs.decision import GroupOutcome, MemberOutcome

#: Reasons that are about the whole group: a way out is one for the group.
WHOLE: Final = frozenset(
    {
        Code.POD_GROUP,
        Code.POD_GROUP_INCOMPLETE,
        Code.POD_GROUP_MIXED,
        Code.POD_GROUP_ABORTED,
        Code.POD_GROUP_UNPLACED,
    }
)
_ALL_TRIED: Final = 4
#: Rather anything that starts all pods.
_MIN_COUNT_COST: Final = 46
_COUNT_COST: Final = 35
_PIN_COST: Final = 40
_CREATE_COST: Final = 22
#: What trials of a group may cost together, in pods tried.
_PODS_TRIED: Final = 400
_FEWEST: Final = 8


class GroupResult(msgspec.Struct, frozen=True):
    """``tried``: nothing keeps the group from being tried. ``nodes``: where pods go, if enough of them fit."""

    tried: bool
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupOfPod:
    """The group of a pod. ``whole``: the question is whether the group is placed, not whether this pod is."""

    state: ClusterState
    pod: Key
    group: Key
    whole: bool

    @cached_property
    def members(self) -> tuple[Pod, ...]:
        return tuple(pod for pod in pods_of(self.state, self.group) if not pod.spec.node_name)

    @property
    def budget(self) -> int:
        """How many trials it may take."""
        return max(_FEWEST, _PODS_TRIED // max(len(self.members), 1))

    def spread(self, changes: Iterable[Change]) -> Iterator[Change]:
        """The changes, for all pods that they concern: who is made from the same template is changed with it."""
        for change in changes:
            yield change
            match change:
                case ClaimEdit():
                    yield from (ClaimEdit(key, change.edit) for key in self._made_alike(change.key))
                case PodEdit():
                    others = (*self._made_with(change.key), *self._edited_with(change))
                    yield from (PodEdit(key, change.edit) for key in others)

    def _made_alike(self, claim: Key) -> Iterator[Key]:
        templates = {key: template for pod in self.members for key, template in _made_for(pod)}
        wanted = templates.get(claim)
        return (key for key, template in templates.items() if template == wanted and key != claim)

    def _made_with(self, key: Key) -> Iterator[Key]:
        owners = {key_of(pod.metadata): pod.metadata.controller for pod in self.members}
        wanted = owners.get(key)
        return (other for other, owner in owners.items() if other != key and owner is not None and owner == wanted)

    def _edited_with(self, change: PodEdit) -> tuple[Key, ...]:
        """What a pod names of its own, it alone names otherwise."""
        pod = self.state.inventory.pods.get(change.key)
        if pod is None:
            return ()
        before, after = pod.spec, change.edit(pod).spec
        own = before.resource_claims == after.resource_claims and before.volumes == after.volumes
        return self.alike(change.key) if own else ()

    def alike(self, key: Key) -> tuple[Key, ...]:
        """The other pods from the same manifest as one of them, as far as nobody makes these anew but a person."""
        known = {key_of(pod.metadata): pod for pod in self.members if pod.metadata.controller is None}
        pod = known.get(key)
        if pod is None:
            return ()
        wanted = _manifest(pod)
        return tuple(other for other, each in known.items() if other != key and _manifest(each) == wanted)

    def outcome(self, state: ClusterState) -> GroupResult:
        """What becomes of the group, or of the pod in it, on a changed cluster."""
        if self.group not in state.inventory.groups.pod_groups:
            return GroupResult(tried=False)
        decision = cycle_of(state, self.group)
        if decision.outcome is GroupOutcome.GATED:
            return GroupResult(tried=False)
        if decision.outcome is not GroupOutcome.SCHEDULED:
            return GroupResult(tried=True)
        bound = [each for each in decision.members if each.outcome is MemberOutcome.BOUND]
        if self.whole:
            return GroupResult(True, tuple(dict.fromkeys(each.nodes[0] for each in bound)))
        return GroupResult(True, next((each.nodes for each in bound if each.key == self.pod), ()))


def _manifest(pod: Pod) -> PodSpec:
    """The spec without the names of claims, which each pod may have of its own."""
    entries = tuple(PodResourceClaim(name=entry.name) for entry in pod.spec.resource_claims)
    return msgspec.structs.replace(pod.spec, resource_claims=entries)


def _made_for(pod: Pod) -> Iterator[tuple[Key, str]]:
    """The claims that were made for a pod, with their templates."""
    names = claim_names(pod)
    for entry in pod.spec.resource_claims:
        name = names.get(entry.name)
        if entry.resource_claim_template_name and name:
            yield Key(pod.metadata.namespace, name), entry.resource_claim_template_name


def made_alike(state: ClusterState, pod: Key, template: str) -> tuple[Key, ...]:
    """Other pods of the group with a claim from the same template that nobody makes anew but a person."""
    own = state.inventory.pods.get(pod)
    group = group_key(own) if own is not None and are_placed_together(state) else None
    if group is None:
        return ()
    others = (each for each in pods_of(state, group) if not each.spec.node_name and key_of(each.metadata) != pod)
    return tuple(
        key_of(each.metadata)
        for each in others
        if each.metadata.controller is None and template in dict(_made_for(each)).values()
    )


def together(state: ClusterState, diagnosis: records.PodDiagnosis) -> GroupOfPod | None:
    """The group of a pod; None for a pod that is scheduled alone."""
    pod = state.inventory.pods.get(diagnosis.pod.key)
    group = group_key(pod) if pod is not None and are_placed_together(state) else None
    if group is None:
        return None
    return GroupOfPod(state, diagnosis.pod.key, group, any(cause.code in WHOLE for cause in diagnosis.causes))


def in_the_way(state: ClusterState, diagnosis: records.PodDiagnosis) -> records.PodDiagnosis:
    """The diagnosis of the pod that keeps the group from being placed; that of the pod itself if it is none other."""
    pod = _named(diagnosis.causes[0]) if diagnosis.causes else None
    if pod is None or pod.key == diagnosis.pod.key or pod.key not in state.inventory.pods:
        return diagnosis
    return Diagnoser(state).pod(pod.key)


def _named(cause: records.Cause) -> records.ObjectRef | None:
    match cause.detail:
        case records.GroupShortage(first=pod):
            return pod
        case records.GroupWaits(held=(pod, *_)):
            return pod
        case records.GroupError(pod=pod):
            return pod
    return None


def gives_up(actions: Iterable[Action]) -> bool:
    """Whether fewer pods of the group start, or they get fewer devices than they ask for."""
    return any(isinstance(e, EditGroup) or (isinstance(e, EditClaim) and e.field == "count") for e in actions)


def candidates(case: Case) -> Iterator[Candidate]:
    """Ways out that are about the group itself."""
    group = group_key(case.pod)
    if group is None or not are_placed_together(case.state):
        return
    for cause in case.diagnosis.causes:
        match cause.code, cause.detail:
            case Code.POD_GROUP_MISSING, _:
                action = CreateObject(records.ObjectRef.of("PodGroup", group))
                yield Candidate(RemedyKind.CREATE_OBJECT, (action,), _CREATE_COST)
            case Code.POD_GROUP_INCOMPLETE, records.GroupWaits(min_count=needed, known=known):
                yield from _lowered(group, needed, known)
            case Code.POD_GROUP_UNPLACED, records.GroupShortage(min_count=needed, running=running, placed=placed):
                pending = sum(not (pod.spec.node_name or is_terminal(pod)) for pod in pods_of(case.state, group))
                yield from _lowered(group, needed, running + placed if placed else 0, max(pending - placed, 0))
                yield from _fewer_devices(case)
                yield from _pinned(case.state, group)


def _fewer_devices(case: Case) -> Iterator[Candidate]:
    """Fewer devices for each pod: as the others then take fewer, any smaller number may do."""
    for claim, name, request, _ in case.funnels():
        if request.allocation_mode != "ExactCount" or request.count < 2:
            continue
        editor = ClaimEditor(case, claim, name)
        yield from first_of([with_count(editor, request.count, n, _COUNT_COST) for n in _smaller(request.count)])


def _smaller(count: int) -> list[int]:
    """Smaller numbers to try, the larger first; of many one less, then halves: every trial places a whole group."""
    if count <= _ALL_TRIED:
        return list(range(count - 1, 0, -1))
    halves = takewhile(bool, (count >> power for power in range(1, count.bit_length())))
    return [count - 1, *halves]


def _lowered(group: Key, before: int, after: int, waiting: int = 0) -> Iterator[Candidate]:
    if not 0 < after < before:
        return
    action = EditGroup(records.ObjectRef.of("PodGroup", group), "minCount", str(before), str(after), waiting)
    policy = PodGroupSchedulingPolicy(gang=GangPolicy(after))

    def lowered(old: PodGroup) -> PodGroup:
        return with_spec(old, scheduling_policy=policy)

    change = edit_object("groups.pod_groups", group, lowered)
    yield Candidate(RemedyKind.EDIT_GROUP, (action,), _MIN_COUNT_COST, (change,))


def _pinned(state: ClusterState, group: Key) -> Iterator[Candidate]:
    found = assignment_of(state, group)
    if found.nodes:
        pods = tuple(PodOnNode(records.ObjectRef.of("Pod", key), node) for key, node in found.nodes.items())
        action = PinPods(records.ObjectRef.of("PodGroup", group), pods)
        change = _pinning(dict(found.nodes))
        yield Candidate(RemedyKind.PIN_PODS, (action,), _PIN_COST, (change,))


def _pinning(nodes: dict[Key, str]) -> Change:
    return lambda inventory: pin(inventory, nodes)


class SearchedPod(NamedTuple):
    """The cluster and the pod whose ways out are searched; ``keep``: pods of its gang, which are not to be deleted."""

    state: ClusterState
    diagnosis: records.PodDiagnosis
    keep: frozenset[Key] = frozenset()


def as_if_ours(state: ClusterState, diagnosis: records.PodDiagnosis) -> SearchedPod:
    """The same as it is, but for a pod of such a gang."""
    gang = diagnosis.causes[0].detail if diagnosis.causes else None
    pod = state.inventory.pods.get(diagnosis.pod.key)
    if not isinstance(gang, records.GangElsewhere) or not gang.lacking or pod is None or pod.spec.node_name:
        return SearchedPod(state, diagnosis)
    if gang.present or gang.queue_state:
        # None of its pods is tried before others exist, or the queue is open.
        return SearchedPod(state, diagnosis)
    placed = placed_of(state, pod)
    if placed is None or placed.lacking is None:
        return SearchedPod(state, diagnosis)
    inventory = placed.inventory
    ours = with_spec(inventory.pods[placed.lacking], scheduler_name="")
    there = state.changed(inventory.replace(pods=edited(inventory.pods, {placed.lacking: ours})))
    return SearchedPod(there, Diagnoser(there).pod(placed.lacking), placed.members)
