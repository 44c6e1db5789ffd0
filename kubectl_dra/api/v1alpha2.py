"""resource.k8s.io/v1alpha2 (classic DRA, up to 1.30): claims that name a resource class, and named resources.

A claim's record shows in the v1 shape what has an equal there: nodes, consumers, and devices that structured parameters
allocated (pool is the node); everything else stands in ``classic``. Upstream: k8s.io/api/resource/v1alpha2 of 1.30.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from kubectl_dra.api.shapes import Shape
from kubectl_dra.model import resource
from kubectl_dra.model.base import Record
from kubectl_dra.model.classic import (
    ClassicClaim,
    ClassicResourceClaim,
    ClassicResourceClaimTemplate,
    NamedAttribute,
    NamedInstance,
    NamedResources,
    NamedResourcesSlice,
    ParametersReference,
    PodSchedulingContext,
    ResourceClaimParameters,
    ResourceClass,
    ResourceClassParameters,
    ResourceHandle,
)
from kubectl_dra.model.meta import NodeSelector, ObjectMeta


class ClaimSpec(Record, frozen=True):
    resource_class_name: str = ""
    parameters_ref: ParametersReference | None = None
    allocation_mode: str = ""


class Allocation(Record, frozen=True):
    resource_handles: tuple[ResourceHandle, ...] = ()
    available_on_nodes: NodeSelector | None = None
    shareable: bool = False


class ClaimStatus(Record, frozen=True):
    driver_name: str = ""
    allocation: Allocation | None = None
    reserved_for: tuple[resource.ConsumerReference, ...] = ()
    deallocation_requested: bool = False


class Claim(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class TemplateSpec(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ClaimSpec = ClaimSpec()


class Template(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: TemplateSpec = TemplateSpec()


class Slice(Record, frozen=True):
    """A slice: no spec, no pool."""

    metadata: ObjectMeta = ObjectMeta()
    node_name: str = ""
    driver_name: str = ""
    named_resources: NamedResources | None = None


# --- claims ---------------------------------------------------------------------------------------------------------


def claim_to_record(claim: Claim) -> ClassicResourceClaim:
    status, allocation = claim.status, claim.status.allocation
    classic = replace(
        _spec_to_classic(claim.spec),
        driver_name=status.driver_name,
        resource_handles=allocation.resource_handles if allocation else (),
        shareable=bool(allocation and allocation.shareable),
        deallocation_requested=status.deallocation_requested,
    )
    v1_status = resource.ResourceClaimStatus(
        None if allocation is None else _allocation(allocation), status.reserved_for
    )
    return ClassicResourceClaim(metadata=claim.metadata, status=v1_status, classic=classic)


def _spec_to_classic(spec: ClaimSpec) -> ClassicClaim:
    return ClassicClaim(spec.resource_class_name, spec.parameters_ref, spec.allocation_mode)


def _allocation(allocation: Allocation) -> resource.AllocationResult:
    results = tuple(_results(allocation.resource_handles))
    return resource.AllocationResult(resource.DeviceAllocationResult(results), allocation.available_on_nodes)


def _results(handles: tuple[ResourceHandle, ...]) -> Iterator[resource.DeviceRequestAllocationResult]:
    for handle in handles:
        structured = handle.structured_data
        for result in structured.results if structured is not None else ():
            if structured is not None and result.named_resources is not None:
                yield resource.DeviceRequestAllocationResult(
                    driver=handle.driver_name, pool=structured.node_name, device=result.named_resources.name
                )


def claim_from_record(claim: resource.ResourceClaim) -> Claim:
    """The v1alpha2 form of a claim of that version."""
    classic = claim.classic if isinstance(claim, ClassicResourceClaim) else ClassicClaim()
    v1 = claim.status.allocation
    allocation = None
    if v1 is not None:
        allocation = Allocation(classic.resource_handles, v1.node_selector, classic.shareable)
    status = ClaimStatus(classic.driver_name, allocation, claim.status.reserved_for, classic.deallocation_requested)
    return Claim(claim.metadata, _spec_from_classic(classic), status)


def _spec_from_classic(classic: ClassicClaim) -> ClaimSpec:
    return ClaimSpec(classic.resource_class_name, classic.parameters_ref, classic.allocation_mode)


def template_to_record(template: Template) -> ClassicResourceClaimTemplate:
    return ClassicResourceClaimTemplate(
        metadata=template.metadata,
        spec=resource.ResourceClaimTemplateSpec(template.spec.metadata),
        classic=_spec_to_classic(template.spec.spec),
    )


def template_from_record(template: resource.ResourceClaimTemplate) -> Template:
    """The v1alpha2 form of a template of that version."""
    classic = template.classic if isinstance(template, ClassicResourceClaimTemplate) else ClassicClaim()
    return Template(template.metadata, TemplateSpec(template.spec.metadata, _spec_from_classic(classic)))


# --- slices ---------------------------------------------------------------------------------------------------------


def slice_to_record(slice_: Slice) -> NamedResourcesSlice:
    """The record of a slice, as if it were its node's only one of this driver."""
    resources = slice_.named_resources
    spec = resource.ResourceSliceSpec(
        driver=slice_.driver_name,
        pool=resource.ResourcePool(slice_.node_name, resource_slice_count=1),
        node_name=slice_.node_name or None,
        all_nodes=None if slice_.node_name else True,
        devices=tuple(map(_device, resources.instances)) if resources else (),
    )
    return NamedResourcesSlice(slice_.metadata, spec, resources)


def _device(instance: NamedInstance) -> resource.Device:
    return resource.Device(
        name=instance.name,
        attributes={a.name: _attribute(a) for a in instance.attributes if a.quantity is None},
        capacity={a.name: resource.DeviceCapacity(a.quantity) for a in instance.attributes if a.quantity is not None},
    )


def _attribute(attribute: NamedAttribute) -> resource.DeviceAttribute:
    return resource.DeviceAttribute(
        int_value=attribute.int_value,
        bool_value=attribute.bool_value,
        string=attribute.string,
        version=attribute.version,
        ints=attribute.int_slice.ints if attribute.int_slice else None,
        strings=attribute.string_slice.strings if attribute.string_slice else None,
    )


def slice_from_record(slice_: resource.ResourceSlice) -> Slice:
    """The v1alpha2 form of a slice of that version."""
    named = slice_.named_resources if isinstance(slice_, NamedResourcesSlice) else None
    return Slice(slice_.metadata, slice_.spec.node_name or "", slice_.spec.driver, named)


SHAPES: Final[Mapping[str, Shape]] = {
    "PodSchedulingContext": Shape(PodSchedulingContext),
    "ResourceClaim": Shape(Claim, claim_to_record, claim_from_record),
    "ResourceClaimParameters": Shape(ResourceClaimParameters),
    "ResourceClaimTemplate": Shape(Template, template_to_record, template_from_record),
    "ResourceClass": Shape(ResourceClass),
    "ResourceClassParameters": Shape(ResourceClassParameters),
    "ResourceSlice": Shape(Slice, slice_to_record, slice_from_record),
}
