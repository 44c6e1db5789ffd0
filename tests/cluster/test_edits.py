"""A cluster as it would be: objects that come, replace others or go, whatever their kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.kinds import KINDS, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Edit, Put, Remove, edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from tests.kit import build
from tests.kit.state import build_inventory, decoded, inventory_of, state_of


def state(*bodies: dict[str, Any]) -> ClusterState:
    return state_of(inventory_of(bodies))


def put(body: dict[str, Any]) -> Put:
    kind, record = decoded(body)
    return Put(kind.name, record)


def same(one: Inventory, other: Inventory) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in Inventory.__dataclass_fields__)


def test_what_is_put_is_as_if_it_had_been_read() -> None:
    there = [build.node("b"), build.slice_("b", build.device("gpu-0"))]
    more = [
        build.node("a", labels={"zone": "x"}),
        build.slice_("a", build.device("gpu-1")),
        build.device_class(),
        build.claim("held", held=[("b", "gpu-0")], by=["user"]),
        build.pod("user", claims=["held"], node_name="b", requests={"cpu": "1"}, phase="Running"),
        build.namespace(),
    ]
    before = state(*there)
    assert same(edited(before, map(put, more)).inventory, state(*there, *more).inventory)
    assert same(before.inventory, state(*there).inventory)


def test_what_is_removed_is_as_if_it_had_never_been_read() -> None:
    pod = build.pod("user", node_name="b", requests={"cpu": "1"}, phase="Running")
    other = build.pod("other", node_name="b", requests={"cpu": "2"}, phase="Running")
    there = [build.node("b"), build.node("a"), other]
    after = edited(state(*there, pod), [Remove("Pod", Key(build.NAMESPACE, "user")), Remove("Node", Key("", "a"))])
    assert after.inventory.nodes.keys() == {"b"}
    assert after.inventory.pods.keys() == {Key(build.NAMESPACE, "other")}
    usage = after.inventory.usage["b"]
    assert (usage.pods, usage.requests["cpu"], len(usage.placed)) == (1, 2000, 1)


def test_an_object_of_the_same_name_is_replaced_and_the_last_edit_counts() -> None:
    before = state(build.node("a", cpu="4"))
    edits: list[Edit] = [put(build.node("a", cpu="8")), Remove("Node", Key("", "a")), put(build.node("a", cpu="2"))]
    assert edited(before, edits).inventory.nodes["a"].status.allocatable["cpu"].ceil() == 2


def test_a_pod_that_moves_is_counted_once() -> None:
    first = build.pod("user", node_name="a", requests={"cpu": "1"}, phase="Running")
    before = state(build.node("a"), build.node("b"), first)
    moved = edited(before, [put(build.pod("user", node_name="b", requests={"cpu": "1"}, phase="Running"))])
    assert moved.inventory.usage["a"].pods == 0
    assert moved.inventory.usage["b"].pods == 1


def test_no_edit_gives_the_state_itself() -> None:
    before = state(build.node())
    assert edited(before, []) is before
    assert edited(before, [Remove("Widget", Key("", "x"))]) is before


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_objects_of_every_kind_come_and_go(kind: Kind) -> None:
    body: dict[str, Any] = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "x"}}
    if kind.namespaced:
        body["metadata"]["namespace"] = build.NAMESPACE
    found = decode_any(json.dumps(body).encode())
    assert isinstance(found, tuple)
    there = state(build.node("other"))
    with_it = edited(there, [Put(kind.name, found[1])])
    assert not same(with_it.inventory, there.inventory)
    assert same(with_it.inventory, build_inventory([decoded(build.node("other")), found]))
    gone = edited(with_it, [Remove(kind.name, Key(body["metadata"].get("namespace", ""), "x"))])
    assert same(gone.inventory, there.inventory)
