"""A pod on its node whose containers have not started: the kubelet's words, then what the objects show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.vanished import vanished
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.gates import ClaimGates
from kubectl_dra.diagnosis.records import Cause, ObjectRef
from kubectl_dra.diagnosis.said import kubelet
from kubectl_dra.diagnosis.said.bound import bound_by
from kubectl_dra.diagnosis.said.mounts import with_holders
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.scheduler.claims import ClaimProblem, ResolvedEntry

_BROKEN = (ClaimProblem.MISSING, ClaimProblem.NOT_CREATED, ClaimProblem.NOT_OWNED)


def preparing(
    world: ClusterState, pod: Pod, entries: Sequence[ResolvedEntry], events: Sequence[Event]
) -> Iterator[Cause]:
    """Why its containers have not started, each reason once."""
    broken = [each for each in entries if each.problem in _BROKEN]
    claims = [entry.claim for entry in entries if entry.claim is not None and entry not in broken]
    unusable = list(kubelet.not_usable(pod, claims, world.features))
    waiting = list(kubelet.waiting(pod))
    said = kubelet.said(pod, events, world.inventory.nodes.get(pod.spec.node_name), unusable)
    warned = [each for each in said if waiting and each.code is Code.KUBELET_WARNS]
    said = [each for each in said if each not in warned]
    same = kubelet.repeated(warned, waiting)
    of_gates = ClaimGates(world.inventory, world.evidence, world.features, pod).causes(broken)
    failures = [each for each in said if each.code is not Code.PREPARING]
    allocated = gone(world, [entry.claim for entry in entries if entry.claim is not None])
    found = [*allocated, *failures, *of_gates, *unusable, *kubelet.unhealthy(pod), *waiting, *same]
    told: set[tuple[Code, ObjectRef | None]] = set()
    for cause in (
        found or list(kubelet.initializing(pod)) or said or [Cause(Code.PREPARING, nodes=(pod.spec.node_name,))]
    ):
        if cause.code is Code.DEVICE_UNHEALTHY or (cause.code, cause.claim) not in told:
            told.add((cause.code, cause.claim))
            yield with_holders(world, pod, kubelet.not_allocated_by(bound_by(world.inventory, pod), cause))


def gone(world: ClusterState, claims: Sequence[ResourceClaim]) -> list[Cause]:
    """Of each allocated claim the devices that are not there any more."""
    found = (vanished(world.inventory, world.evidence, claim) for claim in claims)
    return [cause for cause in dict.fromkeys(found) if cause is not None]
