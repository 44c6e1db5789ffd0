"""The whole search of a small cluster: every distribution of pods over nodes, every order on each node.

What a node says of a pod whoever else is in the cluster: a part of the default profile.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, product
from typing import Final

import msgspec

from kubectl_dra.diagnosis.capacity.filling import Filled, focused, with_copies
from kubectl_dra.diagnosis.capacity.movable import Movable, by_node
from kubectl_dra.diagnosis.capacity.shape import WaitingCopy
from kubectl_dra.diagnosis.pod.placing import added, as_claimed
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.diagnosis.whatif.displaced import again
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.attempt import attempt as engine_attempt
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.scheduler.framework import Plugin
from kubectl_dra.scheduler.plugins.dynamic_resources import DynamicResources, devices_on
from kubectl_dra.scheduler.plugins.node_affinity import NodeAffinity
from kubectl_dra.scheduler.plugins.node_name import NodeName
from kubectl_dra.scheduler.plugins.node_ports import NodePorts
from kubectl_dra.scheduler.plugins.node_resources_fit import NodeResourcesFit
from kubectl_dra.scheduler.plugins.node_unschedulable import NodeUnschedulable
from kubectl_dra.scheduler.plugins.taint_toleration import TaintToleration
from kubectl_dra.scheduler.snapshot import Snapshot

_MOST_TRIALS: Final = 4000
_MOST_COPIES: Final = 64
#: Whom a node admits at all.
ADMITTING: Final[tuple[Plugin, ...]] = (NodeName(), NodeUnschedulable(), TaintToleration(), NodeAffinity())
#: The same with what it has room for; all other plugins only keep more pods away.
_OF_THE_NODE: Final[tuple[Plugin, ...]] = (*ADMITTING, NodePorts(), NodeResourcesFit(), DynamicResources())


class OutOfTrialsError(Exception):
    """Raised when the cluster turns out to be not so small."""


class Packing:
    """Every way to distribute pods over the nodes. Pods of one kind are interchangeable once they move."""

    def __init__(self, filled: Filled, pods: Sequence[Movable]) -> None:
        self._filled = filled
        self._waiting = filled.waiting
        self._pods = pods
        self._trials = 0
        self._held: dict[Hashable, bool] = {}

    def most(self) -> int | None:
        """The most copies that fit; None if there are too many ways."""
        best = self._filled.copies
        try:
            for moving in chain.from_iterable(combinations(self._pods, size) for size in range(1, len(self._pods) + 1)):
                best = max(best, self._with(moving))
        except OutOfTrialsError:
            return None
        return best

    def _with(self, moving: Sequence[Movable]) -> int:
        """The most copies if exactly these pods move."""
        kinds = list(dict.fromkeys(each.kind for each in moving))
        models = {kind: next(each for each in moving if each.kind == kind) for kind in kinds}
        wanted = tuple(sum(each.kind == kind for each in moving) for kind in kinds)
        change = without_pods({each.key for each in moving})
        state = self._waiting.state.changed(change(self._waiting.state.inventory))
        staying = frozenset(each.key for each in self._pods) - {each.key for each in moving}
        nodes = list(state.inventory.nodes)
        own = by_node([each for each in self._pods if each.key in staying])
        table: dict[tuple[int, ...], int] = {tuple(0 for _ in kinds): 0}
        for name in nodes:
            fixed = frozenset(each.key for each in own.get(name, ()))
            small = focused(replace(self._waiting, state=state), [name])
            options = self._options(small, (name, fixed), [models[kind] for kind in kinds], wanted)
            table = _combined(table, options, wanted)
        return table.get(wanted, -1)

    def _options(
        self, small: WaitingCopy, place: Hashable, models: Sequence[Movable], wanted: Sequence[int]
    ) -> Mapping[tuple[int, ...], int]:
        """For each number of pods of each kind that the node can take: the most copies beside them."""
        found = {}
        for numbers in product(*(range(number + 1) for number in wanted)):
            copies = -1
            while copies < _MOST_COPIES and self._holds(small, place, models, (*numbers, copies + 1)):
                copies += 1
            if copies >= 0:
                found[numbers] = copies
        return found

    def _holds(self, small: WaitingCopy, place: Hashable, models: Sequence[Movable], numbers: tuple[int, ...]) -> bool:
        """Whether there is an order in which the node takes all of them."""
        key = (place, tuple(model.kind for model in models), numbers)
        if key not in self._held:
            self._held[key] = any(True for _ in self._orders(small, models, numbers, 0))
        return self._held[key]

    def _orders(
        self, small: WaitingCopy, models: Sequence[Movable], numbers: tuple[int, ...], depth: int
    ) -> Iterator[bool]:
        if not any(numbers):
            yield True
            return
        for index, number in enumerate(numbers):
            if not number:
                continue
            following = self._place(small, models[index] if index < len(models) else None, depth)
            if following is not None:
                left = tuple(n - (i == index) for i, n in enumerate(numbers))
                yield from self._orders(following, models, left, depth + 1)

    def _place(self, small: WaitingCopy, model: Movable | None, depth: int) -> WaitingCopy | None:
        """The node after one more pod, or copy, came to it; None if it does not fit."""
        self._trials += 1
        if self._trials > _MOST_TRIALS:
            raise OutOfTrialsError
        waiting = small if model is None else _as_waiting(small, model, depth)
        if waiting is None:
            return None
        (name,) = waiting.state.inventory.nodes
        tried = engine_attempt(Snapshot(waiting.state), waiting.pod, _OF_THE_NODE)
        if name not in tried.feasible:
            return None
        found = devices_on(tried.cycle, name)
        searched = found.searched if found is not None else None
        node = waiting.state.inventory.nodes[name]
        inventory = with_copies(waiting.state.inventory, waiting, [(node, searched)], depth)
        return replace(small, state=waiting.state.changed(inventory))


def _as_waiting(small: WaitingCopy, model: Movable, depth: int) -> WaitingCopy | None:
    """The same node with a pod of this kind waiting."""
    pod = again(model.pod)
    own = pod.metadata
    meta = msgspec.structs.replace(own, name=f"{own.name}-again-{depth}", uid=f"{own.uid}-{depth}")
    pod = msgspec.structs.replace(pod, metadata=meta)
    inventory = small.state.inventory
    namespace = own.namespace
    claims = {claim.metadata.name: claim for claim in model.claims}
    templates = {**dict(as_claimed(model.pod, claims.get)), **inventory.templates}
    made = added(inventory.replace(templates=templates), pod, extended=small.state.features.extended_resource)
    state = small.state.changed(made)
    key = Key(namespace, meta.name)
    entries = resolve(state.inventory, state.evidence, state.features, state.inventory.pods[key])
    if any(entry.problem is not None for entry in entries):
        return None
    return WaitingCopy(state, key, tuple(entry.claim for entry in entries if entry.claim is not None))


def _combined(
    table: Mapping[tuple[int, ...], int], options: Mapping[tuple[int, ...], int], wanted: Sequence[int]
) -> dict[tuple[int, ...], int]:
    """The most copies for each number of pods placed so far, with one more node."""
    found: dict[tuple[int, ...], int] = {}
    for placed, copies in table.items():
        for numbers, more in options.items():
            total = tuple(a + b for a, b in zip(placed, numbers, strict=True))
            if all(a <= b for a, b in zip(total, wanted, strict=True)):
                found[total] = max(found.get(total, -1), copies + more)
    return found
