"""Ending pods by scaling their workload down by as many: nothing is started again that takes it back, or just waits.

A ReplicaSet ends pods that are not ready first, and of those that are the ones with the lowest pod-deletion-cost
(upstream: pkg/controller/controller_utils.go, ActivePodsWithRanks); a StatefulSet those with the highest ordinals
(pkg/controller/statefulset/stateful_set_control.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.reserved import fails
from kubectl_dra.diagnosis.pod.placing import placed
from kubectl_dra.diagnosis.pod.workloads import Owner, Owners
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.actions import LabelNode, ScaleDown, SetDeletionCost
from kubectl_dra.diagnosis.remedies.candidate import Case
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.competition import Competing, is_early, made_again, with_pod
from kubectl_dra.diagnosis.remedies.outlook import Competition
from kubectl_dra.diagnosis.remedies.records import (
    Action,
    DeletePod,
    EditClaim,
    EditPod,
    NarrowTaintRule,
    Remedy,
    RemoveTaintRule,
    Uncordon,
)
from kubectl_dra.diagnosis.remedies.scalable import SCALED, is_scaled_back, loses_volumes
from kubectl_dra.diagnosis.remedies.together import GroupOfPod
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.names import DELETION_COST
from kubectl_dra.model.usage import is_terminal

_ORDERED: Final = "StatefulSet"
#: What may be done together with it.
_BESIDE: Final = (EditClaim, EditPod, LabelNode, NarrowTaintRule, RemoveTaintRule, Uncordon)


def lasting(
    case: Case,
    competing: Competing,
    actions: tuple[Action, ...],
    changes: Sequence[Change],
    changed: ClusterState,
    nodes: Sequence[str],
) -> tuple[tuple[Action, ...], Competition]:
    """The actions and who competes for what they free; where that is who is started again, scaled down instead."""
    competition = competing.of(actions, changes, changed, nodes)
    scaled = _in_place_of(case.state, case.owners, actions) if competition.taken_back else None
    return (
        (actions, competition)
        if scaled is None
        else (scaled, competing.of(_for_good(actions), changes, changed, nodes))
    )


def without_a_queue(state: ClusterState, pod: Pod, owners: Owners, remedy: Remedy) -> Remedy:
    """Scaled down instead, where what is started again finds no other node and would stay pending.

    Not what makes the waiting ``pod`` itself, which would be the first to go.
    """
    if "" not in remedy.returns:
        return remedy
    scaled, found = _in_place_of(state, owners, remedy.actions), remedy.competition
    own = {owner.ref for owner in owners.of(pod)}
    if any(isinstance(each, ScaleDown) and each.workload in own for each in scaled or ()):
        return remedy
    # Pods that are made later come after this one; where they do not, nobody knows who is left to compete.
    if scaled is None or found.after < found.again:
        return remedy
    rest = msgspec.structs.replace(found, after=found.after - found.again, again=0)
    return msgspec.structs.replace(remedy, actions=scaled, competition=rest, returns=())


def each_once(remedies: Sequence[Remedy]) -> Iterator[tuple[int, Remedy]]:
    """The remedies and their indices; of those that scale the same workloads to the same numbers the first.

    Where any of the workload's pods would do, none of them is made the first to go.
    """
    alike: dict[frozenset[tuple[ObjectRef, int]], list[int]] = {}
    for index, remedy in enumerate(remedies):
        # Other changes beside it are another way out.
        alone = all(isinstance(each, ScaleDown | SetDeletionCost) for each in remedy.actions)
        key = frozenset((each.workload, each.to) for each in remedy.actions if alone and isinstance(each, ScaleDown))
        alike.setdefault(key, []).append(index)
        if not key:
            yield index, remedy
    for key, indices in alike.items():
        if key:
            yield indices[0], _by_one([remedies[index] for index in indices])


def _by_one(remedies: Sequence[Remedy]) -> Remedy:
    """The first; without the choice of a pod where one has to go and each of them was tried."""
    first = remedies[0]
    downs = [each for remedy in remedies for each in remedy.actions if isinstance(each, ScaleDown)]
    down, ended = downs[0], {pod for each in downs for pod in each.pods}
    if len(downs) > len(remedies) or down.to != down.replicas - 1 or len(ended) != down.replicas or not down.to:
        return first
    nodes = tuple(dict.fromkeys(name for each in remedies for name in each.nodes))
    return msgspec.structs.replace(first, actions=(msgspec.structs.replace(down, pods=()),), nodes=nodes)


def lasting_for_group(
    case: Case, group: GroupOfPod, actions: tuple[Action, ...], changes: Sequence[Change]
) -> tuple[tuple[Action, ...], Competition]:
    """The same for a group: the pods that are made again have their turn before it, and may leave it too little."""
    deleted = [(each, case.state.inventory.pods.get(each.pod.key)) for each in actions if isinstance(each, DeletePod)]
    again = [made_again(pod) for each, pod in deleted if pod is not None and each.recreated_by is not None]
    state = _with_placed(case.state, filter(is_early, again))
    for change in group.spread(changes):
        state = state.changed(change(state.inventory))
    state = _with_placed(state, (pod for pod in again if not is_early(pod)))
    if not again or group.outcome(state).nodes:
        return actions, Competition()
    scaled = _in_place_of(case.state, case.owners, actions)
    if scaled is not None:
        return scaled, Competition()
    first = tuple(ObjectRef.of("Pod", key_of(pod.metadata)) for pod in again)
    return actions, Competition(len(again), again=len(again), first=first, lost=True)


def _with_placed(state: ClusterState, pods: Iterable[Pod]) -> ClusterState:
    """With new pods, each on a node if there is one for it."""
    for pod in pods:
        state = with_pod(state, pod)
        state = placed(state, key_of(pod.metadata), list(state.inventory.nodes)) or state
    return state


def _in_place_of(state: ClusterState, owners: Owners, actions: Sequence[Action]) -> tuple[Action, ...] | None:
    """The same pods ended by scaling, beside edits; None where that ends others, or it is not known which."""
    found: dict[ObjectRef, tuple[Owner, list[DeletePod]]] = {}
    edits = [each for each in actions if isinstance(each, _BESIDE)]
    for each in actions:
        if each in edits:
            continue
        owner = owners.restarting(each.pod.key) if isinstance(each, DeletePod) else None
        if not isinstance(each, DeletePod) or owner is None or owner.object is None or owner.ref.kind not in SCALED:
            return None
        found.setdefault(owner.ref, (owner, []))[1].append(each)
    scaled: list[Action] = list(edits)
    for owner, deleted in found.values():
        steps = _scaled(state, owners, owner, deleted)
        if steps is None:
            return None
        scaled += steps
    return tuple(scaled)


def _for_good(actions: Sequence[Action]) -> tuple[Action, ...]:
    """The same pods, which nothing starts again."""
    return tuple(
        msgspec.structs.replace(each, recreated_by=None) if isinstance(each, DeletePod) else each for each in actions
    )


def _scaled(state: ClusterState, owners: Owners, owner: Owner, deleted: Sequence[DeletePod]) -> list[Action] | None:
    inventory = state.inventory
    going = [pod for each in deleted if (pod := inventory.pods.get(each.pod.key)) is not None]
    if owner.object is None or len(going) < len(deleted):
        return None
    replicas = 1 if owner.object.spec.replicas is None else owner.object.spec.replicas
    pods = [pod for pod in inventory.pods.values() if owners.are_siblings(pod, going[0]) and not is_terminal(pod)]
    staying = [pod for pod in pods if pod not in going]
    if len(pods) != replicas or len(staying) != replicas - len(going) or not all(map(_is_settled, staying)):
        return None
    if loses_volumes(owner.object) or is_scaled_back(inventory, owner.ref, len(staying)):
        return None
    ordered = owner.ref.kind == _ORDERED
    if ordered and max(map(_ordinal, staying), default=-1) > min(map(_ordinal, going)):
        return None
    refs = tuple(ObjectRef.of("Pod", key_of(pod.metadata)) for pod in going)
    frees = tuple(device for each in deleted for device in each.frees)
    amounts = tuple(amount for each in deleted for amount in each.amounts)
    down = ScaleDown(owner.ref, replicas, refs, frees, to=len(staying), amounts=amounts)
    first = [] if ordered or not staying else [SetDeletionCost(ref) for ref in refs]
    return [*first, down]


def _is_settled(pod: Pod) -> bool:
    """Whether nothing makes a controller end this one before others."""
    ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    running = bool(pod.spec.node_name) and pod.status.phase == "Running" and pod.metadata.deletion_timestamp is None
    return running and ready and not fails(pod) and DELETION_COST not in pod.metadata.annotations


def _ordinal(pod: Pod) -> int:
    number = pod.metadata.name.rpartition("-")[2]
    return int(number) if number.isascii() and number.isdigit() else -1
