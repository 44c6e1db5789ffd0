"""Objects become an Inventory."""

from __future__ import annotations

import json
import random
from typing import Any

from kubectl_dra.api.build import _STEP, InventoryBuilder, _in_order, _portions
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


def test_keys_are_in_order_whatever_order_they_come_in_and_sorted_in_steps() -> None:
    draw = random.Random(5)
    for names in (0, 3, 3 * _STEP + 7):
        keys = [Key(draw.choice(("ml", "ml-a", "ops")), f"pod-{draw.randrange(names)}-{n % 97}") for n in range(names)]
        assert _in_order(keys) == sorted(keys)
        assert _in_order(sorted(keys)) == sorted(keys)
        assert max(map(len, _portions(keys)), default=0) <= 1.5 * _STEP
    # Names of which one is as frequent as all others.
    keys = [Key("ml", f"pod-{draw.randrange(10)}" if n % 2 else "pod") for n in range(3 * _STEP)]
    assert _in_order(keys) == sorted(keys)
