"""Extended resources that DeviceClasses serve: the map of names to classes, and the claim that a pod needs on a node.

Upstream: deviceclass/extendedresourcecache and the plugin's extendeddynamicresources.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cmp_to_key
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.core import Container, Pod
from kubectl_dra.model.meta import ObjectMeta, OwnerReference
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.model.resource import (
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from kubectl_dra.scheduler.claims import EXTENDED_CLAIM_ANNOTATION
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX, is_dra_extended_resource

CLAIM_NAME: Final = "<extended-resources>"
_NOTHING: Final = Quantity(0, text="0")
ClassMap = Mapping[str, DeviceClass]


def class_by_resource(classes: Iterable[DeviceClass]) -> ClassMap:
    """Resource name to serving class: explicit names and, for every class, the implicit one.

    Of two classes with the same explicit name the newer serves it, then the one with the lower name. A running
    scheduler may still hold another one, because it learns of classes one by one.
    """
    served: dict[str, DeviceClass] = {}
    for device_class in sorted(classes, key=cmp_to_key(_worse_first)):
        served[DEVICE_CLASS_PREFIX + device_class.metadata.name] = device_class
        if device_class.spec.extended_resource_name is not None:
            served[device_class.spec.extended_resource_name] = device_class
    return served


def clashing(classes: Iterable[DeviceClass]) -> tuple[str, ...]:
    """Resource names that more than one class claims, sorted."""
    seen: dict[str, int] = {}
    for device_class in classes:
        if device_class.spec.extended_resource_name:
            seen[device_class.spec.extended_resource_name] = seen.get(device_class.spec.extended_resource_name, 0) + 1
    return tuple(sorted(name for name, count in seen.items() if count > 1))


@derived("classes")
def served_resources(state: ClusterState) -> ClassMap:
    """The class behind each extended resource; empty while that feature is off."""
    return class_by_resource(state.inventory.classes.values()) if state.features.extended_resource else {}


@derived("classes")
def clashing_resources(state: ClusterState) -> tuple[str, ...]:
    return clashing(state.inventory.classes.values())


def next_to_serve(state: ClusterState, resource: str) -> str:
    """The class that would serve a resource if the one that does had another name; empty where there is none."""
    if resource not in clashing_resources(state) or not state.features.extended_resource:
        return ""
    named = [each for each in state.inventory.classes.values() if each.spec.extended_resource_name == resource]
    return sorted(named, key=cmp_to_key(_worse_first))[-2].metadata.name


def _worse_first(a: DeviceClass, b: DeviceClass) -> int:
    created_a, created_b = a.metadata.creation_timestamp or "", b.metadata.creation_timestamp or ""
    if created_a != created_b:
        return -1 if created_a < created_b else 1
    return (a.metadata.name < b.metadata.name) - (a.metadata.name > b.metadata.name)


def asked(pod: Pod) -> dict[str, int]:
    """The extended resources that a pod asks for and a DeviceClass may serve, with the amounts that count on a node."""
    return {name: value for name, value in pod_requests(pod).items() if value and is_dra_extended_resource(name)}


def virtual_claim(pod: Pod, resources: Iterable[str], served: ClassMap) -> ResourceClaim:
    """The claim that the scheduler makes up for the resources that a node does not offer itself."""
    requests = [r for name in sorted(resources) if name in served for r in _requests(pod, name, served[name])]
    owner = OwnerReference("v1", "Pod", pod.metadata.name, pod.metadata.uid, controller=True)
    metadata = ObjectMeta(
        name=CLAIM_NAME,
        namespace=pod.metadata.namespace,
        generate_name=f"{pod.metadata.name}-extended-resources-",
        annotations={EXTENDED_CLAIM_ANNOTATION: "true"},
        owner_references=(owner,),
    )
    devices = DeviceClaim(requests=tuple(sorted(requests, key=lambda request: request.name)))
    return ResourceClaim(metadata=metadata, spec=ResourceClaimSpec(devices=devices))


def request_containers(pod: Pod, resource: str, served: ClassMap) -> dict[str, str]:
    """The containers that the requests of the made-up claim are for, by the names of the requests."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    named = {
        _name(i, each, resource): each.name for i, each in enumerate(containers) if resource in each.resources.requests
    }
    made = (request.name for request in _requests(pod, resource, served[resource]))
    return {name: named[name] for name in made}


def _name(index: int, container: Container, resource: str) -> str:
    return f"container-{index}-request-{sorted(container.resources.requests).index(resource)}"


def _requests(pod: Pod, resource: str, device_class: DeviceClass) -> Iterator[DeviceRequest]:
    """One request per long-lived container, and the largest excess of any init container that is not a sidecar."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    inits = len(pod.spec.init_containers)
    short_lived = [i for i in range(inits) if containers[i].restart_policy != "Always"]
    long_lived: list[DeviceRequest | None] = [None] * len(containers)
    for i, container in enumerate(containers):
        if i not in short_lived:
            long_lived[i] = _request(i, container, resource, device_class, ())
    excess = (_request(i, containers[i], resource, device_class, long_lived[i:]) for i in short_lived)
    largest = max((r for r in excess if r is not None), key=_count, default=None)
    if largest is not None:
        yield largest
    yield from (r for r in long_lived if r is not None)


def _request(
    index: int,
    container: Container,
    resource: str,
    device_class: DeviceClass,
    reusable: Sequence[DeviceRequest | None],
) -> DeviceRequest | None:
    wanted = container.resources.requests.get(resource, _NOTHING).as_int64() or 0
    wanted -= sum(_count(request) for request in reusable if request is not None)
    if wanted <= 0:
        return None
    exactly = ExactDeviceRequest(
        device_class_name=device_class.metadata.name, allocation_mode="ExactCount", count=wanted
    )
    return DeviceRequest(name=_name(index, container, resource), exactly=exactly)


def _count(request: DeviceRequest) -> int:
    assert request.exactly is not None  # noqa: S101 - made above
    return request.exactly.count
