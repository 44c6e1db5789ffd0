"""resource.k8s.io/v1alpha3: the form of 1.31 (controllers, suitable nodes, bare quantities as capacity), what 1.32 and
1.33 added to it, and the two kinds that later servers still have here.

Upstream: k8s.io/api/resource/v1alpha3/types.go of 1.31 to 1.37; requests and devices are those of v1beta1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import field

from kubectl_dra.api import v1beta1
from kubectl_dra.api.shapes import Shape
from kubectl_dra.model import resource
from kubectl_dra.model.base import Record
from kubectl_dra.model.classic import (
    ClassicClaim,
    ClassicDeviceClass,
    ClassicResourceClaim,
    ClassicResourceClaimTemplate,
    PodSchedulingContext,
)
from kubectl_dra.model.meta import NodeSelector, ObjectMeta
from kubectl_dra.model.poolstatus import ResourcePoolStatusRequest
from kubectl_dra.model.quantity import Quantity

_AMOUNT_ONLY: Final = ("attributes", "consumes_counters", "node_name", "node_selector", "all_nodes", "taints")


class ControllerClaimSpec(v1beta1.FlatClaimSpec, frozen=True):
    """``spec`` of a claim; with a ``controller`` that driver decides."""

    controller: str = ""


class ControllerAllocation(Record, frozen=True):
    devices: resource.DeviceAllocationResult = resource.DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    controller: str = ""


class ControllerClaimStatus(Record, frozen=True):
    allocation: ControllerAllocation | None = None
    reserved_for: tuple[resource.ConsumerReference, ...] = ()
    deallocation_requested: bool = False
    devices: tuple[resource.AllocatedDeviceStatus, ...] = ()


class ControllerClaim(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ControllerClaimSpec = ControllerClaimSpec()
    status: ControllerClaimStatus = ControllerClaimStatus()


class ControllerTemplateSpec(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ControllerClaimSpec = ControllerClaimSpec()


class ControllerTemplate(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ControllerTemplateSpec = ControllerTemplateSpec()


class NodesClassSpec(Record, frozen=True):
    selectors: tuple[resource.DeviceSelector, ...] = ()
    config: tuple[resource.DeviceClassConfiguration, ...] = ()
    suitable_nodes: NodeSelector | None = None


class NodesClass(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: NodesClassSpec = NodesClassSpec()


class AmountDevice(Record, frozen=True):
    """``devices[].basic``: a capacity is a bare quantity."""

    attributes: dict[str, resource.DeviceAttribute] = field(default_factory=dict)
    capacity: dict[str, Quantity] = field(default_factory=dict)
    consumes_counters: tuple[resource.CounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[resource.DeviceTaint, ...] = ()


class NestedAmountDevice(Record, frozen=True):
    name: str = ""
    basic: AmountDevice | None = None


class AmountSliceSpec(v1beta1.SliceSpec, frozen=True):
    devices: tuple[NestedAmountDevice, ...] = ()


class AmountSlice(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: AmountSliceSpec = AmountSliceSpec()


# --- claims ---------------------------------------------------------------------------------------------------------


def claim_to_v1(claim: ControllerClaim) -> resource.ResourceClaim:
    """The record of a claim: a plain v1 claim unless a controller has or had a part in it."""
    old = claim.status.allocation
    allocation = None if old is None else resource.AllocationResult(old.devices, old.node_selector)
    status = v1beta1.NO_STATUS
    if claim.status != ControllerClaimStatus():
        status = resource.ResourceClaimStatus(allocation, claim.status.reserved_for, claim.status.devices)
    classic = ClassicClaim(
        deallocation_requested=claim.status.deallocation_requested,
        controller=claim.spec.controller,
        allocation_controller=old.controller if old is not None else "",
    )
    spec = v1beta1.spec_to_v1(claim.spec)
    if classic == ClassicClaim():
        return resource.ResourceClaim(claim.metadata, spec, status)
    return ClassicResourceClaim(claim.metadata, spec, status, classic)


def claim_from_v1(claim: resource.ResourceClaim) -> ControllerClaim:
    """The v1alpha3 form of a claim; what the version can't express is left out."""
    classic = claim.classic if isinstance(claim, ClassicResourceClaim) else ClassicClaim()
    v1 = claim.status
    allocation = None
    if v1.allocation is not None:
        allocation = ControllerAllocation(
            v1.allocation.devices, v1.allocation.node_selector, classic.allocation_controller
        )
    status = ControllerClaimStatus(allocation, v1.reserved_for, classic.deallocation_requested, v1.devices)
    spec = ControllerClaimSpec(v1beta1.spec_from_v1(claim.spec).devices, classic.controller)
    return ControllerClaim(claim.metadata, spec, status)


def template_to_v1(template: ControllerTemplate) -> resource.ResourceClaimTemplate:
    inner = template.spec
    spec = resource.ResourceClaimTemplateSpec(inner.metadata, v1beta1.spec_to_v1(inner.spec))
    if not inner.spec.controller:
        return resource.ResourceClaimTemplate(template.metadata, spec)
    classic = ClassicClaim(controller=inner.spec.controller)
    return ClassicResourceClaimTemplate(template.metadata, spec, classic)


def template_from_v1(template: resource.ResourceClaimTemplate) -> ControllerTemplate:
    controller = template.classic.controller if isinstance(template, ClassicResourceClaimTemplate) else ""
    spec = ControllerClaimSpec(v1beta1.spec_from_v1(template.spec.spec).devices, controller)
    return ControllerTemplate(template.metadata, ControllerTemplateSpec(template.spec.metadata, spec))


# --- classes and slices ---------------------------------------------------------------------------------------------


def class_to_v1(class_: NodesClass) -> resource.DeviceClass:
    spec = resource.DeviceClassSpec(class_.spec.selectors, class_.spec.config)
    if class_.spec.suitable_nodes is None:
        return resource.DeviceClass(class_.metadata, spec)
    return ClassicDeviceClass(class_.metadata, spec, class_.spec.suitable_nodes)


def class_from_v1(class_: resource.DeviceClass) -> NodesClass:
    nodes = class_.suitable_nodes if isinstance(class_, ClassicDeviceClass) else None
    return NodesClass(class_.metadata, NodesClassSpec(class_.spec.selectors, class_.spec.config, nodes))


def slice_to_v1(slice_: AmountSlice) -> resource.ResourceSlice:
    devices = tuple([_flat_device(device) for device in slice_.spec.devices])
    return resource.ResourceSlice(slice_.metadata, v1beta1.slice_spec_to_v1(slice_.spec, devices))


def _flat_device(device: NestedAmountDevice) -> resource.Device:
    basic = device.basic or AmountDevice()
    capacity = {name: resource.DeviceCapacity(amount) for name, amount in basic.capacity.items()}
    return resource.Device(name=device.name, capacity=capacity, **_common(basic))


def _common(device: AmountDevice | resource.Device) -> dict[str, Any]:
    return {name: getattr(device, name) for name in _AMOUNT_ONLY}


def slice_from_v1(slice_: resource.ResourceSlice) -> AmountSlice:
    devices = tuple(map(_nested_device, slice_.spec.devices))
    return AmountSlice(slice_.metadata, AmountSliceSpec(**v1beta1.slice_spec_from_v1(slice_.spec), devices=devices))


def _nested_device(device: resource.Device) -> NestedAmountDevice:
    capacity = {name: entry.value for name, entry in device.capacity.items()}
    return NestedAmountDevice(device.name, AmountDevice(capacity=capacity, **_common(device)))


SHAPES: Final[Mapping[str, Shape]] = {
    "DeviceClass": Shape(NodesClass, class_to_v1, class_from_v1),
    "DeviceTaintRule": Shape(resource.DeviceTaintRule),
    "PodSchedulingContext": Shape(PodSchedulingContext),
    "ResourceClaim": Shape(ControllerClaim, claim_to_v1, claim_from_v1),
    "ResourceClaimTemplate": Shape(ControllerTemplate, template_to_v1, template_from_v1),
    "ResourcePoolStatusRequest": Shape(ResourcePoolStatusRequest),
    "ResourceSlice": Shape(AmountSlice, slice_to_v1, slice_from_v1),
}
