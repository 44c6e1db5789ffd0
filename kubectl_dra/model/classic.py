"""What only the generations v1alpha2 and v1alpha3 have: resource classes, parameters, the negotiation between scheduler
and driver, and what classic claims, classes and slices say beyond their v1 shape.

An old object is a subclass of its v1 record that carries the rest in one field, so that v1 objects know nothing of it.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import field

from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import NodeSelector, ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice

IMMEDIATE: Final = "Immediate"
WAIT_FOR_CONSUMER: Final = "WaitForFirstConsumer"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"
MAX_RESERVED_FOR: Final = 32  # of v1alpha2 and v1alpha3; later versions allow 256

# --- named resources: the structured model of v1alpha2 --------------------------------------------------------------


class IntSlice(Record, frozen=True):
    """``intSlice`` of an attribute."""

    ints: tuple[int, ...] = ()


class StringSlice(Record, frozen=True):
    """``stringSlice`` of an attribute."""

    strings: tuple[str, ...] = ()


class NamedAttribute(Record, frozen=True):
    """``namedResources.instances[].attributes[]``; valid objects have exactly one value."""

    name: str = ""
    quantity: Quantity | None = None
    bool_value: bool | None = field(default=None, name="bool")
    int_value: int | None = field(default=None, name="int")
    int_slice: IntSlice | None = None
    string: str | None = None
    string_slice: StringSlice | None = None
    version: str | None = None


class NamedInstance(Record, frozen=True):
    """``namedResources.instances[]``: one device."""

    name: str = ""
    attributes: tuple[NamedAttribute, ...] = ()


class NamedResources(Record, frozen=True):
    """``namedResources`` of a slice."""

    instances: tuple[NamedInstance, ...] = ()


class NamedSelector(Record, frozen=True):
    """``namedResources`` of a request or of a filter: a CEL expression over the variable ``attributes``."""

    selector: str = ""


class NamedResult(Record, frozen=True):
    """``namedResources`` of an allocation result."""

    name: str = ""


# --- classes and parameters -----------------------------------------------------------------------------------------


class ParametersReference(Record, frozen=True):
    """``parametersRef`` and ``generatedFrom``; only a class's reference has a namespace."""

    api_group: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""


class ResourceClass(Record, frozen=True):
    """The driver of v1alpha2 claims, with the nodes that it can serve."""

    metadata: ObjectMeta = ObjectMeta()
    driver_name: str = ""
    parameters_ref: ParametersReference | None = None
    suitable_nodes: NodeSelector | None = None
    structured_parameters: bool | None = None


class ResourceRequest(Record, frozen=True):
    """``driverRequests[].requests[]``: one device."""

    vendor_parameters: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    named_resources: NamedSelector | None = None


class DriverRequests(Record, frozen=True):
    """``driverRequests[]``: what a claim asks of one driver."""

    driver_name: str = ""
    vendor_parameters: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    requests: tuple[ResourceRequest, ...] = ()


class ResourceClaimParameters(Record, frozen=True):
    """The in-tree form of a claim's parameters."""

    metadata: ObjectMeta = ObjectMeta()
    generated_from: ParametersReference | None = None
    shareable: bool = False
    driver_requests: tuple[DriverRequests, ...] = ()


class VendorParameters(Record, frozen=True):
    """``vendorParameters[]``: what a class tells one driver."""

    driver_name: str = ""
    parameters: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class ResourceFilter(Record, frozen=True):
    """``filters[]``: which devices of one driver a class allows."""

    driver_name: str = ""
    named_resources: NamedSelector | None = None


class ResourceClassParameters(Record, frozen=True):
    """The in-tree form of a class's parameters."""

    metadata: ObjectMeta = ObjectMeta()
    generated_from: ParametersReference | None = None
    vendor_parameters: tuple[VendorParameters, ...] = ()
    filters: tuple[ResourceFilter, ...] = ()


# --- the negotiation ------------------------------------------------------------------------------------------------


class PodSchedulingContextSpec(Record, frozen=True):
    """``spec``: what the scheduler asks of the drivers."""

    selected_node: str = ""
    potential_nodes: tuple[str, ...] = ()


class ClaimSchedulingStatus(Record, frozen=True):
    """``status.resourceClaims[]``: a driver's answer for one claim; ``name`` is the pod's entry."""

    name: str = ""
    unsuitable_nodes: tuple[str, ...] = ()


class PodSchedulingContextStatus(Record, frozen=True):
    """``status``: what the drivers answered."""

    resource_claims: tuple[ClaimSchedulingStatus, ...] = ()


class PodSchedulingContext(Record, frozen=True):
    """The negotiation for one pod, whose name and namespace it has."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSchedulingContextSpec = PodSchedulingContextSpec()
    status: PodSchedulingContextStatus = PodSchedulingContextStatus()


# --- claims ---------------------------------------------------------------------------------------------------------


class DriverAllocationResult(Record, frozen=True):
    """``structuredData.results[]``."""

    vendor_request_parameters: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    named_resources: NamedResult | None = None


class StructuredHandle(Record, frozen=True):
    """``resourceHandles[].structuredData``: what the scheduler allocated on one node."""

    vendor_class_parameters: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    vendor_claim_parameters: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    node_name: str = ""
    results: tuple[DriverAllocationResult, ...] = ()


class ResourceHandle(Record, frozen=True):
    """``allocation.resourceHandles[]``; ``data`` is the driver's own and opaque."""

    driver_name: str = ""
    data: str = ""
    structured_data: StructuredHandle | None = None


class ClassicClaim(Record, frozen=True):
    """What a v1alpha2 claim, or a v1alpha3 claim of a control plane controller, says beyond the v1 shape.

    v1alpha2: class to handles and ``shareable``. v1alpha3: the two controllers. Both: ``deallocation_requested``; while
    it is set no new consumer is admitted.
    """

    resource_class_name: str = ""
    parameters_ref: ParametersReference | None = None
    allocation_mode: str = ""
    driver_name: str = ""
    resource_handles: tuple[ResourceHandle, ...] = ()
    shareable: bool = False
    deallocation_requested: bool = False
    controller: str = ""
    allocation_controller: str = ""


class ClassicResourceClaim(ResourceClaim, frozen=True):
    """A claim whose devices a driver's controller decides, or v1alpha2's structured parameters."""

    classic: ClassicClaim = ClassicClaim()


class ClassicResourceClaimTemplate(ResourceClaimTemplate, frozen=True):
    """A template of such claims; only the fields of ``spec`` are set."""

    classic: ClassicClaim = ClassicClaim()


class ClassicDeviceClass(DeviceClass, frozen=True):
    """A v1alpha3 class with ``spec.suitableNodes``, which guide a controller."""

    suitable_nodes: NodeSelector | None = None


class NamedResourcesSlice(ResourceSlice, frozen=True):
    """A v1alpha2 slice. Its pool is its node: all slices of a driver on a node together are what it offers there."""

    named_resources: NamedResources | None = None


def classic_of(claim: ResourceClaim) -> ClassicClaim | None:
    """The classic side of a claim; None for a claim that only the scheduler decides."""
    return claim.classic if isinstance(claim, ClassicResourceClaim) else None


def is_searched(claim: ResourceClaim) -> bool:
    """Whether the allocator searches devices for a claim: it has none, no class of v1alpha2 and no controller.

    Structured parameters of v1alpha2 are not searched either: the scheduler takes the first that fits.
    """
    classic = classic_of(claim)
    decided_otherwise = classic is not None and bool(classic.resource_class_name or classic.controller)
    return claim.status.allocation is None and not decided_otherwise
