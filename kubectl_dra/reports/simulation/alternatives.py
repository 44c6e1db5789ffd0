"""Which alternatives of ``firstAvailable`` the pods got that fit: others than the preferred one may be worth less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.scheduler.claims import claims_of


class TakenAlternative(ReportRecord, frozen=True):
    """An ``alternative`` of a ``request`` that so many ``claims`` of the pods got.

    It is number ``rank`` ``of`` so many, counted from 1, and ``devices`` were allocated for it in each claim.
    """

    request: str
    alternative: str
    claims: int
    rank: int
    of: int
    devices: int


def taken_alternatives(state: ClusterState, pods: Iterable[Key]) -> tuple[TakenAlternative, ...]:
    """Those of the new ``pods`` of ``state``, in the order of the requests and their alternatives."""
    claims = {key_of(claim.metadata): claim for pod in pods for claim in _claims(state, state.inventory.pods[pod])}
    counts, found = Counter[tuple[str, int, int, str, int]](), dict[str, int]()
    for claim in claims.values():
        for taken in _of_claim(claim):
            found.setdefault(taken[0], len(found))
            counts[taken] += 1
    ordered = sorted(counts.items(), key=lambda each: (found[each[0][0]], *each[0][1:]))
    return tuple(
        TakenAlternative(request, name, claims, rank, of, devices)
        for (request, rank, of, name, devices), claims in ordered
    )


def _claims(state: ClusterState, pod: Pod) -> Iterator[ResourceClaim]:
    for claim in claims_of(pod, state.inventory):
        if any(request.first_available for request in claim.spec.devices.requests):
            yield claim


def _of_claim(claim: ResourceClaim) -> Iterator[tuple[str, int, int, str, int]]:
    allocation = claim.status.allocation
    got = Counter(result.request for result in allocation.devices.results) if allocation is not None else {}
    for request in claim.spec.devices.requests:
        for index, each in enumerate(request.first_available):
            if devices := got.get(f"{request.name}/{each.name}", 0):
                yield request.name, index + 1, len(request.first_available), each.name, devices
