"""Templates that the files have in one namespace only, and pods of the files in another name: as if they were there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import ResourceClaimTemplate
from kubectl_dra.reports.simulation.stops import Misplaced
from kubectl_dra.scheduler.claims import sources

_TEMPLATE: Final = "ResourceClaimTemplate"


def misplaced(world: ClusterState, objects: Sequence[Planned]) -> list[Misplaced]:
    """Each with those that name it; none that several namespaces of the files have."""
    there = dict[str, list[ObjectRef]]()
    for each in objects:
        if each.kind == _TEMPLATE and isinstance(each.record, ResourceClaimTemplate) and not each.made_by:
            there.setdefault(each.name, []).append(ObjectRef(_TEMPLATE, each.key.namespace, each.name))
    found = dict[Key, Misplaced]()
    for planned in (each for each in objects if not each.catalog):
        subject = ObjectRef(planned.kind, planned.key.namespace, planned.name)
        for pod in (plan.pod for plan in planned.pods):
            namespace = pod.metadata.namespace
            names = [name for entry in pod.spec.resource_claims if (name := sources(entry)[1])]
            for name in names if world.evidence.complete(_TEMPLATE, namespace) else ():
                key, elsewhere = Key(namespace, name), there.get(name, [])
                known = key in world.inventory.templates or any(each.namespace == namespace for each in elsewhere)
                if len(elsewhere) == 1 and not known:
                    users = found[key].users if key in found else ()
                    found[key] = Misplaced(elsewhere[0], namespace, tuple(dict.fromkeys((*users, subject))))
    return list(found.values())


def in_place(objects: Sequence[Planned], moved: Sequence[Misplaced]) -> tuple[Planned, ...]:
    """The objects with each template where its pods are, too."""
    by_ref = {ObjectRef(each.kind, each.key.namespace, each.name): each for each in objects}
    return (*(_in(by_ref[each.template], each.namespace) for each in moved), *objects)


def _in(planned: Planned, namespace: str) -> Planned:
    record = planned.record
    assert isinstance(record, ResourceClaimTemplate)  # noqa: S101
    meta = msgspec.structs.replace(record.metadata, namespace=namespace)
    return replace(planned, namespace=namespace, record=msgspec.structs.replace(record, metadata=meta))
