"""Facts of a snapshot that follow from an earlier state are those of a state that nothing came before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import whatif
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.source import load
from kubectl_dra.source.spec import DEMO, SourceSpec
from tests.kit.state import state_of

INVENTORY, EVIDENCE = load(SourceSpec(DEMO))
PLACED: Final = [key for key, pod in INVENTORY.pods.items() if pod.spec.node_name]
NODE: Final = next(iter(INVENTORY.nodes))


def _with_node(inventory: Inventory) -> Inventory:
    (edit, *_) = whatif.like(inventory, NODE, free=True).edits("new")
    return inventory.replace(nodes={**inventory.nodes, "new": edit.record})


def _new_node_first(inventory: Inventory) -> Inventory:
    return inventory.replace(nodes={"first": inventory.nodes[NODE], **inventory.nodes})


def _relabelled(inventory: Inventory) -> Inventory:
    node = inventory.nodes[NODE]
    other = msgspec.structs.replace(node, metadata=msgspec.structs.replace(node.metadata, labels={"zone": "other"}))
    return inventory.replace(nodes={**inventory.nodes, NODE: other})


def _without_node(inventory: Inventory) -> Inventory:
    return inventory.replace(nodes={name: node for name, node in inventory.nodes.items() if name != NODE})


CHANGES: Final[dict[str, Callable[[Inventory], Inventory]]] = {
    "a pod goes": changes.without_pods(PLACED[:1]),
    "several pods go": changes.without_pods(PLACED),
    "a node comes": _with_node,
    "a node comes and pods go": lambda inventory: changes.without_pods(PLACED[:2])(_with_node(inventory)),
    "a node comes before all others": _new_node_first,
    "a node is labelled anew": _relabelled,
    "a node goes": _without_node,
}


def _facts(state: ClusterState) -> tuple[object, ...]:
    seen = Snapshot(state)
    placed = sorted((repr(each.shape), sorted(each.nodes.items())) for each in seen.placed if each.nodes)
    own = [list(state.devices.index.own(name)) for name in state.inventory.nodes]
    return list(seen.nodes.items()), placed, seen.anti_affinity, seen.nominated, own, state.devices.index.drivers


@pytest.mark.parametrize("name", CHANGES)
def test_it_is_as_if_nothing_had_been_before(name: str) -> None:
    before = state_of(INVENTORY, EVIDENCE)
    _facts(before)
    inventory = CHANGES[name](INVENTORY)
    assert _facts(before.changed(inventory)) == _facts(state_of(inventory, EVIDENCE))


def test_slices_that_come_and_go_are_found_in_their_order() -> None:
    before = state_of(INVENTORY, EVIDENCE)
    _facts(before)
    names = list(INVENTORY.slices)
    more = {**INVENTORY.slices, "copy": msgspec.structs.replace(INVENTORY.slices[names[0]])}
    for slices in (
        more,
        {name: INVENTORY.slices[name] for name in names[1:]},
        dict(reversed(INVENTORY.slices.items())),
    ):
        inventory = INVENTORY.replace(slices=slices)
        after, alone = before.changed(inventory), state_of(inventory, EVIDENCE)
        assert _facts(after) == _facts(alone)
        pools = [after.devices.index.of_pool(pool) for pool in alone.pools]
        assert pools == [alone.devices.index.of_pool(pool) for pool in alone.pools]
