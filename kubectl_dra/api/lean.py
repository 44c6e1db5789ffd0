"""What nobody reads of pods that run beside the devices: left out of memory while a command is at work.

Such a pod takes room on its node, and its labels, terms, ports and volumes with a source decide about other pods.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import force_setattr

from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.podneeds import in_group
from kubectl_dra.model.volumes import Volume

#: Conditions that only the kubelet writes and no plugin and no report reads.
UNREAD_CONDITIONS: Final = frozenset({"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"})


def lean(record: Record) -> None:
    """Take out what is not read of a record that nobody else has seen yet; of other kinds nothing."""
    if not isinstance(record, Pod) or not record.spec.node_name or _has_devices(record):
        return
    spec = record.spec
    lean_status(record.status)
    # Most volumes have no source that is looked at, and a name that no other pod's has.
    read = [each for each in spec.volumes if each != Volume(each.name)]
    if len(read) < len(spec.volumes):
        force_setattr(spec, "volumes", tuple(read))


def lean_status(status: PodStatus) -> None:
    """The same of the status alone."""
    kept = [each for each in status.conditions if each.type not in UNREAD_CONDITIONS]
    if len(kept) < len(status.conditions):
        force_setattr(status, "conditions", tuple(kept))


def _has_devices(pod: Pod) -> bool:
    return bool(pod.spec.resource_claims) or pod.status.extended_resource_claim_status is not None or in_group(pod)
