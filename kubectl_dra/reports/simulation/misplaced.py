"""Templates of the files that their pods miss by namespace, by a letter of their name, or as a claim: as if not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, PodResourceClaim
from kubectl_dra.model.ids import Key
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.resource import ResourceClaimTemplate
from kubectl_dra.reports.simulation.stops import Misplaced, NameReference
from kubectl_dra.scheduler.claims import sources

_INDEX: Final = re.compile(r"\[[^]]*]")
_CLAIM: Final = "ResourceClaim"
_TEMPLATE: Final = "ResourceClaimTemplate"


def misplaced(state: ClusterState, objects: Sequence[Planned]) -> list[Misplaced]:
    """Each with those that name it; none where several templates of the files may be meant."""
    there = {
        ObjectRef(_TEMPLATE, each.key.namespace, each.name): not each.made_by
        for each in objects
        if isinstance(each.record, ResourceClaimTemplate)
    }
    found = dict[Key, Misplaced]()
    for planned in (each for each in objects if not each.catalog):
        subject = ObjectRef(planned.kind, planned.key.namespace, planned.name)
        for plan in planned.pods:
            pod, namespace = plan.pod, plan.pod.metadata.namespace
            names = [name for entry in pod.spec.resource_claims if (name := sources(entry)[1])]
            for name in names if state.evidence.complete(_TEMPLATE, namespace) else ():
                key = Key(namespace, name)
                known = key in state.inventory.templates or ObjectRef(_TEMPLATE, *key) in there
                renamed = None if known else _renamed(key, planned.name, there)
                meant = None if known else renamed or _meant(state, key, there)
                if meant is not None:
                    before = found.get(key, Misplaced(meant, namespace))
                    users = tuple(dict.fromkeys((*before.users, subject)))
                    fields = tuple(
                        dict.fromkeys((*before.references, *([_reference(planned, plan)] if renamed else ())))
                    )
                    own = name if meant.namespace == namespace else ""
                    found[key] = Misplaced(meant, namespace, users, own, references=fields)
    return [*found.values(), *_as_claims(state, objects, there)]


def _as_claims(state: ClusterState, objects: Sequence[Planned], there: Collection[ObjectRef]) -> Iterator[Misplaced]:
    """Templates that pods name as a claim, of which neither the cluster nor the files have one of the name."""
    claims = {each.key for each in objects if each.kind == _CLAIM} | state.inventory.claims.keys()
    users = dict[ObjectRef, list[ObjectRef]]()
    for planned in (each for each in objects if not each.catalog):
        for pod in (plan.pod for plan in planned.pods):
            namespace = pod.metadata.namespace
            for name in filter(None, (sources(entry)[0] for entry in pod.spec.resource_claims)):
                ref, missing = ObjectRef(_TEMPLATE, namespace, name), Key(namespace, name) not in claims
                if missing and ref in there and state.evidence.complete(_CLAIM, namespace):
                    users.setdefault(ref, []).append(ObjectRef(planned.kind, planned.key.namespace, planned.name))
    for ref, its in users.items():
        yield Misplaced(ref, ref.namespace, tuple(dict.fromkeys(its)), as_claim=True)


def _meant(state: ClusterState, key: Key, there: dict[ObjectRef, bool]) -> ObjectRef | None:
    """The one template of this name that the files have; else the one of the pods' namespace that is named alike.

    ``there``: whether somebody wrote it; what a controller makes of another object is never moved.
    """
    elsewhere = [each for each, written in there.items() if each.name == key.name and written]
    if elsewhere:
        return elsewhere[0] if len(elsewhere) == 1 else None
    names = {each.name for each in there if each.namespace == key.namespace}
    names |= {each.name for each in state.inventory.templates if each.namespace == key.namespace}
    near = similar(key.name, names)
    ref = ObjectRef(_TEMPLATE, key.namespace, near[0]) if len(near) == 1 else None
    return ref if ref in there else None


def _renamed(key: Key, user: str, there: Collection[ObjectRef]) -> ObjectRef | None:
    """The template whose name has a prefix and suffix more, which the name of its user has too: as kustomize does it.

    Upstream: kubernetes-sigs/kustomize, api/internal/konfig/builtinpluginconsts/namereference.go: no fields of claims.
    """
    found = []
    for each in there:
        prefix, middle, suffix = each.name.partition(key.name)
        alike = middle and (prefix or suffix) and user.startswith(prefix) and user.endswith(suffix)
        if each.namespace == key.namespace and alike and len(user) > len(prefix) + len(suffix):
            found.append(each)
    return found[0] if len(found) == 1 else None


def _reference(planned: Planned, plan: PodPlan) -> NameReference:
    path = _INDEX.sub("", f"{plan.spec_at}.resourceClaims.resourceClaimTemplateName").replace(".", "/")
    return NameReference(planned.kind, path)


def in_place(objects: Sequence[Planned], moved: Sequence[Misplaced]) -> tuple[Planned, ...]:
    """The objects with each template where its pods look for it, too."""
    by_ref = {ObjectRef(each.kind, each.key.namespace, each.name): each for each in objects}
    swapped = {each.template.key for each in moved if each.as_claim}
    copies = (_in(by_ref[each.template], each) for each in moved if not each.as_claim)
    return (*copies, *(_naming_templates(each, swapped) if swapped else each for each in objects))


def _naming_templates(planned: Planned, names: Collection[Key]) -> Planned:
    """With ``resourceClaimTemplateName`` in place of ``resourceClaimName`` where that is one of ``names``."""
    return replace(planned, pods=tuple(replace(plan, pod=_naming(plan.pod, names)) for plan in planned.pods))


def _naming(pod: Pod, names: Collection[Key]) -> Pod:
    entries = tuple(
        PodResourceClaim(entry.name, resource_claim_template_name=sources(entry)[0])
        if Key(pod.metadata.namespace, sources(entry)[0] or "") in names
        else entry
        for entry in pod.spec.resource_claims
    )
    return with_spec(pod, resource_claims=entries)


def _in(planned: Planned, moved: Misplaced) -> Planned:
    record = planned.record
    assert isinstance(record, ResourceClaimTemplate)  # noqa: S101
    name = moved.name or planned.name
    meta = msgspec.structs.replace(record.metadata, namespace=moved.namespace, name=name)
    record = msgspec.structs.replace(record, metadata=meta)
    return replace(planned, namespace=moved.namespace, name=name, record=record)
