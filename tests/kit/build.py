"""Small clusters in a few words, as API objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

DRIVER = "gpu.example.com"
NAMESPACE = "ml"


def node(name: str = "node-1", *, labels: Mapping[str, str] | None = None, **allocatable: str) -> dict[str, Any]:
    """A node; ``unschedulable`` and taints are set by the caller. Underscores in resource names stand for nothing."""
    resources = {"cpu": "4", "memory": "16Gi", "pods": "110", **allocatable}
    return {
        "kind": "Node",
        "metadata": {"name": name, "uid": f"node-{name}", "labels": dict(labels or {})},
        "spec": {},
        "status": {"allocatable": resources},
    }


def pod(
    name: str = "pod",
    *,
    claims: Sequence[str] = (),
    templates: Sequence[str] = (),
    node_name: str = "",
    requests: Mapping[str, str] | None = None,
    phase: str = "Pending",
    **spec: Any,
) -> dict[str, Any]:
    """A pod in :data:`NAMESPACE`; entries are named after their claim or template."""
    entries = [{"name": claim, "resourceClaimName": claim} for claim in claims]
    entries += [{"name": template, "resourceClaimTemplateName": template} for template in templates]
    container = {"name": "main", "resources": {"requests": dict(requests or {})}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "uid": f"pod-{name}", "resourceVersion": "100"},
        "spec": {
            "schedulerName": "default-scheduler",
            "containers": [container],
            "resourceClaims": entries,
            **({"nodeName": node_name} if node_name else {}),
            **spec,
        },
        "status": {"phase": phase},
    }


def device_class(name: str = DRIVER, **spec: Any) -> dict[str, Any]:
    """A class of all devices of :data:`DRIVER`."""
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    return {"kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": [selector], **spec}}


def device(name: str, **fields: Any) -> dict[str, Any]:
    """A device; string attributes are given as ``attributes={"model": "A100"}``."""
    attributes = {key: {"string": value} for key, value in fields.pop("attributes", {}).items()}
    return {"name": name, "attributes": attributes, **fields}


def slice_(node_name: str, *devices: dict[str, Any], pool: str = "", **spec: Any) -> dict[str, Any]:
    """A slice of one pool of a node."""
    name = pool or node_name
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-{DRIVER}", "resourceVersion": "10"},
        "spec": {
            "driver": DRIVER,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "nodeName": node_name,
            "devices": list(devices),
            **spec,
        },
    }


def request(name: str = "gpu", *, count: int = 1, cls: str = DRIVER, **fields: Any) -> dict[str, Any]:
    """A request for ``count`` devices; ``selector`` is a CEL expression."""
    selector = fields.pop("selector", None)
    exactly: dict[str, Any] = {"deviceClassName": cls, "allocationMode": "ExactCount", "count": count, **fields}
    if exactly["allocationMode"] == "All":
        del exactly["count"]
    if selector is not None:
        exactly["selectors"] = [{"cel": {"expression": selector}}]
    return {"name": name, "exactly": exactly}


def claim(name: str = "claim", *requests: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A claim in :data:`NAMESPACE`; ``held`` are (pool, device) pairs it is allocated, ``by`` its consumers."""
    held, by, where = fields.pop("held", None), fields.pop("by", ()), fields.pop("on", "")
    metadata = {"name": name, "namespace": fields.pop("namespace", NAMESPACE), "uid": f"claim-{name}"}
    devices: dict[str, Any] = {"requests": list(requests) or [request()]}
    if "constraints" in fields:
        devices["constraints"] = fields.pop("constraints")
    metadata |= fields.pop("metadata", {})
    status: dict[str, Any] = {}
    if held is not None:
        results = [{"request": "gpu", "driver": DRIVER, "pool": pool, "device": name} for pool, name in held]
        status["allocation"] = {"devices": {"results": results}}
        if where:
            field = {"key": "metadata.name", "operator": "In", "values": [where]}
            status["allocation"]["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        metadata.setdefault("finalizers", ["resource.kubernetes.io/delete-protection"])
        status["reservedFor"] = [{"resource": "pods", "name": pod, "uid": f"pod-{pod}"} for pod in by]
    return {"kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}, "status": status}


def namespace(name: str = NAMESPACE, **labels: str) -> dict[str, Any]:
    """A namespace."""
    return {"kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def event(
    about: str, reason: str, message: str, *, kind: str = "Pod", time: str = "2026-01-01T00:00:00Z"
) -> dict[str, Any]:
    """An event about a pod of :data:`NAMESPACE`; each other text or time makes another object."""
    return {
        "kind": "Event",
        "metadata": {"name": f"{about}.{crc32(f'{reason} {message} {time}'.encode()):x}", "namespace": NAMESPACE},
        "involvedObject": {"kind": kind, "namespace": NAMESPACE, "name": about, "uid": f"{kind.lower()}-{about}"},
        "reason": reason,
        "message": message,
        "lastTimestamp": time,
    }
