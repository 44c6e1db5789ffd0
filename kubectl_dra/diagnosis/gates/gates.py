"""What keeps a pod out of the scheduling queue, where the scheduler writes nothing: gates, claims, other schedulers.

Upstream: plugins/schedulinggates, PreEnqueue of the dynamicresources plugin, pkg/controller/resourceclaim (why a claim
was not created from its template).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.claim.reserved import held_for, is_gone
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.elsewhere import held_by_queue
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.gates.makers import said_shortages
from kubectl_dra.diagnosis.records import (
    Cause,
    ClaimEntry,
    Gates,
    HeldFor,
    ObjectRef,
    QuotaShortage,
    SchedulerName,
)
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.admin_access import known_lack, needed_label
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from kubectl_dra.scheduler.claims import CLAIM_KIND, ClaimProblem, ResolvedEntry, sources

TEMPLATE_KIND: Final = "ResourceClaimTemplate"
_CREATION_FAILED: Final = "FailedResourceClaimCreation"
_CREATION_MESSAGE: Final = re.compile(r"PodResourceClaim (?P<entry>[^:]+): (?P<error>.*)", re.DOTALL)
_ADMIN_ERROR: Final = "admin access to devices requires the"
_QUOTA_ERROR: Final = "exceeded quota"
_MAX_SIMILAR: Final = 3
_IN_VAIN: Final = (HeldFor.GONE, HeldFor.FINISHED)
#: The controller usually makes a claim within a second.
_LONG: Final = timedelta(minutes=2)


def scheduling_gates(pod: Pod) -> Iterator[Cause]:
    if pod.spec.scheduling_gates:
        yield Cause(Code.SCHEDULING_GATES, Gates(tuple(gate.name for gate in pod.spec.scheduling_gates)))


def other_scheduler(pod: Pod, ours: Iterable[str]) -> Cause | None:
    """The pod's scheduler, if it is none of ``ours``; an unset name is the default scheduler's."""
    name = pod.spec.scheduler_name or DEFAULT_SCHEDULER
    return None if name in ours else Cause(Code.OTHER_SCHEDULER, SchedulerName(name))


def own_causes(state: ClusterState, pod: Pod, entries: Iterable[ResolvedEntry]) -> Iterator[Cause]:
    """What keeps a pod out by itself, whatever group it is in."""
    queued = held_by_queue(state, pod)
    yield from scheduling_gates(pod) if queued is None else [Cause(Code.QUEUED, queued)]
    for cause in ClaimGates(state.inventory, state.evidence, state.features, pod).causes(entries):
        yield _overdue(state, pod, cause)


def _overdue(state: ClusterState, pod: Pod, cause: Cause) -> Cause:
    """The cause, with what a claim that is not made for long says of the controller."""
    made = parse_time(pod.metadata.creation_timestamp)
    detail = cause.detail
    if cause.code is not Code.CLAIM_NOT_CREATED or not isinstance(detail, ClaimEntry):
        return cause
    if made is None or state.now - made < _LONG:
        return cause
    kept = _kept_in_vain(state)[:1]
    told = msgspec.structs.replace(detail, overdue=True, kept=ObjectRef.of(CLAIM_KIND, kept[0]) if kept else None)
    return msgspec.structs.replace(cause, detail=told)


@derived("pods", "claims", read=True)
def _kept_in_vain(state: ClusterState) -> Sequence[Key]:
    """Claims whose only reservations are for pods that are gone or have finished, as far as pods are all known."""
    return [key for key, claim in sorted(state.inventory.claims.items()) if held_for(state, claim) in _IN_VAIN]


class ClaimGates:
    """Why entries of one pod have no claim that it could use."""

    def __init__(self, inventory: Inventory, evidence: Evidence, features: Features, pod: Pod) -> None:
        self._inventory = inventory
        self._evidence = evidence
        self._features = features
        self._pod = pod
        self._namespace = pod.metadata.namespace

    def causes(self, entries: Iterable[ResolvedEntry]) -> Iterator[Cause]:
        """One cause per entry with a problem, several if a template can't be used for several reasons."""
        for entry in entries:
            match entry.problem:
                case ClaimProblem.NOT_CREATED | ClaimProblem.MISSING if self._evidence.lacks_api:
                    # The same of each of them: what has no API cannot be created.
                    yield self._cause(Code.API_NOT_SERVED, entry)
                    return
                case ClaimProblem.NOT_CREATED:
                    yield from self._not_created(entry)
                case ClaimProblem.MISSING:
                    yield self._cause(Code.CLAIM_MISSING, entry, similar=self._similar_claims(entry))
                case ClaimProblem.BEING_DELETED:
                    yield self._cause(Code.CLAIM_BEING_DELETED, entry, consumers=self._users(entry.claim))
                case ClaimProblem.NOT_OWNED:
                    yield self._cause(Code.CLAIM_NOT_OWNED, entry, owner=owner_of(entry.claim))
                case ClaimProblem.SOURCE_UNKNOWN:
                    yield self._cause(Code.CLAIM_SOURCE_UNKNOWN, entry)

    def _users(self, claim: ResourceClaim | None) -> tuple[ObjectRef, ...]:
        """Those that still use a claim: a reservation of a pod that is gone keeps no claim, nor does its successor."""
        if claim is None or not self._evidence.users_known(self._namespace):
            return consumers_of(claim)
        reserved = claim.status.reserved_for
        there = (each for each in reserved if not is_gone(self._inventory, self._namespace, each))
        return tuple(ObjectRef.of_consumer(self._namespace, each) for each in there)

    def _cause(
        self,
        code: Code,
        entry: ResolvedEntry,
        similar: tuple[ObjectRef, ...] = (),
        owner: ObjectRef | None = None,
        consumers: tuple[ObjectRef, ...] = (),
        event: Event | None = None,
    ) -> Cause:
        message = events_.text(event) if event is not None else ""
        deleted = entry.claim.metadata.deletion_timestamp if entry.claim is not None else None
        time = (events_.last_seen(event) or None) if event is not None else deleted
        template = entry.template or ""
        label = needed_label(self._features) if code is Code.ADMIN_LABEL_MISSING else ""
        said = (message, time or "", label)
        detail = ClaimEntry(entry.entry.name, entry.text, template, similar, owner, consumers, *said)
        claim = ObjectRef.of(CLAIM_KIND, entry.name) if entry.name is not None else None
        return Cause(code, detail, claim=claim)

    # --- claims that were not created -------------------------------------------------------------------------------

    def _not_created(self, entry: ResolvedEntry) -> Iterator[Cause]:
        event = self._creation_event(entry)
        template = self._inventory.templates.get(Key(self._namespace, entry.template or ""))
        if template is None and self._evidence.complete(TEMPLATE_KIND, self._namespace):
            yield self._cause(Code.TEMPLATE_MISSING, entry, similar=self._similar_templates(entry), event=event)
            return
        found = list(self._refusals(entry, template)) if template is not None else []
        if not found and event is not None and not self._evidence.complete(quota.KIND, self._namespace):
            found = [self._over(each, entry) for each in said_shortages(events_.text(event))]
        if found:
            yield from found
            return
        yield self._cause(_code_of(event), entry, event=event)

    def _over(self, shortage: QuotaShortage, entry: ResolvedEntry) -> Cause:
        told = quota.with_users(shortage, self._namespace, self._inventory, self._features)
        return Cause(Code.QUOTA_EXCEEDED, told, claim=None, request=entry.entry.name)

    def _refusals(self, entry: ResolvedEntry, template: ResourceClaimTemplate) -> Iterator[Cause]:
        """What the API server would refuse as things stand now."""
        spec = template.spec.spec
        if asks_for_admin(spec) and known_lack(self._inventory, self._namespace, self._features):
            yield self._cause(Code.ADMIN_LABEL_MISSING, entry, event=self._creation_event(entry))
        charged = quota.usage(spec, self._inventory.classes, self._features.extended_resource)
        for shortage in quota.exceeded(self._inventory.quotas.values(), self._namespace, charged):
            yield self._over(shortage, entry)

    def _creation_event(self, entry: ResolvedEntry) -> Event | None:
        """The controller's last word about the entry of this very pod."""
        about = [
            event
            for event in events_.about(self._inventory, self._pod)
            if event.reason == _CREATION_FAILED
            and (match := _CREATION_MESSAGE.fullmatch(events_.text(event))) is not None
            and match["entry"] == entry.entry.name
        ]
        return max(about, key=events_.last_seen, default=None)

    # --- did you mean -------------------------------------------------------------------------------------------------

    def _similar_claims(self, entry: ResolvedEntry) -> tuple[ObjectRef, ...]:
        assert entry.name is not None  # noqa: S101 - a missing claim has a name
        claims, templates = self._inventory.claims, self._inventory.templates
        return self._similar(entry.name.name, CLAIM_KIND, claims, TEMPLATE_KIND, templates)

    def _similar_templates(self, entry: ResolvedEntry) -> tuple[ObjectRef, ...]:
        claims, templates = self._inventory.claims, self._inventory.templates
        return self._similar(entry.template or "", TEMPLATE_KIND, templates, CLAIM_KIND, claims)

    def _similar(
        self, wanted: str, kind: str, objects: Collection[Key], other_kind: str, others: Container[Key]
    ) -> tuple[ObjectRef, ...]:
        """One of the other kind of that name, similar ones of the namespace, then those of that name elsewhere."""
        near = similar(wanted, (key.name for key in objects if key.namespace == self._namespace))
        elsewhere = sorted(key for key in objects if key.name == wanted)
        keys = [*(Key(self._namespace, name) for name in near), *elsewhere[:_MAX_SIMILAR]]
        namesake = (ObjectRef(other_kind, self._namespace, wanted),)
        exists = Key(self._namespace, wanted) in others
        return (namesake if exists else ()) + tuple(ObjectRef.of(kind, key) for key in keys)


def _code_of(event: Event | None) -> Code:
    message = events_.text(event) if event is not None else ""
    if _QUOTA_ERROR in message:
        return Code.QUOTA_EXCEEDED
    if _ADMIN_ERROR in message:
        return Code.ADMIN_LABEL_MISSING
    return Code.CLAIM_CREATION_FAILED if message else Code.CLAIM_NOT_CREATED


def asks_for_admin(spec: ResourceClaimSpec) -> bool:
    return any(r.exactly is not None and bool(r.exactly.admin_access) for r in spec.devices.requests)


def consumers_of(claim: ResourceClaim | None) -> tuple[ObjectRef, ...]:
    """``status.reservedFor`` as references; a pod's resource is written as its kind."""
    if claim is None:
        return ()
    namespace = claim.metadata.namespace
    return tuple(ObjectRef.of_consumer(namespace, consumer) for consumer in claim.status.reserved_for)


def owner_of(claim: ResourceClaim | None) -> ObjectRef | None:
    controller = claim.metadata.controller if claim is not None else None
    if claim is None or controller is None:
        return None
    return ObjectRef(controller.kind, claim.metadata.namespace, controller.name)


def names_claims(pod: Pod) -> bool:
    return any(any(sources(entry)) for entry in pod.spec.resource_claims)
