"""Devices that claims hold although their driver does not publish them any more.

The scheduler does not look at the devices of an allocation again, so a pod gets its node and the kubelet fails.
"""

from __future__ import annotations

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ObjectRef, VanishedDevices
from kubectl_dra.model.evidence import Coverage, Evidence, pool_fields
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ResourceClaim

_READ = frozenset({Coverage.COMPLETE, Coverage.NOT_SERVED})


def vanished(inventory: Inventory, evidence: Evidence, claim: ResourceClaim) -> Cause | None:
    """The devices of an allocated claim that are known to be published no more; None where there are none."""
    gone = tuple(id_ for id_ in devices_of(claim) if _is_gone(inventory, evidence, id_))
    if not gone:
        return None
    pools = tuple(dict.fromkeys(str(id_.pool_id) for id_ in gone if id_.pool_id not in inventory.slices_by_pool))
    detail = VanishedDevices(tuple(map(str, gone)), pools)
    return Cause(Code.DEVICE_VANISHED, detail, claim=ObjectRef.of_claim(claim))


def is_unpublished(inventory: Inventory, device: DeviceId) -> bool:
    """Whether no slice of the newest generation has the device; one that was not read, or is to come, may have it."""
    newest = inventory.newest(device.pool_id)
    return all(each.name != device.device for slice_ in newest for each in slice_.spec.devices)


def _is_gone(inventory: Inventory, evidence: Evidence, device: DeviceId) -> bool:
    pool = device.pool_id
    if evidence.within(pool_fields(pool)).coverage("ResourceSlice") not in _READ:
        return False
    slices = inventory.newest(pool)
    # A pool that is being updated may publish it in a slice that is not there yet.
    if slices and len(slices) != _expected(inventory, pool):
        return False
    return is_unpublished(inventory, device)


def _expected(inventory: Inventory, pool: PoolId) -> int:
    return max(slice_.spec.pool.resource_slice_count for slice_ in inventory.newest(pool))
