"""Devices that the scheduler gives a pod in spite of a taint that evicts it again at once.

The scheduler matches tolerations without their time (resourceclaim.ToleratesTaint); the eviction controller counts
that time from when the taint was added, and heeds only tolerations whose effect is NoExecute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.requests import Request
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.eviction import evicts_at_once, taints_of
from kubectl_dra.diagnosis.records import Cause, EvictingTaint, Funnel, ObjectRef, StageName
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.resource import DeviceToleration
from kubectl_dra.model.taint_text import taint_text

#: A device, and what the request that has it tolerates.
Tolerating = tuple[DeviceId, Sequence[DeviceToleration]]


def in_use(
    state: ClusterState, checks: Checks, requests: Iterable[Request], funnels: Mapping[int, Funnel]
) -> Iterator[Cause]:
    """For each request the devices in use that would evict it, once they were free."""
    known = {str(candidate.id): candidate for candidate in checks.candidates}
    for request in requests:
        if not request.tolerations or not state.features.device_taints:
            continue
        taken = (
            each for removal in funnels[request.number].stage(StageName.UNUSED).removed for each in removal.devices
        )
        found = evicting(state, [(known[each].id, request.tolerations) for each in taken])
        if found is not None:
            claim = ObjectRef.of("ResourceClaim", request.claim)
            yield Cause(Code.EVICTED_AT_ONCE, found, claim, request.full_name)


def evicting(state: ClusterState, devices: Iterable[Tolerating]) -> EvictingTaint | None:
    """The first taint that evicts at once, with all devices that have it."""
    first: EvictingTaint | None = None
    having: dict[str, None] = {}
    for device, tolerations in devices:
        for taint, rule in taints_of(state, device):
            verdict = evicts_at_once(tolerations, taint, state.now)
            if verdict is None:
                continue
            text, since = taint_text(taint), taint.time_added or ""
            first = first or EvictingTaint((), text, rule, since, verdict.seconds)
            if first.taint == text:
                having[str(device)] = None
    return replace(first, devices=tuple(having)) if first is not None else None
