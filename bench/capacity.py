"""``capacity`` for one shape beside ``why-pending`` for one pod, on the same snapshot; a third of the pods may move."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import world
from bench.frame import Budget, Measure, Row, child, hand_over, run

NODES = 10_000


def rows() -> Iterator[Row]:
    """One shape that takes half of a node."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "cluster.json")
        child("capacity", path)
        program = [sys.executable, "-m", "kubectl_dra"]
        shape = ["capacity", "--class", world.GPU, "--count", "4", "-n", "team-0", "--from", path]
        ours = run([*program, *shape], None, "fits 10,001 more times")
        pod = ["why-pending", "train-0000", "-n", "team-0", "--from", path]
        theirs = run([*program, *pod], None, "train-0000")
        yield Row(
            "capacity, one shape",
            f"{NODES} nodes, {NODES * world.PODS_PER_NODE} pods",
            ours,
            "why-pending POD",
            theirs,
            Budget(Measure.RATIO, 3.0),
        )


if __name__ == "__main__":
    world.write_snapshot(Path(sys.argv[1]), world.objects(NODES, 20))
    hand_over(cpu=0.0, clock=0.0)
