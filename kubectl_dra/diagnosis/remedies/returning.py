"""Where the pods go that controllers make in place of deleted ones, once the waiting pod has its node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together
from kubectl_dra.diagnosis.pod.placing import placed
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.competition import is_early, made_again, with_pod
from kubectl_dra.diagnosis.remedies.records import DeletePod, Remedy
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key, key_of

_NODES: Final = 500
_PODS: Final = 3


def return_to(state: ClusterState, pod: Key, remedy: Remedy, changes: tuple[Change, ...]) -> tuple[str, ...]:
    """For each pod that is made again a node that has room for it, or an empty name; none where that can't be told.

    Most controllers make the new pod while the old one still holds its devices: it goes where there is room already.
    """
    deleted = [each for each in remedy.actions if isinstance(each, DeletePod)]
    sure = remedy.verified and bool(remedy.nodes) and not remedy.competition.may_be_lost
    if not sure or not deleted or len(deleted) > _PODS or len(state.inventory.nodes) > _NODES:
        return ()
    if any(each.pod.key not in state.inventory.pods for each in deleted):
        return ()
    if group_key(state.inventory.pods[pod]) is not None and are_placed_together(state):
        return ()  # its group has its turn as a whole
    again = list(_made(state, deleted))
    if not again or len(again) != sum(each.recreated_by is not None for each in deleted):
        return ()
    nodes, freed = list(state.inventory.nodes), {_node(state, each.pod.key) for each in deleted}
    found: dict[Key, str] = {}
    for each in filter(is_early, again):
        then = placed(with_pod(state, each), key_of(each.metadata), nodes)
        if then is not None:
            state = then
            found[key_of(each.metadata)] = _node(then, key_of(each.metadata))
    for change in changes:
        state = state.changed(change(state.inventory))
    mine = placed(state, pod, list(remedy.nodes))
    if mine is None:
        return ()
    state = mine
    for each in again:
        key = key_of(each.metadata)
        if key not in found:
            then = placed(with_pod(state, each), key, nodes)
            state, found[key] = (then, _node(then, key)) if then is not None else (state, "")
    told = tuple(found[key_of(each.metadata)] for each in again)
    others = remedy.competition.count > remedy.competition.again
    # What goes free is for others that wait, too; what was free before is not for them.
    return () if others and not freed.isdisjoint(told) else told


def _made(state: ClusterState, deleted: list[DeletePod]) -> Iterator[Pod]:
    for each in deleted:
        pod = state.inventory.pods.get(each.pod.key)
        if each.recreated_by is not None and pod is not None and pod.spec.scheduling_group is None:
            yield made_again(pod)


def _node(state: ClusterState, pod: Key) -> str:
    return state.inventory.pods[pod].spec.node_name
