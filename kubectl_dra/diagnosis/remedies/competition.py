"""Who else waits for what a remedy frees or adds: the other pending pods, placed together with this one in queue order.

The scheduler takes pods by priority, and of equal ones the one that has been in its queue for longer (upstream:
plugins/queuesort, Less). How long that is can't be read; pods that wait together are tried in the order in which they
came. A pod that is made anew is the last one, and so are those that a controller makes in place of deleted ones. The
pods of a PodGroup take what they find together, or nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from kubectl_dra.api.encode import encode_part
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together, group_key
from kubectl_dra.diagnosis.gangs.placing import place_group
from kubectl_dra.diagnosis.gates import other_scheduler
from kubectl_dra.diagnosis.pending import is_pending
from kubectl_dra.diagnosis.placing import added, placed
from kubectl_dra.diagnosis.records import ObjectRef, Verdict
from kubectl_dra.diagnosis.remedies.candidate import Case
from kubectl_dra.diagnosis.remedies.records import Action, Competition, DeletePod, EditClaim, EditPod, RenewClaim
from kubectl_dra.diagnosis.remedies.trial import outcome, verdict
from kubectl_dra.model.core import Container, Pod, PodSpec, PodStatus, ResourceRequirements
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.scheduler.claims import resolve

# More kinds of pods, and more nodes, are not tried for one remedy.
_KINDS: Final = 16
_GROUPS: Final = 4
_NODES: Final = 40
_NEW: Final = "~"  # later than every time
_MILLI: Final = -3


@dataclass(frozen=True, slots=True)
class _Turn:
    """The place of a pod in the queue, or of a PodGroup as a whole; ``since`` is a time, or :data:`_NEW`."""

    key: Key
    priority: int
    since: str
    group: bool = False

    @property
    def order(self) -> tuple[int, str, bool, Key]:
        return -self.priority, self.since, self.group, self.key

    def before(self, other: _Turn) -> bool:
        """Whether it may be tried before the other one; of the same moment, either may."""
        return (-self.priority, self.since) <= (-other.priority, other.since)


@derived()
def _failing(world: ClusterState) -> dict[bytes, bool]:
    """By kind of pods, whether something on a node ends their attempts; for all pods whose ways out are searched."""
    return {}


class Competing:
    """The pods that wait beside one pod, of one state of the cluster."""

    def __init__(self, case: Case) -> None:
        self._case = case

    @cached_property
    def _waiting(self) -> tuple[Pod, ...]:
        case = self._case
        unscheduled = (pod for pod in case.world.inventory.pods.values() if not pod.spec.node_name)
        return tuple(
            pod
            for pod in unscheduled
            if key_of(pod.metadata) != case.diagnosis.pod.key
            and not case.is_sibling(pod)
            and _takes_part(case.world, pod)
        )

    @cached_property
    def _groups(self) -> tuple[_Turn, ...]:
        """The PodGroups whose pods wait, but for the pod's own."""
        world = self._case.world
        if not are_placed_together(world):
            return ()
        own, known = group_key(self._case.pod), world.inventory.groups.pod_groups
        found: dict[Key, list[Pod]] = {}
        for pod in world.inventory.pods.values():
            key = None if pod.spec.node_name or not is_pending(pod) else group_key(pod)
            if key is not None and key != own and key in known:
                found.setdefault(key, []).append(pod)
        turns = (
            _Turn(key, known[key].spec.priority or 0, min(map(_since, pods)), group=True) for key, pods in found.items()
        )
        return tuple(sorted(turns, key=lambda turn: turn.order))[:_GROUPS]

    def of(self, actions: Sequence[Action], changed: ClusterState, nodes: Sequence[str]) -> Competition:
        """Who competes for ``nodes``, on which the pod fits in the ``changed`` cluster."""
        if all(isinstance(action, EditClaim | RenewClaim | EditPod) for action in actions):
            return Competition()  # nothing becomes free that others could not have taken before
        returning = list(self._returning(actions))
        if not (self._waiting or self._groups or returning):
            return Competition()
        among, pod = nodes[:_NODES], self._case.pod
        anew = any(_makes_anew(action) for action in actions)
        mine = _Turn(self._case.diagnosis.pod.key, _priority(pod), _NEW if anew else _since(pod))
        for each in returning:
            # What was deleted has given back to its quotas what it takes of them again.
            inventory, extended = changed.inventory, changed.features.extended_resource
            made = added(inventory.replace(quotas={}), each, extended=extended)
            changed = changed.changed(made.replace(quotas=inventory.quotas))
        turns = sorted([*map(_turn, self._waiting), *map(_turn, returning), *self._groups], key=lambda turn: turn.order)
        able = list(self._able(changed, turns, among))
        # Of several pods that go one after the other, the first leave room for others while this one does not fit yet.
        early = _deletions(actions) > 1
        last = key_of(returning[-1].metadata) if returning else None
        first = [turn for turn in able if turn.before(mine) or (early and turn.key != last)]
        world, took = _after(changed, first, among)
        lost = bool(took) and not _fits(world, mine.key, nodes)
        if lost and len(took) > 1:
            took = _decisive(changed, took, mine.key, among) or took
        return Competition(
            before=tuple(_ref(turn) for turn in took),
            after=tuple(_ref(turn) for turn in able if turn not in took),
            lost=lost,
        )

    def _able(self, world: ClusterState, turns: Iterable[_Turn], nodes: Collection[str]) -> Iterator[_Turn]:
        """The pods and groups that could take one of the nodes."""
        known: dict[bytes, bool] = {}
        for turn in turns:
            if turn.group:
                if not set(nodes).isdisjoint(place_group(world, turn.key, ()).nodes.values()):
                    yield turn
                continue
            kind = _kind(world, turn)
            if kind not in known and len(known) < _KINDS:
                known[kind] = _fits(world, turn.key, nodes) and not self._fails(kind, turn.key)
            if known.get(kind):
                yield turn

    def _fails(self, kind: bytes, key: Key) -> bool:
        """Whether something on any node ends the pod's attempt, whatever becomes free."""
        world = self._case.world
        known = _failing(world)
        if kind not in known:
            waits = key in world.inventory.pods
            known[kind] = waits and verdict(world, key) is Verdict.SCHEDULER_ERROR
        return known[kind]

    def _returning(self, actions: Iterable[Action]) -> Iterator[Pod]:
        """What controllers make in place of the pods that are deleted."""
        for action in actions:
            if isinstance(action, DeletePod) and action.recreated_by is not None:
                pod = self._case.world.inventory.pods.get(action.pod.key) or self._known_by_sums(action.pod.key)
                if pod is not None:
                    yield _again(pod)

    def _known_by_sums(self, key: Key) -> Pod | None:
        """A pod of which only what it takes of its node was kept, with as much of it as that tells."""
        for usage in self._case.world.inventory.usage.values():
            for info in usage.placed:
                if info.key == key:
                    return _pod_of(info)
        return None


def _deletions(actions: Iterable[Action]) -> int:
    return sum(isinstance(action, DeletePod) for action in actions)


def _takes_part(world: ClusterState, pod: Pod) -> bool:
    """Whether the scheduler tries a pod: it waits, nothing keeps it out of the queue, and it is no other's."""
    if not is_pending(pod) or pod.spec.node_name or pod.metadata.deletion_timestamp is not None:
        return False
    if pod.spec.scheduling_group is not None:
        return False  # it is placed with its whole group
    if pod.spec.scheduling_gates or other_scheduler(pod, world.schedulers) is not None:
        return False
    entries = resolve(world.inventory, world.evidence, world.features, pod)
    return all(entry.problem is None for entry in entries)


def _after(world: ClusterState, turns: Iterable[_Turn], among: Collection[str]) -> tuple[ClusterState, list[_Turn]]:
    """The cluster when those pods have had their turn, and which of them got a node."""
    took = []
    for turn in turns:
        then = _with_group(world, turn.key) if turn.group else placed(world, turn.key, among)
        if then is not None:
            world = then
            took.append(turn)
    return world, took


def _with_group(world: ClusterState, group: Key) -> ClusterState | None:
    """The cluster with the pods of a group bound; None where they are not."""
    found = place_group(world, group, ())
    return found.after if found.nodes else None


def _decisive(world: ClusterState, took: Sequence[_Turn], key: Key, among: Sequence[str]) -> list[_Turn]:
    """Those of the pods without which enough would be left."""
    others = ((turn, [each for each in took if each is not turn]) for turn in took)
    return [turn for turn, rest in others if _fits(_after(world, rest, among)[0], key, among)]


def _kind(world: ClusterState, turn: _Turn) -> bytes:
    """What pods that are tried alike have in common."""
    inventory = world.inventory
    pod = inventory.pods[turn.key]
    names = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
    keys = (
        Key(turn.key.namespace, entry.resource_claim_name or names.get(entry.name) or "")
        for entry in pod.spec.resource_claims
    )
    claims = [(claim.spec, claim.status.allocation) for key in keys if (claim := inventory.claims.get(key)) is not None]
    spec = msgspec.structs.replace(pod.spec, resource_claims=())
    return encode_part((turn.key.namespace, pod.metadata.labels, spec, claims))


def _fits(world: ClusterState, key: Key, nodes: Collection[str]) -> bool:
    return outcome(world, key, frozenset(nodes)).fits


def _makes_anew(action: Action) -> bool:
    return isinstance(action, EditPod | RenewClaim) or (isinstance(action, EditClaim) and action.template is not None)


def _again(pod: Pod) -> Pod:
    """A pod as its controller makes it, without a node and a past."""
    name = f"{pod.metadata.name}-again"
    meta = msgspec.structs.replace(pod.metadata, name=name, uid=f"{pod.metadata.uid}-again", creation_timestamp=_NEW)
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(pod, metadata=meta, spec=spec, status=PodStatus(phase="Pending"))


def _pod_of(info: PodInfo) -> Pod:
    amounts = {
        name: Quantity(amount, _MILLI) if name == "cpu" else Quantity(amount)
        for name, amount in info.shape.requests.items()
    }
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
