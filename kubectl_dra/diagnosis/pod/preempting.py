"""Whether the scheduler would make room for a pod by evicting others, as a record for reports."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.explain.pods_there import by_owner
from kubectl_dra.diagnosis.records import Declined, LowerHolders, Preemption
from kubectl_dra.model import differences
from kubectl_dra.model.classic import is_searched
from kubectl_dra.model.edited import edited
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import ResourceClaimStatus
from kubectl_dra.scheduler import preemption as engine
from kubectl_dra.scheduler.attempt import Attempt, attempt
from kubectl_dra.scheduler.gangs.units import eviction_priority
from kubectl_dra.scheduler.plugins.dynamic_resources import DynamicResources, StateData
from kubectl_dra.scheduler.preemption import post_filter

# So many nodes are looked at for devices that stay taken.
_NODES: Final = 8
_LOOKED_AT: Final = 64
#: What tells whether devices that are published can be had.
_TAKES_DEVICES: Final = ("ResourceClaim", "DeviceTaintRule")


def preemption_of(tried: Attempt) -> Preemption | None:
    """What preemption does after an attempt that found no node; None if it is not its turn."""
    found = post_filter(tried).preemption
    if found is None:
        return None
    if found.awaited:
        victims = tuple(sorted(str(pod.key) for pod in found.awaited))
        node = tried.cycle.pod.status.nominated_node_name
        return Preemption(", ".join(found.status.reasons), (node,), victims, under_way=True)
    if found.nominated and _may_lack_devices(tried):
        missing = tried.cycle.snapshot.state.evidence.missing(_TAKES_DEVICES)
        return Preemption("", certain=False, unread=missing)
    return _record(tried, found)


def _may_lack_devices(tried: Attempt) -> bool:
    """Whether devices that look free may be in use: for want of devices preemption does not even try a node."""
    state = tried.cycle.states.get(StateData)
    allocates = isinstance(state, StateData) and (state.asked or any(map(is_searched, state.claims)))
    return tried.cycle.snapshot.state.blind and bool(allocates)


def _record(tried: Attempt, found: engine.PreemptionResult) -> Preemption:
    message = ", ".join(found.status.reasons)
    if engine.declines(tried.cycle.pod):
        return _declined(tried, message)
    if not found.nominated:
        return _in_vain(Preemption(message, unread=found.unsure), tried, found)
    chosen = found.candidates[found.nominated[0]]
    victims = tuple(str(victim.key) for victim in chosen.victims)
    certain = chosen.settled and len(found.nominated) == 1 and not found.unsure
    return Preemption(message, found.nominated, victims, chosen.violations, certain, found.unsure)


def _declined(tried: Attempt, message: str) -> Preemption:
    """Of a pod that evicts nobody: whom it would evict if it did; devices stay taken with any policy."""
    found, pod = engine.preempt(tried, whatever_policy=True), tried.cycle.pod
    if not found.nominated:
        return _in_vain(Preemption(message), tried, found)
    if _may_lack_devices(tried):
        return Preemption(message)
    victims = tuple(str(each.key) for each in found.candidates[found.nominated[0]].victims)
    return Preemption(message, declined=Declined(found.nominated[0], victims, pod.spec.priority_class_name))


def _in_vain(told: Preemption, tried: Attempt, found: engine.PreemptionResult) -> Preemption:
    """With who holds the devices that stay taken."""
    there = _holders(tried, found)
    if there is None:
        return told
    node, uids = there
    snapshot, pod = tried.cycle.snapshot, tried.cycle.pod
    placed = [each for each in snapshot.nodes[node].pods if each.uid in uids]
    pods = by_owner(snapshot.state, pod, ((node, each) for each in placed))
    lower = tuple(sorted({eviction_priority(snapshot, each) for each in placed}))
    holders = LowerHolders(pods, lower, tried.cycle.info.shape.priority)
    return msgspec.structs.replace(told, holders=holders)


def _holders(tried: Attempt, found: engine.PreemptionResult) -> tuple[str, set[str]] | None:
    """A node with room but for devices that pods hold who could be evicted there, and their uids; None for none.

    Where devices are lacking, preemption does not even try (plugins/dynamicresources, Filter: Unresolvable).
    """
    snapshot, own = tried.cycle.snapshot, tried.cycle.info.shape.priority
    if own <= lowest_priority(snapshot.state):
        return None
    never = (name for name, verdict in tried.verdicts.items() if verdict.status.plugin == DynamicResources.name)
    refused = (name for name, status in found.tried.items() if status.plugin == DynamicResources.name)
    users = snapshot.inventory.claims_by_user
    pods = ((name, (pod for pod in snapshot.nodes[name].pods if pod.uid in users)) for name in (*refused, *never))
    lower = ((name, {pod.uid for pod in there if eviction_priority(snapshot, pod) < own}) for name, there in pods)
    some = islice(((name, uids) for name, uids in islice(lower, _LOOKED_AT) if uids), _NODES)
    return next((each for each in some if _would_do(tried, *each)), None)


def _later_lowest(lowest: int, before: ClusterState, after: ClusterState) -> int | None:
    """That of the pods that have come or changed, if none of the lowest has gone."""
    old, new = before.inventory.pods, after.inventory.pods
    changed = differences.changed(old, new)
    left = (*differences.gone(old, new), *filter(old.__contains__, changed))
    if not old or any((old[key].spec.priority or 0) == lowest for key in left):
        return None
    return min([lowest, *(new[key].spec.priority or 0 for key in changed)])


@derived("pods", later=_later_lowest)
def lowest_priority(state: ClusterState) -> int:
    """Of all pods: whoever has no more can evict nobody."""
    return min((pod.spec.priority or 0 for pod in state.inventory.pods.values()), default=0)


def _would_do(tried: Attempt, node: str, uids: Collection[str]) -> bool:
    """Whether the devices that only these pods hold, and those that are free, are enough on the node."""
    snapshot = tried.cycle.snapshot
    inventory = snapshot.inventory
    held = (claim for uid in uids for claim in inventory.claims_by_user.get(uid, ()))
    freed = {
        key_of(claim.metadata): msgspec.structs.replace(claim, status=ResourceClaimStatus())
        for claim in held
        if claim.status.allocation is not None and all(each.uid in uids for each in claim.status.reserved_for)
    }
    state = snapshot.state.changed(inventory.replace(claims=edited(inventory.claims, freed)))
    there = attempt(replace(snapshot, state=state), tried.cycle.pod, (DynamicResources(),), among=(node,))
    return bool(there.feasible)
