"""What the API server would say of each manifest before anything is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.api.kinds import RESOURCE_GROUP
from kubectl_dra.api.planned import Planned
from kubectl_dra.api.queues import is_queue_object
from kubectl_dra.api.served import STABLE_SINCE, not_served
from kubectl_dra.api.validate import validate
from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Put, edited
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.admission import HorizontalPodAutoscaler, LimitRange, RuntimeClass
from kubectl_dra.model.classic import ClassicResourceClaim, NamedResourcesSlice
from kubectl_dra.model.core import Pod, ResourceQuota
from kubectl_dra.model.features import NEWEST_MINOR
from kubectl_dra.model.ids import Key
from kubectl_dra.model.names import is_label
from kubectl_dra.model.policy import PriorityClass
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate
from kubectl_dra.model.scheduling import Workload
from kubectl_dra.reports.admitted import (
    admitted_pod,
    level_not_checked,
    level_that_refuses,
    pod_refusals,
    security_refusal,
)
from kubectl_dra.reports.simulation.existing import charge_of, charged, charged_to, existing, lacking_in
from kubectl_dra.reports.simulation.queue_room import admits, waits_and_room, with_templates
from kubectl_dra.reports.simulation.records import Correction, ManifestReport
from kubectl_dra.reports.simulation.served_fields import is_unserved
from kubectl_dra.selectors.compiling import admission_environment

#: So many minor versions a server may be newer than its newest kubelet.
_SKEW: Final = 3


def manifest_reports(
    state: ClusterState, with_namespaces: ClusterState, objects: Iterable[Planned], *, quotas: bool = True
) -> Iterator[ManifestReport]:
    """What is said of each; a claim or pod that is created leaves less of its quotas to those after it.

    A PriorityClass or RuntimeClass has to be there before a pod that names it: the server does not try again. A quota
    refuses nothing of what was created before it, and counts that. ``quotas``: whether those of the files count.
    """
    objects = tuple(objects)
    created: list[ResourceClaim | Pod] = []
    templates = with_templates(state, objects)
    for planned in objects:
        found = _manifest(state, with_namespaces, planned, templates)
        new = not (found.refused or found.error or found.exists)
        if new and isinstance(planned.record, ResourceClaim | Pod):
            created.append(_admitted(with_namespaces, planned))
            with_namespaces = with_namespaces.changed(charged(with_namespaces, created[-1]))
        if quotas and isinstance(planned.record, ResourceQuota) and not (found.refused or found.error):
            counted = quota.recounted(planned.record, state.inventory, state.features)
            for each in created:
                counted = charged_to(counted, with_namespaces, each)
            with_namespaces = edited(with_namespaces, [Put(planned.kind, counted)])
        if new and isinstance(planned.record, PriorityClass | LimitRange | RuntimeClass):
            with_namespaces = edited(with_namespaces, [Put(planned.kind, planned.record)])
        yield found


def _has_no_part(planned: Planned) -> bool:
    """The scheduler never reads Workloads, only the PodGroups that somebody makes from their templates.

    Queues are part of the answer: pods may wait in them.
    """
    if is_queue_object(planned.api_version, planned.kind):
        return False
    makes_pods = planned.pods or planned.untried or planned.counts
    of_no_kind = planned.record is None or isinstance(planned.record, Workload | HorizontalPodAutoscaler)
    return not (planned.error or makes_pods) and of_no_kind


def _admitted(state: ClusterState, planned: Planned) -> ResourceClaim | Pod:
    """A claim or pod as the API server stores it."""
    assert isinstance(planned.record, ResourceClaim | Pod)  # noqa: S101
    return admitted_pod(planned.record, state.inventory) if isinstance(planned.record, Pod) else planned.record


def _manifest(
    state: ClusterState, with_namespaces: ClusterState, planned: Planned, templates: Mapping[Key, ResourceClaimTemplate]
) -> ManifestReport:
    tried = planned.record is not None and not planned.error
    known = existing(state.inventory, planned) if not planned.made_by else None
    refused = tuple(_refusals(state, with_namespaces, planned)) if tried else ()
    waits, room = waits_and_room(state, planned, templates)
    return ManifestReport(
        object=ObjectRef(planned.kind, planned.key.namespace, planned.name),
        findings=tuple(Correction(f.code, f.path, f.message, f.corrected) for f in planned.findings),
        refused=refused,
        error=planned.error,
        exists=known is not None,
        differs=_differs(planned.record, known),
        ignored=_has_no_part(planned),
        untried=planned.untried,
        left_out=planned.left_out,
        suspended=planned.suspended,
        queue=planned.queue if planned.pods else "",
        waits=waits,
        room=room,
        admits=admits(planned, waits, room, state.inventory.queues.config),
        generated=planned.generated,
        made_by=planned.made_by,
        corrected=msgspec.Raw(planned.corrected) if planned.corrected is not None else None,
        not_checked=next(filter(None, (level_not_checked(with_namespaces, plan) for plan in planned.pods)), ""),
        may_refuse=next(filter(None, (level_that_refuses(with_namespaces, plan) for plan in planned.pods)), ""),
    )


def _differs(record: object, known: object) -> bool:
    """Whether a claim or template is another than the cluster's; neither's spec can be changed."""
    if isinstance(record, ResourceClaim) and isinstance(known, ResourceClaim):
        return record.spec != known.spec
    if isinstance(record, ResourceClaimTemplate) and isinstance(known, ResourceClaimTemplate):
        return record.spec.spec != known.spec.spec
    return False


def _refusals(given: ClusterState, state: ClusterState, planned: Planned) -> Iterator[str]:
    assert planned.record is not None  # noqa: S101
    if not planned.name:
        yield "metadata.name: Required value: name or generateName is required"
    version = planned.api_version
    gone = all(not_served(version, planned.kind, minor) for minor in _minors(given, version))
    if gone or is_unserved(given.evidence, planned.kind):
        yield f'no matches for kind "{planned.kind}" in version "{version}"'
        return
    namespace = planned.key.namespace
    if namespace and not is_label(namespace):
        yield f'namespaces "{namespace}" not found'
        return
    invalid = tuple(
        map(str, validate(planned.record, admission_environment(state.features), lacking=lacking_in(state, namespace)))
    )
    yield from invalid
    yield from planned.invalid
    new = existing(given.inventory, planned) is None
    if isinstance(planned.record, Pod) and new:
        said = pod_refusals(state, admitted_pod(planned.record, state.inventory))
        for told in (*said, *filter(None, (security_refusal(state, plan) for plan in planned.pods))):
            yield f'pods "{planned.name}" is forbidden: {told}'
    # Admission by quota comes last.
    if not invalid and isinstance(planned.record, ResourceClaim | Pod) and new:
        over = _over_quota(state, _admitted(state, planned))
        if over:
            resource = "pods" if isinstance(planned.record, Pod) else "resourceclaims.resource.k8s.io"
            yield f'{resource} "{planned.name}" is forbidden: {over}'


def _minors(state: ClusterState, api_version: str) -> Sequence[int | None]:
    """What minor version the server may have; None where it is not known and objects of old versions may be its own."""
    if state.evidence.server_version is not None:
        return (state.evidence.server_version[1],)
    inventory = state.inventory
    old = any(isinstance(claim, ClassicResourceClaim) for claim in inventory.claims.values())
    old = old or any(isinstance(slice_, NamedResourcesSlice) for slice_ in inventory.slices.values())
    known = not (old or inventory.classic.classes) and api_version.startswith(f"{RESOURCE_GROUP}/")
    least = state.features.minor
    most = max(least, min(least + _SKEW, NEWEST_MINOR))
    # kubectl writes a list in the version that the server prefers: the stable one, where it has that.
    written_in = state.evidence.written_in
    if "v1" in written_in:
        least = max(least, STABLE_SINCE)
    elif written_in and least < STABLE_SINCE:
        most = STABLE_SINCE - 1
    return range(least, max(least, most) + 1) if known else (None,)


def _over_quota(state: ClusterState, record: ResourceClaim | Pod) -> str:
    quotas, namespace = state.inventory.quotas.values(), record.metadata.namespace
    pod = record if isinstance(record, Pod) else None
    settled = quota.is_settled(state, namespace)
    lacking = quota.lacking_requests(quotas, pod) if pod is not None and settled else ""
    return lacking or quota.refusal(quota.exceeded(quotas, namespace, charge_of(state, record), pod, settled=settled))
