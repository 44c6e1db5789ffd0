"""ResourcePoolStatusRequests beside our own numbers: what the controller counted once, and what differs now.

Upstream: calculatePoolStatus of the resourcepoolstatusrequest controller. It subtracts a device that is both allocated
and tainted twice, so that its ``availableDevices`` may be smaller than what is free; the comparison counts as it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.poolstatus import PoolStatus, ResourcePoolStatusRequest
from kubectl_dra.model.taint_text import PREVENTING
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.devices.holders import Holder
from kubectl_dra.reports.taints.taints import TaintRecord

KIND = "ResourcePoolStatusRequest"


class FigureDifference(ReportRecord, frozen=True):
    """A figure of the status, what the controller counted, and what the same count gives now."""

    figure: str
    counted: int
    now: int


class PoolStatusRecord(ReportRecord, frozen=True):
    """What one request says about the pool. ``over``: it was answered or failed, ``answered`` is when (RFC 3339).

    ``status`` is None while there is no answer, or where it leaves this pool out (``limit``).
    ``counted_twice`` devices are both allocated and tainted. ``failed`` is the condition's message if it failed.
    """

    request: str
    over: bool
    answered: str
    failed: str
    status: PoolStatus | None
    differs: tuple[FigureDifference, ...]
    counted_twice: int


class DeviceUse(ReportRecord, frozen=True):
    """What the controller reads of one device."""

    holders: tuple[Holder, ...]
    taints: tuple[TaintRecord, ...]

    @property
    def allocated(self) -> bool:
        """Whether any allocation without admin access has it."""
        return any(not holder.admin_access for holder in self.holders)

    @property
    def unavailable(self) -> bool:
        """Whether a taint keeps requests away."""
        return any(taint.effect in PREVENTING for taint in self.taints)


def pool_statuses(
    pool: PoolId, inventory: Inventory, generation: int, slices: int, devices: Sequence[DeviceUse]
) -> tuple[PoolStatusRecord, ...]:
    """What every request about ``pool`` says, by name; ``slices`` are those seen of the newest ``generation``."""
    ours = _figures(generation, slices, devices)
    twice = sum(device.allocated and device.unavailable for device in devices)
    asked = sorted(_about(pool, inventory.pool_statuses.values()), key=lambda request: request.metadata.name)
    return tuple(_record(pool, request, ours, twice) for request in asked)


def _about(pool: PoolId, requests: Iterable[ResourcePoolStatusRequest]) -> Iterator[ResourcePoolStatusRequest]:
    for request in requests:
        if request.spec.driver == pool.driver and request.spec.pool_name in (None, "", pool.pool):
            yield request


def _figures(generation: int, slices: int, devices: Sequence[DeviceUse]) -> dict[str, int]:
    allocated = sum(device.allocated for device in devices)
    unavailable = sum(device.unavailable for device in devices)
    return {
        "generation": generation,
        "resourceSliceCount": slices,
        "totalDevices": len(devices),
        "allocatedDevices": allocated,
        "unavailableDevices": unavailable,
        "availableDevices": max(0, len(devices) - allocated - unavailable),
    }


def _record(pool: PoolId, request: ResourcePoolStatusRequest, ours: dict[str, int], twice: int) -> PoolStatusRecord:
    status = request.status
    conditions = status.conditions if status is not None else ()
    true = {condition.type: condition for condition in conditions if condition.status == "True"}
    over = true.get("Complete") or true.get("Failed")
    pools = status.pools if status is not None else ()
    found = next((each for each in pools if (each.driver, each.pool_name) == (pool.driver, pool.pool)), None)
    return PoolStatusRecord(
        request.metadata.name,
        over is not None,
        (over.last_transition_time or "") if over is not None else "",
        true["Failed"].message if "Failed" in true else "",
        found,
        tuple(_differences(found, ours)) if found is not None else (),
        twice,
    )


def _differences(status: PoolStatus, ours: dict[str, int]) -> Iterator[FigureDifference]:
    theirs = {
        "generation": status.generation,
        "resourceSliceCount": status.resource_slice_count,
        "totalDevices": status.total_devices,
        "allocatedDevices": status.allocated_devices,
        "unavailableDevices": status.unavailable_devices,
        "availableDevices": status.available_devices,
    }
    for figure, counted in theirs.items():
        if counted is not None and counted != ours[figure]:
            yield FigureDifference(figure, counted, ours[figure])
