"""Whether a pod may keep the devices that it would get: some evict it at once (see ``evicting``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_dra.allocation.outcome import Allocated
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.attempt import NodeResult, PodAttempt
from kubectl_dra.diagnosis.explain.evicting import Tolerating, evicting
from kubectl_dra.diagnosis.records import Cause, EvictingTaint, NodeOutcome
from kubectl_dra.model.held import device_of, results_of


def staying(state: ClusterState, tried: PodAttempt) -> tuple[str, ...]:
    """The nodes that fit and on which the pod may keep what was found."""
    evicted = _evicted(state, tried)
    return tuple(name for name in tried.names(NodeOutcome.FITS) if name not in evicted)


def fitting(state: ClusterState, tried: PodAttempt) -> tuple[Cause, ...]:
    """The cause of nodes that fit and on which the pod is evicted at once, with the evidence of the first."""
    evicted = _evicted(state, tried)
    return tuple(Cause(Code.EVICTED_AT_ONCE, taint, nodes=tuple(evicted)) for taint in list(evicted.values())[:1])


def _evicted(state: ClusterState, tried: PodAttempt) -> Mapping[str, EvictingTaint]:
    """The nodes that fit and on which the pod is evicted at once."""
    if not state.features.device_taints:
        return {}
    held = [(device_of(each), each.tolerations) for claim in tried.claims for each in results_of(claim)]
    asks = (request for claim in tried.to_allocate for request in claim.spec.devices.requests)
    if not any(each.tolerations for ask in asks for each in (ask.exactly, *ask.first_available) if each is not None):
        everywhere = evicting(state, held)
        return dict.fromkeys(tried.names(NodeOutcome.FITS), everywhere) if everywhere is not None else {}
    fits = tried.nodes(NodeOutcome.FITS)
    found = ((node.metadata.name, evicting(state, (*held, *_got(result)))) for node, result in fits)
    return {name: taint for name, taint in found if taint is not None}


def _got(result: NodeResult) -> Iterator[Tolerating]:
    """The devices that the pod gets on a node."""
    own = result.searched.own if result.searched is not None else None
    for allocation in own.allocations if isinstance(own, Allocated) else ():
        yield from ((device_of(each), each.tolerations) for each in allocation.devices.results)
