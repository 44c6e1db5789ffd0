"""Nodes that are drained one after the other, where together they leave pods without a place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import whatif
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.whatif.records import InTurn, OneDrained, PodFate
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.ids import Key
from kubectl_dra.model.volumes import PersistentVolumeClaimVolume, Volume, VolumeSource
from kubectl_dra.output.safe import plain
from kubectl_dra.output.whatif.page import whatif_lines
from tests.diagnosis.test_whatif import budget, cluster, gpus, owned
from tests.kit import build

BOTH = [whatif.Drain("a"), whatif.Drain("b")]


def third(*more: dict[str, Any], free: int = 2) -> ClusterState:
    """Each of two nodes has a pod with two devices and nothing free; a third one has ``free`` devices.

    No pod waits, but for those among ``more``.
    """
    held = [each for node in "ab" for each in owned(f"on-{node}", node, (node, "gpu-0"), (node, "gpu-1"))]
    two = json.loads(json.dumps([*held, *more]))
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpu", "namespace": build.NAMESPACE, "uid": "template-two"},
        "spec": {"spec": {"devices": {"requests": [build.request(count=2)]}}},
    }
    world = cluster(template, build.node("c"), build.slice_("c", *gpus(free)), *two)
    pods = {key: pod for key, pod in world.inventory.pods.items() if key.name != "waits"}
    return world.changed(world.inventory.replace(pods=pods))


def told(found: whatif.WhatIf) -> str:
    return " ".join(" ".join(plain(line) for line in whatif_lines(found)).split())


def test_one_after_the_other_works_where_there_is_room_for_one() -> None:
    world = third()
    changed, found = whatif.what_if(world, BOTH)
    assert [each.fate for each in found.displaced].count(PodFate.PENDING) == 1
    assert found.in_turn == InTurn(("a", "b"), drains=(OneDrained("a"), OneDrained("b")))
    page = told(found)
    assert "every pod finds a node if a is drained and uncordoned before b." in page
    drains = [f"kubectl {verb}" for node in "ab" for verb in (f"drain {node} --ignore-daemonsets", f"uncordon {node}")]
    places = [page.index(each) for each in drains]
    assert places == sorted(places)
    # What is supposed stays what was asked: both are cordoned.
    assert {name for name, node in changed.inventory.nodes.items() if node.spec.unschedulable} == {"a", "b"}


def test_where_the_first_has_no_room_it_is_told() -> None:
    _, found = whatif.what_if(third(free=1), BOTH)
    assert found.in_turn == InTurn(("a", "b"), "a", 1)
    assert "is not enough either: at a, 1 pod without a node stays." in told(found)


def test_the_other_order_may_work() -> None:
    """What leaves a fits on b alone, which has room once its own pod is on c."""
    world = third(build.node("b", labels={"only": "b"}))
    pods = dict(world.inventory.pods)
    key = Key(build.NAMESPACE, "on-a")
    pods[key] = with_spec(pods[key], node_selector={"only": "b"})
    world = world.changed(world.inventory.replace(pods=pods))
    _, found = whatif.what_if(world, BOTH)
    assert found.in_turn == InTurn(("b", "a"), drains=(OneDrained("b"), OneDrained("a")))


def test_a_budget_that_holds_a_pod_is_no_success() -> None:
    world = third(budget("on-a", 0))
    _, found = whatif.what_if(world, BOTH)
    assert found.in_turn is not None
    assert (found.in_turn.stuck_at, found.in_turn.pending) == ("a", 0)
    assert "at a, some of its pods wait for a budget" in told(found)


def test_it_is_not_tried_where_all_find_a_place_or_a_node_goes_for_good() -> None:
    assert whatif.what_if(third(free=4), BOTH)[1].in_turn is None
    assert whatif.what_if(third(), BOTH[:1])[1].in_turn is None
    assert whatif.what_if(third(), [whatif.Drain("a"), whatif.RemoveNode("b")])[1].in_turn is None


def with_volumes(world: ClusterState, name: str, *volumes: Volume) -> ClusterState:
    key = Key(build.NAMESPACE, name)
    pods = {**world.inventory.pods, key: with_spec(world.inventory.pods[key], volumes=volumes)}
    return world.changed(world.inventory.replace(pods=pods))


def test_data_that_a_drain_deletes_are_told_with_the_flag_at_each_node_that_the_pod_leaves() -> None:
    """What leaves a is back on b only if it has to: it stays on c, so that b's drain needs no flag."""
    world = with_volumes(third(), "on-a", Volume("cache", empty_dir=VolumeSource()))
    _, found = whatif.what_if(world, BOTH)
    assert found.in_turn is not None
    assert [each.empty_dirs for each in found.in_turn.drains] == [(ObjectRef("Pod", build.NAMESPACE, "on-a"),), ()]
    page = told(found)
    assert f"{build.NAMESPACE}/on-a loses the data in its emptyDir volumes (--delete-emptydir-data)." in page
    assert "kubectl drain a --ignore-daemonsets --delete-emptydir-data" in page
    assert "kubectl drain b --ignore-daemonsets kubectl" in page


def test_a_volume_that_outlives_its_pod_needs_no_flag() -> None:
    claim = Volume("data", persistent_volume_claim=PersistentVolumeClaimVolume("data"))
    drains = _drains(with_volumes(third(), "on-a", Volume("config"), claim))
    assert not any(each.empty_dirs for each in drains)


def test_pods_that_no_controller_creates_again_are_no_success_and_need_force() -> None:
    _, found = whatif.what_if(third(build.pod("bare", node_name="a", phase="Running")), BOTH)
    page = told(found)
    assert "every pod that is created again finds a node if a is drained" in page
    assert f"{build.NAMESPACE}/bare is gone for good: nothing creates it again (--force)." in page
    assert "kubectl drain a --ignore-daemonsets --force" in page
    assert "kubectl drain b --ignore-daemonsets kubectl" in page


def test_a_daemon_set_s_pod_needs_neither_flag() -> None:
    daemon = owned("daemon", "a", kind="DaemonSet", volumes=[{"name": "tmp", "emptyDir": {}}])
    assert _drains(third(*daemon)) == (OneDrained("a"), OneDrained("b"))


def test_a_node_that_was_cordoned_before_stays_so() -> None:
    """b is drained first: a takes nothing, and is not uncordoned at the end."""
    cordoned = build.node("a")
    cordoned["spec"] = {"unschedulable": True}
    world = third(cordoned)
    _, found = whatif.what_if(world, BOTH)
    assert found.in_turn is not None
    assert found.in_turn.drains == (OneDrained("b"), OneDrained("a", cordoned=True))
    page = told(found)
    assert "Cordoned before, and left so: a." in page
    assert "kubectl uncordon b" in page
    assert "kubectl uncordon a" not in page


def _drains(world: ClusterState) -> tuple[OneDrained, ...]:
    found = whatif.what_if(world, BOTH)[1].in_turn
    assert found is not None
    return found.drains


def pool_nodes() -> list[dict[str, Any]]:
    return [build.node(name, labels={"pool": name}) for name in "ab"]


def test_who_waits_takes_an_uncordoned_node_before_the_next_drain_so_that_the_other_order_is_told() -> None:
    """Only a's devices are of use to the pod that waits: drained second, a gives them to it after b's pod has left."""
    queued = build.pod("queued", templates=["gpu"], nodeSelector={"pool": "a"})
    claim = build.claim("queued-gpu", build.request(count=2), metadata=_owned_by("queued"))
    queued["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": "queued-gpu"}]
    _, found = whatif.what_if(third(*pool_nodes(), queued, claim), BOTH)
    assert found.in_turn is not None
    assert (found.in_turn.order, found.in_turn.stuck_at, found.in_turn.between) == (("b", "a"), "", ())


def test_where_who_waits_takes_it_in_both_orders_it_is_told() -> None:
    queued = build.pod("queued", claims=["two"], nodeSelector={"both": "yes"})
    nodes = [build.node(name, labels={"both": "yes"}) for name in "ab"]
    _, found = whatif.what_if(third(*nodes, queued), BOTH)
    assert found.in_turn is not None
    waits = ObjectRef("Pod", build.NAMESPACE, "queued")
    assert (found.in_turn.stuck_at, found.in_turn.pending, found.in_turn.between) == ("b", 1, (waits,))
    page = told(found)
    assert "at b, 1 pod without a node stays." in page
    assert f"{build.NAMESPACE}/queued waits now and starts before the next drain, on what is free by then." in page
    assert "kubectl drain" not in page


def test_a_pod_that_waits_behind_a_gate_takes_nothing() -> None:
    gated = build.pod("queued", claims=["two"], schedulingGates=[{"name": "x"}])
    _, found = whatif.what_if(third(gated), BOTH)
    assert found.in_turn is not None
    assert (found.in_turn.stuck_at, found.in_turn.between) == ("", ())


def test_pods_beyond_those_that_are_tried_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubectl_dra.diagnosis.whatif.waiting._MOST", 1)
    pods = [build.pod(f"queued-{n}", claims=["two"], nodeSelector={"no": f"where-{n}"}) for n in range(3)]
    _, found = whatif.what_if(third(*pods), BOTH)
    assert found.in_turn is not None
    assert found.in_turn.untried == 2
    assert "2 more pods in the scheduler's queue may take what is free before the next drain" in told(found)


def test_of_pods_that_are_alike_none_is_tried_after_one_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubectl_dra.diagnosis.whatif.waiting._MOST", 1)
    pods = [build.pod(f"queued-{n}", claims=["two"], nodeSelector={"no": "where"}) for n in range(3)]
    _, found = whatif.what_if(third(*pods), BOTH)
    assert found.in_turn is not None
    assert (found.in_turn.stuck_at, found.in_turn.untried) == ("", 0)


def _owned_by(pod: str) -> dict[str, Any]:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": f"pod-{pod}", "controller": True}
    return {"ownerReferences": [owner]}
