"""Server-side defaulting of v1 objects, so that a manifest means here what it means once the server has it.

Idempotent: an object that came from a server is unchanged. Taints keep an unset ``timeAdded`` (the server would write
the time of creation). Upstream: defaults.go in pkg/apis/resource/v1, in v1alpha2 of 1.30, and in pkg/apis/core/v1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from kubectl_dra.model import resource
from kubectl_dra.model.base import Record
from kubectl_dra.model.classic import (
    WAIT_FOR_FIRST_CONSUMER,
    ClassicClaim,
    ClassicResourceClaim,
    ClassicResourceClaimTemplate,
)
from kubectl_dra.model.core import Container, Node, Pod, ResourceRequirements
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.requests import is_pod_level, pod_requests, quantity_of
from kubectl_dra.model.scheduling import DisruptionMode, Marker, PodGroup

EXACT_COUNT: Final = "ExactCount"
_POD_LEVEL: Final[tuple[str, ...]] = ("cpu", "memory")

RequestT = TypeVar("RequestT", resource.ExactDeviceRequest, resource.DeviceSubRequest)


def defaulted(record: Record) -> Record:
    """``record`` with the server's defaults; kinds without defaults come back unchanged."""
    rule = _RULES.get(type(record))
    return record if rule is None else rule(record)


def _claim(claim: resource.ResourceClaim) -> resource.ResourceClaim:
    allocation = claim.status.allocation
    status = claim.status
    if allocation is not None:
        results = tuple(replace(r, tolerations=_tolerations(r.tolerations)) for r in allocation.devices.results)
        devices = replace(allocation.devices, results=results)
        status = replace(status, allocation=replace(allocation, devices=devices))
    return replace(claim, spec=claim_spec(claim.spec), status=status)


def _template(template: resource.ResourceClaimTemplate) -> resource.ResourceClaimTemplate:
    return replace(template, spec=replace(template.spec, spec=claim_spec(template.spec.spec)))


def _classic_claim(claim: ClassicResourceClaim) -> resource.ResourceClaim:
    return _claim(replace(claim, classic=_classic(claim.classic)))


def _classic_template(template: ClassicResourceClaimTemplate) -> resource.ResourceClaimTemplate:
    return _template(replace(template, classic=_classic(template.classic)))


def _classic(classic: ClassicClaim) -> ClassicClaim:
    """Only v1alpha2, whose claims name a class, has an allocation mode of the claim."""
    if not classic.resource_class_name or classic.allocation_mode:
        return classic
    return replace(classic, allocation_mode=WAIT_FOR_FIRST_CONSUMER)


def claim_spec(spec: resource.ResourceClaimSpec) -> resource.ResourceClaimSpec:
    """A claim's spec with defaults in every request and subrequest."""
    return replace(spec, devices=replace(spec.devices, requests=tuple(map(_device_request, spec.devices.requests))))


def _device_request(request: resource.DeviceRequest) -> resource.DeviceRequest:
    return replace(
        request,
        exactly=None if request.exactly is None else _request(request.exactly),
        first_available=tuple(map(_request, request.first_available)),
    )


def _request(request: RequestT) -> RequestT:
    mode = request.allocation_mode or EXACT_COUNT
    count = 1 if mode == EXACT_COUNT and request.count == 0 else request.count
    return replace(request, allocation_mode=mode, count=count, tolerations=_tolerations(request.tolerations))


def _tolerations(tolerations: tuple[resource.DeviceToleration, ...]) -> tuple[resource.DeviceToleration, ...]:
    return tuple(t if t.operator else replace(t, operator="Equal") for t in tolerations)


def _pod(pod: Pod) -> Pod:
    spec = pod.spec
    containers = _containers(spec.containers, spec.host_network)
    init_containers = _containers(spec.init_containers, spec.host_network)
    whole = containers is spec.containers and init_containers is spec.init_containers and spec.scheduler_name
    # Nearly all pods come from a server.
    if not whole:
        name = spec.scheduler_name or DEFAULT_SCHEDULER
        spec = replace(spec, scheduler_name=name, containers=containers, init_containers=init_containers)
        pod = replace(pod, spec=spec)
    if not pod.status.phase:
        pod = replace(pod, status=replace(pod.status, phase="Pending"))
    return _with_pod_level_requests(pod)


def _containers(containers: tuple[Container, ...], host_network: bool) -> tuple[Container, ...]:
    """With defaults; the very same where they have them."""
    for container in containers:
        resources = container.resources
        if host_network or not resources.limits.keys() <= resources.requests.keys():
            return tuple(_container(each, host_network) for each in containers)
    return containers


def _container(container: Container, host_network: bool) -> Container:
    resources = container.resources
    requests = {**resources.limits, **resources.requests}
    ports = container.ports
    if host_network:
        ports = tuple(port if port.host_port else replace(port, host_port=port.container_port) for port in ports)
    return replace(container, resources=replace(resources, requests=requests), ports=ports)


def _with_pod_level_requests(pod: Pod) -> Pod:
    """Pod-level limits imply requests: the containers' sum where they ask for the resource, else the limit."""
    resources = pod.spec.resources
    if resources is None or not resources.limits:
        return pod
    asked = pod_requests(replace(pod, spec=replace(pod.spec, resources=None, overhead={})))
    implied: dict[str, Quantity] = {name: quantity_of(name, asked[name]) for name in _POD_LEVEL if name in asked}
    limits = {name: limit for name, limit in resources.limits.items() if is_pod_level(name)}
    return replace(
        pod, spec=replace(pod.spec, resources=_requesting(resources, {**limits, **implied, **resources.requests}))
    )


def _requesting(resources: ResourceRequirements, requests: Mapping[str, Quantity]) -> ResourceRequirements:
    return replace(resources, requests=dict(requests))


def _node(node: Node) -> Node:
    if node.status.allocatable or not node.status.capacity:
        return node
    return replace(node, status=replace(node.status, allocatable=node.status.capacity))


def _group(group: PodGroup) -> PodGroup:
    """Upstream: defaults.go in pkg/apis/scheduling/v1beta1."""
    if group.spec.disruption_mode is not None:
        return group
    return replace(group, spec=replace(group.spec, disruption_mode=DisruptionMode(single=Marker())))


_RULES: Final[Mapping[type[Record], Callable[[Any], Record]]] = {
    resource.ResourceClaim: _claim,
    resource.ResourceClaimTemplate: _template,
    ClassicResourceClaim: _classic_claim,
    ClassicResourceClaimTemplate: _classic_template,
    Pod: _pod,
    Node: _node,
    PodGroup: _group,
}
