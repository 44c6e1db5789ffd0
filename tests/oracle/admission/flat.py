"""Objects of v1beta1 in every form that its flat requests and nested devices can take, valid or not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

FIELDS: dict[str, Any] = {
    "deviceClassName": "gpu.example.com",
    "selectors": [{"cel": {"expression": "true"}}],
    "allocationMode": "All",
    "count": 2,
    "adminAccess": False,
    "tolerations": [{"operator": "Exists"}],
    "capacity": {"requests": {"memory": "1Gi"}},
    "derivedAttributes": [{"name": "a.b/c", "expression": "1"}],
    "firstAvailable": [{"name": "sub", "deviceClassName": "b", "allocationMode": "ExactCount", "count": 1}],
}
EMPTY: dict[str, Any] = {
    "deviceClassName": "",
    "selectors": [],
    "allocationMode": "",
    "count": 0,
    "adminAccess": None,
    "tolerations": [],
    "capacity": {},
    "derivedAttributes": [],
    "firstAvailable": [],
}
BASIC: dict[str, Any] = {
    "attributes": {"a": {"int": 0}, "b": {"bool": False}, "c": {"string": ""}, "d": {"ints": [1]}},
    "capacity": {"m": {"value": "1.5Gi"}, "n": {"value": "0.5"}},
    "consumesCounters": [{"counterSet": "s", "counters": {"x": {"value": "1"}}}],
    "nodeName": "",
    "allNodes": False,
    "taints": [{"key": "k", "effect": "NoSchedule"}],
    "bindsToNode": False,
    "bindingConditions": ["a"],
    "bindingFailureConditions": ["b"],
    "allowMultipleAllocations": True,
}


def flat_objects() -> Iterator[dict[str, Any]]:
    """Claims, templates and slices of v1beta1."""
    requests = [{"name": "r", **dict(chosen)} for size in range(4) for chosen in combinations(FIELDS.items(), size)]
    requests += [{"name": "r", key: value} for key, value in EMPTY.items()]
    for request in requests:
        yield _object("ResourceClaim", {"devices": {"requests": [request]}})
    yield _object("ResourceClaimTemplate", {"spec": {"devices": {"requests": requests}}})
    devices: list[dict[str, Any]] = [{"name": "d"}, {"name": "e", "basic": {}}, {"name": "f", "basic": None}]
    devices += [{"name": "g", "basic": {key: value}} for key, value in BASIC.items()]
    devices.append({"name": "h", "basic": BASIC})
    for nodes in (
        {"nodeName": "n"},
        {"nodeName": "", "allNodes": True},
        {"allNodes": False},
        {"perDeviceNodeSelection": True},
    ):
        pool = {"name": "p", "generation": 0, "resourceSliceCount": 1}
        yield _object("ResourceSlice", {"driver": "d", "pool": pool, "devices": devices, **nodes})


def _object(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "resource.k8s.io/v1beta1", "kind": kind, "metadata": {"name": "o"}, "spec": spec}
