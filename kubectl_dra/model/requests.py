"""Effective requests of one pod, as the scheduler counts them, and the host ports that it takes.

Upstream: k8s.io/component-helpers/resource PodRequests. CPU is in milli-cores, everything else in base units. Amounts
are added exactly and rounded up once per pod, as Quantity arithmetic does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from kubectl_dra.model.core import Container, ContainerStatus, Pod
from kubectl_dra.model.quantity import Quantity

HostPort = tuple[str, str, int]
Amounts = dict[str, int]
# Pod-level requests exist only for these (and hugepages-*).
_POD_LEVEL: Final = frozenset({"cpu", "memory"})
#: What resources begin with that are huge pages, in front of the size of one.
HUGE_PAGES: Final = "hugepages-"
_BINARY: Final = ("memory", "ephemeral-storage", HUGE_PAGES)
_NANO: Final = -9
_RESIZE: Final = "PodResizePending"
_NANOS_PER_MILLI: Final = 10**6
_NANOS_PER_UNIT: Final = 10**9
# What a container that asks for nothing counts for scoring: 100m and 200Mi.
_LEAST: Final[Mapping[str, int]] = {"cpu": 10**8, "memory": 200 * 2**20 * _NANOS_PER_UNIT}
_NONE: Final[Mapping[str, int]] = {}


def amount(resource: str, quantity: Quantity) -> int:
    """A quantity as the scheduler counts it: milli-units for cpu, whole units for the rest, rounded up."""
    return quantity.at_scale(-3 if resource == "cpu" else 0)[0]


def quantity_of(resource: str, number: int) -> Quantity:
    """What :func:`amount` counts, as Kubernetes writes amounts of the resource."""
    if resource == "cpu":
        return Quantity(number, -3)
    return Quantity(number, 0, "BinarySI" if resource.startswith(_BINARY) else "DecimalSI")


def pod_requests(pod: Pod, *, use_status: bool = False) -> Amounts:
    """Effective requests: containers and sidecars summed, init containers by their maximum, pod level, overhead.

    ``use_status`` also looks at what the kubelet has allocated and actuated (in-place resize): the scheduler does so
    for pods on nodes, not for the pod that it places.
    """
    return _requests(pod, use_status=use_status)


def container_requests(pod: Pod) -> Amounts:
    """What the containers of a pod request together, whatever the pod as a whole does."""
    return {name: _rounded(name, value) for name, value in _container_level(pod, False, _NONE).items()}


def non_zero_requests(pod: Pod, *, use_status: bool = False, pod_level: bool = True) -> Amounts:
    """CPU and memory as they count for scoring: containers that don't say have 100m and 200Mi, an explicit 0 stays.

    Where the pod level says something, that is only so for what nothing says. Without ``pod_level`` it is not looked
    at, as upstream's scorer does for the pod that is placed.
    """
    missing = _LEAST
    if pod_level and pod.spec.resources is not None and any(map(is_pod_level, pod.spec.resources.requests)):
        known = _requests(pod, use_status=use_status)
        missing = {name: value for name, value in _LEAST.items() if name not in known}
    found = _requests(pod, use_status=use_status, pod_level=pod_level, missing=missing)
    return {name: found.get(name, 0) for name in _LEAST}


def pod_limits(pod: Pod) -> Amounts:
    """Effective limits, as quotas count them: overhead is added only to what has a limit. Upstream: PodLimits."""
    nanos = _aggregate(pod, lambda container: container.resources.limits, _NONE)
    if pod.spec.resources is not None:
        at_pod = _nanos(pod.spec.resources.limits)
        nanos.update({name: value for name, value in at_pod.items() if is_pod_level(name)})
    overhead = _nanos(pod.spec.overhead)
    return {name: _rounded(name, value + overhead.get(name, 0) if value else 0) for name, value in nanos.items()}


def _requests(pod: Pod, *, use_status: bool, pod_level: bool = True, missing: Mapping[str, int] = _NONE) -> Amounts:
    nanos = _container_level(pod, use_status, missing)
    if pod_level:
        nanos.update(_pod_level(pod, use_status))
    add_to(nanos, _nanos(pod.spec.overhead))
    return {name: _rounded(name, value) for name, value in nanos.items()}


def host_ports(pod: Pod) -> Iterator[HostPort]:
    """The host ports that a pod takes: sidecars and containers; an unset IP is 0.0.0.0, an unset protocol TCP."""
    sidecars = (c for c in pod.spec.init_containers if is_sidecar(c))
    for container in (*sidecars, *pod.spec.containers):
        for port in container.ports:
            if port.host_port > 0:
                yield port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port  # noqa: S104


# --- containers -----------------------------------------------------------------------------------------------------

_Getter = Callable[[Container], "Mapping[str, Quantity]"]


def _container_level(pod: Pod, use_status: bool, missing: Mapping[str, int]) -> Amounts:
    spec = _aggregate(pod, _spec_requests, missing)
    if not use_status or not counts_status(pod):
        return spec
    infeasible = _resize_infeasible(pod)
    allocated, actuated = _from_status(pod, infeasible, missing)
    reached = _max(actuated, allocated)
    return reached if infeasible else _max(spec, reached)


def counts_status(pod: Pod) -> bool:
    """Whether the kubelet says of a pod what counts beside its spec, or instead of it."""
    return _resize_infeasible(pod) or _has_resources_in_status(pod)


def _has_resources_in_status(pod: Pod) -> bool:
    if pod.status.resources is not None or pod.status.allocated_resources is not None:
        return True
    statuses = (*pod.status.container_statuses, *pod.status.init_container_statuses)
    return any(s.resources is not None or s.allocated_resources is not None for s in statuses)


def _from_status(pod: Pod, infeasible: bool, missing: Mapping[str, int]) -> tuple[Amounts, Amounts]:
    """Allocated and actuated requests: the pod's own sums where the kubelet reports them, else per container."""
    status = pod.status
    if status.allocated_resources is not None and status.resources is not None and status.resources.requests:
        return _nanos(status.allocated_resources), _nanos(status.resources.requests)
    by_name = {s.name: s for s in (*status.init_container_statuses, *status.container_statuses)}

    def allocated(container: Container) -> Mapping[str, Quantity]:
        return _allocated(container, by_name.get(container.name), infeasible)

    def actuated(container: Container) -> Mapping[str, Quantity]:
        reported = by_name.get(container.name)
        if reported is not None and reported.resources is not None and reported.resources.requests:
            return reported.resources.requests
        return _allocated(container, reported, infeasible)

    return _aggregate(pod, allocated, missing), _aggregate(pod, actuated, missing)


def _allocated(container: Container, status: ContainerStatus | None, infeasible: bool) -> Mapping[str, Quantity]:
    if status is not None and status.allocated_resources is not None:
        return status.allocated_resources
    return {} if infeasible else container.resources.requests


def _spec_requests(container: Container) -> Mapping[str, Quantity]:
    return container.resources.requests


def _aggregate(pod: Pod, requests_of: _Getter, missing: Mapping[str, int]) -> Amounts:
    """Everything that runs at the same time, and at least what each init container needs beside earlier sidecars."""
    total: Amounts = {}
    for container in pod.spec.containers:
        add_to(total, {**missing, **_nanos(requests_of(container))})
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.spec.init_containers:
        requests = {**missing, **_nanos(requests_of(container))}
        if is_sidecar(container):
            add_to(total, requests)
            add_to(sidecars, requests)
            peak = _max(peak, sidecars)
        else:
            peak = _max(peak, sum_of((sidecars, requests)))
    return _max(total, peak) if peak else total


def _pod_level(pod: Pod, use_status: bool) -> Amounts:
    if pod.spec.resources is None or not any(map(is_pod_level, pod.spec.resources.requests)):
        return {}
    amounts = _nanos(pod.spec.resources.requests)
    if use_status and pod.status.resources is not None:
        reached = _max(_nanos(pod.status.resources.requests), _nanos(pod.status.allocated_resources or {}))
        amounts = reached if _resize_infeasible(pod) else _max(amounts, reached)
    return {name: value for name, value in amounts.items() if is_pod_level(name)}


def is_pod_level(resource: str) -> bool:
    """Whether a pod may ask for it as a whole (upstream: IsSupportedPodLevelResource)."""
    return resource in _POD_LEVEL or resource.startswith(HUGE_PAGES)


def is_overcommitted(resource: str) -> bool:
    """Whether a limit may be higher than its request (upstream: helper IsOvercommitAllowed)."""
    return ("/" not in resource or "kubernetes.io/" in resource) and not resource.startswith(HUGE_PAGES)


def is_sidecar(container: Container) -> bool:
    """Whether an init container runs beside the others to the end."""
    return container.restart_policy == "Always"


def pending_resize(pod: Pod, resource: str) -> int:
    """How much more the containers of a pod request than the kubelet has given them: the scheduler counts it already.

    Nothing of a resize that can never be done, which is not counted.
    """
    if _resize_infeasible(pod) or not any(each.type == _RESIZE for each in pod.status.conditions):
        return 0
    wanted, (allocated, _) = _aggregate(pod, _spec_requests, _NONE), _from_status(pod, False, _NONE)
    return max(_rounded(resource, wanted.get(resource, 0) - allocated.get(resource, 0)), 0)


def _resize_infeasible(pod: Pod) -> bool:
    """Upstream looks at the reason of the first such condition, not at its status."""
    return next((c.reason for c in pod.status.conditions if c.type == _RESIZE), "") == "Infeasible"


# --- arithmetic -----------------------------------------------------------------------------------------------------


def _nanos(quantities: Mapping[str, Quantity]) -> Amounts:
    return {name: quantity.at_scale(_NANO)[0] for name, quantity in quantities.items()}


def _rounded(resource: str, nanos: int) -> int:
    return -(-nanos // (_NANOS_PER_MILLI if resource == "cpu" else _NANOS_PER_UNIT))


def add_to(total: Amounts, part: Mapping[str, int], times: int = 1) -> None:
    for name, value in part.items():
        total[name] = total.get(name, 0) + value * times


def sum_of(parts: Iterable[Mapping[str, int]]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        add_to(total, part)
    return total


def _max(a: Mapping[str, int], b: Mapping[str, int]) -> Amounts:
    return {name: max(a.get(name, 0), b.get(name, 0)) for name in {**a, **b}}
