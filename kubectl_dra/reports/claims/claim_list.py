"""get claims: one line per claim, with what it holds and who uses it."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.claim_verdicts import verdict
from kubectl_dra.diagnosis.records import ClaimVerdict
from kubectl_dra.model.classic import classic_of
from kubectl_dra.model.forms import forms_of
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.claims.ask import claim_ask
from kubectl_dra.reports.claims.lifecycle import is_unused, printed_state
from kubectl_dra.reports.devices.holders import Consumer, consumers_of
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


def claim_rows(claims: Iterable[ResourceClaim], facts: ClusterState) -> tuple[ClaimRow, ...]:
    """One row per claim, by namespace and name."""
    rows = (_row(claim, facts) for claim in claims)
    return tuple(sorted(rows, key=lambda row: (row.namespace, row.name)))


def _row(claim: ResourceClaim, facts: ClusterState) -> ClaimRow:
    allocation = claim.status.allocation
    return ClaimRow(
        namespace=claim.metadata.namespace,
        name=claim.metadata.name,
        state=verdict(claim),
        printed_state=printed_state(claim),
        classes=classes_named(claim),
        devices=tuple(map(str, devices_of(claim))),
        asked=asked_devices(claim),
        scope=claim_scope(allocation.node_selector, facts) if allocation is not None else None,
        reserved_for=consumers_of(claim, facts),
        unused=is_unused(claim, facts),
        created=claim.metadata.creation_timestamp,
        allocated=allocation.allocation_timestamp if allocation is not None else None,
    )


def classes_named(claim: ResourceClaim) -> tuple[str, ...]:
    """The classes that a claim names, of whichever generation."""
    classic = classic_of(claim)
    if classic is not None and classic.resource_class_name:
        return (classic.resource_class_name,)
    return tuple(dict.fromkeys(ask.device_class for ask in claim_ask(claim).requests))


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


def unused_claims(claims: Iterable[ResourceClaim], facts: ClusterState) -> tuple[list[ResourceClaim], int]:
    """The claims that nobody uses or wants, and of how many that can't be said."""
    verdicts = [(claim, is_unused(claim, facts)) for claim in claims]
    unknown = sum(verdict is None for _, verdict in verdicts)
    return [claim for claim, verdict in verdicts if verdict], unknown
