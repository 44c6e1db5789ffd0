"""get claims: one line per claim, with what it holds and who uses it.

Where a claim stands in kubectl's words, who waits for it, and whether anybody needs it. Upstream: the ResourceClaim
printer's STATE column; the claim controller releases an allocation when the last consumer is gone, and never one that
nobody ever reserved. The verdict on a claim is ``diagnosis.claim.claim_verdicts``'.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.claim_verdicts import verdict
from kubectl_dra.diagnosis.records import ClaimVerdict
from kubectl_dra.model.classic import classic_of
from kubectl_dra.model.core import Pod
from kubectl_dra.model.forms import class_names, forms_of
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.devices.holders import OVER, Consumer, ConsumerState, consumer_states, consumers_of, is_pod
from kubectl_dra.reports.scope import Scope, claim_scope


class ClaimRow(ReportRecord, frozen=True):
    """One claim. ``devices`` are those that it holds, ``asked`` how many it asks for (None where it asks for all).

    ``unused`` is None where pods could not be read.
    """

    namespace: str
    name: str
    state: ClaimVerdict
    printed_state: str
    classes: tuple[str, ...]
    devices: tuple[str, ...]
    asked: int | None
    scope: Scope | None
    reserved_for: tuple[Consumer, ...]
    unused: bool | None
    created: str | None
    allocated: str | None


def claim_rows(claims: Iterable[ResourceClaim], state: ClusterState) -> tuple[ClaimRow, ...]:
    """One row per claim, by namespace and name."""
    rows = (_row(claim, state) for claim in claims)
    return tuple(sorted(rows, key=lambda row: (row.namespace, row.name)))


def _row(claim: ResourceClaim, state: ClusterState) -> ClaimRow:
    allocation = claim.status.allocation
    return ClaimRow(
        namespace=claim.metadata.namespace,
        name=claim.metadata.name,
        state=verdict(claim),
        printed_state=printed_state(claim),
        classes=classes_named(claim),
        devices=tuple(map(str, devices_of(claim))),
        asked=asked_devices(claim),
        scope=claim_scope(allocation.node_selector, state) if allocation is not None else None,
        reserved_for=consumers_of(claim, state),
        unused=is_unused(claim, state),
        created=claim.metadata.creation_timestamp,
        allocated=allocation.allocation_timestamp if allocation is not None else None,
    )


def classes_named(claim: ResourceClaim) -> tuple[str, ...]:
    """The classes that a claim names, of whichever generation."""
    classic = classic_of(claim)
    if classic is not None and classic.resource_class_name:
        return (classic.resource_class_name,)
    return class_names(claim.spec)


def asked_devices(claim: ResourceClaim) -> int | None:
    """How many devices a claim asks for, first alternatives counted; None if one request asks for all."""
    total = 0
    for request in claim.spec.devices.requests:
        _, form = next(forms_of(request), ("", None))
        if form is None:
            continue
        if form.allocation_mode == "All":
            return None
        total += form.count or 1
    return total


def unused_claims(claims: Iterable[ResourceClaim], state: ClusterState) -> tuple[list[ResourceClaim], int]:
    """The claims that nobody uses or wants, and of how many that can't be said."""
    verdicts = [(claim, is_unused(claim, state)) for claim in claims]
    unknown = sum(verdict is None for _, verdict in verdicts)
    return [claim for claim, verdict in verdicts if verdict], unknown


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


def is_unused(claim: ResourceClaim, state: ClusterState) -> bool | None:
    """Whether nobody uses or wants ``claim``; None where that can't be known because pods were not read."""
    states = consumer_states(claim, state)
    if states - OVER - {ConsumerState.UNKNOWN}:
        return False
    if waiting_pods(claim, state.inventory):
        return False
    if ConsumerState.UNKNOWN in states or not state.evidence.users_known(claim.metadata.namespace):
        return None
    return True
