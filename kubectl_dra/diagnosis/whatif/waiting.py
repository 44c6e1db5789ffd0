"""Pods that wait while nodes are drained in turn: they come first, and take what is free before the next drain.

In queue order (upstream: plugins/queuesort, Less), PodGroups as a whole. Whom they could evict is not tried.
"""

from __future__ import annotations

from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Put, edited
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together
from kubectl_dra.diagnosis.gangs.placing import place_group
from kubectl_dra.diagnosis.gates.pending import is_pending
from kubectl_dra.diagnosis.pod.placing import placed
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.competition import kind_of, takes_part
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key, key_of
from kubectl_dra.scheduler.gangs.group import queue_order

#: So many are tried before one drain, each on all nodes; of pods that are alike none after one that does not fit.
_MOST: Final = 64


class Waited(msgspec.Struct, frozen=True):
    """The cluster after the pods that wait had their turn; ``took``: those that run then; ``untried``: too many."""

    state: ClusterState
    took: tuple[ObjectRef, ...]
    untried: int


def waited(state: ClusterState) -> Waited:
    """Who waits takes what is free."""
    groups = state.inventory.groups.pod_groups if are_placed_together(state) else {}
    queue: dict[tuple[bool, Key], Pod] = {}
    for pod in sorted(state.inventory.pods.values(), key=queue_order):
        group = group_key(pod)
        if takes_part(state, pod):
            queue[False, key_of(pod.metadata)] = pod
        elif group is not None and group in groups and not pod.spec.node_name and is_pending(pod):
            queue.setdefault((True, group), pod)
    took, failed = list[Key](), set[bytes]()
    tries = untried = 0
    for is_group, key in queue:
        kind = b"" if is_group else kind_of(state, key)
        if kind in failed:
            continue
        if tries == _MOST:
            untried += 1
            continue
        tries += 1
        then, members = _with_group(state, key) if is_group else (placed(state, key, state.inventory.nodes), (key,))
        if then is not None:
            state = then
            took += members
        elif not is_group:
            failed.add(kind)
    return Waited(_running(state, took), tuple(ObjectRef.of("Pod", key) for key in took), untried)


def _with_group(state: ClusterState, group: Key) -> tuple[ClusterState | None, tuple[Key, ...]]:
    found = place_group(state, group, ())
    return (found.after if found.nodes else None), tuple(sorted(found.nodes))


def _running(state: ClusterState, keys: list[Key]) -> ClusterState:
    """They run by the next drain, so that disruption budgets cover them."""
    pods = (state.inventory.pods[key] for key in keys)
    running = (
        msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, phase="Running")) for pod in pods
    )
    return edited(state, [Put("Pod", pod) for pod in running]) if keys else state
