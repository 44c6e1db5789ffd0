"""The last changes that objects tell of by themselves: allocations, deletions, new claims, taints, waiting pods.

Only times that the API keeps are used (``allocationTimestamp``, ``creationTimestamp``, ``deletionTimestamp``,
``timeAdded``, ``lastTransitionTime``); an object that is gone leaves no trace here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from heapq import nlargest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.reports.base import ReportRecord


class ChangeKind(StrEnum):
    ALLOCATED = "allocated"
    CREATED = "created"
    DELETING = "deleting"
    PENDING = "pending"
    TAINTED = "tainted"
    PUBLISHED = "published"


class Change(ReportRecord, frozen=True):
    """One change: ``time`` is RFC 3339, ``detail`` the taint, the devices' number or the reason."""

    time: str
    kind: ChangeKind
    subject: ObjectRef
    detail: str = ""


def recent_changes(state: ClusterState, limit: int = 20, namespace: str = "") -> tuple[Change, ...]:
    """The newest first; of one ``namespace`` with what belongs to none, or of all."""
    here = (change for change in _changes(state) if namespace in ("", change.subject.namespace or namespace))
    timed = ((moment, change) for change in here if (moment := parse_time(change.time)) is not None)
    return tuple(change for _, change in nlargest(limit, timed, key=_order))


def _order(pair: tuple[datetime, Change]) -> tuple[datetime, str, str, str]:
    subject = pair[1].subject
    return pair[0], subject.kind, subject.namespace, subject.name


def _changes(state: ClusterState) -> Iterator[Change]:
    for claim in state.inventory.claims.values():
        yield from _of_claim(claim)
    for pod in state.inventory.pods.values():
        meta = pod.metadata
        for condition in pod.status.conditions:
            if (condition.type, condition.status) == ("PodScheduled", "False") and condition.last_transition_time:
                ref = ObjectRef("Pod", meta.namespace, meta.name)
                yield Change(condition.last_transition_time, ChangeKind.PENDING, ref, condition.reason)
    for rule in state.rules:
        added = rule.spec.taint.time_added or rule.metadata.creation_timestamp
        if added:
            ref = ObjectRef("DeviceTaintRule", name=rule.metadata.name)
            yield Change(added, ChangeKind.TAINTED, ref, taint_text(rule.spec.taint))
    yield from _of_slices(state)


def _of_claim(claim: ResourceClaim) -> Iterator[Change]:
    meta, allocation = claim.metadata, claim.status.allocation
    ref = ObjectRef("ResourceClaim", meta.namespace, meta.name)
    if meta.deletion_timestamp:
        yield Change(meta.deletion_timestamp, ChangeKind.DELETING, ref)
    if allocation is not None and allocation.allocation_timestamp:
        yield Change(allocation.allocation_timestamp, ChangeKind.ALLOCATED, ref, str(len(allocation.devices.results)))
    elif allocation is None and meta.creation_timestamp:
        yield Change(meta.creation_timestamp, ChangeKind.CREATED, ref)


def _of_slices(state: ClusterState) -> Iterator[Change]:
    for slice_ in state.inventory.slices.values():
        spec, created = slice_.spec, slice_.metadata.creation_timestamp
        pool = f"{spec.driver}/{spec.pool.name}"
        if created:
            yield Change(created, ChangeKind.PUBLISHED, ObjectRef("ResourceSlice", name=slice_.metadata.name), pool)
        for device in spec.devices:
            for taint in device.taints:
                if taint.time_added:
                    ref = ObjectRef("Device", name=f"{pool}/{device.name}")
                    yield Change(taint.time_added, ChangeKind.TAINTED, ref, taint_text(taint))
