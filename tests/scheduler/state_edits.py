"""Random changes of a cluster that is known already: each makes another part of its Inventory a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.model.core import Node, Taint
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.scheduler.snapshot import Snapshot
from tests.differential.whole.nodes import RACKS, ZONE, ZONES

K = TypeVar("K")
V = TypeVar("V")


def edited(snapshot: Snapshot, random: Random) -> tuple[Snapshot, str]:
    """The cluster with one change, as a what-if or as it is read later, and the name of the change."""
    name = random.choice(sorted(EDITS))
    state = snapshot.state
    inventory = EDITS[name](state.inventory, random)
    later = state.later(inventory, state.evidence) if random.random() < 0.5 else state.changed(inventory)
    return replace(snapshot, state=later), name


def _one(objects: Iterable[K], random: Random) -> K | None:
    return random.choice(known) if (known := list(objects)) else None


def _without(objects: Mapping[K, V], random: Random) -> Mapping[K, V]:
    gone = _one(objects, random)
    return {key: value for key, value in objects.items() if key != gone}


def _of_node(change: Callable[[Node, Random], Node]) -> Callable[[Inventory, Random], Inventory]:
    def edit(inventory: Inventory, random: Random) -> Inventory:
        name = _one(inventory.nodes, random)
        if name is None:
            return inventory
        return inventory.replace(nodes={**inventory.nodes, name: change(inventory.nodes[name], random)})

    return edit


def _labelled(node: Node, random: Random) -> Node:
    key, values = random.choice(((ZONE, ZONES), ("rack", RACKS)))
    labels = {**node.metadata.labels, key: random.choice(values)}
    return replace(node, metadata=replace(node.metadata, labels=labels))


def _tainted(node: Node, _random: Random) -> Node:
    return replace(node, spec=replace(node.spec, taints=(Taint("dedicated", "batch", "NoSchedule"),)))


def _emptied(inventory: Inventory, random: Random) -> Inventory:
    placed = _one((key for key, pod in inventory.pods.items() if pod.spec.node_name), random)
    return changes.without_pods([placed])(inventory) if placed is not None else inventory


def _freed(inventory: Inventory, random: Random) -> Inventory:
    held = _one((key for key, claim in inventory.claims.items() if claim.status.allocation is not None), random)
    if held is None:
        return inventory
    claim = inventory.claims[held]
    free = replace(claim, status=replace(claim.status, allocation=None, reserved_for=()))
    return inventory.replace(claims={**inventory.claims, held: free})


def _without_part(part: str) -> Callable[[Inventory, Random], Inventory]:
    def edit(inventory: Inventory, random: Random) -> Inventory:
        less: dict[str, Any] = {part: _without(getattr(inventory, part), random)}
        return inventory.replace(**less)

    return edit


EDITS: Final[dict[str, Callable[[Inventory, Random], Inventory]]] = {
    "a node is labelled anew": _of_node(_labelled),
    "a node is tainted": _of_node(_tainted),
    "a pod goes": _emptied,
    "a claim is freed": _freed,
    **{f"one of the {part} goes": _without_part(part) for part in ("slices", "classes", "taint_rules")},
}
