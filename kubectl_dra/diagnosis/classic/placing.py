"""What becomes of structured claims of 1.30 once a pod has a node: which named resources they hold from then on.

Upstream: Reserve of the 1.30 plugin. Each claim is allocated as if the pod had no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubectl_dra.allocation.named_resources import DriverDemand, NamedInstances
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.classic.pre_filter import PreFilter
from kubectl_dra.model import resource
from kubectl_dra.model.classic import (
    ClassicResourceClaim,
    DriverAllocationResult,
    NamedResult,
    ResourceHandle,
    StructuredHandle,
)
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_dra.model.names import HOSTNAME


def allocated(
    state: ClusterState, pod: Pod, claims: Sequence[resource.ResourceClaim], node: str
) -> Mapping[Key, ClassicResourceClaim]:
    """The claims that the scheduler allocates itself on ``node``, with what they get there."""
    pre_filter = PreFilter(state, pod, claims)
    pre_filter.check()
    resources = NamedInstances(state.inventory.slices.values(), state.inventory.claims.values())
    found = {}
    for position, demands in pre_filter.demands.items():
        claim = claims[position]
        assert isinstance(claim, ClassicResourceClaim)  # noqa: S101 - only those have demands
        handles = tuple(_handles(resources, node, demands))
        # Without parameters a claim can be shared; where they are, they decide about further consumers alone.
        classic = replace(claim.classic, resource_handles=handles, shareable=True)
        status = replace(claim.status, allocation=_allocation(node, handles))
        found[key_of(claim.metadata)] = replace(claim, status=status, classic=classic)
    return found


def _handles(resources: NamedInstances, node: str, demands: Sequence[DriverDemand]) -> Iterator[ResourceHandle]:
    for driver, selection in resources.select(node, demands).selections.items():
        names = [instance.name for instance in selection.chosen if instance is not None]
        results = tuple(DriverAllocationResult(named_resources=NamedResult(name)) for name in names)
        yield ResourceHandle(driver, structured_data=StructuredHandle(node_name=node, results=results))


def _allocation(node: str, handles: Sequence[ResourceHandle]) -> resource.AllocationResult:
    results = tuple(
        resource.DeviceRequestAllocationResult(driver=handle.driver_name, pool=node, device=result.named_resources.name)
        for handle in handles
        for result in (handle.structured_data.results if handle.structured_data is not None else ())
        if result.named_resources is not None
    )
    here = NodeSelectorRequirement(HOSTNAME, "In", (node,))
    return resource.AllocationResult(
        resource.DeviceAllocationResult(results), NodeSelector((NodeSelectorTerm((here,)),))
    )
