"""The smallest set of pods whose restart makes room for more copies, each step tried with the scheduler's own search.

A node is cordoned, some of its pods are deleted, their controllers make them again, the scheduler puts them elsewhere,
and the node is used again. Where a pod finds no other node, another one is moved out of its way before. Whoever wants
one more copy somewhere has to take away from that node at least as many pods as make room there, wherever they go (and
where none of them finds a node, others as well): that is the proof that a set is the smallest one.

Pods of one node restarted while nodes are cordoned: where their controllers' new pods go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.filling import Filled, fill
from kubectl_dra.diagnosis.capacity.least import MOST_AT_ONCE, LeastMoves, PodsToMove, Sets
from kubectl_dra.diagnosis.capacity.movable import Movable, movable
from kubectl_dra.diagnosis.capacity.records import Move, Moves
from kubectl_dra.diagnosis.capacity.shape import Shape, waiting
from kubectl_dra.diagnosis.whatif.displaced import LeavesBy, Leaving, displace
from kubectl_dra.diagnosis.whatif.records import PodFate
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.scheduler.claims import claims_of

#: Tries of a whole set on the whole cluster.
_MOST_TRIES: Final = 32
_FEW_NODES: Final = 50
_PODS: Final = 12
_NODES: Final = 12
_TRIES: Final = 120
#: States of a level from which the next one is tried.
_KEPT: Final = 6
_MOST: Final = 6
#: More nodes nobody cordons to restart a pod in its place.
_CORDONED: Final = 8

#: Restarts in their order; those of one turn at the same time.
Order = tuple[tuple[Move, ...], ...]


def moves(state: ClusterState, shape: Shape, filled: Filled, pods: Sequence[Movable], upto: int) -> tuple[Moves, ...]:
    """For one, two … up to ``upto`` more copies the pods to restart; fewer where no way was found.

    ``pods`` are those that may move.
    """
    if upto < 1:
        return ()
    bounds = LeastMoves(Sets(filled, pods))
    found = dict(_step_by_step(state, shape, filled, pods, upto, bounds))
    if any(_length(found.get(more, ())) != bounds.of(more) for more in range(1, upto + 1)):
        for more, order in fewest(state, shape, filled, pods, upto).items():
            if more not in found or _length(order) < _length(found[more]):
                found[more] = order
    return tuple(_told(more, found[more], bounds.of(more)) for more in sorted(found))


def _length(order: Order) -> int:
    return sum(map(len, order))


def _told(more: int, order: Order, at_least: int) -> Moves:
    made = tuple(msgspec.structs.replace(move, turn=number) for number, turn in enumerate(order) for move in turn)
    nodes = tuple(dict.fromkeys(name for move in made for name in move.closed))
    return Moves(more, made, nodes, len(made) <= at_least, min(at_least, len(made)))


def _step_by_step(
    state: ClusterState, shape: Shape, filled: Filled, pods: Sequence[Movable], upto: int, bounds: LeastMoves
) -> Iterator[tuple[int, Order]]:
    """For each number of copies the restarts for one less, and those that make room for one more then."""
    done: Order = ()
    start, sets = filled.copies, Sets(filled, pods)
    for more in range(1, upto + 1):
        if filled.copies >= start + more:
            yield more, done  # a step before has made room for several
            continue
        search = _Step(state, shape, filled, start + more)
        step = search.find(sets)
        if step is None:
            return
        if more == 1:
            bounds.stuck = search.stuck
        state, filled, done = step.state, step.filled, (*done, *step.order)
        sets = Sets(filled, movable(filled.waiting.state))
        yield more, done


@dataclass(frozen=True, slots=True)
class _Found:
    state: ClusterState
    filled: Filled
    order: Order


@dataclass
class _Step:
    """The search for one set of pods after whose restart at least ``wanted`` copies fit in all."""

    state: ClusterState
    shape: Shape
    filled: Filled
    wanted: int
    _tries: int = field(default=0, init=False)
    _stuck: bool = field(default=True, init=False)

    @property
    def stuck(self) -> bool:
        """Whether none of the pods whose restart alone would make room finds another node by itself."""
        return self._stuck and self._tries < _MOST_TRIES

    def find(self, sets: Sets) -> _Found | None:
        """The smallest set that works; of equally small ones that which holds the fewest devices."""
        before: list[PodsToMove] = []
        for size in range(1, MOST_AT_ONCE + 1):
            candidates = [each for node in sets.pods for each in sets.of(node, size)]
            candidates.sort(key=lambda each: (sum(len(pod.devices) for pod in each.pods), each.node))
            tries: list[tuple[Callable[[PodsToMove, Sets], _Found | None], list[PodsToMove]]]
            tries = [(self._try, candidates), (self._chained, before)]
            for tried, each in ((tried, each) for tried, chosen in tries for each in chosen):
                if self._tries >= _MOST_TRIES:
                    return None
                found = tried(each, sets)
                if found is not None:
                    return found
            before = candidates
        return None

    def _try(self, chosen: PodsToMove, _sets: Sets) -> _Found | None:
        """With only the node itself out of the way, with all that have room for copies, then in its place."""
        roomy = [name for name, count in self.filled.counts.items() if count and name != chosen.node]
        ways: list[tuple[str, ...]] = [(chosen.node,)]
        if roomy and len(roomy) <= _FEW_NODES:
            ways.append((chosen.node, *roomy))
        others = elsewhere(self.state, chosen.node)
        if others is not None:
            ways.append(others)
        elif len(chosen.pods) == 1:
            self._stuck = False  # whether it may be restarted in its place was not tried
        for closed in ways:
            self._tries += 1
            made = restarted(self.state, chosen.pods, closed)
            # A pod of which it can't be said where it goes is not stuck.
            away = closed == (chosen.node,)
            self._stuck = self._stuck and (made.stuck or len(chosen.pods) > 1 or not away)
            found = self._enough(made)
            if found is not None:
                return found
        return None

    def _chained(self, chosen: PodsToMove, sets: Sets) -> _Found | None:
        """One more pod is moved first, off another node, so that all of the set find one."""
        ways = [pod for node, pods in sets.pods.items() if node != chosen.node for pod in pods]
        for first in sorted(ways, key=lambda pod: (len(pod.devices), pod.key)):
            if self._tries >= _MOST_TRIES:
                return None
            self._tries += 1
            made = restarted(self.state, [first], (chosen.node, first.node))
            if made.all_run:
                then = restarted(made.state, chosen.pods, (chosen.node,))
                found = self._enough(then, (made.moves,))
                if found is not None:
                    return found
        return None

    def _enough(self, made: Made, before: Order = ()) -> _Found | None:
        if not made.all_run:
            return None
        filled = fill(waiting(made.state, self.shape))
        return _Found(made.state, filled, (*before, made.moves)) if filled.copies >= self.wanted else None


@dataclass(frozen=True, slots=True)
class _State:
    state: ClusterState
    copies: int
    order: Order = ()


def fewest(state: ClusterState, shape: Shape, filled: Filled, pods: Sequence[Movable], upto: int) -> dict[int, Order]:
    """For one, two … up to ``upto`` more copies the fewest restarts found, none of a pod twice.

    On large clusters it is not searched.
    """
    if len(pods) > _PODS or len(state.inventory.nodes) > _NODES:
        return {}
    found: dict[int, Order] = {}
    level, seen, tries = [_State(state, filled.copies)], set[Hashable](), 0
    for _ in range(min(len(pods), _MOST)):
        following: list[_State] = []
        for reached, pod, closed in _next(level, pods):
            tries += 1
            if tries > _TRIES:
                return found
            made = restarted(reached.state, [pod], closed)
            key = _placed(made.state, pods)
            if not made.all_run or key in seen:
                continue
            seen.add(key)
            copies = fill(waiting(made.state, shape)).copies
            following.append(_State(made.state, copies, (*reached.order, made.moves)))
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
                others = elsewhere(state.state, pod.node)
                if others is not None:
                    yield state, pod, others


def _placed(state: ClusterState, pods: Sequence[Movable]) -> Hashable:
    """Where pods are, whichever of those of a kind is where."""
    return tuple(sorted((repr(each.kind), _holds(state, each.key)) for each in pods))


def _holds(state: ClusterState, pod: Key) -> tuple[str, ...]:
    found = state.inventory.pods.get(pod)
    claims = claims_of(found, state.inventory) if found is not None else ()
    return tuple(sorted(str(device) for claim in claims for device in devices_of(claim)))


@dataclass(frozen=True, slots=True)
class Made:
    """The cluster after restarts, while some found no node: ``stuck`` if that is sure."""

    state: ClusterState
    moves: tuple[Move, ...] = ()
    all_run: bool = False
    stuck: bool = False


def restarted(state: ClusterState, pods: Sequence[Movable], closed: tuple[str, ...]) -> Made:
    """Pods of one node are restarted while nodes are closed, the most important first."""
    leaving = Leaving()
    leaving.add((each.key for each in pods), LeavesBy.TAINT)
    after, displaced = displace(state.changed(_cordoned(state.inventory, closed)), leaving)
    fates = {each.fate for each in displaced}
    if fates != {PodFate.MOVES}:
        return Made(after, stuck=fates <= {PodFate.MOVES, PodFate.PENDING})
    before = state.inventory.nodes
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


def elsewhere(state: ClusterState, node: str) -> tuple[str, ...] | None:
    """The nodes to cordon so that a pod with devices of its own stays on ``node``; None where they are too many."""
    inventory = state.inventory
    everywhere = bool(inventory.slices_by_node.get(""))
    others = [name for name in inventory.nodes if name != node and (everywhere or inventory.slices_by_node.get(name))]
    if len(others) > _CORDONED:
        return None
    return tuple(name for name in others if not inventory.nodes[name].spec.unschedulable)
