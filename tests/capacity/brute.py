"""The most copies that fit a small cluster if any pods that may move do: every choice, every order, every node."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain, combinations

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.movable import Movable, movable
from kubectl_dra.diagnosis.capacity.shape import Shape, waiting
from kubectl_dra.diagnosis.explain.attempt import attempt
from kubectl_dra.diagnosis.pod.placing import added, bound
from kubectl_dra.diagnosis.records import NodeOutcome
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.diagnosis.whatif.displaced import again
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.inventory import key_of
from kubectl_dra.scheduler.claims import resolve


class TooMany(Exception):
    """Raised where there are more ways than anybody waits for."""


def most_copies(world: ClusterState, shape: Shape, budget: int = 6000) -> int:
    """The most copies. Raises :class:`TooMany`."""
    world = waiting(world, shape).state.changed(
        world.inventory.replace(templates={**world.inventory.templates, **shape.templates}, quotas={})
    )
    search = _Search(shape, budget)
    pods = movable(world)
    best = 0
    for moving in chain.from_iterable(combinations(pods, size) for size in range(len(pods) + 1)):
        gone = without_pods({each.key for each in moving})
        best = max(best, search.most(world.changed(gone(world.inventory)), moving))
    return best


class _Search:
    def __init__(self, shape: Shape, budget: int) -> None:
        self._shape = shape
        self._budget = budget
        self._known: dict[Hashable, int] = {}
        self._serial = 0

    def most(self, world: ClusterState, left: tuple[Movable, ...]) -> int:
        """The most copies, with all pods that are left placed; -1 if they can't be."""
        key = (_signature(world), tuple(sorted(repr(each.kind) for each in left)))
        if key not in self._known:
            self._known[key] = self._tried(world, left)
        return self._known[key]

    def _tried(self, world: ClusterState, left: tuple[Movable, ...]) -> int:
        best = -1 if left else 0
        kinds = set()
        for index, each in enumerate(left):
            if repr(each.kind) in kinds:
                continue
            kinds.add(repr(each.kind))
            rest = (*left[:index], *left[index + 1 :])
            for after in self._placed(world, again(each.pod)):
                best = max(best, self.most(after, rest))
        for after in self._placed(world, self._shape.pod):
            found = self.most(after, left)
            if found >= 0:
                best = max(best, found + 1)
        return best

    def _placed(self, world: ClusterState, pod: Pod) -> list[ClusterState]:
        """The cluster after the pod came to each node that takes it."""
        self._budget -= 1
        if self._budget < 0:
            raise TooMany
        self._serial += 1
        own = pod.metadata
        meta = msgspec.structs.replace(own, name=f"{own.name}-{self._serial}", uid=f"{own.uid}-{self._serial}")
        spec = msgspec.structs.replace(pod.spec, node_name="")
        pod = msgspec.structs.replace(pod, metadata=meta, spec=spec, status=PodStatus(phase="Pending"))
        world = world.changed(added(world.inventory, pod))
        key = key_of(meta)
        made = world.inventory.pods[key]
        entries = resolve(world.inventory, world.evidence, world.features, made)
        if any(entry.problem is not None for entry in entries):
            return []
        tried = attempt(world, made, [entry.claim for entry in entries if entry.claim is not None])
        fits = tried.nodes(NodeOutcome.FITS)
        return [world.changed(bound(world, key, node, result, tried)) for node, result in fits]


def _signature(world: ClusterState) -> Hashable:
    """Equal for clusters in which the same devices are taken and nodes are as full."""
    taken = frozenset(world.inventory.holdings_by_device)
    usage = world.inventory.usage
    full = tuple(sorted((name, each.pods, each.requests.get("cpu", 0)) for name, each in usage.items()))
    return taken, full
