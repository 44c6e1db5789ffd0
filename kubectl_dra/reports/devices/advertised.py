"""Devices that a device plugin advertises as well: who asks for them that way does not appear in any claim.

Nothing says that ``nvidia.com/gpu`` of a node are the devices of its pool of ``gpu.nvidia.com``, but both have the
same vendor's domain. The scheduler counts the two apart, so that a device may be given out twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.reports.base import Bound, Count
from kubectl_dra.scheduler.resource_names import is_extended_resource


class AdvertisedResource(ReportRecord, frozen=True):
    """An extended resource of a node with the domain of a driver: how much of it there is, and is asked for by pods."""

    node: str
    driver: str
    resource: str
    amount: int
    requested: Count


class OfferedResource(ReportRecord, frozen=True):
    """An extended resource of a node, as device plugins offer them: how much there is, and is asked for by pods."""

    resource: str
    amount: int
    requested: Count


def offered(state: ClusterState, name: str) -> tuple[OfferedResource, ...]:
    """The extended resources of a node, by name."""
    node = state.inventory.nodes.get(name)
    allocatable = node.status.allocatable if node is not None else {}
    found = ((resource, amount.ceil()) for resource, amount in sorted(allocatable.items()))
    return tuple(
        OfferedResource(resource, amount, _requested(state, name, resource))
        for resource, amount in found
        if amount > 0 and is_extended_resource(resource)
    )


def _requested(state: ClusterState, node: str, resource: str) -> Count:
    usage = state.inventory.usage.get(node)
    asked = usage.requests.get(resource, 0) if usage is not None else 0
    return Count(asked, Bound.EXACT if state.evidence.complete("Pod") else Bound.AT_LEAST)


def advertised(
    state: ClusterState, nodes: Iterable[str], drivers: Iterable[str] | None = None
) -> tuple[AdvertisedResource, ...]:
    """What device plugins on ``nodes`` offer that drivers publish as well; of ``drivers`` only, if they are given."""
    wanted = None if drivers is None else frozenset(drivers)
    return tuple(found for name in dict.fromkeys(nodes) for found in _of_node(state, name, wanted))


def _of_node(state: ClusterState, name: str, wanted: frozenset[str] | None) -> Iterator[AdvertisedResource]:
    node = state.inventory.nodes.get(name)
    if node is None:
        return
    slices = state.inventory.slices_by_node.get(name, ())
    drivers = sorted({each.spec.driver for each in slices if each.spec.devices})
    for resource, amount in sorted(node.status.allocatable.items()):
        domain = resource.partition("/")[0] if "/" in resource else ""
        for driver in drivers if domain else ():
            if amount.ceil() > 0 and _same_vendor(driver, domain) and (wanted is None or driver in wanted):
                yield AdvertisedResource(name, driver, resource, amount.ceil(), _requested(state, name, resource))


def _same_vendor(driver: str, domain: str) -> bool:
    """Whether one is the other, or a part of it: ``gpu.nvidia.com`` and ``nvidia.com``."""
    if "." not in domain or domain.endswith("kubernetes.io"):
        return False
    return driver == domain or driver.endswith(f".{domain}") or domain.endswith(f".{driver}")
