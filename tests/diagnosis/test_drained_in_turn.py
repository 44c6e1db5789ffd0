"""Nodes that are drained one after the other, where together they leave pods without a place."""

from __future__ import annotations

import json
from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import whatif
from kubectl_dra.diagnosis.whatif.records import InTurn, PodFate
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.ids import Key
from kubectl_dra.output.safe import plain
from kubectl_dra.output.whatif.page import whatif_lines
from tests.diagnosis.test_whatif import budget, cluster, gpus, owned
from tests.kit import build

BOTH = [whatif.Drain("a"), whatif.Drain("b")]


def third(*more: dict[str, Any], free: int = 2) -> ClusterState:
    """Each of two nodes has a pod with two devices and nothing free; a third one has ``free`` devices."""
    held = [each for node in "ab" for each in owned(f"on-{node}", node, (node, "gpu-0"), (node, "gpu-1"))]
    two = json.loads(json.dumps([*held, *more]))
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpu", "namespace": build.NAMESPACE, "uid": "template-two"},
        "spec": {"spec": {"devices": {"requests": [build.request(count=2)]}}},
    }
    return cluster(template, build.node("c"), build.slice_("c", *gpus(free)), *two)


def told(found: whatif.WhatIf) -> str:
    return " ".join(plain(line) for line in whatif_lines(found))


def test_one_after_the_other_works_where_there_is_room_for_one() -> None:
    world = third()
    changed, found = whatif.what_if(world, BOTH)
    assert [each.fate for each in found.displaced].count(PodFate.PENDING) == 1
    assert found.in_turn == InTurn(("a", "b"))
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
    assert found.in_turn == InTurn(("b", "a"))


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
