"""The smallest set of pods whose restart makes room for more copies, each step tried with the scheduler's own search.

A node is cordoned, some of its pods are deleted, their controllers make them again, the scheduler puts them elsewhere,
and the node is used again. Where a pod finds no other node, another one is moved out of its way before. Whoever wants
one more copy somewhere has to take away from that node at least as many pods as make room there, wherever they go (and
where none of them finds a node, others as well): that is the proof that a set is the smallest one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.filling import Filled, fill
from kubectl_dra.diagnosis.capacity.least import MOST_AT_ONCE, LeastMoves, PodSet, Sets
from kubectl_dra.diagnosis.capacity.movable import Movable, movable
from kubectl_dra.diagnosis.capacity.records import Move, Moves
from kubectl_dra.diagnosis.capacity.shape import Shape, waiting
from kubectl_dra.diagnosis.whatif.displaced import LeavesBy, Leaving, displace
from kubectl_dra.diagnosis.whatif.records import PodFate
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.inventory import Inventory

#: Tries of a whole set on the whole cluster.
_MOST_TRIES: Final = 24
_FEW_NODES: Final = 50


def moves(world: ClusterState, shape: Shape, filled: Filled, pods: Sequence[Movable], upto: int) -> tuple[Moves, ...]:
    """For one, two … up to ``upto`` more copies the pods to restart; fewer where no way was found.

    ``pods`` are those that may move.
    """
    found: list[Moves] = []
    done: tuple[Move, ...] = ()
    nodes: tuple[str, ...] = ()
    now, start = filled.copies, filled
    if upto < 1:
        return ()
    sets = Sets(filled, pods)
    bounds = LeastMoves(sets)
    for more in range(1, upto + 1):
        search = _Step(world, shape, filled, now + more)
        step = search.find(sets)
        if step is None:
            return tuple(found)
        if more == 1:
            bounds.stuck = search.stuck
        world, filled = step.world, step.filled
        if more < upto:
            sets = Sets(filled, movable(filled.waiting.world))
        done, nodes = (*done, *step.moves), tuple(dict.fromkeys((*nodes, *step.nodes)))
        at_least = bounds.of(more)
        found.append(Moves(more, done, nodes, len(done) <= at_least, min(at_least, len(done))))
        if filled.copies > start.copies + more and more < upto:
            # One step may have made room for several.
            extra = min(filled.copies - start.copies, upto)
            for also in range(more + 1, extra + 1):
                at_least = bounds.of(also)
                found.append(Moves(also, done, nodes, len(done) <= at_least, min(at_least, len(done))))
            return tuple(found)
    return tuple(found)


# --- one more -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    world: ClusterState
    filled: Filled
    moves: tuple[Move, ...]
    nodes: tuple[str, ...]


@dataclass
class _Step:
    """The search for one set of pods after whose restart at least ``wanted`` copies fit in all."""

    world: ClusterState
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
        before: list[PodSet] = []
        for size in range(1, MOST_AT_ONCE + 1):
            candidates = [each for node in sets.pods for each in sets.of(node, size)]
            candidates.sort(key=lambda each: (sum(len(pod.devices) for pod in each.pods), each.node))
            tries: list[tuple[Callable[[PodSet, Sets], _Found | None], list[PodSet]]]
            tries = [(self._try, candidates), (self._chained, before)]
            for tried, each in ((tried, each) for tried, chosen in tries for each in chosen):
                if self._tries >= _MOST_TRIES:
                    return None
                found = tried(each, sets)
                if found is not None:
                    return found
            before = candidates
        return None

    def _try(self, chosen: PodSet, _sets: Sets) -> _Found | None:
        """First with only the node itself out of the way, then with all that have room for copies."""
        roomy = [name for name, count in self.filled.counts.items() if count and name != chosen.node]
        ways: list[tuple[str, ...]] = [(chosen.node,)]
        if roomy and len(roomy) <= _FEW_NODES:
            ways.append((chosen.node, *roomy))
        for closed in ways:
            self._tries += 1
            made = _restarted(self.world, chosen.pods, closed)
            # A pod of which it can't be said where it goes is not stuck.
            self._stuck = self._stuck and (made.stuck or len(chosen.pods) > 1 or len(closed) > 1)
            found = self._enough(made)
            if found is not None:
                return found
        return None

    def _chained(self, chosen: PodSet, sets: Sets) -> _Found | None:
        """One more pod is moved first, off another node, so that all of the set find one."""
        ways = [pod for node, pods in sets.pods.items() if node != chosen.node for pod in pods]
        for first in sorted(ways, key=lambda pod: (len(pod.devices), pod.key)):
            if self._tries >= _MOST_TRIES:
                return None
            self._tries += 1
            made = _restarted(self.world, [first], (chosen.node, first.node))
            if made.all_run:
                then = _restarted(made.world, chosen.pods, (chosen.node,))
                found = self._enough(replace(then, moves=(*made.moves, *then.moves)))
                if found is not None:
                    return found
        return None

    def _enough(self, made: _Made) -> _Found | None:
        if not made.all_run:
            return None
        filled = fill(waiting(made.world, self.shape))
        if filled.copies < self.wanted:
            return None
        nodes = dict.fromkeys(name for move in made.moves for name in move.closed)
        return _Found(made.world, filled, made.moves, tuple(nodes))


@dataclass(frozen=True, slots=True)
class _Made:
    """The cluster after restarts, while some found no node: ``stuck`` if that is sure."""

    world: ClusterState
    moves: tuple[Move, ...] = ()
    all_run: bool = False
    stuck: bool = False


def _restarted(world: ClusterState, pods: Sequence[Movable], closed: tuple[str, ...]) -> _Made:
    """Pods of one node are restarted while nodes are closed, the most important first."""
    leaving = Leaving()
    leaving.add((each.key for each in pods), LeavesBy.TAINT)
    after, displaced = displace(world.changed(_cordoned(world.inventory, closed)), leaving)
    fates = {each.fate for each in displaced}
    if fates != {PodFate.MOVES}:
        return _Made(after, stuck=fates <= {PodFate.MOVES, PodFate.PENDING})
    before = world.inventory.nodes
    nodes = {name: before[name] if name in closed else node for name, node in after.inventory.nodes.items()}
    priority = {each.key: each.pod.spec.priority or 0 for each in pods}
    placed = sorted(displaced, key=lambda each: (-priority[each.pod.key], each.pod.key))
    made = tuple(
        Move(each.pod, each.from_node, each.node, each.equal, each.because, each.devices, closed) for each in placed
    )
    return _Made(after.changed(after.inventory.replace(nodes=nodes)), made, all_run=True)


def _cordoned(inventory: Inventory, names: Sequence[str]) -> Inventory:
    nodes = dict(inventory.nodes)
    for name in names:
        nodes[name] = with_spec(nodes[name], unschedulable=True)
    return inventory.replace(nodes=nodes)
