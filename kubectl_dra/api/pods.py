"""What differs between server versions in a pod's shape; the pod API itself has only v1."""

from __future__ import annotations

from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, PodResourceClaim


def normalised(pod: Pod) -> Pod:
    """The pod with ``resourceClaims[].source`` of servers before 1.31 moved to the fields of today."""
    if not any(entry.source is not None for entry in pod.spec.resource_claims):
        return pod
    entries = tuple(_flat(entry) for entry in pod.spec.resource_claims)
    return with_spec(pod, resource_claims=entries)


def _flat(entry: PodResourceClaim) -> PodResourceClaim:
    if entry.source is None:
        return entry
    return PodResourceClaim(
        name=entry.name,
        resource_claim_name=entry.resource_claim_name or entry.source.resource_claim_name,
        resource_claim_template_name=entry.resource_claim_template_name or entry.source.resource_claim_template_name,
    )
