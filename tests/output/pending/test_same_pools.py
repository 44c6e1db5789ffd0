"""Nodes that publish a pool of one name: what is in use on one of them is in use on all."""

from __future__ import annotations

from typing import Any

from tests.kit import build
from tests.output.pending.test_situations import DRIVER, POD, page_of, report_of


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
