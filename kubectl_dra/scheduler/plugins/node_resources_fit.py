"""NodeResourcesFit: number of pods, cpu, memory, ephemeral-storage, and extended or otherwise counted resources.

Upstream: plugins/noderesources (fit.go, least_allocated.go, resource_allocation.go). Extended resources that a
DeviceClass serves and the node does not offer are left to DynamicResources. Every lack is a reason of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

import msgspec

from kubectl_dra.model.core import Node
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.requests import Amounts, amount, non_zero_requests, pod_requests
from kubectl_dra.model.usage import Ledger, NodeUsage
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.framework import MAX_SCORE, PASS, Cycle, Plugin, PodsMatter, PreFilterResult
from kubectl_dra.scheduler.resource_names import is_scalar_resource
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SUCCESS, Status, StatusCode

TOO_MANY_PODS: Final = "Too many pods"
SCORED: Final = ("cpu", "memory")
_PRIMARY: Final = ("cpu", "memory", "ephemeral-storage")


class Lack(msgspec.Struct, frozen=True):
    """A resource that a node lacks: milli-cores or base units. ``used`` is what pods on the node have requested.

    One stands for each node; ``NodeShortage`` of ``diagnosis`` is that of the closest of them, with its name.
    """

    resource: str
    requested: int
    used: int
    allocatable: int

    @property
    def text(self) -> str:
        """The scheduler's reason."""
        return TOO_MANY_PODS if self.resource == "pods" else f"Insufficient {self.resource}"

    @property
    def excess(self) -> int:
        """How much more is requested than is left."""
        return self.requested - (self.allocatable - self.used)

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


class _Offer:
    """What nodes with the same allocatable have of what the pod asks for; what was said of them is kept by usage."""

    __slots__ = ("_most", "_pods", "_refused", "_wanted", "node")

    def __init__(self, node: Node, amounts: Mapping[str, int], by_class: Collection[str]) -> None:
        self.node = node
        self._pods = allocatable_of(node, "pods")
        offered = ((name, requested, allocatable_of(node, name)) for name, requested in amounts.items())
        self._wanted = tuple(each for each in offered if each[2] or each[0] not in by_class)
        self._most = tuple((name, allocatable - requested) for name, requested, allocatable in self._wanted)
        self._refused: dict[tuple[int, ...], Status] = {}

    def status(self, usage: NodeUsage | Ledger) -> Status:
        """Whether that leaves enough."""
        used = usage.requests
        if usage.pods < self._pods:
            for name, most in self._most:
                if used.get(name, 0) > most:
                    break
            else:
                return SUCCESS
        in_use = (usage.pods, *[used.get(name, 0) for name, _ in self._most])
        status = self._refused.get(in_use)
        if status is None:
            status = self._refused[in_use] = _refusal(tuple(self._lacks(usage)))
        return status

    def _lacks(self, usage: NodeUsage | Ledger) -> Iterator[Lack]:
        if usage.pods + 1 > self._pods:
            yield Lack("pods", 1, usage.pods, self._pods)
        for resource, requested, allocatable in self._wanted:
            used = usage.requests.get(resource, 0)
            if requested > allocatable - used:
                yield Lack(resource, requested, used, allocatable)


def _refusal(lacks: tuple[Lack, ...]) -> Status:
    code = StatusCode.UNRESOLVABLE if any(lack.for_good for lack in lacks) else StatusCode.UNSCHEDULABLE
    return Status(code, tuple(lack.text for lack in lacks), detail=lacks)


class _Requests(msgspec.Struct, frozen=True):
    """What the pod asks for, which of it classes serve, and what nodes have of it, by identity of what they offer."""

    amounts: Mapping[str, int]
    by_class: frozenset[str]
    offers: dict[int, _Offer] = msgspec.field(default_factory=dict)

    def offer_of(self, node: Node) -> _Offer:
        key = id(node.status.allocatable)
        found = self.offers.get(key)
        if found is None:
            found = self.offers[key] = _Offer(node, self.amounts, self.by_class)
        return found


class NodeResourcesFit(Plugin):
    """``status.allocatable`` less what pods on the node request."""

    name: ClassVar[str] = "NodeResourcesFit"
    pods: ClassVar[PodsMatter] = PodsMatter.FEWER_IS_BETTER
    weight: ClassVar[int] = 1

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """The requests are summed up once."""
        amounts = counted(pod_requests(cycle.pod))
        cycle.write(_Requests(amounts, frozenset(amounts).intersection(cycle.snapshot.served)))
        return PASS

    def reads(self, cycle: Cycle) -> kinds.Reading:
        """What the node has of what the pod asks for, and what pods take of that."""
        names = tuple(cycle.read(_Requests).amounts)
        return kinds.Reading(kinds.of_usage, ("resources", *names), partial(_room, names))

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        return cycle.read(_Requests).offer_of(node.node).status(node.usage)

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


def _room(names: Sequence[str], nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
    """Per node a number for what it has of some resources, and what pods take of them."""
    offers: dict[tuple[Quantity | None, ...], int] = {}
    known: dict[int, int] = {}
    found = []
    for node in nodes:
        has, takes = node.node.status.allocatable, node.usage
        number = known.get(id(has))
        if number is None:
            offer = tuple(map(has.get, ("pods", *names)))
            number = known[id(has)] = offers.setdefault(offer, len(offers))
        found.append((number, takes.pods, *map(takes.requests.get, names)))
    return found


def _least_allocated(node: NodeInfo, pod: Amounts) -> int:
    shares = []
    for resource in SCORED:
        allocatable = allocatable_of(node.node, resource)
        if allocatable:
            requested = node.usage.non_zero.get(resource, 0) + pod[resource]
            shares.append(0 if requested > allocatable else (allocatable - requested) * MAX_SCORE // allocatable)
    return sum(shares) // len(shares) if shares else 0
