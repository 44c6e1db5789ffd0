"""Where a claim stands in kubectl's words, who waits for it, and whether anybody needs it.

Upstream: the ResourceClaim printer's STATE column; the claim controller releases an allocation when the last consumer
is gone, and never one that nobody ever reserved. The verdict on a claim is ``diagnosis.claim.claim_verdicts``'.
"""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.classic import classic_of
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.devices.holders import ConsumerState, consumers_of, is_pod


def printed_state(claim: ResourceClaim) -> str:
    """The STATE column of ``kubectl get resourceclaims``; servers up to 1.31 know a further word."""
    words = []
    if claim.metadata.deletion_timestamp is not None:
        words.append("deleted")
    if claim.status.allocation is None:
        words += ["pending"] if not words else []
    else:
        words.append("allocated")
        classic = classic_of(claim)
        if claim.status.reserved_for:
            words.append("reserved")
        elif classic is not None and (words[0] == "deleted" or classic.deallocation_requested):
            words.append("deallocating")
    return ",".join(words)


def waiting_pods(claim: ResourceClaim, inventory: Inventory) -> tuple[Pod, ...]:
    """Unfinished pods that refer to ``claim`` without holding a reservation, by name."""
    reserved = {reference.uid for reference in claim.status.reserved_for if is_pod(reference)}
    pods = inventory.pods_by_claim.get(key_of(claim.metadata), ())
    waiting = (pod for pod in pods if pod.metadata.uid not in reserved and not is_terminal(pod))
    return tuple(sorted(waiting, key=lambda pod: pod.metadata.name))


def is_unused(claim: ResourceClaim, facts: ClusterState) -> bool | None:
    """Whether nobody uses or wants ``claim``; None where that can't be known because pods were not read."""
    if waiting_pods(claim, facts.inventory):
        return False
    states = {consumer.state for consumer in consumers_of(claim, facts)}
    if states - {ConsumerState.GONE, ConsumerState.FINISHED, ConsumerState.UNKNOWN}:
        return False
    if ConsumerState.UNKNOWN in states or not facts.evidence.users_known(claim.metadata.namespace):
        return None
    return True
