"""``why-pending -A`` on a snapshot with many pods that wait: the cost grows with their kinds, not with their number."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import world
from bench.frame import Row, child, hand_over, run

NODES = 10_000
SIZES = (100, 1_000)


def rows() -> Iterator[Row]:
    """Two numbers of pods of the same kinds."""
    for pods in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "cluster.json")
            child("pending", path, str(pods))
            ours = run(
                [sys.executable, "-m", "kubectl_dra", "why-pending", "-A", "--from", path], None, f"{pods:,} pods"
            )
            yield Row(f"why-pending -A, {world.WAITING_KINDS} kinds, snapshot", f"{NODES} nodes, {pods} waiting", ours)


if __name__ == "__main__":
    world.write_snapshot(Path(sys.argv[1]), world.objects(NODES, int(sys.argv[2])))
    hand_over(cpu=0.0, clock=0.0)
