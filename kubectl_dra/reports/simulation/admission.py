"""What the API server would say of each manifest before anything is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from kubectl_dra.api.planned import Planned
from kubectl_dra.api.validate import NO_LABELS, validate
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import quota
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.simulation.existing import charged, existing, namespace_of
from kubectl_dra.reports.simulation.records import Correction, ManifestReport


def manifest_reports(
    world: ClusterState, with_namespaces: ClusterState, objects: Iterable[Planned]
) -> Iterator[ManifestReport]:
    """What is said of each; a claim that is created leaves less of its quotas to those after it."""
    for planned in objects:
        found = _manifest(world, with_namespaces, planned)
        if not (found.refused or found.error or found.exists) and isinstance(planned.record, ResourceClaim):
            with_namespaces = with_namespaces.changed(charged(with_namespaces, planned.record))
        yield found


def _over_quota(world: ClusterState, claim: ResourceClaim) -> str:
    inventory, namespace = world.inventory, claim.metadata.namespace
    charge = quota.usage(claim.spec, inventory.classes, world.features.extended_resource)
    return quota.refusal(quota.exceeded(inventory.quotas.values(), namespace, charge))


def _manifest(world: ClusterState, with_namespaces: ClusterState, planned: Planned) -> ManifestReport:
    ref = ObjectRef(planned.kind, planned.namespace or namespace_of(planned), planned.name)
    findings = tuple(Correction(f.path, f.message, f.corrected) for f in planned.findings)
    exists = existing(world.inventory, planned) is not None
    ignored = planned.record is None and not planned.error
    refused = () if planned.record is None else tuple(_refusals(with_namespaces, planned))
    corrected = msgspec.Raw(planned.corrected) if planned.corrected is not None else None
    return ManifestReport(ref, findings, refused, planned.error, exists, ignored, corrected)


def _refusals(world: ClusterState, planned: Planned) -> Iterator[str]:
    assert planned.record is not None  # noqa: S101
    namespaces, namespace = world.inventory.namespaces, namespace_of(planned)
    if not planned.name:
        yield "metadata.name: Required value: name or generateName is required"
    if namespace and namespace not in namespaces and namespaces and world.evidence.complete("Namespace"):
        yield f'namespaces "{namespace}" not found'
    known = namespaces.get(namespace)
    labels = known.metadata.labels if known is not None else NO_LABELS
    invalid = tuple(map(str, validate(planned.record, labels)))
    yield from invalid
    # Admission by quota comes last.
    if not invalid and isinstance(planned.record, ResourceClaim) and existing(world.inventory, planned) is None:
        over = _over_quota(world, planned.record)
        if over:
            yield f'resourceclaims.resource.k8s.io "{planned.name}" is forbidden: {over}'
