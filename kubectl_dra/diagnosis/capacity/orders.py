"""Fewer restarts for several copies at once: orders of single restarts, tried level by level, the roomiest kept.

A pod is restarted away from its node, or in its place while the other nodes are cordoned: the scheduler then takes the
first devices of the node that are free, which may leave the rest of it in one piece.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.filling import Filled, fill
from kubectl_dra.diagnosis.capacity.movable import Movable
from kubectl_dra.diagnosis.capacity.restarts import Order, elsewhere, restarted
from kubectl_dra.diagnosis.capacity.shape import Shape, waiting
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.claims import claims_of

_PODS: Final = 12
_NODES: Final = 12
_TRIES: Final = 120
#: States of a level from which the next one is tried.
_KEPT: Final = 6
_MOST: Final = 6


@dataclass(frozen=True, slots=True)
class _State:
    world: ClusterState
    copies: int
    order: Order = ()


def fewest(world: ClusterState, shape: Shape, filled: Filled, pods: Sequence[Movable], upto: int) -> dict[int, Order]:
    """For one, two … up to ``upto`` more copies the fewest restarts found, none of a pod twice.

    On large clusters it is not searched.
    """
    if len(pods) > _PODS or len(world.inventory.nodes) > _NODES:
        return {}
    found: dict[int, Order] = {}
    level, seen, tries = [_State(world, filled.copies)], set[Hashable](), 0
    for _ in range(min(len(pods), _MOST)):
        following: list[_State] = []
        for state, pod, closed in _next(level, pods):
            tries += 1
            if tries > _TRIES:
                return found
            made = restarted(state.world, [pod], closed)
            key = _placed(made.world, pods)
            if not made.all_run or key in seen:
                continue
            seen.add(key)
            copies = fill(waiting(made.world, shape)).copies
            following.append(_State(made.world, copies, (*state.order, made.moves)))
            for more in range(1, min(copies - filled.copies, upto) + 1):
                found.setdefault(more, following[-1].order)
        if upto in found:
            return found
        level = sorted(following, key=lambda each: -each.copies)[:_KEPT]
    return found


def _next(level: Sequence[_State], pods: Sequence[Movable]) -> Iterator[tuple[_State, Movable, tuple[str, ...]]]:
    """Each state with each pod that has not moved yet, away from its node or within it."""
    for state in level:
        moved = {move.pod.key for turn in state.order for move in turn}
        for pod in pods:
            if pod.key not in moved:
                yield state, pod, (pod.node,)
                others = elsewhere(state.world, pod.node)
                if others is not None:
                    yield state, pod, others


def _placed(world: ClusterState, pods: Sequence[Movable]) -> Hashable:
    """Where pods are, whichever of those of a kind is where."""
    return tuple(sorted((repr(each.kind), _holds(world, each.key)) for each in pods))


def _holds(world: ClusterState, pod: Key) -> tuple[str, ...]:
    found = world.inventory.pods.get(pod)
    claims = claims_of(found, world.inventory) if found is not None else ()
    return tuple(sorted(str(device) for claim in claims for device in devices_of(claim)))
