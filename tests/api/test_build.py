"""Objects become an Inventory."""

from __future__ import annotations

import json
from typing import Any

from kubectl_dra.api.build import InventoryBuilder
from kubectl_dra.api.decode import decode_any
from kubectl_dra.model.ids import Key, PoolId
from tests.kit.state import build_inventory


def decoded(api_version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Any:
    metadata = {"name": name, "namespace": namespace}
    return decode_any(json.dumps({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}).encode())


def test_objects_by_key_and_usage_by_node() -> None:
    containers = [{"name": "c", "resources": {"requests": {"cpu": "250m"}}}]
    inventory = build_inventory(
        [
            decoded("v1", "Node", "n"),
            decoded("v1", "Namespace", "ml"),
            decoded("v1", "Pod", "a", "ml", spec={"nodeName": "n", "containers": containers}),
            decoded("v1", "Pod", "b", "ml", spec={"nodeName": "n", "containers": containers}),
            decoded(
                "resource.k8s.io/v1", "ResourceSlice", "s", spec={"driver": "d", "pool": {"name": "p"}, "nodeName": "n"}
            ),
            decoded("resource.k8s.io/v1", "DeviceClass", "c"),
            decoded("resource.k8s.io/v1", "ResourceClaim", "claim", "ml"),
            decoded("resource.k8s.io/v1", "ResourceClaimTemplate", "template", "ml"),
            decoded("resource.k8s.io/v1", "DeviceTaintRule", "rule"),
            decoded("apps/v1", "ReplicaSet", "rs", "ml"),
            decoded("v1", "Event", "e", "ml", message="m"),
            decoded("v1", "ResourceQuota", "q", "ml"),
        ]
    )
    assert set(inventory.nodes) == {"n"}
    assert set(inventory.namespaces) == {"ml"}
    assert set(inventory.pods) == {Key("ml", "a"), Key("ml", "b")}
    assert (inventory.usage["n"].pods, inventory.usage["n"].requests["cpu"]) == (2, 500)
    assert set(inventory.slices_by_pool) == {PoolId("d", "p")}
    assert set(inventory.classes) == {"c"}
    assert set(inventory.claims) == {Key("ml", "claim")}
    assert set(inventory.templates) == {Key("ml", "template")}
    assert set(inventory.taint_rules) == {"rule"}
    assert set(inventory.workloads) == {("ReplicaSet", "ml", "rs")}
    assert [event.message for event in inventory.events] == ["m"]
    assert set(inventory.quotas) == {Key("ml", "q")}


def test_the_last_state_of_an_object_counts() -> None:
    builder = InventoryBuilder()
    for phase in ("Pending", "Running"):
        builder.add(*decoded("v1", "Pod", "a", "ml", status={"phase": phase}))
    assert [pod.status.phase for pod in builder.inventory().pods.values()] == ["Running"]
    assert [(kind.name, key) for kind, key in builder.replaced] == [("Pod", Key("ml", "a"))]
