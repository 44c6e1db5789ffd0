"""resource.k8s.io in its v1 shape: classes, claims, templates, slices and taint rules as records.

Only shape: defaulting and decoding of older generations live in ``api``, decisions in ``allocation`` and ``diagnosis``.
"""

from __future__ import annotations

import msgspec
from msgspec import field

from kubectl_dra.model.base import Int64, Record
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.meta import Condition, NodeSelector, ObjectMeta
from kubectl_dra.model.quantity import Quantity

# --- devices, as drivers publish them -----------------------------------------------------------------------------


class DeviceAttribute(Record, frozen=True, cache_hash=True):
    """One attribute value; valid objects have exactly one field set. Compared again and again, so it keeps its hash."""

    int_value: Int64 | None = field(default=None, name="int")
    bool_value: bool | None = field(default=None, name="bool")
    string: str | None = None
    version: str | None = None
    ints: tuple[Int64, ...] | None = None
    bools: tuple[bool, ...] | None = None
    strings: tuple[str, ...] | None = None
    versions: tuple[str, ...] | None = None


class CapacityRange(Record, frozen=True):
    """``requestPolicy.validRange``."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(Record, frozen=True):
    """``capacity[].requestPolicy``: how a share's amount is rounded and bounded."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRange | None = None


class DeviceCapacity(Record, frozen=True):
    """``capacity[]``: the total, and the policy of a shareable device."""

    value: Quantity = Quantity(0, text="0")
    request_policy: CapacityRequestPolicy | None = None


class Counter(Record, frozen=True):
    """A named amount of a counter set."""

    value: Quantity = Quantity(0, text="0")


class CounterSet(Record, frozen=True):
    """``sharedCounters[]``: a budget that partitions of one piece of hardware draw on."""

    name: str = ""
    counters: dict[str, Counter] = field(default_factory=dict)


class CounterConsumption(Record, frozen=True):
    """``consumesCounters[]``."""

    counter_set: str = ""
    counters: dict[str, Counter] = field(default_factory=dict)
    compatibility_groups: tuple[str, ...] = ()


class DeviceTaint(Record, frozen=True):
    """A taint of a device, set by its driver or by a DeviceTaintRule."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class DeviceToleration(Record, frozen=True):
    """A toleration of a request or of an allocation result; an empty operator means ``Equal``."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class Device(Record, frozen=True):
    """``spec.devices[]`` of a slice. ``None`` for binding conditions differs from an empty list (search order)."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] = field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = field(default_factory=dict)
    consumes_counters: tuple[CounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class ResourcePool(Record, frozen=True):
    """``spec.pool`` of a slice."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(Record, frozen=True):
    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()
    partition_type_attribute: str | None = None
    skip_node_operations: tuple[str, ...] = ()

    @property
    def pool_id(self) -> PoolId:
        return PoolId(self.driver, self.pool.name)


class ResourceSlice(Record, frozen=True):
    """What a driver publishes: part of one generation of one pool."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()


# --- classes and claims ---------------------------------------------------------------------------------------------


class CELSelector(Record, frozen=True):
    """``selectors[].cel``."""

    expression: str = ""


class DeviceSelector(Record, frozen=True):
    """``selectors[]``; ``cel`` is absent for a selector type that this version does not know."""

    cel: CELSelector | None = None

    @property
    def expression(self) -> str:
        """The CEL text; empty for a selector of an unknown type."""
        return self.cel.expression if self.cel is not None else ""


class OpaqueConfiguration(Record, frozen=True):
    """``config[].opaque``: parameters that only the driver understands, kept as the exact JSON."""

    driver: str = ""
    parameters: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class DeviceClassConfiguration(Record, frozen=True):
    """``config[]`` of a class."""

    opaque: OpaqueConfiguration | None = None


class DeviceClassSpec(Record, frozen=True):
    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceClassConfiguration, ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(Record, frozen=True):
    """A named set of selectors and configuration."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceClassSpec = DeviceClassSpec()


class CapacityRequirements(Record, frozen=True):
    """``capacity`` of a request."""

    requests: dict[str, Quantity] = field(default_factory=dict)


class DerivedAttribute(Record, frozen=True):
    """``derivedAttributes[]`` of a request: a value computed by CEL, for constraints only."""

    name: str = ""
    expression: str = ""


class ExactDeviceRequest(Record, frozen=True):
    """``requests[].exactly``. ``admin_access`` None, false and true are three states while the feature is off."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[DerivedAttribute, ...] = ()


class DeviceSubRequest(Record, frozen=True):
    """``requests[].firstAvailable[]``, in order of preference."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[DerivedAttribute, ...] = ()


class DeviceRequest(Record, frozen=True):
    """``spec.devices.requests[]``: exactly one of the two forms."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(Record, frozen=True):
    """``constraints[]``; an empty request list means all requests."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaimConfiguration(Record, frozen=True):
    """``config[]`` of a claim."""

    requests: tuple[str, ...] = ()
    opaque: OpaqueConfiguration | None = None


class DeviceClaim(Record, frozen=True):
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(Record, frozen=True):
    """``spec`` of a claim or of a template's claim."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(Record, frozen=True):
    """``status.allocation.devices.results[]``: one device, or one share of one."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = field(default=None, name="shareID")
    consumed_capacity: dict[str, Quantity] = field(default_factory=dict)
    skip_node_operations: tuple[str, ...] = ()


class DeviceAllocationConfiguration(Record, frozen=True):
    """``status.allocation.devices.config[]``; source is ``FromClass`` or ``FromClaim``."""

    source: str = ""
    requests: tuple[str, ...] = ()
    opaque: OpaqueConfiguration | None = None


class DeviceAllocationResult(Record, frozen=True):
    results: tuple[DeviceRequestAllocationResult, ...] = ()
    config: tuple[DeviceAllocationConfiguration, ...] = ()


class AllocationResult(Record, frozen=True):
    """``status.allocation``; no node selector means usable everywhere."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ConsumerReference(Record, frozen=True):
    """``status.reservedFor[]``."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class NetworkDeviceData(Record, frozen=True):
    """``status.devices[].networkData``."""

    interface_name: str = ""
    ips: tuple[str, ...] = ()
    hardware_address: str = ""


class AllocatedDeviceStatus(Record, frozen=True):
    """``status.devices[]``: what a driver reports of an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    network_data: NetworkDeviceData | None = None


class ResourceClaimStatus(Record, frozen=True):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(Record, frozen=True):
    """A request for devices and, once allocated, the devices."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Record, frozen=True):
    """``spec`` of a template: metadata to copy and the claim's spec."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Record, frozen=True):
    """What the claim controller makes a claim per pod from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


# --- taint rules ----------------------------------------------------------------------------------------------------


class DeviceTaintSelector(Record, frozen=True):
    """``deviceSelector``: every given field must match; an empty one matches every device of the cluster.

    ``device_class_name`` and ``selectors`` existed only in v1alpha3 of 1.33 and 1.34.
    """

    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    device_class_name: str | None = None
    selectors: tuple[DeviceSelector, ...] = ()


class DeviceTaintRuleSpec(Record, frozen=True):
    """``spec`` of a rule; an absent selector matches nothing."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRuleStatus(Record, frozen=True):
    conditions: tuple[Condition, ...] = ()


class DeviceTaintRule(Record, frozen=True):
    """An administrator's taint on devices."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
    status: DeviceTaintRuleStatus = DeviceTaintRuleStatus()
