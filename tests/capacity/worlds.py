"""Clusters as ours read them, with the templates of their pods; shapes as ours count them; states as rows again."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import KINDS
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.shape import Shape, bare_pod, template_of
from kubectl_dra.model.core import Container, ContainerClaim, ResourceRequirements
from kubectl_dra.model.ids import Key
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import (
    CELSelector,
    DeviceClaim,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaimSpec,
)
from tests.capacity import clusters
from tests.scheduler.rows import snapshot_of

Row = dict[str, Any]
_BY_PLURAL = {kind.plural: kind for kind in KINDS}
_FIELDS = {
    "nodes": "nodes",
    "pods": "pods",
    "resourceslices": "slices",
    "resourceclaims": "claims",
    "deviceclasses": "classes",
    "namespaces": "namespaces",
    "poddisruptionbudgets": "budgets",
}


def world_of(row: Row) -> ClusterState:
    """The state of a row; every pod's claim was made from a template that is there."""
    state = snapshot_of(row).state
    inventory = state.inventory
    templates = {}
    for claim in inventory.claims.values():
        key = Key(claim.metadata.namespace, claim.metadata.name.replace("-gpus", "-template"))
        templates[key] = template_of(key, claim.spec)
    return state.changed(inventory.replace(templates=templates))


def shape_of(wanted: clusters.Shape) -> Shape:
    """The shape as a pod with a template."""
    key = Key(clusters.NAMESPACE, "shape")
    selectors = (DeviceSelector(CELSelector(wanted.selector)),) if wanted.selector else ()
    exactly = ExactDeviceRequest(
        device_class_name=clusters.DRIVER, selectors=selectors, allocation_mode="ExactCount", count=wanted.count
    )
    constraints = (DeviceConstraint(match_attribute=wanted.same),) if wanted.same else ()
    request = DeviceRequest("gpus", exactly)
    if wanted.otherwise:
        first, second = (
            DeviceSubRequest(name, clusters.DRIVER, chosen, "ExactCount", count)
            for name, chosen, count in (("one", selectors, wanted.count), ("two", (), wanted.otherwise))
        )
        request = DeviceRequest("gpus", first_available=(first, second))
    spec = ResourceClaimSpec(DeviceClaim((request,), constraints))
    pod = bare_pod(key)
    if wanted.cpu:
        resources = ResourceRequirements(
            requests={"cpu": Quantity.parse(wanted.cpu)}, claims=(ContainerClaim("devices"),)
        )
        container = Container(name="main", resources=resources)
        pod = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, containers=(container,)))
    return Shape(pod, {key: template_of(key, spec)})


def row_of(state: ClusterState, name: str) -> Row:
    """The state as the real scheduler takes it."""
    row: Row = {"id": name}
    for plural, field in _FIELDS.items():
        kind = _BY_PLURAL[plural]
        found = []
        for record in getattr(state.inventory, field).values():
            content = json.loads(encode(record, kind))
            content.pop("apiVersion", None)
            content.pop("kind", None)
            found.append(content)
        row[plural] = found
    return row
