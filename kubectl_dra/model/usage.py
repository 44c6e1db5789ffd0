"""What pods take of a node: effective requests of one pod and their sums per node, as the scheduler counts them.

Upstream: k8s.io/component-helpers/resource PodRequests and the scheduler's NodeInfo. CPU is in milli-cores, everything
else in base units. Amounts are added exactly and rounded up once per pod, as Quantity arithmetic does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from kubectl_dra.model.core import Container, ContainerStatus, Pod
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.repulsion import Repulsion, repulsions

HostPort = tuple[str, str, int]
Amounts = dict[str, int]
_TERMINAL: Final = frozenset({"Succeeded", "Failed"})
# Pod-level requests exist only for these (and hugepages-*).
_POD_LEVEL: Final = frozenset({"cpu", "memory"})
_NO_REPULSIONS: Final[Mapping[Repulsion, int]] = MappingProxyType({})
_NANO: Final = -9
_NANOS_PER_MILLI: Final = 10**6
_NANOS_PER_UNIT: Final = 10**9


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """Sums over the pods of one node: number of pods, requested amounts, taken host ports (ip, protocol, port).

    ``repels``: the required anti-affinity of the pods, and how many of them have it.
    """

    pods: int = 0
    requests: Mapping[str, int] = field(default_factory=dict)
    ports: frozenset[HostPort] = frozenset()
    repels: Mapping[Repulsion, int] = field(default_factory=lambda: _NO_REPULSIONS)

    def plus(self, other: NodeUsage) -> NodeUsage:
        """Both together."""
        repels = _added(self.repels, other.repels) if other.repels else self.repels
        return NodeUsage(
            self.pods + other.pods, _sum((self.requests, other.requests)), self.ports | other.ports, repels
        )

    def minus(self, pod: NodeUsage) -> NodeUsage:
        """Without one of the pods."""
        requests = {name: value - pod.requests.get(name, 0) for name, value in self.requests.items()}
        left = {each: count - pod.repels.get(each, 0) for each, count in self.repels.items()}
        repels = {each: count for each, count in left.items() if count > 0}
        return NodeUsage(self.pods - pod.pods, requests, self.ports - pod.ports, repels)


def amount(resource: str, quantity: Quantity) -> int:
    """A quantity as the scheduler counts it: milli-units for cpu, whole units for the rest, rounded up."""
    return quantity.at_scale(-3 if resource == "cpu" else 0)[0]


def pod_usage(pod: Pod) -> NodeUsage:
    """What one pod takes of its node; what an unfinished resize still holds or already got counts too."""
    repels = dict.fromkeys(repulsions(pod), 1) or _NO_REPULSIONS
    return NodeUsage(1, pod_requests(pod, use_status=True), frozenset(host_ports(pod)), repels)


def is_terminal(pod: Pod) -> bool:
    """Whether the pod no longer takes anything."""
    return pod.status.phase in _TERMINAL


def usage_by_node(pods: Iterable[Pod]) -> dict[str, NodeUsage]:
    """Sums per node name over all bound pods that are not finished."""
    counts: dict[str, int] = {}
    requests: dict[str, Amounts] = {}
    ports: dict[str, set[HostPort]] = {}
    repels: dict[str, dict[Repulsion, int]] = {}
    for pod in pods:
        node = pod.spec.node_name
        if not node or is_terminal(pod):
            continue
        counts[node] = counts.get(node, 0) + 1
        _add(requests.setdefault(node, {}), pod_requests(pod, use_status=True))
        ports.setdefault(node, set()).update(host_ports(pod))
        # Few pods have any affinity.
        if pod.spec.affinity is not None:
            of_node = repels.setdefault(node, {})
            for each in set(repulsions(pod)):
                of_node[each] = of_node.get(each, 0) + 1
    return {
        node: NodeUsage(count, requests[node], frozenset(ports[node]), repels.get(node, _NO_REPULSIONS))
        for node, count in counts.items()
    }


def pod_requests(pod: Pod, *, use_status: bool = False) -> Amounts:
    """Effective requests: containers and sidecars summed, init containers by their maximum, pod level, overhead.

    ``use_status`` also looks at what the kubelet has allocated and actuated (in-place resize): the scheduler does so
    for pods on nodes, not for the pod that it places.
    """
    nanos = _container_level(pod, use_status)
    nanos.update(_pod_level(pod, use_status))
    _add(nanos, _nanos(pod.spec.overhead))
    return {name: _rounded(name, value) for name, value in nanos.items()}


def host_ports(pod: Pod) -> Iterator[HostPort]:
    """The host ports that a pod takes: sidecars and containers; an unset IP is 0.0.0.0, an unset protocol TCP."""
    sidecars = (c for c in pod.spec.init_containers if _is_sidecar(c))
    for container in (*sidecars, *pod.spec.containers):
        for port in container.ports:
            if port.host_port > 0:
                yield port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port  # noqa: S104


# --- containers -----------------------------------------------------------------------------------------------------

_Getter = Callable[[Container], "Mapping[str, Quantity]"]


def _container_level(pod: Pod, use_status: bool) -> Amounts:
    spec = _aggregate(pod, _spec_requests)
    if not use_status or not _has_resources_in_status(pod):
        return spec
    allocated, actuated = _from_status(pod)
    reached = _max(actuated, allocated)
    return reached if _resize_infeasible(pod) else _max(spec, reached)


def _has_resources_in_status(pod: Pod) -> bool:
    if pod.status.resources is not None or pod.status.allocated_resources is not None:
        return True
    statuses = (*pod.status.container_statuses, *pod.status.init_container_statuses)
    return any(s.resources is not None or s.allocated_resources is not None for s in statuses)


def _from_status(pod: Pod) -> tuple[Amounts, Amounts]:
    """Allocated and actuated requests: the pod's own sums where the kubelet reports them, else per container."""
    status = pod.status
    if status.allocated_resources is not None and status.resources is not None and status.resources.requests:
        return _nanos(status.allocated_resources), _nanos(status.resources.requests)
    by_name = {s.name: s for s in (*status.init_container_statuses, *status.container_statuses)}
    infeasible = _resize_infeasible(pod)

    def allocated(container: Container) -> Mapping[str, Quantity]:
        return _allocated(container, by_name.get(container.name), infeasible)

    def actuated(container: Container) -> Mapping[str, Quantity]:
        reported = by_name.get(container.name)
        if reported is not None and reported.resources is not None and reported.resources.requests:
            return reported.resources.requests
        return _allocated(container, reported, infeasible)

    return _aggregate(pod, allocated), _aggregate(pod, actuated)


def _allocated(container: Container, status: ContainerStatus | None, infeasible: bool) -> Mapping[str, Quantity]:
    if status is not None and status.allocated_resources is not None:
        return status.allocated_resources
    return {} if infeasible else container.resources.requests


def _spec_requests(container: Container) -> Mapping[str, Quantity]:
    return container.resources.requests


def _aggregate(pod: Pod, requests_of: _Getter) -> Amounts:
    """Everything that runs at the same time, and at least what each init container needs beside earlier sidecars."""
    total: Amounts = {}
    for container in pod.spec.containers:
        _add(total, _nanos(requests_of(container)))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.spec.init_containers:
        requests = _nanos(requests_of(container))
        if _is_sidecar(container):
            _add(total, requests)
            _add(sidecars, requests)
            peak = _max(peak, sidecars)
        else:
            peak = _max(peak, _sum((sidecars, requests)))
    return _max(total, peak) if peak else total


def _pod_level(pod: Pod, use_status: bool) -> Amounts:
    if pod.spec.resources is None or not any(map(_is_pod_level, pod.spec.resources.requests)):
        return {}
    amounts = _nanos(pod.spec.resources.requests)
    if use_status and pod.status.resources is not None:
        reached = _max(_nanos(pod.status.resources.requests), _nanos(pod.status.allocated_resources or {}))
        amounts = reached if _resize_infeasible(pod) else _max(amounts, reached)
    return {name: value for name, value in amounts.items() if _is_pod_level(name)}


def _is_pod_level(resource: str) -> bool:
    return resource in _POD_LEVEL or resource.startswith("hugepages-")


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"


def _resize_infeasible(pod: Pod) -> bool:
    return any(c.type == "PodResizePending" and c.reason == "Infeasible" for c in pod.status.conditions)


# --- arithmetic -----------------------------------------------------------------------------------------------------


def _nanos(quantities: Mapping[str, Quantity]) -> Amounts:
    return {name: quantity.at_scale(_NANO)[0] for name, quantity in quantities.items()}


def _rounded(resource: str, nanos: int) -> int:
    return -(-nanos // (_NANOS_PER_MILLI if resource == "cpu" else _NANOS_PER_UNIT))


def _add(total: Amounts, part: Mapping[str, int]) -> None:
    for name, value in part.items():
        total[name] = total.get(name, 0) + value


def _sum(parts: Iterable[Mapping[str, int]]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        _add(total, part)
    return total


def _added(a: Mapping[Repulsion, int], b: Mapping[Repulsion, int]) -> Mapping[Repulsion, int]:
    return {each: a.get(each, 0) + b.get(each, 0) for each in {**a, **b}}


def _max(a: Mapping[str, int], b: Mapping[str, int]) -> Amounts:
    return {name: max(a.get(name, 0), b.get(name, 0)) for name in {**a, **b}}
