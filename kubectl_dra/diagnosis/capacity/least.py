"""Sets of pods of one node that make room there, and how few restarts can be enough at all.

Bare pods whose end makes room for copies: nothing makes them again, so they are never among the restarts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from kubectl_dra.diagnosis.capacity.filling import Filled, fill_nodes, focused
from kubectl_dra.diagnosis.capacity.movable import Movable, bare, by_node
from kubectl_dra.diagnosis.capacity.records import Deletion
from kubectl_dra.diagnosis.capacity.shape import device_classes
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.usage import NodeUsage, pod_usage

#: Sets of so many pods of one node are looked at, and of one node no more pods than these.
MOST_AT_ONCE: Final = 3
_MOST_PODS: Final = 16
#: Trials on nodes.
_MOST_TRIALS: Final = 1500
_NEVER: Final = 1 << 20
_TOLD: Final = 3
#: Trials on nodes: a few nodes are enough to name some.
_TRIALS: Final = 60


@dataclass(frozen=True, slots=True)
class PodsToMove:
    """Pods of one node without which it takes ``gain`` more copies."""

    node: str
    pods: tuple[Movable, ...]
    gain: int


class Sets:
    """Sets of pods of one node that make room there, the smallest first; nodes alike are looked at once.

    ``emptied``: as if nothing else ran on the node than pods that hold devices and may move.
    """

    def __init__(
        self, filled: Filled, pods: Sequence[Movable], *, emptied: bool = False, most: int = _MOST_TRIALS
    ) -> None:
        self.filled = filled
        self.emptied = emptied
        self.pods = by_node(pods)
        self.exhausted = False
        self._trials, self._most = 0, most
        self._known: dict[Hashable, list[tuple[tuple[int, ...], int]]] = {}

    def of(self, node: str, size: int) -> Iterator[PodsToMove]:
        """The sets of this size with what each gains; those that gain nothing are left out."""
        pods = self.pods.get(node, ())
        if len(pods) > _MOST_PODS:
            self.exhausted = True
        pods = pods[:_MOST_PODS]
        key = (self._alike(node, pods), size)
        if key not in self._known:
            self._known[key] = list(self._gains(node, pods, size))
        for chosen, gain in self._known[key]:
            yield PodsToMove(node, tuple(pods[index] for index in chosen), gain)

    def _alike(self, node: str, pods: Sequence[Movable]) -> Hashable:
        """Equal for nodes on which the same sets gain the same."""
        waiting = self.filled.waiting
        state = waiting.state
        attempts = (r.searched.attempt for _, r in self.filled.tried.results if r.searched is not None)
        allocating = next(attempts, None)
        number = device_classes(state, allocating, {node: state.inventory.nodes[node]})[node]
        usage = state.inventory.usage.get(node)
        taken = (usage.pods, tuple(sorted(usage.requests.items()))) if usage is not None else ()
        sizes = tuple(sorted((k, str(q)) for k, q in state.inventory.nodes[node].status.allocatable.items()))
        held = tuple((each.kind, tuple(device for _, _, device in each.devices)) for each in pods)
        spec = state.inventory.nodes[node].spec
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
            if self._trials >= self._most:
                self.exhausted = True
                return
            self._trials += 1
            gain = self._copies(node, [pods[index] for index in chosen]) - now
            if gain > 0:
                yield chosen, gain

    def _copies(self, node: str, pods: Sequence[Movable]) -> int:
        small = focused(self.filled.waiting, [node])
        inventory = small.state.inventory
        gone = {each.key: each.pod for each in pods}
        if self.emptied:
            inventory = inventory.replace(usage={node: self._of_movable(node)})
        change = without_pods(gone.keys())
        after: Inventory = change(inventory.replace(pods={**inventory.pods, **gone}))
        return fill_nodes(replace(small, state=small.state.changed(after)), explained=False).counts[node]

    def _of_movable(self, node: str) -> NodeUsage:
        total = NodeUsage()
        for each in self.pods.get(node, ()):
            total = total.plus(pod_usage(each.pod))
        return total

    def have_company(self) -> bool:
        """Whether on a node of these pods there is anything else that takes of it."""
        usage = self.filled.waiting.state.inventory.usage
        return any(usage[node].pods > len(pods) for node, pods in self.pods.items() if node in usage)


class LeastMoves:
    """No fewer restarts than this can make room for so many more copies."""

    def __init__(self, sets: Sets) -> None:
        # Others may be in the way as well: who counts on nothing but theirs leaving is never wrong.
        company = sets.have_company()
        self._sets = (
            Sets(sets.filled, [pod for pods in sets.pods.values() for pod in pods], emptied=True) if company else sets
        )
        self._exact = not company
        self.stuck = False
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
        if more == 1 and best[1] == 1 and self.stuck and self._exact:
            # Whatever pod makes room alone finds no node unless another one leaves as well.
            return 2
        return min(best[more], _NEVER)

    def _cost(self, node: str, gain: int) -> int:
        key = (node, gain)
        if key not in self._least:
            sizes = (
                size
                for size in range(1, MOST_AT_ONCE + 1)
                if any(each.gain >= gain for each in self._sets.of(node, size))
            )
            beyond = min(len(self._sets.pods[node]), MOST_AT_ONCE) + 1
            self._least[key] = next(sizes, beyond if len(self._sets.pods[node]) >= beyond else _NEVER)
        return self._least[key]


def deletions(filled: Filled) -> tuple[Deletion, ...]:
    """Of each node the fewest bare pods that stand in the way of a copy; of all nodes those with the fewest devices."""
    found = sorted(_of_nodes(filled), key=lambda each: (len(each[1].pods), each[0], each[1].node))
    return tuple(deletion for _, deletion in found[:_TOLD])


def _of_nodes(filled: Filled) -> Iterator[tuple[int, Deletion]]:
    """With the number of devices that go free."""
    sets = Sets(filled, bare(filled.waiting.state), most=_TRIALS)
    for node in sets.pods:
        if sets.exhausted:
            return
        sizes = ([*sets.of(node, size)] for size in range(1, MOST_AT_ONCE + 1))
        smallest = next(filter(None, sizes), [])
        counted = [(sum(len(pod.devices) for pod in each.pods), each) for each in smallest]
        if counted:
            devices, chosen = min(counted, key=lambda item: item[0])
            pods = tuple(ObjectRef.of("Pod", pod.key) for pod in chosen.pods)
            yield devices, Deletion(pods, node, chosen.gain)
