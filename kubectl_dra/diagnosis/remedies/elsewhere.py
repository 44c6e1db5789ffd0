"""Ways out for a gang of another scheduler: by the default one's rules, those of its first pod that finds no node.

Beside it the others of the gang that find one are taken to have theirs. Whether the gang is started is decided by its
own scheduler.
"""

from __future__ import annotations

from typing import NamedTuple

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.elsewhere import placed_of
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import GangElsewhere, PodDiagnosis
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key


class Asked(NamedTuple):
    """The cluster and the pod whose ways out are searched; ``keep``: pods of its gang, which are not to be deleted."""

    world: ClusterState
    diagnosis: PodDiagnosis
    keep: frozenset[Key] = frozenset()


def as_if_ours(world: ClusterState, diagnosis: PodDiagnosis) -> Asked:
    """The same as it is, but for a pod of such a gang."""
    gang = diagnosis.causes[0].detail if diagnosis.causes else None
    pod = world.inventory.pods.get(diagnosis.pod.key)
    if not isinstance(gang, GangElsewhere) or not gang.lacking or pod is None or pod.spec.node_name:
        return Asked(world, diagnosis)
    if gang.present or gang.queue_state:
        # None of its pods is tried before others exist, or the queue is open.
        return Asked(world, diagnosis)
    placed = placed_of(world, pod)
    if placed is None or placed.lacking is None:
        return Asked(world, diagnosis)
    inventory = placed.inventory
    ours = with_spec(inventory.pods[placed.lacking], scheduler_name="")
    there = world.changed(inventory.replace(pods=edited(inventory.pods, {placed.lacking: ours})))
    return Asked(there, Diagnoser(there).pod(placed.lacking), placed.members)
