"""PodGroups of files that are only supposed: what they say of the server that is to take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import features_of, gates_of
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.features import Features
from kubectl_dra.model.features import gates_of as gates_in
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podneeds import in_group
from kubectl_dra.model.scheduling import PodGroup


def with_groups(options: Options, state: ClusterState, objects: Sequence[Planned]) -> ClusterState:
    """With the features that groups of the files need, where nothing says that the server lacks them."""
    pods = {key_of(plan.pod.metadata): plan.pod for each in objects for plan in each.pods if in_group(plan.pod)}
    if not pods:
        return state
    inventory = state.inventory
    found = {each.key: each.record for each in objects if isinstance(each.record, PodGroup)}
    groups = replace(inventory.groups, pod_groups={**inventory.groups.pod_groups, **found})
    shown = inventory.replace(groups=groups, pods={**inventory.pods, **pods})
    return replace(state, features=features_of(shown, state.evidence, gates_of(options)))


def supposed_gates(before: Features, after: Features) -> tuple[str, ...]:
    """The gates that are on only because groups of the files need them."""
    known = gates_in(before)
    return tuple(gate for gate, on in gates_in(after).items() if on and not known[gate])
