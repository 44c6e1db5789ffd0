"""A claim of its own for a pod that names one which others use: a template with the same requests, named by the pod.

The other pods of its workload are made anew with it, and each then needs devices too.

Upstream: pkg/controller/resourceclaim/controller.go, which makes the claim of a template for one pod, which owns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.placing import place, reference_to
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.pod_edits import naming
from kubectl_dra.diagnosis.remedies.records import CreateObject, EditPod, RemedyKind
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, PodResourceClaim, PodStatus
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate, ResourceClaimTemplateSpec
from kubectl_dra.scheduler.claims import sources

#: Reasons that are about a claim which several pods use.
_OF_A_SHARED_CLAIM: Final = (
    Code.CLAIM_ELSEWHERE,
    Code.CONSUMERS_FULL,
    Code.ALLOCATION_IN_FLIGHT,
    Code.CLAIM_BEING_DELETED,
)
#: The pod gets devices of its own, which is what is asked for in most cases; but it no longer shares.
_COST: Final = 33
#: Of more pods so many are placed: that takes a moment for each, and few devices are used up before.
_MOST_TRIED: Final = 32
#: Supposed, and no name that an object may have.
_OF_EACH: Final = "(of each)"


def candidates(case: Case) -> Iterator[Candidate]:
    """One for each entry of the pod that names such a claim."""
    namespace = case.pod.metadata.namespace
    shared = {cause.claim.name for cause in case.causes(*_OF_A_SHARED_CLAIM) if cause.claim is not None}
    for entry in case.pod.spec.resource_claims:
        name = sources(entry)[0]
        claim = case.state.inventory.claims.get(Key(namespace, name)) if name in shared and name else None
        if claim is not None and _more_would_run(case, entry.name, claim):
            yield own_claim(case, entry.name, claim)


def _more_would_run(case: Case, entry: str, claim: ResourceClaim) -> bool:
    """Whether more pods of the workload find a node with a claim each than have one now, which share this one."""
    inventory, template = (
        case.state.inventory,
        ResourceClaimTemplate(
            metadata=ObjectMeta(name=_OF_EACH, namespace=claim.metadata.namespace),
            spec=ResourceClaimTemplateSpec(spec=claim.spec),
        ),
    )
    users = (inventory.pods_by_uid.get(user.uid) for user in claim.status.reserved_for)
    sharing = [key_of(pod.metadata) for pod in users if pod is not None and case.is_sibling(pod)]
    if not sharing:
        return True
    left = changes.without_pods({*sharing, case.diagnosis.pod.key})(inventory)
    templates = changes.put(left.templates, key_of(template.metadata), template)
    number = min(len(sharing) + 1, _MOST_TRIED)
    return place(case.state.changed(left.replace(templates=templates)), _each(case.pod, entry, number)).copies == number


def _each(pod: Pod, entry: str, number: int) -> Iterator[Pod]:
    """So many pods of its workload, none of them made yet."""
    entries = tuple(
        PodResourceClaim(each.name, resource_claim_template_name=_OF_EACH) if each.name == entry else each
        for each in pod.spec.resource_claims
    )
    new = with_spec(pod, resource_claims=entries)
    for index in range(number):
        name = f"{pod.metadata.name}-{index}"
        metadata = msgspec.structs.replace(pod.metadata, name=name, uid=name)
        yield msgspec.structs.replace(new, metadata=metadata, status=PodStatus(phase="Pending"))


def own_claim(case: Case, entry: str, claim: ResourceClaim) -> Candidate:
    """A template with what the claim asks for, and the pod with that instead of the claim."""
    pod, ref = case.diagnosis.pod, ObjectRef.of_claim(claim)
    template = ObjectRef("ResourceClaimTemplate", ref.namespace, free_name(case.state.inventory.templates, ref))
    create = CreateObject(template, like=ref)
    name = EditPod(pod, f"resourceClaims.template[{entry}]", ref.name, template.name, case.workload)
    own = Key(ref.namespace, f"{pod.name}-{entry}-own")
    steps = (made(template, own, claim, case.pod), changes.PodEdit(pod.key, naming(name, entry, own.name)))
    return Candidate(RemedyKind.EDIT_POD, (create, name), _COST, steps)


def free_name(objects: Iterable[Key], wanted: ObjectRef) -> str:
    """The name that is wanted, or one like it, that no object of the kind has."""
    taken = {key.name for key in objects if key.namespace == wanted.namespace}
    names = (wanted.name, *(f"{wanted.name}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def made(template: ObjectRef, key: Key, claim: ResourceClaim, pod: Pod) -> changes.Change:
    """With the template, and the claim that the controller makes from it for the pod."""
    spec = ResourceClaimTemplateSpec(spec=claim.spec)
    new = ResourceClaimTemplate(metadata=ObjectMeta(name=template.name, namespace=template.namespace), spec=spec)
    metadata = ObjectMeta(name=key.name, namespace=key.namespace, owner_references=(reference_to(pod),))
    own = ResourceClaim(metadata=metadata, spec=claim.spec)

    def change(inventory: Inventory) -> Inventory:
        return inventory.replace(
            templates=changes.put(inventory.templates, template.key, new),
            claims=changes.put(inventory.claims, key, own),
        )

    return change
