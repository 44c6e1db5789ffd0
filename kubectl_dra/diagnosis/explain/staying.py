"""Whether a pod may keep the devices that it would get: some evict it at once (see ``evicting``)."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.allocation.outcome import Allocated
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.attempt import NodeResult, PodAttempt
from kubectl_dra.diagnosis.explain.evicting import Tolerating, evicting
from kubectl_dra.diagnosis.records import Cause, NodeOutcome
from kubectl_dra.model.held import device_of, results_of


def stays(world: ClusterState, tried: PodAttempt, result: NodeResult) -> bool:
    """Whether a pod that gets what was found on a node may keep it."""
    return not world.features.device_taints or evicting(world, _had(tried, result)) is None


def fitting(world: ClusterState, tried: PodAttempt) -> tuple[Cause, ...]:
    """The cause of nodes that fit and on which the pod is evicted at once, with the evidence of the first."""
    if not world.features.device_taints:
        return ()
    found = {node.metadata.name: evicting(world, _had(tried, result)) for node, result in tried.nodes(NodeOutcome.FITS)}
    nodes = tuple(name for name, taint in found.items() if taint is not None)
    return (Cause(Code.EVICTED_AT_ONCE, found[nodes[0]], nodes=nodes),) if nodes else ()


def _had(tried: PodAttempt, result: NodeResult) -> Iterator[Tolerating]:
    """The devices that the pod's claims hold already, and those that they get on a node only by a toleration."""
    for claim in tried.claims:
        yield from ((device_of(each), each.tolerations) for each in results_of(claim))
    asks = (request for claim in tried.to_allocate for request in claim.spec.devices.requests)
    if not any(each.tolerations for ask in asks for each in (ask.exactly, *ask.first_available) if each is not None):
        return
    own = result.searched.own if result.searched is not None else None
    for allocation in own.allocations if isinstance(own, Allocated) else ():
        yield from ((device_of(each), each.tolerations) for each in allocation.devices.results)
