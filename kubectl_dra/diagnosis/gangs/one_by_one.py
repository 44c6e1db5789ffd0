"""The pods of a gang tried one beside the other, as a scheduler that knows of no gang would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import missing
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.scheduler.gangs.trial import Run, place
from kubectl_dra.scheduler.gangs.world import with_pod, with_reservations
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import StatusCode

#: So many pods of one gang are tried on any cluster; more of them where these times the nodes are no more than that.
_TRIED: Final = 64
_EFFORT: Final = 20_000


class Placed(msgspec.Struct, frozen=True):
    """How many waiting pods of a gang find a node, one beside the other; ``lacking``: the first that finds none.

    ``inventory``: the cluster with those that do, not as a state, which would keep the one that keeps this;
    ``members``: all that were tried.
    """

    number: int
    lacking: Key | None
    inventory: Inventory
    members: frozenset[Key]


def place_one_by_one(state: ClusterState, namespace: str, pods: Sequence[Pod]) -> Placed | None:
    """What becomes of pods of a ``namespace`` that wait; None where too little was read, or they are too many."""
    too_many = len(pods) > max(_TRIED, _EFFORT // max(len(state.inventory.nodes), 1))
    if too_many or any(each.decides for each in missing(state.evidence, needs.POD, namespace)):
        return None
    there, shared, lacking = Snapshot(state), Run(), list[Key]()
    bound: list[Pod] = []
    for pod in pods:
        tried = place(there, pod, tuple(there.nodes), shared)
        if tried.status.code is StatusCode.UNKNOWN:
            return None
        if tried.node and tried.attempt is not None:
            there = with_pod(tried.attempt, tried.node)
            bound.append(pod)
        else:
            lacking.append(key_of(pod.metadata))
    # Where nothing lacks, nobody asks what they leave, and many pods that wait would each keep a copy of the cluster.
    inventory = there.inventory if lacking else state.inventory
    for pod in bound if lacking else ():
        inventory = with_reservations(inventory, pod)
    members = frozenset(key_of(pod.metadata) for pod in pods)
    return Placed(len(bound), lacking[0] if lacking else None, inventory, members)
