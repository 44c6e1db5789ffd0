"""The search for ways out of one pod, whose clusters as they would be are tried one after the other, by itself.

Many kinds of pods that wait, each with the diagnosis that is there already; the row is that of the slowest.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench import world
from bench.frame import Budget, Measure, Row, child, hand_over

NODES = 10_000
_SECONDS = 2


def rows() -> Iterator[Row]:
    """The slowest of all kinds."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "cluster.json")
        child("remedies", "write", path)
        ours = child("remedies", "search", path)
    what = f"ways out of a pod, slowest of {world.WAITING_KINDS} kinds"
    yield Row(what, f"{NODES} nodes", ours, budget=Budget(Measure.TIME, _SECONDS * 1000), why=ours.found)


def search(path: Path) -> None:
    """All kinds; what the slowest took is handed over."""
    from kubectl_dra.cluster import ClusterState
    from kubectl_dra.commands.shared.cluster import unwatched
    from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
    from kubectl_dra.diagnosis.remedies import find
    from kubectl_dra.model.clock import SYSTEM
    from kubectl_dra.model.features import Features
    from kubectl_dra.source import load
    from kubectl_dra.source.spec import SourceSpec

    # As the commands do: what was read is kept from the garbage collector, which then looks seldom.
    with unwatched():
        inventory, evidence = load(SourceSpec(str(path)))
    state = ClusterState(inventory, evidence, Features(), SYSTEM)
    diagnoser = Diagnoser(state)
    slowest = 0.0, 0.0, ""
    for key in sorted(key for key in state.inventory.pods if key.name.startswith("train-")):
        diagnosis = diagnoser.pod(key)
        clock, cpu = time.perf_counter(), time.process_time()
        found = find(state, diagnosis)
        cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
        singles, pairs = found.searched.singles, found.searched.pairs
        slowest = max(slowest, (cpu, clock, f"{diagnosis.causes[0].code}: {singles} changes, {pairs} pairs tried"))
    hand_over(cpu=slowest[0], clock=slowest[1], found=slowest[2])


if __name__ == "__main__":
    if sys.argv[1] == "write":
        world.write_snapshot(Path(sys.argv[2]), world.objects(NODES, world.WAITING_KINDS))
        hand_over(cpu=0.0, clock=0.0)
    else:
        search(Path(sys.argv[2]))
