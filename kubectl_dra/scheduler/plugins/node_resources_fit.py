"""NodeResourcesFit: number of pods, cpu, memory, ephemeral-storage, and extended or otherwise counted resources.

Upstream: plugins/noderesources (fit.go, least_allocated.go, resource_allocation.go). Extended resources that a
DeviceClass serves and the node does not offer are left to DynamicResources. Every lack is a reason of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from kubectl_dra.model.core import Node
from kubectl_dra.model.requests import Amounts, amount, non_zero_requests, pod_requests
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult
from kubectl_dra.scheduler.resource_names import is_scalar_resource
from kubectl_dra.scheduler.scores import MAX_SCORE
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SUCCESS, Code, Status

TOO_MANY_PODS: Final = "Too many pods"
SCORED: Final = ("cpu", "memory")
_PRIMARY: Final = ("cpu", "memory", "ephemeral-storage")


@dataclass(frozen=True, slots=True)
class Lack:
    """A resource that a node lacks: milli-cores or base units. ``used`` is what pods on the node have requested."""

    resource: str
    requested: int
    used: int
    allocatable: int

    @property
    def text(self) -> str:
        """The scheduler's reason."""
        return TOO_MANY_PODS if self.resource == "pods" else f"Insufficient {self.resource}"

    @property
    def for_good(self) -> bool:
        """Whether the empty node would be too small, so that evicting pods can't help."""
        return self.resource != "pods" and self.requested > self.allocatable


def counted(requests: Mapping[str, int]) -> dict[str, int]:
    """Those of a pod's requests that the plugin looks at, the primary ones first."""
    names = [name for name in _PRIMARY if name in requests]
    names += sorted(name for name in requests if name not in _PRIMARY and is_scalar_resource(name))
    return {name: requests[name] for name in names if requests[name] > 0}


def allocatable_of(node: Node, resource: str) -> int:
    """What a node offers; 0 where it does not know the resource."""
    quantity = node.status.allocatable.get(resource)
    return amount(resource, quantity) if quantity is not None else 0


def lacks(requests: Mapping[str, int], node: Node, usage: NodeUsage, by_class: Collection[str]) -> Iterator[Lack]:
    """What a node lacks for ``requests`` (of :func:`counted`); ``by_class`` are the resources that classes serve."""
    allowed = allocatable_of(node, "pods")
    if usage.pods + 1 > allowed:
        yield Lack("pods", 1, usage.pods, allowed)
    for resource, requested in requests.items():
        allocatable = allocatable_of(node, resource)
        if resource in by_class and allocatable == 0:
            continue
        used = usage.requests.get(resource, 0)
        if requested > allocatable - used:
            yield Lack(resource, requested, used, allocatable)


@dataclass(frozen=True, slots=True)
class Requests:
    """What the pod asks for, and which of it classes serve."""

    amounts: Mapping[str, int]
    by_class: frozenset[str]


def _most_in_use(wanted: Requests, node: Node) -> tuple[int, list[tuple[str, int]]]:
    """How many pods may be on a node that offers so much, and how much of each resource they may have."""
    most = []
    for resource, requested in wanted.amounts.items():
        allocatable = allocatable_of(node, resource)
        if allocatable or resource not in wanted.by_class:
            most.append((resource, allocatable - requested))
    return allocatable_of(node, "pods") - 1, most


class NodeResourcesFit(Plugin):
    """``status.allocatable`` less what pods on the node request."""

    name: ClassVar[str] = "NodeResourcesFit"
    weight: ClassVar[int] = 1

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """The requests are summed up once."""
        amounts = counted(pod_requests(cycle.pod))
        cycle.write(Requests(amounts, frozenset(amounts).intersection(cycle.snapshot.served)))
        return PASS

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """Enough of everything is left."""
        wanted = cycle.read(Requests)
        found = tuple(lacks(wanted.amounts, node.node, node.usage, wanted.by_class))
        if not found:
            return SUCCESS
        code = Code.UNRESOLVABLE if any(lack.for_good for lack in found) else Code.UNSCHEDULABLE
        return Status(code, tuple(lack.text for lack in found), detail=found)

    def filter_all(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[Status]:
        """The same; nodes that offer the same share what may be in use of it."""
        wanted = cycle.read(Requests)
        known: dict[int, tuple[int, list[tuple[str, int]]]] = {}
        statuses = []
        for node in nodes:
            usage, offered = node.usage, id(node.node.status.allocatable)
            if offered not in known:
                known[offered] = _most_in_use(wanted, node.node)
            pods, most = known[offered]
            fits = usage.pods <= pods and all(usage.requests.get(name, 0) <= used for name, used in most)
            statuses.append(SUCCESS if fits else self.filter(cycle, node))
        return statuses

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """LeastAllocated: the share of cpu and memory that stays free, the mean of both."""
        pod = non_zero_requests(cycle.pod, pod_level=False)
        known: dict[tuple[int, int | None, int | None], int] = {}
        found = []
        for node in nodes:
            used = node.usage.non_zero
            alike = id(node.node.status.allocatable), used.get(SCORED[0]), used.get(SCORED[1])
            if alike not in known:
                known[alike] = _least_allocated(node, pod)
            found.append(known[alike])
        return found


def _least_allocated(node: NodeInfo, pod: Amounts) -> int:
    shares = []
    for resource in SCORED:
        allocatable = allocatable_of(node.node, resource)
        if allocatable:
            requested = node.usage.non_zero.get(resource, 0) + pod[resource]
            shares.append(0 if requested > allocatable else (allocatable - requested) * MAX_SCORE // allocatable)
    return sum(shares) // len(shares) if shares else 0
