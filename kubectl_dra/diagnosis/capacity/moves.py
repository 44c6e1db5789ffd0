"""The smallest set of pods whose restart makes room for more copies, each step tried with the scheduler's own search.

A node is cordoned, some of its pods are deleted, their controllers make them again, the scheduler puts them elsewhere,
and the node is used again. Whoever wants one more copy somewhere has to take away from that node at least as many pods
as make room there, wherever they go: that is the proof that a set is the smallest one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.filling import Filled, fill, fill_nodes, focused
from kubectl_dra.diagnosis.capacity.movable import Movable, by_node, movable
from kubectl_dra.diagnosis.capacity.records import Move, Moves
from kubectl_dra.diagnosis.capacity.shape import Shape, device_classes, waiting
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.diagnosis.whatif.displaced import By, Leaving, displace
from kubectl_dra.diagnosis.whatif.records import Displaced, Fate
from kubectl_dra.model.inventory import Inventory

#: Sets of so many pods of one node are looked at, and of one node no more pods than these.
_MOST_AT_ONCE: Final = 3
_MOST_PODS: Final = 16
#: Trials on a node, and tries of a whole set on the whole cluster.
_MOST_TRIALS: Final = 1500
_MOST_TRIES: Final = 24
_FEW_NODES: Final = 50


@dataclass(frozen=True, slots=True)
class _Set:
    """Pods of one node without which it takes ``gain`` more copies."""

    node: str
    pods: tuple[Movable, ...]
    gain: int


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
    sets = _Sets(filled, pods)
    bounds = _LeastMoves(sets)
    for more in range(1, upto + 1):
        step = _Step(world, shape, filled, now + more).find(sets)
        if step is None:
            return tuple(found)
        world, filled = step.world, step.filled
        if more < upto:
            sets = _Sets(filled, movable(filled.waiting.world))
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


# --- how few can be enough ------------------------------------------------------------------------------------------


class _Sets:
    """Sets of pods of one node that make room there, the smallest first; nodes alike are looked at once."""

    def __init__(self, filled: Filled, pods: Sequence[Movable]) -> None:
        self.filled = filled
        self.pods = by_node(pods)
        self.exhausted = False
        self._trials = 0
        self._known: dict[Hashable, list[tuple[tuple[int, ...], int]]] = {}

    def of(self, node: str, size: int) -> Iterator[_Set]:
        """The sets of this size with what each gains; those that gain nothing are left out."""
        pods = self.pods.get(node, ())
        if len(pods) > _MOST_PODS:
            self.exhausted = True
        pods = pods[:_MOST_PODS]
        key = (self._alike(node, pods), size)
        if key not in self._known:
            self._known[key] = list(self._gains(node, pods, size))
        for chosen, gain in self._known[key]:
            yield _Set(node, tuple(pods[index] for index in chosen), gain)

    def _alike(self, node: str, pods: Sequence[Movable]) -> Hashable:
        """Equal for nodes on which the same sets gain the same."""
        waiting = self.filled.waiting
        world = waiting.world
        attempts = (r.searched.attempt for _, r in self.filled.tried.results if r.searched is not None)
        allocating = next(attempts, None)
        number = device_classes(world, allocating, {node: world.inventory.nodes[node]})[node]
        usage = world.inventory.usage.get(node)
        taken = (usage.pods, tuple(sorted(usage.requests.items()))) if usage is not None else ()
        sizes = tuple(sorted((k, str(q)) for k, q in world.inventory.nodes[node].status.allocatable.items()))
        held = tuple((each.kind, tuple(device for _, _, device in each.devices)) for each in pods)
        spec = world.inventory.nodes[node].spec
        return number, taken, sizes, held, spec.unschedulable, repr(spec.taints)

    def _gains(self, node: str, pods: Sequence[Movable], size: int) -> Iterator[tuple[tuple[int, ...], int]]:
        now = self.filled.counts.get(node, 0)
        tried: set[Hashable] = set()
        for chosen in combinations(range(len(pods)), size):
            # Pods of one kind that hold the same number of devices differ in which ones: all are tried.
            key = tuple(sorted((repr(pods[i].kind), pods[i].devices) for i in chosen))
            if key in tried:
                continue
            tried.add(key)
            if self._trials >= _MOST_TRIALS:
                self.exhausted = True
                return
            self._trials += 1
            gain = self._copies(node, [pods[index] for index in chosen]) - now
            if gain > 0:
                yield chosen, gain

    def _copies(self, node: str, pods: Sequence[Movable]) -> int:
        small = focused(self.filled.waiting, [node])
        inventory = small.world.inventory
        gone = {each.key: each.pod for each in pods}
        change = without_pods(gone.keys())
        after = change(inventory.replace(pods={**inventory.pods, **gone}))
        return fill_nodes(replace(small, world=small.world.changed(after)), explained=False).counts[node]


class _LeastMoves:
    """No fewer restarts than this can make room for so many more copies."""

    def __init__(self, sets: _Sets) -> None:
        self._sets = sets
        self._least: dict[tuple[str, int], int] = {}

    def of(self, more: int) -> int:
        """A bound from below: every node that takes more copies loses at least the pods that stand in their way."""
        best = [0] + [_NEVER] * more
        for node in self._sets.pods:
            costs = [self._cost(node, gain) for gain in range(1, more + 1)]
            for total in range(more, 0, -1):
                for gain in range(1, total + 1):
                    best[total] = min(best[total], best[total - gain] + costs[gain - 1])
        if self._sets.exhausted:
            return 1
        return min(best[more], _NEVER)

    def _cost(self, node: str, gain: int) -> int:
        key = (node, gain)
        if key not in self._least:
            sizes = (
                size
                for size in range(1, _MOST_AT_ONCE + 1)
                if any(each.gain >= gain for each in self._sets.of(node, size))
            )
            beyond = min(len(self._sets.pods[node]), _MOST_AT_ONCE) + 1
            self._least[key] = next(sizes, beyond if len(self._sets.pods[node]) >= beyond else _NEVER)
        return self._least[key]


_NEVER: Final = 1 << 20


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

    def find(self, sets: _Sets) -> _Found | None:
        """The smallest set that works; of equally small ones that which holds the fewest devices."""
        for size in range(1, _MOST_AT_ONCE + 1):
            candidates = [each for node in sets.pods for each in sets.of(node, size)]
            candidates.sort(key=lambda each: (sum(len(pod.devices) for pod in each.pods), each.node))
            for each in candidates:
                if self._tries >= _MOST_TRIES:
                    return None
                found = self._try(each)
                if found is not None:
                    return found
        return None

    def _try(self, chosen: _Set) -> _Found | None:
        """First with only the node itself out of the way, then with all that have room for copies."""
        roomy = [name for name, count in self.filled.counts.items() if count and name != chosen.node]
        ways: list[tuple[str, ...]] = [(chosen.node,)]
        if roomy and len(roomy) <= _FEW_NODES:
            ways.append((chosen.node, *roomy))
        for cordoned in ways:
            self._tries += 1
            found = self._moved(chosen, cordoned)
            if found is not None:
                return found
        return None

    def _moved(self, chosen: _Set, cordoned: Sequence[str]) -> _Found | None:
        world = self.world.changed(_cordoned(self.world.inventory, cordoned))
        leaving = Leaving()
        leaving.add((each.key for each in chosen.pods), By.TAINT)
        after, displaced = displace(world, leaving)
        if any(each.fate is not Fate.MOVES for each in displaced):
            return None
        before = self.world.inventory.nodes
        nodes = {name: before[name] if name in cordoned else node for name, node in after.inventory.nodes.items()}
        after = after.changed(after.inventory.replace(nodes=nodes))
        filled = fill(waiting(after, self.shape))
        if filled.copies < self.wanted:
            return None
        return _Found(after, filled, tuple(map(_move, displaced)), tuple(cordoned))


def _move(each: Displaced) -> Move:
    return Move(each.pod, each.from_node, each.node, each.equal, each.devices)


def _cordoned(inventory: Inventory, names: Sequence[str]) -> Inventory:
    nodes = dict(inventory.nodes)
    for name in names:
        spec = msgspec.structs.replace(nodes[name].spec, unschedulable=True)
        nodes[name] = msgspec.structs.replace(nodes[name], spec=spec)
    return inventory.replace(nodes=nodes)
