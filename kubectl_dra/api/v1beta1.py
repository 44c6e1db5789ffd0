"""resource.k8s.io/v1beta1: requests with the fields of ``exactly`` inline, devices under ``basic``, empty as unset.

Upstream: pkg/apis/resource/v1beta1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from kubectl_dra.api.shapes import Shape
from kubectl_dra.model import resource
from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import NodeSelector, ObjectMeta

# The very default of a claim: only that is left out when encoded.
NO_STATUS: Final = resource.ResourceClaim().status


class FlatRequest(Record, frozen=True):
    """``requests[]``. An empty list is not an absent one: its presence alone asks for exact devices."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[resource.DeviceSelector, ...] | None = None
    allocation_mode: str = ""
    count: int = 0
    admin_access: bool | None = None
    first_available: tuple[resource.DeviceSubRequest, ...] = ()
    tolerations: tuple[resource.DeviceToleration, ...] | None = None
    capacity: resource.CapacityRequirements | None = None
    derived_attributes: tuple[resource.DerivedAttribute, ...] | None = None


class FlatDeviceClaim(Record, frozen=True):
    requests: tuple[FlatRequest, ...] = ()
    constraints: tuple[resource.DeviceConstraint, ...] = ()
    config: tuple[resource.DeviceClaimConfiguration, ...] = ()


class FlatClaimSpec(Record, frozen=True):
    devices: FlatDeviceClaim = FlatDeviceClaim()


class FlatClaim(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: FlatClaimSpec = FlatClaimSpec()
    status: resource.ResourceClaimStatus = NO_STATUS


class FlatTemplateSpec(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: FlatClaimSpec = FlatClaimSpec()


class FlatTemplate(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: FlatTemplateSpec = FlatTemplateSpec()


class NestedDevice(Record, frozen=True):
    """``devices[]``: everything but the name stands under ``basic``."""

    name: str = ""
    basic: resource.Device | None = None


class SliceSpec(Record, frozen=True):
    """``spec`` of a slice without its devices, which each version writes in its own way."""

    driver: str = ""
    pool: resource.ResourcePool = resource.ResourcePool()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool | None = None
    shared_counters: tuple[resource.CounterSet, ...] = ()


class NestedSliceSpec(SliceSpec, frozen=True):
    devices: tuple[NestedDevice, ...] = ()
    partition_type_attribute: str | None = None
    skip_node_operations: tuple[str, ...] = ()


class NestedSlice(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: NestedSliceSpec = NestedSliceSpec()


# --- claims ---------------------------------------------------------------------------------------------------------


def claim_to_v1(claim: FlatClaim) -> resource.ResourceClaim:
    return resource.ResourceClaim(claim.metadata, spec_to_v1(claim.spec), claim.status)


def template_to_v1(template: FlatTemplate) -> resource.ResourceClaimTemplate:
    spec = resource.ResourceClaimTemplateSpec(template.spec.metadata, spec_to_v1(template.spec.spec))
    return resource.ResourceClaimTemplate(template.metadata, spec)


def spec_to_v1(spec: FlatClaimSpec) -> resource.ResourceClaimSpec:
    """The v1 record of a claim's spec."""
    devices = spec.devices
    return resource.ResourceClaimSpec(
        resource.DeviceClaim(tuple(map(request_to_v1, devices.requests)), devices.constraints, devices.config)
    )


def request_to_v1(request: FlatRequest) -> resource.DeviceRequest:
    """The v1 record of a request; with any field of an exact request set it is one, even if it is invalid."""
    exactly = None
    if _asks_exactly(request):
        exactly = resource.ExactDeviceRequest(
            device_class_name=request.device_class_name,
            selectors=request.selectors or (),
            allocation_mode=request.allocation_mode,
            count=request.count,
            admin_access=request.admin_access,
            tolerations=request.tolerations or (),
            capacity=request.capacity,
            derived_attributes=request.derived_attributes or (),
        )
    return resource.DeviceRequest(request.name, exactly, request.first_available)


def _asks_exactly(request: FlatRequest) -> bool:
    given = (
        request.selectors,
        request.admin_access,
        request.tolerations,
        request.capacity,
        request.derived_attributes,
    )
    named = request.device_class_name or request.allocation_mode or request.count
    return bool(named) or any(value is not None for value in given)


def claim_from_v1(claim: resource.ResourceClaim) -> FlatClaim:
    return FlatClaim(claim.metadata, spec_from_v1(claim.spec), claim.status)


def template_from_v1(template: resource.ResourceClaimTemplate) -> FlatTemplate:
    return FlatTemplate(template.metadata, FlatTemplateSpec(template.spec.metadata, spec_from_v1(template.spec.spec)))


def spec_from_v1(spec: resource.ResourceClaimSpec) -> FlatClaimSpec:
    """The v1beta1 form of a claim's spec."""
    devices = spec.devices
    return FlatClaimSpec(
        FlatDeviceClaim(tuple(map(request_from_v1, devices.requests)), devices.constraints, devices.config)
    )


def request_from_v1(request: resource.DeviceRequest) -> FlatRequest:
    exactly = request.exactly
    if exactly is None:
        return FlatRequest(request.name, first_available=request.first_available)
    return FlatRequest(
        name=request.name,
        device_class_name=exactly.device_class_name,
        selectors=exactly.selectors or None,
        allocation_mode=exactly.allocation_mode,
        count=exactly.count,
        admin_access=exactly.admin_access,
        first_available=request.first_available,
        tolerations=exactly.tolerations or None,
        capacity=exactly.capacity,
        derived_attributes=exactly.derived_attributes or None,
    )


# --- slices ---------------------------------------------------------------------------------------------------------


def slice_to_v1(slice_: NestedSlice) -> resource.ResourceSlice:
    spec = slice_.spec
    v1 = replace(
        slice_spec_to_v1(spec, tuple([_flat_device(device) for device in spec.devices])),
        partition_type_attribute=spec.partition_type_attribute,
        skip_node_operations=spec.skip_node_operations,
    )
    return resource.ResourceSlice(slice_.metadata, v1)


def slice_spec_to_v1(spec: SliceSpec, devices: tuple[resource.Device, ...]) -> resource.ResourceSliceSpec:
    """What v1 has of a slice that lists ``devices``; empty and false are unset there."""
    return resource.ResourceSliceSpec(
        driver=spec.driver,
        pool=spec.pool,
        node_name=spec.node_name or None,
        node_selector=spec.node_selector,
        all_nodes=spec.all_nodes or None,
        per_device_node_selection=spec.per_device_node_selection,
        devices=devices,
        shared_counters=spec.shared_counters,
    )


def _flat_device(device: NestedDevice) -> resource.Device:
    return resource.Device(device.name) if device.basic is None else replace(device.basic, name=device.name)


def slice_from_v1(slice_: resource.ResourceSlice) -> NestedSlice:
    """The v1beta1 form of a slice. Every device gets a ``basic``, as the server writes it."""
    spec = slice_.spec
    return NestedSlice(
        slice_.metadata,
        NestedSliceSpec(
            **slice_spec_from_v1(spec),
            devices=tuple(NestedDevice(device.name, replace(device, name="")) for device in spec.devices),
            partition_type_attribute=spec.partition_type_attribute,
            skip_node_operations=spec.skip_node_operations,
        ),
    )


def slice_spec_from_v1(spec: resource.ResourceSliceSpec) -> dict[str, Any]:
    """The fields of :class:`SliceSpec` by name."""
    return {
        "driver": spec.driver,
        "pool": spec.pool,
        "node_name": spec.node_name or "",
        "node_selector": spec.node_selector,
        "all_nodes": bool(spec.all_nodes),
        "per_device_node_selection": spec.per_device_node_selection,
        "shared_counters": spec.shared_counters,
    }


SHAPES: Final[Mapping[str, Shape]] = {
    "DeviceClass": Shape(resource.DeviceClass),
    "ResourceClaim": Shape(FlatClaim, claim_to_v1, claim_from_v1),
    "ResourceClaimTemplate": Shape(FlatTemplate, template_to_v1, template_from_v1),
    "ResourceSlice": Shape(NestedSlice, slice_to_v1, slice_from_v1),
}
