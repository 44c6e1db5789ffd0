"""Objects that the files hold more than once: what is left of them once kubectl apply has gone through the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kubectl_dra.api.planned import Planned
from kubectl_dra.api.trees import group_of
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.core import Pod, PodSpec
from kubectl_dra.reports.simulation.stops import Repeated

#: The API server refuses another spec of these. Upstream: pkg/apis/core/validation (ValidatePodUpdate),
#: pkg/apis/resource/validation (ValidateResourceClaimUpdate, ValidateResourceClaimTemplateUpdate),
#: pkg/apis/scheduling/validation (ValidatePodGroupUpdate).
_KEPT: Final = frozenset({"Pod", "ResourceClaim", "ResourceClaimTemplate", "PodGroup"})
#: Of these the number of pods may change, and the pods may not (pkg/apis/batch/validation, validatePodTemplateUpdate).
_KEPT_PODS: Final = frozenset({"Job"})


def once_each(objects: Sequence[Planned]) -> tuple[list[Planned], tuple[Repeated, ...]]:
    """Every object once, where it is first, as it is in the end; and those that differ between the files."""
    kept: dict[object, Planned] = {}
    told: dict[object, Repeated] = {}
    for position, planned in enumerate(objects):
        named = planned.name and not (planned.generated or planned.error)
        key = (group_of(planned.api_version), planned.kind, planned.key) if named else position
        before = kept.setdefault(key, planned)
        if before is planned or _same(before, planned):
            continue
        first = _is_kept(before, planned)
        kept[key] = before if first else planned
        ref, at = ObjectRef(planned.kind, planned.key.namespace, planned.name), (before.origin, planned.origin)
        told[key] = Repeated(ref, first, told[key].at if key in told else tuple(filter(None, at)))
    return list(kept.values()), tuple(told.values())


def _same(one: Planned, other: Planned) -> bool:
    return (one.record, one.pods, one.suspended, one.queue) == (other.record, other.pods, other.suspended, other.queue)


def _is_kept(one: Planned, other: Planned) -> bool:
    """Whether the API server refuses to make one of the other."""
    if one.kind in _KEPT_PODS:
        return [plan.pod.spec for plan in one.pods] != [plan.pod.spec for plan in other.pods]
    return one.kind in _KEPT and _spec(one) != _spec(other)


def _spec(planned: Planned) -> object:
    """What the server keeps; labels, annotations and the images of a pod may change."""
    record = planned.record
    return _without_images(record.spec) if isinstance(record, Pod) else getattr(record, "spec", None)


def _without_images(spec: PodSpec) -> PodSpec:
    containers, waiting = (
        tuple(msgspec.structs.replace(each, image="") for each in found)
        for found in (spec.containers, spec.init_containers)
    )
    return msgspec.structs.replace(spec, containers=containers, init_containers=waiting)
