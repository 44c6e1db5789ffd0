"""Classic DRA (v1alpha2) in terms of v1: classes become selectors, in-tree parameters requests and configuration.

What a driver's controller knew has no equal: it goes to :class:`Losses`. Parameters count only if they were read along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.api.losses import Losses
from kubectl_dra.api.names import LEGAL
from kubectl_dra.api.oldcel import UntranslatableError, named_resources_selector, quoted, written_selector
from kubectl_dra.model import resource
from kubectl_dra.model.classic import (
    IMMEDIATE,
    WAIT_FOR_CONSUMER,
    ClassicClaim,
    ClassicResourceClaim,
    ClassicResourceClaimTemplate,
    DriverRequests,
    NamedResourcesSlice,
    NamedSelector,
    ParametersReference,
    ResourceClaimParameters,
    ResourceClass,
    ResourceClassParameters,
)
from kubectl_dra.model.ids import Key

GROUP: Final = "resource.k8s.io"
_LIST: Final = "servers refuse a list here, but for those since 1.36 with the feature gate DRAListTypeAttributes"
Raw = msgspec.Raw | msgspec.UnsetType


@dataclass(frozen=True)
class Parameters:
    of_claims: Mapping[Key, ResourceClaimParameters] = field(default_factory=dict)
    of_classes: Mapping[Key, ResourceClassParameters] = field(default_factory=dict)

    def for_claim(self, reference: ParametersReference, namespace: str) -> ResourceClaimParameters | None:
        """What a claim's reference leads to: in-tree parameters, or those generated from the vendor's object."""
        if _in_tree(reference, "ResourceClaimParameters"):
            return self.of_claims.get(Key(namespace, reference.name))
        return next(
            (p for key, p in self.of_claims.items() if key.namespace == namespace and p.generated_from == reference),
            None,
        )

    def for_class(self, reference: ParametersReference) -> ResourceClassParameters | None:
        """The same for a class, whose reference names the namespace itself."""
        if _in_tree(reference, "ResourceClassParameters"):
            return self.of_classes.get(Key(reference.namespace, reference.name))
        return next((p for p in self.of_classes.values() if p.generated_from == reference), None)


def _in_tree(reference: ParametersReference, kind: str) -> bool:
    return reference.api_group == GROUP and reference.kind == kind


# --- classes --------------------------------------------------------------------------------------------------------


def class_to_v1(class_: ResourceClass, parameters: Parameters, losses: Losses) -> resource.DeviceClass:
    """A class of the driver's devices."""
    selectors = [written_selector(f"device.driver == {quoted(LEGAL.driver(class_.driver_name))}")]
    config: tuple[resource.DeviceClassConfiguration, ...] = ()
    if class_.suitable_nodes is not None:
        losses.at("suitableNodes").add("v1 classes don't limit nodes; slices say where devices are")
    if class_.parameters_ref is not None:
        found = parameters.for_class(class_.parameters_ref)
        if found is None:
            losses.at("parametersRef").add(_unresolved(class_.parameters_ref))
        else:
            selectors += _filters(found, class_.driver_name, losses.at("parametersRef"))
            config = tuple(
                resource.DeviceClassConfiguration(opaque)
                for entry in found.vendor_parameters
                for opaque in _opaque(entry.driver_name or class_.driver_name, entry.parameters)
            )
    if not class_.structured_parameters:
        losses.at("structuredParameters").add(
            "the driver's controller decided about devices; in v1 the scheduler does, from slices of the driver"
        )
    return resource.DeviceClass(class_.metadata, resource.DeviceClassSpec(tuple(selectors), config))


def _filters(parameters: ResourceClassParameters, driver: str, losses: Losses) -> Iterator[resource.DeviceSelector]:
    for index, entry in enumerate(parameters.filters):
        if entry.driver_name and entry.driver_name != driver:
            losses.add(f"the filter for driver {entry.driver_name} is left out: the class selects {driver}")
        else:
            yield from _translated(entry.named_resources, driver, losses.at(f"filters[{index}]"))


def _unresolved(reference: ParametersReference) -> str:
    what = f"{reference.kind} {reference.name}"
    return f"v1 holds a driver's parameters in the object itself; {what} was not among the files or is the driver's own"


# --- claims ---------------------------------------------------------------------------------------------------------


def claim_to_v1(claim: ClassicResourceClaim, parameters: Parameters, losses: Losses) -> resource.ResourceClaim:
    """One request per device that the parameters ask for, else one for one device of the class."""
    classic = claim.classic
    spec = _claim_spec(classic, claim.metadata.namespace, parameters, losses.at("spec"))
    return resource.ResourceClaim(claim.metadata, spec, _status(claim, spec, losses.at("status")))


def template_to_v1(
    template: ClassicResourceClaimTemplate, parameters: Parameters, losses: Losses
) -> resource.ResourceClaimTemplate:
    spec = _claim_spec(template.classic, template.metadata.namespace, parameters, losses.at("spec").at("spec"))
    return resource.ResourceClaimTemplate(
        template.metadata, resource.ResourceClaimTemplateSpec(template.spec.metadata, spec)
    )


def _claim_spec(
    classic: ClassicClaim, namespace: str, parameters: Parameters, losses: Losses
) -> resource.ResourceClaimSpec:
    if classic.allocation_mode == IMMEDIATE:
        losses.at("allocationMode").add("v1 allocates when a pod needs the claim, never before")
    elif classic.allocation_mode:
        losses.at("allocationMode").add(f"v1 has no such field; every claim is allocated as with {WAIT_FOR_CONSUMER}")
    name, reference = classic.resource_class_name, classic.parameters_ref
    found = None if reference is None else parameters.for_claim(reference, namespace)
    if reference is not None and found is None:
        losses.at("parametersRef").add(_unresolved(reference))
    if found is None or not found.driver_requests:
        return resource.ResourceClaimSpec(resource.DeviceClaim((_request("request-0", name, ()),)))
    if not found.shareable:
        losses.at("parametersRef").add("the claim was for one pod; in v1 every claim can be shared")
    return resource.ResourceClaimSpec(_devices(found.driver_requests, name, losses.at("parametersRef")))


def _devices(driver_requests: tuple[DriverRequests, ...], class_name: str, losses: Losses) -> resource.DeviceClaim:
    requests: list[resource.DeviceRequest] = []
    config: list[resource.DeviceClaimConfiguration] = []
    for index, entry in enumerate(driver_requests):
        names = [f"request-{len(requests) + number}" for number in range(len(entry.requests))]
        here = losses.at(f"driverRequests[{index}]")
        for number, (name, request) in enumerate(zip(names, entry.requests, strict=True)):
            selectors = _translated(request.named_resources, entry.driver_name, here.at(f"requests[{number}]"))
            requests.append(_request(name, class_name, selectors))
            config += _config((name,), entry.driver_name, request.vendor_parameters)
        config += _config(tuple(names), entry.driver_name, entry.vendor_parameters)
    return resource.DeviceClaim(tuple(requests), (), tuple(config))


def _request(name: str, class_name: str, selectors: Iterable[resource.DeviceSelector]) -> resource.DeviceRequest:
    return resource.DeviceRequest(name, resource.ExactDeviceRequest(class_name, tuple(selectors), "ExactCount", 1))


def _config(requests: tuple[str, ...], driver: str, parameters: Raw) -> Iterator[resource.DeviceClaimConfiguration]:
    for opaque in _opaque(driver, parameters):
        yield resource.DeviceClaimConfiguration(requests, opaque)


def _opaque(driver: str, parameters: Raw) -> Iterator[resource.OpaqueConfiguration]:
    if not isinstance(parameters, msgspec.UnsetType):
        yield resource.OpaqueConfiguration(LEGAL.driver(driver), parameters)


def _translated(selector: NamedSelector | None, driver: str, losses: Losses) -> Iterator[resource.DeviceSelector]:
    if selector is None or not selector.selector:
        return
    try:
        yield written_selector(named_resources_selector(selector.selector, driver, LEGAL))
    except UntranslatableError as error:
        losses.add(f"{error}; devices are not restricted by it")


# --- status ---------------------------------------------------------------------------------------------------------


def _status(
    claim: ClassicResourceClaim, spec: resource.ResourceClaimSpec, losses: Losses
) -> resource.ResourceClaimStatus:
    classic, status = claim.classic, claim.status
    if classic.deallocation_requested:
        losses.at("deallocationRequested").add("v1 has no request to deallocate; unused claims are simply freed")
    if status.allocation is None:
        _note_status(claim, losses)
        return resource.ResourceClaimStatus()
    for index, handle in enumerate(classic.resource_handles):
        if handle.data:
            losses.at(f"allocation.resourceHandles[{index}].data").add(
                f"{len(handle.data.encode())} bytes of driver {handle.driver_name} have no place in v1"
            )
    results, requests = status.allocation.devices.results, spec.devices.requests
    if not results or len(results) != len(requests):
        losses.at("allocation").add("v1 records devices, which only the driver knows")
        _note_status(claim, losses)
        return resource.ResourceClaimStatus()
    if classic.driver_name and any(result.driver != classic.driver_name for result in results):
        losses.at("driverName").add("v1 names the driver of each device instead")
    if not classic.shareable:
        losses.at("allocation.shareable").add("the claim was for one pod; in v1 every claim can be shared")
    renamed = tuple(
        replace(
            result,
            request=request.name,
            driver=LEGAL.driver(result.driver),
            pool=LEGAL.object(result.pool),
            device=LEGAL.device(result.device),
        )
        for request, result in zip(requests, results, strict=True)
    )
    allocation = replace(status.allocation, devices=replace(status.allocation.devices, results=renamed))
    return replace(status, allocation=allocation)


def _note_status(claim: ClassicResourceClaim, losses: Losses) -> None:
    """What goes with an allocation that v1 can't hold."""
    if claim.classic.driver_name:
        losses.at("driverName").add("v1 names the driver of each allocated device instead")
    if claim.status.reserved_for:
        losses.at("reservedFor").add("v1 reserves only claims with an allocation")


# --- slices ---------------------------------------------------------------------------------------------------------


def slice_to_v1(slice_: NamedResourcesSlice, losses: Losses) -> resource.ResourceSlice:
    """The slice with names that v1 accepts; its pool is its node."""
    spec = slice_.spec
    named = slice_.named_resources
    for index, instance in enumerate(named.instances if named is not None else ()):
        here = losses.at(f"namedResources.instances[{index}]")
        note_name(instance.name, LEGAL.device(instance.name), here.at("name"))
        for number, attribute in enumerate(instance.attributes):
            at = here.at(f"attributes[{number}]")
            note_name(attribute.name, LEGAL.attribute(attribute.name), at.at("name"))
            if attribute.int_slice is not None or attribute.string_slice is not None:
                at.add(_LIST)
    devices = tuple(map(_device, spec.devices))
    pool = resource.ResourcePool(LEGAL.object(spec.pool.name or "network"), 0, spec.pool.resource_slice_count)
    return resource.ResourceSlice(
        slice_.metadata,
        resource.ResourceSliceSpec(
            LEGAL.driver(spec.driver), pool, spec.node_name, all_nodes=spec.all_nodes, devices=devices
        ),
    )


def _device(device: resource.Device) -> resource.Device:
    return resource.Device(
        LEGAL.device(device.name),
        {LEGAL.attribute(name): attribute for name, attribute in device.attributes.items()},
        {LEGAL.attribute(name): capacity for name, capacity in device.capacity.items()},
    )


def note_name(old: str, new: str, losses: Losses) -> None:
    """Note that a name had to change."""
    if old != new:
        losses.add(f"{old!r} is not a valid name in v1, {new!r} is")
