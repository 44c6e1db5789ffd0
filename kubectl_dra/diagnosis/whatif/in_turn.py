"""Nodes that are drained one after the other, each as it was before (in service, or cordoned) when the next one is.

A pod that found another node runs there when the next drain begins, and pods that waited have taken what was free; all
else is as when nodes are drained together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Put, edited
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.whatif.nodes import stays_with_node
from kubectl_dra.diagnosis.whatif.records import Because, Displaced, Drain, InTurn, OneDrained, PodFate
from kubectl_dra.diagnosis.whatif.waiting import waited
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.usage import is_terminal

#: All pods of so many nodes are placed again, in at most two orders.
_MOST: Final = 8
_STAY: Final = (Because.DAEMON_SET, Because.STATIC)
#: The cluster after one drain, and what became of the pods.
OneDrain = Callable[[ClusterState, Drain], tuple[ClusterState, Sequence[Displaced]]]


def in_turn(
    state: ClusterState, drains: Sequence[Drain], displaced: Iterable[Displaced], drain: OneDrain
) -> InTurn | None:
    """Whether every pod finds a node if the nodes are drained in turn, where together some do not; None if not tried.

    ``state`` is as before the first drain. Tried in the order of their names, and the other way round.
    """
    if not 1 < len(drains) <= _MOST or not any(PodFate.PENDING in (each.fate, each.released) for each in displaced):
        return None
    orders = (tuple(drains), tuple(reversed(drains)))
    tried = [_tried(state, order, drain) for order in orders]
    return next((each for each in tried if not each.stuck_at), tried[0])


def _tried(state: ClusterState, order: Sequence[Drain], drain: OneDrain) -> InTurn:
    names = tuple(each.node for each in order)
    drains, between, untried = [], list[ObjectRef](), 0
    for each in order:
        others = waited(state)
        state = others.state
        between += others.took
        untried = max(untried, others.untried)
        drains.append(_asks_for(state, each.node))
        after, displaced = drain(state, each)
        if not all(map(_has_left, displaced)):
            pending = sum(PodFate.PENDING in (pod.fate, pod.released) for pod in displaced)
            return InTurn(names, each.node, pending, between=tuple(between), untried=untried)
        state = _in_service(after, state, each.node, displaced)
    return InTurn(names, drains=tuple(drains), between=tuple(between), untried=untried)


def _asks_for(state: ClusterState, node: str) -> OneDrained:
    """The pods of a node that kubectl drain does not delete without a flag, as they are when it is its turn."""
    inventory = state.inventory
    leave = sorted(
        (
            pod
            for pod in inventory.pods.values()
            if pod.spec.node_name == node and not is_terminal(pod) and not stays_with_node(pod)
        ),
        key=lambda pod: key_of(pod.metadata),
    )
    return OneDrained(
        node,
        inventory.nodes[node].spec.unschedulable,
        tuple(_ref(pod) for pod in leave if any(volume.empty_dir is not None for volume in pod.spec.volumes)),
        tuple(_ref(pod) for pod in leave if pod.metadata.controller is None),
    )


def _ref(pod: Pod) -> ObjectRef:
    return ObjectRef.of("Pod", key_of(pod.metadata))


def _has_left(pod: Displaced) -> bool:
    """Whether nothing of it is left to do; who waits for a budget, or cannot be placed here, has not."""
    return pod.fate in (PodFate.MOVES, PodFate.GONE) or (pod.fate is PodFate.STAYS and pod.because in _STAY)


def _in_service(after: ClusterState, before: ClusterState, node: str, displaced: Iterable[Displaced]) -> ClusterState:
    """The node is as it was before, cordoned or not, and the pods run that found another one."""
    edits = [Put("Node", before.inventory.nodes[node])]
    for each in displaced:
        pod = after.inventory.pods.get(Key(each.pod.namespace, each.pod.name))
        if each.fate is PodFate.MOVES and pod is not None:
            status = msgspec.structs.replace(pod.status, phase="Running")
            edits.append(Put("Pod", msgspec.structs.replace(pod, status=status)))
    return edited(after, edits)
