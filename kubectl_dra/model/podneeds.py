"""Which other objects a pod makes matter: volumes have claims and drivers, priorities victims, groups members.

Amounts have bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kubectl_dra.model.core import Pod
from kubectl_dra.model.volumes import Volume

_NEVER: Final = "Never"


def in_group(pod: Pod) -> bool:
    """Whether a pod is scheduled with others, or was."""
    return pod.spec.scheduling_group is not None or pod.spec.workload_ref is not None


def uses_storage(pod: Pod) -> bool:
    """Whether a volume has a PersistentVolumeClaim behind it, or a CSI driver takes care of it."""
    return any(_is_stored(volume) for volume in pod.spec.volumes)


def _is_stored(volume: Volume) -> bool:
    sources = (
        volume.persistent_volume_claim,
        volume.ephemeral,
        volume.aws_elastic_block_store,
        volume.azure_disk,
        volume.cinder,
        volume.gce_persistent_disk,
        volume.portworx_volume,
    )
    return any(source is not None for source in sources)


def is_spread(pod: Pod) -> bool:
    """Whether the scheduler spreads a pod as it spreads all: that says nothing about it itself."""
    return not pod.spec.topology_spread_constraints


def asks_for_amounts(pod: Pod) -> bool:
    """Whether a container requests or limits anything, which may be out of bounds when the pod is made anew."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return any(each.resources.requests or each.resources.limits for each in containers)


def may_evict(pod: Pod, priorities: Iterable[int]) -> bool:
    """Whether a pod may make room for itself at the cost of pods with one of these priorities."""
    own = pod.spec.priority or 0
    return pod.spec.preemption_policy != _NEVER and any(other < own for other in priorities)
