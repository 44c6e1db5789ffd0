"""Pods of one node restarted while nodes are cordoned: where their controllers' new pods go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.movable import Movable
from kubectl_dra.diagnosis.capacity.records import Move
from kubectl_dra.diagnosis.whatif.displaced import LeavesBy, Leaving, displace
from kubectl_dra.diagnosis.whatif.records import PodFate
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.inventory import Inventory

#: More nodes nobody cordons to restart a pod in its place.
_CORDONED: Final = 8


#: Restarts in their order; those of one turn at the same time.
Order = tuple[tuple[Move, ...], ...]


@dataclass(frozen=True, slots=True)
class Made:
    """The cluster after restarts, while some found no node: ``stuck`` if that is sure."""

    world: ClusterState
    moves: tuple[Move, ...] = ()
    all_run: bool = False
    stuck: bool = False


def restarted(world: ClusterState, pods: Sequence[Movable], closed: tuple[str, ...]) -> Made:
    """Pods of one node are restarted while nodes are closed, the most important first."""
    leaving = Leaving()
    leaving.add((each.key for each in pods), LeavesBy.TAINT)
    after, displaced = displace(world.changed(_cordoned(world.inventory, closed)), leaving)
    fates = {each.fate for each in displaced}
    if fates != {PodFate.MOVES}:
        return Made(after, stuck=fates <= {PodFate.MOVES, PodFate.PENDING})
    before = world.inventory.nodes
    nodes = {name: before[name] if name in closed else node for name, node in after.inventory.nodes.items()}
    priority = {each.key: each.pod.spec.priority or 0 for each in pods}
    placed = sorted(displaced, key=lambda each: (-priority[each.pod.key], each.pod.key))
    made = tuple(
        Move(each.pod, each.from_node, each.node, each.equal, each.because, each.devices, closed) for each in placed
    )
    return Made(after.changed(after.inventory.replace(nodes=nodes)), made, all_run=True)


def _cordoned(inventory: Inventory, names: Sequence[str]) -> Inventory:
    nodes = dict(inventory.nodes)
    for name in names:
        nodes[name] = with_spec(nodes[name], unschedulable=True)
    return inventory.replace(nodes=nodes)


def elsewhere(world: ClusterState, node: str) -> tuple[str, ...] | None:
    """The nodes to cordon so that a pod with devices of its own stays on ``node``; None where they are too many."""
    inventory = world.inventory
    everywhere = bool(inventory.slices_by_node.get(""))
    others = [name for name in inventory.nodes if name != node and (everywhere or inventory.slices_by_node.get(name))]
    if len(others) > _CORDONED:
        return None
    return tuple(name for name in others if not inventory.nodes[name].spec.unschedulable)
