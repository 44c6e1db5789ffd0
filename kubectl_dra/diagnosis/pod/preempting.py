"""Whether the scheduler would make room for a pod by evicting others, as a record for reports."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final

import msgspec

from kubectl_dra.diagnosis.records import Preemption
from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimStatus
from kubectl_dra.scheduler import preemption as engine
from kubectl_dra.scheduler.attempt import Attempt, attempt
from kubectl_dra.scheduler.gangs.units import eviction_priority
from kubectl_dra.scheduler.plugins.dynamic_resources import DynamicResources
from kubectl_dra.scheduler.post_filter import post_filter

# So many nodes are looked at for devices that stay taken.
_NODES: Final = 8


def preemption_of(tried: Attempt) -> Preemption | None:
    """What preemption does after an attempt that found no node; None if it is not its turn."""
    found = post_filter(tried).preemption
    if found is None:
        return None
    if found.awaited:
        victims = tuple(sorted(str(pod.key) for pod in found.awaited))
        node = tried.cycle.pod.status.nominated_node_name
        return Preemption(", ".join(found.status.reasons), (node,), victims, under_way=True)
    return _record(tried, found)


def _record(tried: Attempt, found: engine.PreemptionResult) -> Preemption:
    message = ", ".join(found.status.reasons)
    if not found.nominated:
        return Preemption(message, unread=found.unsure, devices_stay_taken=_stay_taken(tried, found))
    chosen = found.candidates[found.nominated[0]]
    victims = tuple(str(victim.key) for victim in chosen.victims)
    certain = chosen.settled and len(found.nominated) == 1 and not found.unsure
    return Preemption(message, found.nominated, victims, chosen.violations, certain, found.unsure)


def _stay_taken(tried: Attempt, found: engine.PreemptionResult) -> bool:
    """Whether there would be room on some node but for devices that pods hold who could be evicted there."""
    snapshot, own = tried.cycle.snapshot, tried.cycle.info.shape.priority
    refused = [name for name, status in found.tried.items() if status.plugin == DynamicResources.name]
    if not refused:
        return False
    claims = snapshot.inventory.claims
    held = {key: claim for key, claim in claims.items() if claim.status.allocation is not None}
    holders = {consumer.uid for claim in held.values() for consumer in claim.status.reserved_for}
    pods = ((name, (pod for pod in snapshot.nodes[name].pods if pod.uid in holders)) for name in refused)
    lower = ((name, {pod.uid for pod in there if eviction_priority(snapshot, pod) < own}) for name, there in pods)
    some = islice(((name, uids) for name, uids in lower if uids), _NODES)
    return any(_would_do(tried, held, name, uids) for name, uids in some)


def _would_do(tried: Attempt, held: Mapping[Key, ResourceClaim], node: str, uids: Collection[str]) -> bool:
    """Whether the devices that only these pods hold, and those that are free, are enough on the node."""
    snapshot = tried.cycle.snapshot
    freed = {
        key: msgspec.structs.replace(claim, status=ResourceClaimStatus())
        for key, claim in held.items()
        if claim.status.reserved_for and all(consumer.uid in uids for consumer in claim.status.reserved_for)
    }
    inventory = snapshot.inventory
    world = snapshot.state.changed(inventory.replace(claims=edited(inventory.claims, freed)))
    there = attempt(replace(snapshot, state=world), tried.cycle.pod, (DynamicResources(),), among=(node,))
    return bool(there.feasible)
