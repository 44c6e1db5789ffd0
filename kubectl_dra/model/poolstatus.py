"""ResourcePoolStatusRequest: a question about pools that a controller answers once.

Only in v1alpha3, behind the gate DRAResourcePoolStatus.
"""

from __future__ import annotations

from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import Condition, ObjectMeta
from kubectl_dra.model.quantity import Quantity


class ResourcePoolStatusRequestSpec(Record, frozen=True):
    """``spec``; the server defaults ``limit`` to 100."""

    driver: str = ""
    pool_name: str | None = None
    limit: int | None = None
    default_partition_type_attribute: str | None = None


class PartitionTypeStatus(Record, frozen=True):
    """``partitionSummary[]``: partitions of one type."""

    attribute: str = ""
    type: str = ""
    total: int | None = None
    allocatable: int | None = None


class ShareableCapacityStatus(Record, frozen=True):
    """``shareableSummary.capacity[]``."""

    name: str = ""
    total: Quantity | None = None
    consumed: Quantity | None = None
    available: Quantity | None = None


class ShareableSummaryStatus(Record, frozen=True):
    """``shareableSummary``: devices that allow several allocations."""

    fully_available_devices: int | None = None
    partially_available_devices: int | None = None
    capacity: tuple[ShareableCapacityStatus, ...] = ()


class PoolStatus(Record, frozen=True):
    """``status.pools[]``. A device that is both allocated and tainted is subtracted twice from the available ones."""

    driver: str = ""
    pool_name: str = ""
    generation: int = 0
    resource_slice_count: int | None = None
    total_devices: int | None = None
    allocated_devices: int | None = None
    available_devices: int | None = None
    unavailable_devices: int | None = None
    node_name: str | None = None
    validation_error: str | None = None
    partition_summary: tuple[PartitionTypeStatus, ...] = ()
    shareable_summary: ShareableSummaryStatus | None = None


class ResourcePoolStatusRequestStatus(Record, frozen=True):
    """``status``; absent until the controller answered."""

    pool_count: int | None = None
    pools: tuple[PoolStatus, ...] = ()
    conditions: tuple[Condition, ...] = ()


class ResourcePoolStatusRequest(Record, frozen=True):
    """The question and, once answered, the answer."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourcePoolStatusRequestSpec = ResourcePoolStatusRequestSpec()
    status: ResourcePoolStatusRequestStatus | None = None
