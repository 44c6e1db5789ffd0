"""``why-pending -A`` on a snapshot with many pods that wait, beside ``json.loads`` of the same bytes.

The cost grows with the kinds of pods and not with their number; five times the kinds cost at most twice as much.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import world
from bench.frame import Budget, Cost, Measure, Row, child, hand_over, in_turns, run

NODES = 10_000
ROUNDS = 2
#: Pods that wait, and their kinds.
FEW, MANY = (100, world.WAITING_KINDS), (100, 5 * world.WAITING_KINDS)
_FILE = Budget(Measure.RATIO, 0.4, peak=600)
_KINDS = Budget(Measure.RATIO, 2.0, peak=600)
_LOADS = "import json, sys; json.loads(open(sys.argv[1], 'rb').read())"


def rows() -> Iterator[Row]:
    """Few kinds beside the parser, and many beside few."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few.json", Path(folder) / "many.json"
        for path, (pods, kinds) in ((few, FEW), (many, MANY)):
            child("pending", str(path), str(pods), str(kinds))
        ways = {
            "few": lambda: _ours(few, FEW[0]),
            "many": lambda: _ours(many, MANY[0]),
            "loads": lambda: run([sys.executable, "-c", _LOADS, str(few)]),
        }
        costs = in_turns(ways, ROUNDS)
    name, size = "why-pending -A, {} kinds, snapshot", f"{NODES} nodes, {FEW[0]} waiting"
    yield Row(name.format(FEW[1]), size, costs["few"], "json.loads", costs["loads"], _FILE)
    yield Row(name.format(MANY[1]), size, costs["many"], f"{FEW[1]} kinds", costs["few"], _KINDS)


def _ours(path: Path, pods: int) -> Cost:
    return run([sys.executable, "-m", "kubectl_dra", "why-pending", "-A", "--from", str(path)], None, f"{pods:,} pods")


if __name__ == "__main__":
    world.write_snapshot(Path(sys.argv[1]), world.objects(NODES, int(sys.argv[2]), int(sys.argv[3])))
    hand_over(cpu=0.0, clock=0.0)
