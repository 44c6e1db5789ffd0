"""The cycle that a group would get now: made once for each group of a state, and asked about by all of its pods."""

from __future__ import annotations

from typing import Final

from kubectl_dra.cluster import ClusterState, derived_for_each
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key
from kubectl_dra.model.scheduling import PodGroup
from kubectl_dra.scheduler.gangs.decision import GroupDecision, decide_group
from kubectl_dra.scheduler.snapshot import Snapshot

#: The version whose cycle is known; before, groups had other shapes and other rules.
FIRST_MINOR: Final = 37


def are_placed_together(state: ClusterState) -> bool:
    """Whether this scheduler places groups in one cycle, as it is simulated here."""
    return state.features.generic_workload and state.features.minor >= FIRST_MINOR


def group_of(state: ClusterState, pod: Pod) -> PodGroup | None:
    """The PodGroup of a pod, if it was read."""
    key = group_key(pod)
    return state.inventory.groups.pod_groups.get(key) if key is not None else None


@derived_for_each()
def cycle_of(state: ClusterState, group: Key) -> GroupDecision:
    """What the next cycle of a group that was read does."""
    return decide_group(Snapshot(state), state.inventory.groups.pod_groups[group])
