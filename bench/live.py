"""Commands on a live cluster of the world's size, beside the least that reading the same lists can cost.

The server plays recorded lists back and is a process of its own, so that its work counts for neither side. The peer
reads what ``why-pending`` reads with ``http.client`` and decodes it once (``bench/loop.py``).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import server, world
from bench.frame import Budget, Cost, Measure, Row, child, hand_over, in_turns, run

PENDING = 100
ROUNDS = 2
SIZES = (1_000, 10_000)
_BUDGET = Budget(Measure.RATIO, 1.5, peak=400)


@dataclass(frozen=True, slots=True)
class Case:
    """A command, its budget if it has one, and what must stand in its answer."""

    words: tuple[str, ...]
    budget: Budget | None
    expect: str


CASES = {
    f"why-pending -A, {PENDING} pods of {world.WAITING_KINDS} kinds": Case(
        ("why-pending", "-A"), None, f"{PENDING} pods with device claims are pending"
    ),
    "why-pending POD, with remedies": Case(
        ("why-pending", "train-0008", "-n", "team-1"), _BUDGET, "Pod team-1/train-0008 is pending"
    ),
    "describe-pool, the list of pools": Case(("describe-pool",), None, "node-00000"),
}


def rows() -> Iterator[Row]:
    """Each command at two sizes; what is budgeted is that of the large one."""
    for nodes in SIZES:
        size = f"{nodes} nodes, {nodes * world.PODS_PER_NODE} pods"
        with tempfile.TemporaryDirectory() as folder:
            child("live", folder, str(nodes))
            with server.serving(Path(folder)) as environment:
                yield from _beside(size, environment, budgeted=nodes == SIZES[-1])


def _beside(size: str, environment: dict[str, str], *, budgeted: bool) -> Iterator[Row]:
    def ours(case: Case) -> Callable[[], Cost]:
        command = [sys.executable, "-m", "kubectl_dra", *case.words]
        return lambda: run(command, environment, case.expect)

    ways = {name: ours(case) for name, case in CASES.items()}
    loop = {"loop": lambda: run([sys.executable, "-m", "bench.loop"], environment, "objects")}
    costs = in_turns({**ways, **loop}, ROUNDS)
    for name, case in CASES.items():
        yield Row(name, size, costs[name], "a bare loop", costs["loop"], case.budget if budgeted else None)


if __name__ == "__main__":
    server.record(Path(sys.argv[1]), world.objects(int(sys.argv[2]), PENDING))
    hand_over(cpu=0.0, clock=0.0)
