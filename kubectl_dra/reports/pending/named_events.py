"""The newest warning about an object that a pod names, a claim or a PersistentVolumeClaim: no event of its own."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.said import events
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.scheduler.claims import claims_of
from kubectl_dra.scheduler.storage import CLAIM


class NamedEvent(ReportRecord, frozen=True):
    """What ``by`` said last of ``object``, ``times`` until ``time``."""

    object: ObjectRef
    reason: str
    message: str
    time: str
    times: int
    by: str


def named_event(pod: Pod, inventory: Inventory) -> NamedEvent | None:
    """The newest of all that the pod names."""
    found = (event for kind, meta in _named(pod, inventory) for event in _about(kind, meta, inventory))
    return max(found, key=lambda each: (each.time, each.reason), default=None)


def _named(pod: Pod, inventory: Inventory) -> Iterator[tuple[str, ObjectMeta]]:
    """Claims for devices, and those for volumes that have none yet: of a bound one every warning is over."""
    for claim in claims_of(pod, inventory):
        yield "ResourceClaim", claim.metadata
    for volume in pod.spec.volumes:
        own = f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else ""
        name = own if volume.persistent_volume_claim is None else volume.persistent_volume_claim.claim_name
        found = inventory.storage.claims.get(Key(pod.metadata.namespace, name)) if name else None
        if found is not None and not found.spec.volume_name:
            yield CLAIM, found.metadata


def _about(kind: str, meta: ObjectMeta, inventory: Inventory) -> Iterator[NamedEvent]:
    """None about another object that had its name."""
    for each in inventory.events_by_object.get((kind, meta.namespace, meta.name), ()):
        if each.type == "Warning" and events.subject_uid(each) in ("", meta.uid):
            ref = ObjectRef.of(kind, key_of(meta))
            last, by = events.last_seen(each), events.reporter(each)
            yield NamedEvent(ref, each.reason, events.text(each), last, events.times(each), by)
