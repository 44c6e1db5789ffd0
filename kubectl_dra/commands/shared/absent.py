"""What is said of a name that no pool, device or node has: the same in every command that takes one."""

from __future__ import annotations

from kubectl_dra.api.kinds import NODE, RESOURCE_SLICE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.not_found import object_not_found, published_not_found, unsure
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.output.devices.unpublished import held_lines
from kubectl_dra.reports.devices.unpublished import held_in_pools
from kubectl_dra.reports.find import pool_names


def pool_not_found(word: str, state: ClusterState) -> CommandError:
    """The error for a name that no pool has, or none that was read: claims may know of one."""
    evidence = state.evidence
    held = () if evidence.complete(RESOURCE_SLICE.name) else held_in_pools(state, word)
    if not held:
        return published_not_found("pool", word, pool_names(state), evidence)
    problem = unsure(f'pool "{word}"', RESOURCE_SLICE, evidence, "ResourceSlices", but="is known from claims")
    problem.details = (*held_lines(held, state.now), *problem.details)
    return problem


def device_not_found(word: str, state: ClusterState) -> CommandError:
    """The error for a name that no device has; others are named as it is, with driver and pool or without."""
    specs = (slice_.spec for slice_ in state.inventory.slices.values())
    ids = (DeviceId(spec.driver, spec.pool.name, device.name) for spec in specs for device in spec.devices)
    known = {str(id_) if "/" in word else id_.device for id_ in ids}
    return published_not_found("device", word, known, state.evidence)


def node_not_found(name: str, state: ClusterState) -> CommandError:
    """The error for a node that was not read and that no slice names."""
    from kubectl_dra.reports.devices.nodes import node_names  # what is the matter with nodes takes the diagnosis

    return object_not_found(NODE, name, node_names(state), state.evidence)
