"""Answers allocator rows through the public functions: what is asked for, never what was recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kubectl_dra.allocation import Allocated, Cluster, Fatal, Outcome, Undecided, Unsatisfiable
from kubectl_dra.allocation.result import SHARE_ID
from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.encode import encode_part
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.scheduler.allocation_errors import INVALID_POOLS, allocation_error
from tests.allocation.clusters import allocate, allocate_many, prepared

_Ask = Callable[[Cluster, Sequence[Node], Sequence[ResourceClaim]], Mapping[str, Outcome]]

_FEATURES = {
    "AdminAccess": "admin_access",
    "CompatibilityGroups": "compatibility_groups",
    "ConsumableCapacity": "consumable_capacity",
    "DerivedAttributes": "derived_attributes",
    "DeviceBindingAndStatus": "device_binding_and_status",
    "DeviceTaints": "device_taints",
    "FractionalCapacityRange": "fractional_capacity_range",
    "ListTypeAttributes": "list_type_attributes",
    "OptionalNodeOperations": "optional_node_operations",
    "PartitionableDevices": "partitionable_devices",
    "PrioritizedList": "prioritized_list",
}
_RECORDED_SHARE_ID = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"


def answer(row: dict[str, Any]) -> dict[str, Any]:
    """The answer to one row: one result per run and node."""
    return {"id": row["id"], "results": [result for run in row["expect"] for result in _run(row, run)]}


def features(names: list[str]) -> Features:
    """The allocator's features by their own names; everything else off."""
    return Features(**{field: name in names for name, field in _FEATURES.items()})


def decode(objects: list[dict[str, Any]], kind: str, version: str = "resource.k8s.io/v1") -> list[Any]:
    """The records of v1 objects; an object that can't be decoded is an error of the row."""
    decoded = [decode_any(json.dumps(item).encode(), version, kind) for item in objects or ()]
    for found in decoded:
        if not isinstance(found, tuple):
            raise ValueError(f"{kind}: {found}")
    return [record for _, record in decoded]  # type: ignore[misc]


def answer_together(row: dict[str, Any]) -> dict[str, Any]:
    """The same answers, each run asked for all nodes at once."""
    return {"id": row["id"], "results": [result for run in row["expect"] for result in _run(row, run, allocate_many)]}


def _one_by_one(cluster: Cluster, nodes: Iterable[Node], claims: Sequence[ResourceClaim]) -> Mapping[str, Outcome]:
    return {node.metadata.name: allocate(cluster, node, claims) for node in nodes}


def _run(row: dict[str, Any], run: dict[str, Any], ask: _Ask = _one_by_one) -> list[dict[str, Any]]:
    nodes = {node.metadata.name: node for node in decode(row["nodes"], "Node", "v1")}
    claims = decode(row["claims"], "ResourceClaim")
    cluster = prepared(
        decode(row["slices"], "ResourceSlice"),
        decode(row["classes"], "DeviceClass"),
        decode(row.get("allocatedClaims") or [], "ResourceClaim"),
        features(run["features"]),
    )
    names = [asked["node"] for asked in run["results"]]
    outcomes = ask(cluster, [nodes[name] for name in names], claims)
    return [{"name": run["name"], "impl": run["impl"], "node": name, **render(outcomes[name])} for name in names]


def render(outcome: Outcome) -> dict[str, Any]:
    """An outcome in the shape of the recorded answers."""
    if isinstance(outcome, Undecided):
        return {"undecided": outcome.why}
    if isinstance(outcome, Allocated):
        text = encode_part(outcome.allocations).decode().replace(SHARE_ID, _RECORDED_SHARE_ID)
        allocations = {"allocations": json.loads(text)} if outcome.allocations else {}
        return {"outcome": "allocated", **allocations, "numAllocateOne": outcome.steps}
    if isinstance(outcome, Fatal):
        return {"outcome": "error", "error": allocation_error(outcome.error), "numAllocateOne": outcome.steps}
    assert isinstance(outcome, Unsatisfiable)
    if outcome.invalid_pools:
        error = {"outcome": "error", "error": INVALID_POOLS, "errorOnlyAffectsNode": True}
        return {**error, "numAllocateOne": outcome.steps}
    return {"outcome": "unsatisfiable", "numAllocateOne": outcome.steps}
