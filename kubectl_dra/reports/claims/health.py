"""Health of devices as kubelets report it in the status of the pods that use them.

It never changes scheduling; only taints do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.said.health import reported
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.reports.base import ReportRecord


class Health(ReportRecord, frozen=True):
    """What one container's kubelet says: ``Healthy``, ``Unhealthy`` or ``Unknown``, and the driver's message."""

    namespace: str
    pod: str
    container: str
    health: str
    message: str


@derived("pods", "claims")
def health_by_device(state: ClusterState) -> Mapping[DeviceId, tuple[Health, ...]]:
    """All reports by device, sorted by pod and container."""
    found: dict[DeviceId, set[Health]] = {}
    for pod in state.inventory.pods.values():
        for device, health in _of_pod(pod, state.inventory):
            found.setdefault(device, set()).add(health)
    return {device: tuple(sorted(reports, key=_order)) for device, reports in found.items()}


def _of_pod(pod: Pod, inventory: Inventory) -> Iterator[tuple[DeviceId, Health]]:
    meta = pod.metadata
    for container, _, _, said, device in reported(pod, inventory):
        if device is not None:
            yield device, Health(meta.namespace, meta.name, container, said.health, said.message)


def _order(health: Health) -> tuple[str, str, str, str, str]:
    return health.namespace, health.pod, health.container, health.health, health.message
