"""Where a claim stands: kubectl's state words, and one word for people.

Upstream: the ResourceClaim printer's STATE column; the claim controller releases an allocation when the last consumer
is gone, and never one that nobody ever reserved.
"""

from __future__ import annotations

from enum import StrEnum

from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.facts import Facts
from kubectl_dra.reports.holders import ConsumerState, consumers_of, is_pod


class ClaimState(StrEnum):
    """The state of a claim in one word."""

    PENDING = "Pending"  # no devices yet
    ALLOCATED = "Allocated"  # has devices, not reserved yet, and a pod wants it
    RESERVED = "Reserved"
    UNRESERVED = "Unreserved"  # holds devices and nobody uses them
    DELETING = "Deleting"
    UNKNOWN = "Unknown"  # allocated and not reserved, and whether a pod wants it can't be read


def printed_state(claim: ResourceClaim) -> str:
    """The STATE column of ``kubectl get resourceclaims``."""
    words = []
    if claim.metadata.deletion_timestamp is not None:
        words.append("deleted")
    if claim.status.allocation is None:
        words += ["pending"] if not words else []
    else:
        words.append("allocated")
        words += ["reserved"] if claim.status.reserved_for else []
    return ",".join(words)


def claim_state(claim: ResourceClaim, facts: Facts) -> ClaimState:
    """The state of ``claim``."""
    if claim.metadata.deletion_timestamp is not None:
        return ClaimState.DELETING
    if claim.status.allocation is None:
        return ClaimState.PENDING
    if claim.status.reserved_for:
        return ClaimState.RESERVED
    if waiting_pods(claim, facts.inventory):
        return ClaimState.ALLOCATED
    return ClaimState.UNRESERVED if facts.evidence.complete("Pod", claim.metadata.namespace) else ClaimState.UNKNOWN


def waiting_pods(claim: ResourceClaim, inventory: Inventory) -> tuple[Pod, ...]:
    """Unfinished pods that refer to ``claim`` without holding a reservation, by name."""
    reserved = {reference.uid for reference in claim.status.reserved_for if is_pod(reference)}
    pods = inventory.pods_by_claim.get(key_of(claim.metadata), ())
    waiting = (pod for pod in pods if pod.metadata.uid not in reserved and not is_terminal(pod))
    return tuple(sorted(waiting, key=lambda pod: pod.metadata.name))


def is_unused(claim: ResourceClaim, facts: Facts) -> bool | None:
    """Whether nobody uses or wants ``claim``; None where that can't be known because pods were not read."""
    if waiting_pods(claim, facts.inventory):
        return False
    states = {consumer.state for consumer in consumers_of(claim, facts)}
    if states - {ConsumerState.GONE, ConsumerState.FINISHED, ConsumerState.UNKNOWN}:
        return False
    if ConsumerState.UNKNOWN in states or not facts.evidence.complete("Pod", claim.metadata.namespace):
        return None
    return True
