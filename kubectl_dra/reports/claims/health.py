"""Health of devices as kubelets report it in the status of the pods that use them.

API field: ``status.containerStatuses[].allocatedResourcesStatus[]`` with names ``claim:ENTRY[/REQUEST]``; a resource
id is ``driver/pool/device``. Health never changes scheduling; only taints do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.reports.base import ReportRecord

_CLAIM_PREFIX = "claim:"


class Health(ReportRecord, frozen=True):
    """What one container's kubelet says: ``Healthy``, ``Unhealthy`` or ``Unknown``, and the driver's message."""

    namespace: str
    pod: str
    container: str
    health: str
    message: str


@derived("pods")
def health_by_device(state: ClusterState) -> Mapping[DeviceId, tuple[Health, ...]]:
    """All reports by device, sorted by pod and container."""
    found: dict[DeviceId, set[Health]] = {}
    for pod in state.inventory.pods.values():
        for device, health in _of_pod(pod):
            found.setdefault(device, set()).add(health)
    return {device: tuple(sorted(reports, key=_order)) for device, reports in found.items()}


def _of_pod(pod: Pod) -> Iterator[tuple[DeviceId, Health]]:
    meta = pod.metadata
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        for entry in status.allocated_resources_status:
            if not entry.name.startswith(_CLAIM_PREFIX):
                continue
            for resource in entry.resources:
                if resource.resource_id.count("/") < 2:
                    continue
                health = Health(meta.namespace, meta.name, status.name, resource.health, resource.message)
                yield DeviceId.of(resource.resource_id), health


def _order(health: Health) -> tuple[str, str, str, str, str]:
    return health.namespace, health.pod, health.container, health.health, health.message
