"""Which requests of a pod make up what it asks for of a resource, and which of them to lower.

The rules are those of :mod:`kubectl_dra.model.requests` (upstream: component-helpers/resource PodRequests). Amounts are
in milli-cores of cpu, base units of everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from kubectl_dra.model.core import Container, Pod, ResourceRequirements
from kubectl_dra.model.requests import amount, is_pod_level, is_sidecar

#: The API paths that say where a request stands.
OF_POD: Final = "spec.resources"
INIT: Final = "initContainers"
CONTAINERS: Final = "containers"
#: What the quality of service of a pod depends on, and its classes that matter here.
QUALITY_RESOURCES: Final = ("cpu", "memory")
GUARANTEED: Final = "Guaranteed"
BURSTABLE: Final = "Burstable"


class Maker(NamedTuple):
    """What asks for most: ``field`` is one of the paths above, ``container`` its name there, if it is one.

    ``peak``: an init container that needs more than all that runs after it.
    """

    field: str
    container: str
    amount: int
    peak: bool = False


def maker_of(pod: Pod, resource: str) -> Maker | None:
    """The one request that decides what a pod asks for, or the largest of several; None for its only container."""
    own = _of_pod(pod, resource)
    if own is not None:
        return Maker(OF_POD, "", own)
    long = [each for each in _long_lived(pod) if requested(each, resource)]
    peak, init = max(
        ((sum_, each) for each, sum_ in _inits(pod, resource)), key=lambda pair: pair[0], default=(0, None)
    )
    if init is not None and peak > _total(long, resource):
        return Maker(INIT, init.name, requested(init, resource), peak=True)
    if len(long) < 2:
        return None
    largest = max(long, key=lambda each: requested(each, resource))
    return Maker(INIT if is_sidecar(largest) else CONTAINERS, largest.name, requested(largest, resource))


def lowered(pod: Pod, resource: str, room: int) -> tuple[tuple[Container | None, int], ...]:
    """The fewest requests to lower, and to what, so that a pod asks for at most ``room``; None is the pod's own.

    Empty where that takes more than the largest of the containers that run beside each other, and where a container
    would be left with nothing. A request of the pod is never lowered below the sum of its containers', which the API
    refuses (upstream: pkg/apis/core/validation, validatePodResourceConsistency).
    """
    overhead = pod.spec.overhead.get(resource)
    room -= amount(resource, overhead) if overhead is not None else 0
    if _of_pod(pod, resource) is not None:
        sums = (_total(_long_lived(pod), resource), *(sum_ for _, sum_ in _inits(pod, resource)))
        return ((None, room),) if room > 0 and max(sums) <= room else ()
    found = tuple(_of_containers(pod, resource, room))
    return found if all(number > 0 for _, number in found) else ()


def is_guaranteed(pod: Pod) -> bool:
    """Whether all cpu and memory is limited to what is requested (upstream: helper/qos, ComputePodQOS)."""
    containers = (each.resources for each in (*pod.spec.init_containers, *pod.spec.containers))
    parts = containers if pod.spec.resources is None else (pod.spec.resources,)
    return all(_is_limited(each, name) for each in parts for name in QUALITY_RESOURCES)


def _is_limited(resources: ResourceRequirements, resource: str) -> bool:
    limit = resources.limits.get(resource)
    return limit is not None and limit.sign > 0 and not limit.cmp(resources.requests.get(resource, limit))


def requested(container: Container, resource: str) -> int:
    quantity = container.resources.requests.get(resource)
    return amount(resource, quantity) if quantity is not None else 0


def _of_containers(pod: Pod, resource: str, room: int) -> Iterator[tuple[Container, int]]:
    long = _long_lived(pod)
    short = _total(long, resource) - room
    largest = max(long, key=lambda each: requested(each, resource), default=None)
    less = short if largest is not None and short > 0 else 0
    if largest is not None and less:
        yield largest, requested(largest, resource) - less
    for each, sum_ in _inits(pod, resource, largest, less):
        if sum_ > room:
            yield each, requested(each, resource) - (sum_ - room)


def _inits(pod: Pod, resource: str, lower: Container | None = None, less: int = 0) -> Iterator[tuple[Container, int]]:
    """The init containers that end, each with what it asks for beside the sidecars before it; one of these ``less``."""
    sidecars = 0
    for each in pod.spec.init_containers:
        if is_sidecar(each):
            sidecars += requested(each, resource) - (less if each is lower else 0)
        else:
            yield each, sidecars + requested(each, resource)


def _long_lived(pod: Pod) -> tuple[Container, ...]:
    return (*filter(is_sidecar, pod.spec.init_containers), *pod.spec.containers)


def _total(containers: Iterable[Container], resource: str) -> int:
    return sum(requested(each, resource) for each in containers)


def _of_pod(pod: Pod, resource: str) -> int | None:
    """What a pod asks for as a whole; None where its containers decide."""
    own = pod.spec.resources.requests.get(resource) if pod.spec.resources is not None else None
    return amount(resource, own) if own is not None and is_pod_level(resource) else None
