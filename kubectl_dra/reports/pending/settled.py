"""Ways out as they are told: equal ones once, with what becomes of the pods that controllers start again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies import Proposal, records, scaling
from kubectl_dra.diagnosis.remedies.returning import return_to
from kubectl_dra.model.ids import Key


def _each_once(proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """Deleting the same pods, found for their devices and for their cpu, is one way out, which frees both."""
    deletions: dict[tuple[bool, frozenset[ObjectRef]], Proposal] = {}
    others: list[Proposal] = []
    for proposal in proposals:
        actions = [action for action in proposal.remedy.actions if isinstance(action, records.DeletePod)]
        key = proposal.remedy.verified, frozenset(action.pod for action in actions)
        if not actions or len(actions) < len(proposal.remedy.actions):
            others.append(proposal)
        elif key in deletions:
            deletions[key] = _freeing_both(deletions[key], {action.pod: action for action in actions})
        else:
            deletions[key] = proposal
    yield from others
    yield from deletions.values()


def settled(state: ClusterState, pod: Key, owners: Owners, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """With where what is started again goes; scaled down in place of what would wait."""
    found, remedies = [*_each_once(proposals)], []
    for proposal in found:
        returns = return_to(state, pod, proposal.remedy, proposal.changes)
        remedy = msgspec.structs.replace(proposal.remedy, returns=returns)
        remedies.append(scaling.without_a_queue(state, state.inventory.pods[pod], owners, remedy))
    return (replace(found[index], remedy=remedy) for index, remedy in scaling.each_once(remedies))


def _freeing_both(proposal: Proposal, same: Mapping[ObjectRef, records.DeletePod]) -> Proposal:
    def both(action: records.Action) -> records.Action:
        if not isinstance(action, records.DeletePod):
            return action
        other = same[action.pod]
        frees, amounts = ((*a, *(each for each in b if each not in a)) for a, b in _freed(action, other))
        return msgspec.structs.replace(action, frees=frees, amounts=amounts)

    remedy = msgspec.structs.replace(proposal.remedy, actions=tuple(map(both, proposal.remedy.actions)))
    return replace(proposal, remedy=remedy)


def _freed(one: records.DeletePod, other: records.DeletePod) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return (one.frees, other.frees), (one.amounts, other.amounts)
