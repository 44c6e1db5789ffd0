"""NodeResourcesFit: number of pods, cpu, memory, ephemeral-storage, and extended or otherwise counted resources.

Upstream: plugins/noderesources/fit.go. Extended resources that a DeviceClass serves and the node does not offer are
left to DynamicResources. Every lack is a reason of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from kubectl_dra.model.core import Node
from kubectl_dra.model.requests import amount
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.scheduler.resource_names import is_scalar_resource

TOO_MANY_PODS: Final = "Too many pods"
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
