"""Fewer devices in a template whose claim a quota forbids: as many as the namespace may still have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.pod.placing import with_made
from kubectl_dra.diagnosis.records import ObjectRef, QuotaShortage
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.changes import Change, edit_request, having, put
from kubectl_dra.diagnosis.remedies.records import EditClaim, RemedyKind
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import ResourceClaimSpec
from kubectl_dra.scheduler.claims import sources

_COST: Final = 35
_EXACT: Final = "ExactCount"
_ALL: Final = "All"


def candidates(case: Case) -> Iterator[Candidate]:
    """For each entry whose claim a quota forbids, each request that could leave enough by itself."""
    forbidden: dict[str, list[QuotaShortage]] = {}
    for cause in case.causes(Code.QUOTA_EXCEEDED):
        if isinstance(cause.detail, QuotaShortage) and cause.request:
            forbidden.setdefault(cause.request, []).append(cause.detail)
    for entry in case.pod.spec.resource_claims:
        ref = ObjectRef("ResourceClaimTemplate", case.pod.metadata.namespace, sources(entry)[1] or "")
        if ref.key in case.state.inventory.templates and entry.name in forbidden:
            yield from _of_entry(case, entry.name, ref, max(map(_over, forbidden[entry.name])))


def _over(shortage: QuotaShortage) -> int:
    """How much less would do."""
    used, more, hard = map(Quantity.parse, (shortage.used, shortage.requested, shortage.hard))
    return used.add(more).sub(hard).ceil()


def _of_entry(case: Case, entry: str, template: ObjectRef, over: int) -> Iterator[Candidate]:
    spec = case.state.inventory.templates[template.key].spec.spec
    for request in spec.devices.requests:
        exactly = request.exactly
        if exactly is None or exactly.allocation_mode not in (_EXACT, _ALL):
            continue
        everything = exactly.allocation_mode == _ALL
        asked = quota.ALL_DEVICES if everything else exactly.count
        count = asked - over
        edited = edit_request(request.name, having(allocation_mode=_EXACT, count=count))(spec)
        if count > 0 and not _exceeded(case, edited):
            field, before = ("allocationMode", _ALL) if everything else ("count", str(exactly.count))
            after = f"{_EXACT} {count}" if everything else str(count)
            claim, several = ObjectRef.of("ResourceClaim", _claim(case.pod, entry)), len(spec.devices.requests) > 1
            action = EditClaim(claim, request.name, field, before, after, template, several=several)
            change = _made_with(case.diagnosis.pod.key, entry, template.key, edited)
            yield Candidate(RemedyKind.EDIT_CLAIM, (action,), _COST, (change,))


def _exceeded(case: Case, spec: ResourceClaimSpec) -> bool:
    state, namespace = case.state, case.pod.metadata.namespace
    charge = quota.usage(spec, state.inventory.classes, state.features.extended_resource)
    return any(True for _ in quota.exceeded(state.inventory.quotas.values(), namespace, charge))


def _claim(pod: Pod, entry: str) -> Key:
    """What the claim is called here: the server adds some letters."""
    return Key(pod.metadata.namespace, f"{pod.metadata.name}-{entry}")


def _made_with(pod: Key, entry: str, template: Key, spec: ResourceClaimSpec) -> Change:
    """The template with another spec, and the claim that is made of it then."""

    def change(inventory: Inventory) -> Inventory:
        new = with_spec(inventory.templates[template], spec=spec)
        changed = inventory.replace(templates=put(inventory.templates, template, new))
        return with_made(changed, pod, entry, new)

    return change
