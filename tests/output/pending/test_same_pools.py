"""Nodes that publish a pool of one name: what is in use on one of them is in use on all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import ResourceSlice
from kubectl_dra.output.devices.node_page import node_page
from kubectl_dra.output.devices.pool_page import pool_page
from kubectl_dra.reports.devices.nodes import node_report
from kubectl_dra.reports.devices.object_lists import slice_rows
from kubectl_dra.reports.devices.pool import pool_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import DRIVER, POD, first_line, page_of, report_of


def of_a_node(node: str, *names: str, pool: str = "gpus", generation: int = 1) -> dict[str, Any]:
    found = build.slice_(node, *map(build.device, names), pool=pool)
    found["metadata"]["name"] = f"{node}-{pool}"
    found["spec"]["pool"]["generation"] = generation
    return found


def test_nodes_that_publish_a_pool_of_one_name_block_each_others_devices() -> None:
    held = build.claim("held", held=[("gpus", "gpu-0")], on="node-2", by=["a"])
    user = build.pod("a", claims=["held"], node_name="node-2", phase="Running")
    wish, nodes = build.claim("claim", build.request(count=2)), (build.node(), build.node("node-2"))
    pools = of_a_node("node-1", "gpu-0", "gpu-1"), of_a_node("node-2", "gpu-0", generation=5)
    report = report_of(*nodes, *pools, held, user, POD, wish)
    page = " ".join(page_of(report).split())
    assert (
        f"node-1 and node-2 publish a pool of the same name, {DRIVER}/gpus, with devices of the same names (gpu-0): "
        "what is in use on one of these nodes counts as in use on all of them." in page
    )
    # Where another device of the pool is in use, or the pool of one node has slices of a node that is gone.
    for others in (of_a_node("node-2", "gpu-7"), of_a_node("gone", "gpu-0"), of_a_node("node-2", "gpu-0", pool="own")):
        assert "same name" not in page_of(report_of(*nodes, pools[0], others, held, user, POD, wish))


def test_many_nodes_with_a_pool_of_one_name_are_counted() -> None:
    names = [f"node-{number}" for number in range(1, 7)]
    held = build.claim("held", held=[("gpus", "gpu-0")], on="node-2", by=["a"])
    pools = [of_a_node(name, "gpu-0", generation=number) for number, name in enumerate(names)]
    report = report_of(*map(build.node, names), *pools, held, POD, build.claim("claim"))
    assert "node-1, node-2, node-3 and 3 more publish a pool of the same name" in " ".join(page_of(report).split())


def told(*objects: dict[str, Any]) -> tuple[str, str, dict[str, bool]]:
    """The page of the pool, that of node-1, and which slices a list calls outdated."""
    state = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    pool = pool_page(pool_report(PoolId(DRIVER, "gpus"), state), CLOCK.now())
    node = node_page(node_report("node-1", state), CLOCK.now())
    rows = slice_rows(state.inventory.slices.values(), state)
    return " ".join(" ".join(pool).split()), " ".join(" ".join(node).split()), {row.name: row.outdated for row in rows}


def test_what_a_node_publishes_itself_is_used_whatever_others_publish_under_that_name() -> None:
    nodes = build.node("node-1"), build.node("node-2")
    pool, node, outdated = told(*nodes, of_a_node("node-1", "gpu-0"), of_a_node("node-2", "gpu-0", generation=5))
    assert "1 device, older, used on node-1" in pool
    assert "stale" not in pool
    assert "Node node-1 has devices of an older generation than that of pool" in node
    assert f"publish a pool named {DRIVER}/gpus: here it has generation 1, elsewhere up to 5." in node
    assert f"kubectl dra describe-pool {DRIVER}/gpus" in node
    assert outdated == {"node-1-gpus": False, "node-2-gpus": False}


def test_slices_of_a_large_pool_are_listed_by_looking_at_each_pair_at_most_twice() -> None:
    slices = [of_a_node("node-1", f"gpu-{number}") for number in range(60)]
    for number, each in enumerate(slices):
        each["metadata"]["name"] = f"slice-{number}"
        each["spec"]["pool"]["resourceSliceCount"] = 60
    state = ClusterState(facts.inventory(slices), facts.evidence(), features(), CLOCK)
    looks = 0

    class Looked(tuple[ResourceSlice, ...]):
        def __iter__(self) -> Iterator[ResourceSlice]:
            nonlocal looks
            looks += len(self)
            return super().__iter__()

    pools = state.inventory.slices_by_pool
    state.inventory.__dict__["slices_by_pool"] = {pool: Looked(each) for pool, each in pools.items()}
    rows = slice_rows(state.inventory.slices.values(), state)
    assert (len(rows), any(row.outdated for row in rows)) == (60, False)
    assert looks <= 2 * 60 * 60


def test_an_older_slice_of_the_same_node_is_not_used() -> None:
    old, new = of_a_node("node-1", "gpu-0"), of_a_node("node-1", "gpu-1", generation=2)
    new["metadata"]["name"] = "new"
    pool, node, outdated = told(build.node("node-1"), old, new)
    assert "1 device, stale, not used" in pool
    assert "Node node-1 has 1 device of its own: 1 free." in node
    assert outdated == {"node-1-gpus": True, "new": False}


def test_a_part_of_a_pool_that_other_nodes_have_newer_is_not_used() -> None:
    part = of_a_node("node-1", "gpu-0")
    part["spec"]["pool"]["resourceSliceCount"] = 2
    *_, outdated = told(build.node("node-1"), part, of_a_node("node-2", "gpu-0", generation=5))
    assert outdated == {"node-1-gpus": True, "node-2-gpus": False}


def test_pools_that_are_not_used_stand_beside_the_nodes_that_they_are_on() -> None:
    """Two of them, so that neither is the whole cause."""
    half = build.slice_("w2", build.device("gpu-0"))
    half["spec"]["pool"]["resourceSliceCount"] = 2
    report = report_of(
        *(build.node(name) for name in ("w1", "w2", "w3")),
        build.slice_("w1.corp", build.device("gpu-0")),
        half,
        build.slice_("w3", build.device("gpu-0"), build.device("gpu-0")),
        build.claim("claim"),
        build.pod(claims=["claim"]),
    )
    assert first_line(report).endswith(
        "devices of the class are on w1.corp, w2 and w3, but pool gpu.example.com/w2 is incomplete: 1 of its 2 "
        "ResourceSlices (generation 1) is published, so none of its devices can be allocated; pool gpu.example.com/w3 "
        "is invalid and none of its devices can be allocated: it publishes device gpu-0 twice."
    )
