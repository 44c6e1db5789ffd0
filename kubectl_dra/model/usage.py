"""What pods take of a node: effective requests of one pod and their sums per node, as the scheduler counts them.

Upstream: k8s.io/component-helpers/resource PodRequests and the scheduler's NodeInfo. CPU is in milli-cores, everything
else in base units, each rounded up once per quantity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from kubectl_dra.model.core import Container, Pod
from kubectl_dra.model.quantity import Quantity

HostPort = tuple[str, str, int]
_TERMINAL: Final = frozenset({"Succeeded", "Failed"})
# Pod-level requests exist only for these (and hugepages-*).
_POD_LEVEL: Final = frozenset({"cpu", "memory"})


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """Sums over the pods of one node: number of pods, requested amounts, taken host ports (ip, protocol, port)."""

    pods: int = 0
    requests: Mapping[str, int] = field(default_factory=dict)
    ports: frozenset[HostPort] = frozenset()

    def plus(self, other: NodeUsage) -> NodeUsage:
        """Both together."""
        return NodeUsage(self.pods + other.pods, _sum((self.requests, other.requests)), self.ports | other.ports)


def amount(resource: str, quantity: Quantity) -> int:
    """A quantity as the scheduler counts it: milli-units for cpu, whole units for the rest, rounded up."""
    return quantity.at_scale(-3 if resource == "cpu" else 0)[0]


def pod_usage(pod: Pod) -> NodeUsage:
    """What one pod takes of its node."""
    return NodeUsage(1, pod_requests(pod), frozenset(host_ports(pod)))


def is_terminal(pod: Pod) -> bool:
    """Whether the pod no longer takes anything."""
    return pod.status.phase in _TERMINAL


def usage_by_node(pods: Iterable[Pod]) -> dict[str, NodeUsage]:
    """Sums per node name over all bound pods that are not finished."""
    sums: dict[str, NodeUsage] = {}
    for pod in pods:
        if pod.spec.node_name and not is_terminal(pod):
            node = pod.spec.node_name
            sums[node] = sums.get(node, NodeUsage()).plus(pod_usage(pod))
    return sums


def pod_requests(pod: Pod) -> dict[str, int]:
    """Effective requests: containers and sidecars summed, init containers by their maximum, pod level, overhead."""
    running = _sum(_requests(container) for container in pod.spec.containers)
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in pod.spec.init_containers:
        requests = _requests(container)
        if container.restart_policy == "Always":
            sidecars = _sum((sidecars, requests))
            peak = _max(peak, sidecars)
        else:
            peak = _max(peak, _sum((sidecars, requests)))
    total = _max(_sum((running, sidecars)), peak)
    if pod.spec.resources is not None:
        for resource, quantity in pod.spec.resources.requests.items():
            if resource in _POD_LEVEL or resource.startswith("hugepages-"):
                total[resource] = amount(resource, quantity)
    return _sum((total, {name: amount(name, quantity) for name, quantity in pod.spec.overhead.items()}))


def host_ports(pod: Pod) -> Iterable[HostPort]:
    """The host ports that a pod takes: containers and sidecars; an unset IP is 0.0.0.0, an unset protocol TCP."""
    sidecars = (c for c in pod.spec.init_containers if c.restart_policy == "Always")
    for container in (*pod.spec.containers, *sidecars):
        for port in container.ports:
            if port.host_port > 0:
                yield port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port  # noqa: S104


def _requests(container: Container) -> dict[str, int]:
    return {name: amount(name, quantity) for name, quantity in container.resources.requests.items()}


def _sum(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total


def _max(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {name: max(a.get(name, 0), b.get(name, 0)) for name in {**a, **b}}
