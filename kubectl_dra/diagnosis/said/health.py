"""Which devices the kubelet reports the health of, in the status of the pods that use them.

API field: ``status.containerStatuses[].allocatedResourcesStatus[]`` with names ``claim:ENTRY[/REQUEST]``. A resource id
is the first CDI device of a device, ``VENDOR/CLASS=NAME``, and ``driver/pool/device`` where the driver prepares it
without CDI (upstream: pkg/kubelet/cm/dra/manager.go, buildResourceHealth).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from kubectl_dra.model.core import Pod, ResourceHealth
from kubectl_dra.model.held import device_of, results_of
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.scheduler.claims import claim_names

_CLAIM: Final = "claim:"


class Reported(NamedTuple):
    """What one container's kubelet says of one device; ``device`` is None where it is not clear which one is meant."""

    container: str
    claim: Key | None
    request: str
    resource: ResourceHealth
    device: DeviceId | None


def reported(pod: Pod, inventory: Inventory) -> Iterator[Reported]:
    """All that is said of devices of claims, in the order of the status; device plugins' are not ours."""
    names, namespace = claim_names(pod), pod.metadata.namespace
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        for entry in status.allocated_resources_status:
            if not entry.name.startswith(_CLAIM):
                continue
            name, _, request = entry.name.removeprefix(_CLAIM).partition("/")
            key = Key(namespace, names[name]) if name in names else None
            devices = _devices(inventory.claims.get(key) if key else None, request)
            for resource in entry.resources:
                yield Reported(status.name, key, request, resource, _meant(resource.resource_id, devices))


def _devices(claim: ResourceClaim | None, request: str) -> Sequence[DeviceId]:
    """Those of one request, whatever its chosen alternative, or of all."""
    results = results_of(claim) if claim is not None else ()
    base = request.partition("/")[0]
    return [device_of(each) for each in results if not base or each.request.partition("/")[0] == base]


def _meant(resource_id: str, devices: Sequence[DeviceId]) -> DeviceId | None:
    """The device itself, else the only one that the CDI device may be, or whose name ends the CDI device's.

    Drivers choose these names: NVIDIA's are ``k8s.gpu.nvidia.com/claim=UID-gpu-0``.
    """
    _, is_cdi, name = resource_id.partition("=")
    if not is_cdi:
        return DeviceId.of(resource_id) if resource_id.count("/") > 1 else None
    found = [each for each in devices if f"-{name}".endswith(f"-{each.device}")] if len(devices) > 1 else devices
    longest = max((len(each.device) for each in found), default=0)
    found = [each for each in found if len(each.device) == longest]
    return found[0] if len(found) == 1 else None
