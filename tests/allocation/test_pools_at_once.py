"""An ordinary pool is compared at once: two look alike just where all that a search meets in them one by one does."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest

from kubectl_dra.allocation.input.pools import gather
from kubectl_dra.allocation.search.view import View
from kubectl_dra.model.features import features
from tests.kit import build, facts
from tests.kit.state import state_of

#: What makes a pool another one than an ordinary one.
_ODD: tuple[dict[str, Any], ...] = (
    {"taints": [{"key": "a", "effect": "NoSchedule"}]},
    {"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]},
    {"bindsToNode": True},
    {"allowMultipleAllocations": True},
)


def views(slices: list[dict[str, Any]], held: list[dict[str, Any]], nodes: list[str]) -> list[tuple[Any, Any]]:
    """Of the pool of each node what is seen at once, and step by step."""
    inventory = facts.inventory([*map(build.node, nodes), *slices, *held])
    world = state_of(inventory, facts.evidence(), features())
    view = View(world.allocated, world.features, lambda driver, each: (driver, each.allow_multiple_allocations), True)
    found = []
    for name in nodes:
        node = inventory.nodes[name]
        (pool,) = gather(world.devices.index, node).pools
        found.append((view.at_once(pool), tuple(seen for seen, _ in view.steps(pool, node))))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_what_looks_alike_at_once_does_so_step_by_step(seed: int) -> None:
    numbers = random.Random(seed)
    nodes, slices, held = [f"n{number}" for number in range(8)], [], []
    for name in nodes:
        amounts = [
            {"capacity": {"memory": {"value": numbers.choice(("1Gi", "2Gi"))}}} if numbers.random() < 0.6 else {}
            for _ in range(numbers.randrange(1, 4))
        ]
        devices = [
            build.device(f"gpu-{place}", attributes={"uuid": f"{name}-{place}"}, **each)
            for place, each in enumerate(amounts)
        ]
        slices.append(build.slice_(name, *devices))
        if numbers.random() < 0.5:
            held.append(build.claim(f"of-{name}", held=[(name, numbers.choice(devices)["name"])]))
    found = views(slices, held, nodes)
    assert all(at_once is not None for at_once, _ in found)
    for (one, ones), (other, others) in combinations(found, 2):
        assert (one == other) == (ones == others)


@pytest.mark.parametrize("odd", _ODD)
def test_devices_with_more_than_attributes_and_capacities_are_met_one_by_one(odd: dict[str, Any]) -> None:
    slices = [
        build.slice_("n1", build.device("gpu-0"), build.device("gpu-1", **odd)),
        build.slice_("n2", build.device("gpu-0")),
    ]
    (of_odd, _), (plain, _) = views(slices, [], ["n1", "n2"])
    assert of_odd is None
    assert plain is not None


def test_so_are_those_of_incomplete_pools_and_of_no_node() -> None:
    part = build.slice_("n1", build.device("gpu-0"))
    part["spec"]["pool"]["resourceSliceCount"] = 2
    shared = build.slice_("n2", build.device("gpu-0"), nodeName=None, allNodes=True)
    assert [at_once for at_once, _ in views([part], [], ["n1"])] == [None]
    assert [at_once for at_once, _ in views([shared], [], ["n2"])] == [None]
