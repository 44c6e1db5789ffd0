"""Manifests of claims and templates that a way out makes or replaces."""

from __future__ import annotations

import json
from typing import Any, Final

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate, ResourceClaimTemplateSpec

# Which version of a claim every server has from some minor on: schedulers up to 1.33 themselves speak v1beta1.
_SINCE: Final = ((34, "v1"), (32, "v1beta1"), (31, "v1alpha3"))
# What the server fills in; a new object must not carry it.
_SERVER_METADATA: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "managedFields",
)


def claim_version(state: ClusterState) -> str | None:
    return next((version for since, version in _SINCE if state.features.minor >= since), None)


def new_template(ref: ObjectRef, claim: ResourceClaim, version: str) -> dict[str, Any]:
    """A template with the spec of a claim."""
    meta = ObjectMeta(name=ref.name, namespace=ref.namespace)
    return edited_template(ResourceClaimTemplate(metadata=meta), claim, version)


def new_claim(ref: ObjectRef, claim: ResourceClaim, version: str) -> dict[str, Any]:
    """A claim of its own with the spec of another one."""
    new = ResourceClaim(metadata=ObjectMeta(name=ref.name, namespace=ref.namespace), spec=claim.spec)
    body: dict[str, Any] = json.loads(encode(new, RESOURCE_CLAIM, RESOURCE_CLAIM.api_version_of(version)))
    return body


def edited_template(template: ResourceClaimTemplate, claim: ResourceClaim, version: str) -> dict[str, Any]:
    """The template with the spec of an edited claim."""
    spec = ResourceClaimTemplateSpec(template.spec.metadata, claim.spec)
    edited = ResourceClaimTemplate(metadata=template.metadata, spec=spec)
    body: dict[str, Any] = json.loads(
        encode(edited, RESOURCE_CLAIM_TEMPLATE, RESOURCE_CLAIM_TEMPLATE.api_version_of(version))
    )
    return body


def unallocated(claim: ResourceClaim) -> ResourceClaim:
    return ResourceClaim(metadata=claim.metadata, spec=claim.spec)


def replaceable(manifest: dict[str, Any]) -> dict[str, Any]:
    """Without what a new object must not carry."""
    for name in _SERVER_METADATA:
        manifest["metadata"].pop(name, None)
    manifest["metadata"].pop("ownerReferences", None)
    return manifest
