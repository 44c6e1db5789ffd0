"""Remedies that end reservations for pods that are gone: each claim that would be enough, else the fewest that are.

Claims of PodGroups without pods, which go with their groups, are freed in the same way.

Upstream: pkg/controller/resourceclaim/controller.go, syncClaim, which deallocates a claim with its last consumer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.claim.reserved import held_for
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import HeldFor, ObjectRef
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.freeing import devices_of, holders, near_nodes
from kubectl_dra.diagnosis.remedies.records import EndReservations, RemedyKind
from kubectl_dra.diagnosis.remedies.trial import Trials
from kubectl_dra.model.edited import edited
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.resource import ResourceClaim

_COST: Final = 15
_MAX_SINGLE: Final = 6
_MAX_TOGETHER: Final = 6
_STALE: Final = frozenset({HeldFor.GONE, HeldFor.FINISHED, HeldFor.EMPTY_GROUP})


def candidates(case: Case, trials: Trials) -> Iterator[Candidate]:
    """Per node the claims to free, then claims of the pod itself that are held elsewhere."""
    for node in near_nodes(case):
        stale = sorted(_stale(case, holders(case.state, node)), key=_most_devices_first)
        alone = [claim for claim in stale[:_MAX_SINGLE] if _enough(trials, [claim], node)]
        for claim in alone:
            yield _ending(case, [claim], node)
        together = [] if alone else _fewest(trials, stale, node)
        if together:
            yield _ending(case, together, node)
    for cause in case.causes(Code.CLAIM_ELSEWHERE):
        mine = case.claim_of(cause)
        for claim in _stale(case, [mine] if mine is not None else []):
            yield _ending(case, [claim], "")


def _stale(case: Case, claims: Iterable[ResourceClaim]) -> Iterator[ResourceClaim]:
    return (claim for claim in claims if held_for(case.state, claim) in _STALE)


def _most_devices_first(claim: ResourceClaim) -> tuple[int, str]:
    return -len(devices_of(claim)), str(key_of(claim.metadata))


def _enough(trials: Trials, claims: Sequence[ResourceClaim], node: str) -> bool:
    return not trials.exhausted and trials.sample(*map(_change, claims), nodes=(node,)).fits


def _fewest(trials: Trials, stale: Sequence[ResourceClaim], node: str) -> list[ResourceClaim]:
    """Claims that together are enough, none of which can stay; none where that takes too many."""
    chosen = list(stale[:_MAX_TOGETHER])
    if len(chosen) < 2 or not _enough(trials, chosen, node):
        return []
    for claim in reversed(list(chosen)):
        fewer = [other for other in chosen if other is not claim]
        if len(fewer) > 1 and _enough(trials, fewer, node):
            chosen = fewer
    return sorted(chosen, key=lambda claim: key_of(claim.metadata))


def _ending(case: Case, claims: Sequence[ResourceClaim], node: str) -> Candidate:
    made = tuple(map(_change, claims))
    actions = tuple(
        EndReservations(
            ObjectRef.of_claim(claim),
            tuple(consumer.name for consumer in claim.status.reserved_for),
            held_for(case.state, claim),
            devices_of(claim),
        )
        for claim in claims
    )
    cost = _COST + len(claims)
    return Candidate(RemedyKind.END_RESERVATIONS, actions, cost, made, only=(node,) if node else ())


def _change(claim: ResourceClaim) -> changes.Change:
    """Without the consumers of the claim; it is given back, or goes with the pod that owned it."""
    key, uids = key_of(claim.metadata), frozenset(each.uid for each in claim.status.reserved_for)

    def change(inventory: Inventory) -> Inventory:
        old = inventory.claims.get(key)
        left = changes.after_deletion(old, uids) if old is not None else None
        claims = inventory.claims
        return inventory.replace(claims=edited(claims, without=(key,)) if left is None else edited(claims, {key: left}))

    return change
