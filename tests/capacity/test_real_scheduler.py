"""On random clusters the real scheduler finds room for as many copies as ours counts, and follows every move of ours.

By hand, more of them: ``CAPACITY_CLUSTERS=5000``; ``CAPACITY_SEED`` names another series.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity import Capacity, capacity
from kubectl_dra.diagnosis.capacity.movable import movable
from kubectl_dra.diagnosis.capacity.records import Move, Moves
from kubectl_dra.diagnosis.capacity.shape import Shape
from kubectl_dra.diagnosis.explain.attempt import attempt
from kubectl_dra.diagnosis.pod.placing import added, bound
from kubectl_dra.diagnosis.records import NodeOutcome
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.diagnosis.whatif.displaced import again
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.scheduler.claims import resolve
from tests.capacity.clusters import cluster
from tests.capacity.worlds import Row, row_of, shape_of, world_of
from tests.oracle.scheduler_oracle import Oracle

pytestmark = pytest.mark.go
CLUSTERS: Final = int(os.environ.get("CAPACITY_CLUSTERS", "500"))
SEED: Final = os.environ.get("CAPACITY_SEED", "real")


@pytest.fixture(scope="module")
def oracles() -> Iterator[tuple[Oracle, Oracle]]:
    with Oracle("admit") as admit, Oracle("schedule") as schedule:
        yield admit, schedule


def test_the_real_scheduler_agrees(oracles: tuple[Oracle, Oracle]) -> None:
    admit, schedule = oracles
    real = _Real(schedule)
    copies = moved = smallest = chained = 0
    for number in range(CLUSTERS):
        row, wanted = cluster(f"{SEED}-{number}")
        world, shape = world_of(admit.ask(row)), shape_of(wanted)
        found = capacity(world, shape)
        real.check_count(world, shape, found.copies.value, number)
        copies += found.copies.value
        for way in found.moves:
            real.check_moves(world, shape, found, way, number)
            moved += 1
            check_smallest(world, shape, found, way, number)
            smallest += way.smallest
            chained += len({move.from_node for move in way.moves}) > 1
    assert copies > CLUSTERS
    assert moved > CLUSTERS / 25
    assert smallest > moved / 3
    assert chained or CLUSTERS < 500


def check_smallest(world: ClusterState, shape: Shape, found: Capacity, way: Moves, number: int) -> None:
    """Where two restarts are called the fewest, one is not enough, whichever node takes the pod."""
    if not way.smallest or len(way.moves) != 2:
        return
    for pod in movable(world):
        gone = world.changed(without_pods({pod.key})(world.inventory))
        waits = gone.changed(added(gone.inventory, again(pod.pod)))
        made = waits.inventory.pods[pod.key]
        entries = resolve(waits.inventory, waits.evidence, waits.features, made)
        tried = attempt(waits, made, [entry.claim for entry in entries if entry.claim is not None])
        for node, result in tried.nodes(NodeOutcome.FITS):
            after = waits.changed(bound(waits, pod.key, node, result, tried))
            copies = capacity(after, shape, 0).copies.value
            assert copies < found.copies.value + way.more, (number, pod.key, node.metadata.name)


class _Real:
    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def check_count(self, world: ClusterState, shape: Shape, expected: int, number: int) -> None:
        """The real scheduler takes one copy after the other, and then no more."""
        templates = {**world.inventory.templates, **shape.templates}
        world = world.changed(world.inventory.replace(templates=templates))
        count = 0
        while True:
            meta = msgspec.structs.replace(shape.pod.metadata, name=f"copy-{count}", uid=f"copy-{count}")
            pod = msgspec.structs.replace(shape.pod, metadata=meta, status=PodStatus(phase="Pending"))
            placed = self.place(world, pod)
            if placed is None:
                break
            world, _, _ = placed
            count += 1
            assert count <= expected + 1, number
        assert count == expected, number

    def place(self, world: ClusterState, pod: Pod) -> tuple[ClusterState, list[str], dict[str, Any]] | None:
        """The cluster after the pod came to one of the best nodes, by the real scheduler; None if there is none."""
        world = world.changed(added(world.inventory, pod))
        key = key_of(pod.metadata)
        answer = self.ask(world, key)
        if answer["outcome"] != "fits":
            return None
        best = answer["best"]
        made = world.inventory.pods[key]
        entries = resolve(world.inventory, world.evidence, world.features, made)
        tried = attempt(world, made, [entry.claim for entry in entries if entry.claim is not None], [best[0]])
        ((node, result),) = tried.nodes(NodeOutcome.FITS)
        return world.changed(bound(world, key, node, result, tried)), best, answer

    def ask(self, world: ClusterState, key: Key) -> Row:
        row = row_of(world, str(key))
        return next(each for each in self._oracle.ask(row)["expect"] if each["pod"] == str(key))

    def check_moves(self, world: ClusterState, shape: Shape, found: Capacity, way: Moves, number: int) -> None:
        """Cordon, restart, uncordon: every pod comes where ours says, and then so many more copies fit."""
        before = world.inventory.nodes
        for together in way.turns:
            world = self._restarted(world, together, number)
        assert world.inventory.nodes == before
        self.check_at_least(world, shape, found.copies.value + way.more, number)

    def _restarted(self, world: ClusterState, together: Sequence[Move], number: int) -> ClusterState:
        before = world.inventory.nodes
        nodes = dict(before)
        for name in together[0].closed:
            spec = msgspec.structs.replace(nodes[name].spec, unschedulable=True)
            nodes[name] = msgspec.structs.replace(nodes[name], spec=spec)
        world = world.changed(world.inventory.replace(nodes=nodes))
        pods = {move.pod.key: world.inventory.pods[move.pod.key] for move in together}
        world = world.changed(without_pods(set(pods))(world.inventory))
        for move in together:
            waiting = world.changed(added(world.inventory, again(pods[move.pod.key])))
            answer = self.ask(waiting, move.pod.key)
            assert move.to in answer["best"], (number, move, answer)
            assert set(move.equal or (move.to,)) == set(answer["best"]), (number, move, answer)
            world = self._bound_to(waiting, move.pod.key, move.to)
        return world.changed(world.inventory.replace(nodes=before))

    def _bound_to(self, world: ClusterState, key: Key, name: str) -> ClusterState:
        pod = world.inventory.pods[key]
        entries = resolve(world.inventory, world.evidence, world.features, pod)
        tried = attempt(world, pod, [entry.claim for entry in entries if entry.claim is not None], [name])
        ((node, result),) = tried.nodes(NodeOutcome.FITS)
        return world.changed(bound(world, key, node, result, tried))

    def check_at_least(self, world: ClusterState, shape: Shape, wanted: int, number: int) -> None:
        """The real scheduler takes so many copies."""
        templates = {**world.inventory.templates, **shape.templates}
        world = world.changed(world.inventory.replace(templates=templates))
        for copy in range(wanted):
            meta = msgspec.structs.replace(shape.pod.metadata, name=f"copy-{copy}", uid=f"copy-{copy}")
            pod = msgspec.structs.replace(shape.pod, metadata=meta, status=PodStatus(phase="Pending"))
            placed = self.place(world, pod)
            assert placed is not None, (number, copy, wanted)
            world = placed[0]
