"""What the driver of a classic claim (v1alpha2, or a controller of v1alpha3) holds and has to do."""

from __future__ import annotations

from kubectl_dra.model.classic import ClassicClaim, ResourceHandle, classic_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.base import ReportRecord


class HandleRecord(ReportRecord, frozen=True):
    """``allocation.resourceHandles[]``. ``data_bytes`` is the size of the driver's own data, which is never shown.

    ``node`` and ``instances`` are what structured parameters gave.
    """

    driver: str
    data_bytes: int
    node: str
    instances: tuple[str, ...]


class ClassicRecord(ReportRecord, frozen=True):
    """The classic side of a claim's status. ``driver`` is empty until allocation starts."""

    driver: str
    shareable: bool
    deallocation_requested: bool
    handles: tuple[HandleRecord, ...]


def classic_record(claim: ResourceClaim) -> ClassicRecord | None:
    """The record of a claim; None for one that only the scheduler decides."""
    classic = classic_of(claim)
    if classic is None:
        return None
    driver = classic.driver_name or classic.allocation_controller
    # Since v1alpha3 every allocation may be shared.
    shareable = classic.shareable or (claim.status.allocation is not None and not classic.resource_class_name)
    return ClassicRecord(driver, shareable, classic.deallocation_requested, _handles(classic))


def _handles(classic: ClassicClaim) -> tuple[HandleRecord, ...]:
    return tuple(map(_handle, classic.resource_handles))


def _handle(handle: ResourceHandle) -> HandleRecord:
    size, structured = len(handle.data.encode(errors="surrogatepass")), handle.structured_data
    if structured is None:
        return HandleRecord(handle.driver_name, size, "", ())
    named = tuple(result.named_resources.name for result in structured.results if result.named_resources is not None)
    return HandleRecord(handle.driver_name, size, structured.node_name, named)
