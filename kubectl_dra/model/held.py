"""What a claim holds: the devices of its allocation. Who holds a device is asked of the Inventory."""

from __future__ import annotations

from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.resource import DeviceRequestAllocationResult, ResourceClaim


def results_of(claim: ResourceClaim) -> tuple[DeviceRequestAllocationResult, ...]:
    """``status.allocation.devices.results``; none of a claim that has no allocation."""
    allocation = claim.status.allocation
    return allocation.devices.results if allocation is not None else ()


def device_of(result: DeviceRequestAllocationResult) -> DeviceId:
    return DeviceId(result.driver, result.pool, result.device)


def devices_of(claim: ResourceClaim) -> tuple[DeviceId, ...]:
    """The devices of all results, in their order; one that it has two shares of comes twice."""
    return tuple(map(device_of, results_of(claim)))
