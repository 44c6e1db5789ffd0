"""What a pod needs and does not exist: the names that do exist, and an object to start from where it is unambiguous."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import RESOURCE_CLAIM
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.class_facts import offers
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ObjectRef
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.scheduler.extended import served_resources
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX

_SHOWN: Final = 10
_KINDS: Final = {
    Code.CLASS_MISSING: "DeviceClass",
    Code.CLAIM_MISSING: "ResourceClaim",
    Code.TEMPLATE_MISSING: "ResourceClaimTemplate",
    Code.EXTENDED_RESOURCE_UNSERVED: "DeviceClass",
}


class Existing(ReportRecord, frozen=True):
    """The objects of a ``kind`` that exist where a missing one is looked for: the first ten ``names`` of ``count``.

    ``devices``: of classes, how many published devices each of ``names`` selects.
    """

    kind: str
    namespace: str
    names: tuple[str, ...]
    count: int
    devices: tuple[int, ...] = ()


def existing(cause: Cause | None, namespace: str, state: ClusterState) -> Existing | None:
    """What exists of the kind that the first cause misses; None where nothing is missing, or not all was read."""
    kind = _KINDS.get(cause.code) if cause is not None else None
    if kind is None or not state.evidence.complete(kind, namespace):
        return None
    inventory = state.inventory
    if kind == "DeviceClass":
        namespace, names = "", list(inventory.classes)
        if cause is not None and cause.code is Code.EXTENDED_RESOURCE_UNSERVED:
            served = served_resources(state)
            return _made("extended resource", "", (name for name in served if not name.startswith(DEVICE_CLASS_PREFIX)))
    elif kind == "ResourceClaim":
        names = [key.name for key in inventory.claims if key.namespace == namespace]
    else:
        names = [key.name for key in inventory.templates if key.namespace == namespace]
    found = _made(kind, namespace, names)
    if kind != "DeviceClass" or not state.evidence.complete("ResourceSlice", ""):
        return found
    selected = (offers(state).of(name) for name in found.names)
    return msgspec.structs.replace(found, devices=tuple(len(each.devices) if each else 0 for each in selected))


def _made(kind: str, namespace: str, names: Iterable[str]) -> Existing:
    found = sorted(names)
    return Existing(kind, namespace, tuple(found[:_SHOWN]), len(found))


def _namesake(ref: ObjectRef, state: ClusterState) -> ResourceClaim | None:
    """The claim of that name in another namespace, if there is only one: most likely what was meant."""
    claims = state.inventory.claims if ref.kind == "ResourceClaim" else {}
    found = [claim for key, claim in claims.items() if key.name == ref.name and key.namespace != ref.namespace]
    return ResourceClaim(metadata=found[0].metadata, spec=found[0].spec) if len(found) == 1 else None


def skeleton(ref: ObjectRef, extended_resource: str, state: ClusterState, version: str) -> dict[str, Any] | None:
    """An object to create under the missing name; None where it is not clear which driver or class it should name."""
    drivers = sorted({pool.driver for pool in state.pools})
    classes = sorted(state.inventory.classes)
    meta: dict[str, Any] = {"name": ref.name}
    head = {"apiVersion": f"resource.k8s.io/{version}", "kind": ref.kind, "metadata": meta}
    if ref.kind == "DeviceClass":
        if len(drivers) != 1:
            return None
        spec: dict[str, Any] = {"selectors": [{"cel": {"expression": f'device.driver == "{drivers[0]}"'}}]}
        if extended_resource:
            spec["extendedResourceName"] = extended_resource
        return {**head, "spec": spec}
    if ref.kind not in ("ResourceClaim", "ResourceClaimTemplate"):
        return None
    meta["namespace"] = ref.namespace
    like = _namesake(ref, state)
    if like is not None:
        body = json.loads(encode(like, RESOURCE_CLAIM, RESOURCE_CLAIM.api_version_of(version)))
        return {**head, "spec": body["spec"]}
    if len(classes) != 1:
        return None
    exact: dict[str, Any] = {"deviceClassName": classes[0], "allocationMode": "ExactCount", "count": 1}
    request = {"name": "devices", **exact} if version == "v1beta1" else {"name": "devices", "exactly": exact}
    devices = {"devices": {"requests": [request]}}
    return {**head, "spec": {"spec": devices} if ref.kind == "ResourceClaimTemplate" else devices}
