"""Who else waits for what a remedy frees or adds: the other pending pods, placed together with this one in queue order.

The scheduler takes pods by priority, and of equal ones the one that has been in its queue for longer (upstream:
plugins/queuesort, Less). How long that is can't be read; pods that wait together are tried in the order in which they
came, and of those of the same second nobody can tell which was first. A pod that is made anew is the last one, and so
are those that a controller makes in place of deleted ones. The pods of a PodGroup take what they find together, or
nothing.

Several actions are taken one after the other. What one of them frees is there for everybody at once, for what a
controller makes again, too: this pod does not fit before the last one. Most controllers make a pod again when the old
one is about to go, a StatefulSet when it has gone: the new one may take what is free already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.api.encode import encode_part
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together
from kubectl_dra.diagnosis.gangs.elsewhere import incomplete
from kubectl_dra.diagnosis.gangs.placing import place_group
from kubectl_dra.diagnosis.gangs.workload_refs import kept_out
from kubectl_dra.diagnosis.gates.gates import other_scheduler
from kubectl_dra.diagnosis.gates.pending import is_pending
from kubectl_dra.diagnosis.pod.placing import added, placed
from kubectl_dra.diagnosis.records import ObjectRef, Verdict
from kubectl_dra.diagnosis.remedies.actions import RemoveLabel
from kubectl_dra.diagnosis.remedies.candidate import Case
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.outlook import Competition
from kubectl_dra.diagnosis.remedies.records import (
    Action,
    CreateObject,
    DeletePod,
    EditClaim,
    EditPod,
    RenewClaim,
    TaintDevice,
)
from kubectl_dra.diagnosis.remedies.trial import outcome, verdict
from kubectl_dra.model.core import Container, Pod, PodSpec, PodStatus, ResourceRequirements
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key, key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.requests import quantity_of
from kubectl_dra.scheduler.claims import claim_names, resolve

# More kinds of pods, and more nodes, are not tried for one remedy; besides, as many of the pod's own controller.
_KINDS: Final = 16
_GROUPS: Final = 4
_NODES: Final = 40
_NAMED: Final = 3
_ORDERED: Final = "StatefulSet"
#: What controllers give each of their pods for itself. Upstream: apps/v1 and batch/v1, types.go.
_OF_ONE: Final = (
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
    "statefulset.kubernetes.io/pod-name",
)
_NEW: Final = "~"  # later than every time
_FREES_NOTHING: Final = (EditClaim, RenewClaim, EditPod, RemoveLabel, CreateObject, TaintDevice)


class _Turn(msgspec.Struct, frozen=True):
    """The place of a pod in the queue, or of a PodGroup as a whole; ``since`` is a time, or :data:`_NEW`."""

    key: Key
    priority: int
    since: str
    group: bool = False

    @property
    def again(self) -> bool:
        """Whether it is a pod that is made in place of a deleted one."""
        return self.since == _NEW

    @property
    def order(self) -> tuple[int, str, bool, Key]:
        return -self.priority, self.since, self.group, self.key

    def before(self, other: _Turn) -> bool:
        """Whether it may be tried before the other one; of the same moment, either may."""
        return (-self.priority, self.since) <= (-other.priority, other.since)

    def ties(self, other: _Turn) -> bool:
        """Whether nobody can tell which of the two is tried first."""
        return not self.again and (self.priority, self.since) == (other.priority, other.since)


class _Stage(NamedTuple):
    """One action: what it changes (None: that is done already), and the pod that a controller makes then."""

    change: Change | None
    again: Pod | None

    @property
    def is_early(self) -> bool:
        """Whether that pod is made before the old one has gone."""
        return self.again is not None and is_early(self.again)


@derived()
def _failing(state: ClusterState) -> dict[bytes, bool]:
    """By kind of pods, whether something on a node ends their attempts; for all pods whose ways out are searched."""
    return {}


class Competing:
    """The pods that wait beside one pod, of one state of the cluster."""

    def __init__(self, case: Case) -> None:
        self._case = case

    @cached_property
    def _waiting(self) -> tuple[Pod, ...]:
        case = self._case
        unscheduled = (pod for pod in case.state.inventory.pods.values() if not pod.spec.node_name)
        return tuple(
            pod for pod in unscheduled if key_of(pod.metadata) != case.diagnosis.pod.key and takes_part(case.state, pod)
        )

    @cached_property
    def _groups(self) -> tuple[_Turn, ...]:
        """The PodGroups whose pods wait, but for the pod's own."""
        state = self._case.state
        if not are_placed_together(state):
            return ()
        own, known = group_key(self._case.pod), state.inventory.groups.pod_groups
        found: dict[Key, list[Pod]] = {}
        for pod in state.inventory.pods.values():
            key = None if pod.spec.node_name or not is_pending(pod) else group_key(pod)
            if key is not None and key != own and key in known:
                found.setdefault(key, []).append(pod)
        turns = (
            _Turn(key, known[key].spec.priority or 0, min(map(_since, pods)), group=True) for key, pods in found.items()
        )
        return tuple(sorted(turns, key=lambda turn: turn.order))[:_GROUPS]

    def of(
        self, actions: Sequence[Action], changes: Sequence[Change], changed: ClusterState, nodes: Sequence[str]
    ) -> Competition:
        """Who competes for ``nodes``, on which the pod fits in the ``changed`` cluster, after one change per action."""
        if all(isinstance(action, _FREES_NOTHING) for action in actions):
            return Competition()  # nothing becomes free that others could not have taken before
        again = [self._returning(action) for action in actions]
        returning = [pod for pod in again if pod is not None]
        if not (self._waiting or self._groups or returning):
            return Competition()
        among, pod = nodes[:_NODES], self._case.pod
        anew = any(_makes_anew(action) for action in actions)
        mine = _Turn(self._case.diagnosis.pod.key, _priority(pod), _NEW if anew else _since(pod))
        stages, start = tuple(map(_Stage, changes, again)), self._case.state
        if len(stages) == 1 and not stages[0].is_early:
            stages, start = (_Stage(None, again[0]),), changed  # which has much that is known of it already
        for each in returning:
            changed = with_pod(changed, each)
        # Some may be gone with what is scaled away.
        waiting = (each for each in self._waiting if key_of(each.metadata) in changed.inventory.pods)
        turns = sorted([*map(_turn, waiting), *map(_turn, returning), *self._groups], key=lambda turn: turn.order)
        untried: list[_Turn] = []
        able = list(self._able(changed, turns, among, untried))
        took, lost = self._taken(start, stages, able, mine, among, nodes)
        open_ = False
        if lost:
            sure = [turn for turn in able if not turn.ties(mine)]
            first, lost_to_them = self._taken(start, stages, sure, mine, among, nodes)
            open_ = not lost_to_them
            took = first if lost_to_them else took
        return Competition(
            before=len(took),
            after=sum(turn not in took for turn in able),
            groups=sum(turn.group for turn in able),
            again=sum(turn.again for turn in able),
            first=tuple(_ref(turn) for turn in took[:_NAMED]),
            lost=None if open_ else lost,
            untried=len(untried),
            untried_first=any(turn.before(mine) for turn in untried),
        )

    def _taken(
        self,
        start: ClusterState,
        stages: Sequence[_Stage],
        able: Sequence[_Turn],
        mine: _Turn,
        among: Collection[str],
        nodes: Sequence[str],
    ) -> tuple[list[_Turn], bool]:
        """Who gets a node before this pod, and whether that leaves it none: then only those without whom it would."""
        state, took = _after(start, stages, able, mine, among)
        lost = bool(took) and not _fits(state, mine.key, nodes)
        if lost and len(took) > 1:
            rest = ((turn, [each for each in took if each is not turn]) for turn in took)
            decisive = [
                turn for turn, other in rest if _fits(_after(start, stages, other, mine, among)[0], mine.key, among)
            ]
            took = decisive or took
        return took, lost

    def _able(
        self, state: ClusterState, turns: Iterable[_Turn], nodes: Collection[str], untried: list[_Turn]
    ) -> Iterator[_Turn]:
        """The pods and groups that could take one of the nodes; those that are too many to try become ``untried``."""
        known: dict[bytes, bool] = {}
        room = {True: _KINDS, False: _KINDS}
        for turn in turns:
            if turn.group:
                if not set(nodes).isdisjoint(place_group(state, turn.key, ()).nodes.values()):
                    yield turn
                continue
            kind = kind_of(state, turn.key)
            # However many unlike pods wait for longer, those that surely want the same are asked.
            near = turn.again or self._case.is_sibling(state.inventory.pods[turn.key])
            if kind not in known and room[near]:
                room[near] -= 1
                known[kind] = _fits(state, turn.key, nodes) and not self._fails(kind, turn.key)
            if known.get(kind):
                yield turn
            elif kind not in known:
                untried.append(turn)

    def _fails(self, kind: bytes, key: Key) -> bool:
        """Whether something on any node ends the pod's attempt, whatever becomes free."""
        state = self._case.state
        known = _failing(state)
        if kind not in known:
            waits = key in state.inventory.pods
            known[kind] = waits and verdict(state, key) is Verdict.SCHEDULER_ERROR
        return known[kind]

    def _returning(self, action: Action) -> Pod | None:
        """What a controller makes in place of a pod that is deleted."""
        if not isinstance(action, DeletePod) or action.recreated_by is None:
            return None
        pod = self._case.state.inventory.pods.get(action.pod.key) or self._known_by_sums(action.pod.key)
        return made_again(pod) if pod is not None else None

    def _known_by_sums(self, key: Key) -> Pod | None:
        """A pod of which only what it takes of its node was kept, with as much of it as that tells."""
        for usage in self._case.state.inventory.usage.values():
            for info in usage.placed:
                if info.key == key:
                    return _pod_of(info)
        return None


def takes_part(state: ClusterState, pod: Pod) -> bool:
    """Whether the scheduler tries a pod: it waits, nothing keeps it out of the queue, and it is no other's."""
    if not is_pending(pod) or pod.spec.node_name or pod.metadata.deletion_timestamp is not None:
        return False
    if pod.spec.scheduling_group is not None:
        return False  # it is placed with its whole group
    if pod.spec.scheduling_gates or other_scheduler(pod, state.schedulers) is not None:
        return False
    if incomplete(state, pod) is not None or kept_out(state, pod) is not None:
        return False  # none of its group is tried before others exist
    entries = resolve(state.inventory, state.evidence, state.features, pod)
    return all(entry.problem is None for entry in entries)


def _after(
    state: ClusterState, stages: Sequence[_Stage], turns: Iterable[_Turn], mine: _Turn, among: Collection[str]
) -> tuple[ClusterState, list[_Turn]]:
    """The cluster when those pods have had their turn before this one, and which of them got a node."""
    took: list[_Turn] = []
    there: set[Key] = set()
    waiting = list(turns)

    def try_(turn: _Turn) -> None:
        nonlocal state
        then = _with_group(state, turn.key) if turn.group else placed(state, turn.key, among)
        if then is not None:
            state = then
            took.append(turn)
            waiting.remove(turn)

    for number, stage in enumerate(stages, 1):
        if stage.again is not None and stage.is_early:
            state = with_pod(state, stage.again)
            there.add(key_of(stage.again.metadata))
            for turn in [each for each in waiting if each.key == key_of(stage.again.metadata)]:
                try_(turn)
        if stage.change is not None:
            state = state.changed(stage.change(state.inventory))
        if stage.again is not None and not stage.is_early:
            state = with_pod(state, stage.again)
            there.add(key_of(stage.again.metadata))
        for turn in [each for each in waiting if each.key in there or not each.again]:
            if number < len(stages) or turn.before(mine):
                try_(turn)
    return state, took


def is_early(pod: Pod) -> bool:
    """Whether a pod is made again before the old one has gone: a StatefulSet waits for that."""
    controller = pod.metadata.controller
    return controller is None or controller.kind != _ORDERED


def with_pod(state: ClusterState, pod: Pod) -> ClusterState:
    """With a pod made again; what was deleted has given back to its quotas what it takes of them again."""
    inventory, extended = state.inventory, state.features.extended_resource
    made = added(inventory.replace(quotas={}), pod, extended=extended)
    return state.changed(made.replace(quotas=inventory.quotas))


def _with_group(state: ClusterState, group: Key) -> ClusterState | None:
    """The cluster with the pods of a group bound; None where they are not."""
    found = place_group(state, group, ())
    return found.after if found.nodes else None


def kind_of(state: ClusterState, key: Key) -> bytes:
    """What pods that are tried alike have in common."""
    inventory = state.inventory
    pod = inventory.pods[key]
    names = (Key(key.namespace, name) for name in claim_names(pod).values())
    claims = [
        (claim.spec, claim.status.allocation) for own in names if (claim := inventory.claims.get(own)) is not None
    ]
    spec = msgspec.structs.replace(pod.spec, resource_claims=())
    labels = {name: value for name, value in pod.metadata.labels.items() if name not in _OF_ONE}
    return encode_part((key.namespace, labels, spec, claims))


def _fits(state: ClusterState, key: Key, nodes: Collection[str]) -> bool:
    return outcome(state, key, frozenset(nodes)).fits


def _makes_anew(action: Action) -> bool:
    return isinstance(action, EditPod | RenewClaim) or (isinstance(action, EditClaim) and action.template is not None)


def made_again(pod: Pod) -> Pod:
    """A pod as its controller makes it, without a node and a past."""
    name = f"{pod.metadata.name}-again"
    meta = msgspec.structs.replace(pod.metadata, name=name, uid=f"{pod.metadata.uid}-again", creation_timestamp=_NEW)
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(pod, metadata=meta, spec=spec, status=PodStatus(phase="Pending"))


def _pod_of(info: PodInfo) -> Pod:
    amounts = {name: quantity_of(name, amount) for name, amount in info.shape.requests.items()}
    container = Container(name="main", resources=ResourceRequirements(requests=amounts))
    meta = ObjectMeta(name=info.key.name, namespace=info.key.namespace, uid=info.uid, labels=dict(info.shape.labels))
    return Pod(metadata=meta, spec=PodSpec(containers=(container,), priority=info.shape.priority))


def _turn(pod: Pod) -> _Turn:
    return _Turn(key_of(pod.metadata), _priority(pod), _since(pod))


def _since(pod: Pod) -> str:
    return pod.metadata.creation_timestamp or ""


def _priority(pod: Pod) -> int:
    return pod.spec.priority or 0


def _ref(turn: _Turn) -> ObjectRef:
    """The pod, or the group; a pod that is made again is called as the one whose place it takes."""
    if turn.group:
        return ObjectRef.of("PodGroup", turn.key)
    return ObjectRef("Pod", turn.key.namespace, turn.key.name.removesuffix("-again"))
