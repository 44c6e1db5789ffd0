"""Commands on a live cluster of the world's size, beside ``kubectl get`` of the same lists from the same server.

The server plays recorded lists back and is a process of its own, so that its work counts for neither side.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import server, world
from bench.frame import Budget, Cost, Measure, Row, WrongAnswerError, child, hand_over, in_turns, run
from tests.controlplane.build import module

PENDING = 100
#: Nodes, and how often each side is measured: kubectl needs minutes and 10 GB for the large one.
SIZES = ((1_000, 1), (10_000, 1))
KUBECTL_MEGABYTES = 12_000
_LISTS = "pods,nodes,resourceslices,resourceclaims"
_BUDGET = Budget(Measure.RATIO, 1.5, peak=500)
_POOLS = Budget(Measure.RATIO, 1.5)


@dataclass(frozen=True, slots=True)
class Case:
    """A command, the lists that kubectl gets for comparison, and what must stand in the command's answer."""

    words: tuple[str, ...]
    lists: str
    budget: Budget
    expect: str


CASES = {
    f"why-pending -A, {PENDING} pods of {world.WAITING_KINDS} kinds": Case(
        ("why-pending", "-A"), _LISTS, _BUDGET, f"{PENDING} pods with device claims are pending"
    ),
    "why-pending POD, with remedies": Case(
        ("why-pending", "train-0008", "-n", "team-1"), _LISTS, _BUDGET, "Pod team-1/train-0008 cannot be scheduled"
    ),
    "describe-pool, the list of pools": Case(("describe-pool",), "resourceslices", _POOLS, "node-00000"),
}


def rows() -> Iterator[Row]:
    """Each command at two sizes."""
    kubectl = module().built() / "kubectl"
    for nodes, rounds in SIZES:
        size = f"{nodes} nodes, {nodes * world.PODS_PER_NODE} pods"
        with tempfile.TemporaryDirectory() as folder:
            child("live", folder, str(nodes))
            with server.serving(Path(folder)) as environment:
                yield from _beside(kubectl, size, rounds, environment)


def _beside(kubectl: Path, size: str, rounds: int, environment: dict[str, str]) -> Iterator[Row]:
    def ours(case: Case) -> Callable[[], Cost]:
        command = [sys.executable, "-m", "kubectl_dra", *case.words]
        return lambda: run(command, environment, case.expect)

    def theirs(lists: str) -> Callable[[], Cost]:
        return lambda: run([str(kubectl), "get", lists, "-A", "-o", "json"], environment)

    why = _no_kubectl(kubectl, rounds)
    ways = {name: ours(case) for name, case in CASES.items()}
    peers = {case.lists: theirs(case.lists) for case in CASES.values()}
    try:
        costs = in_turns(ways if why else {**ways, **peers}, rounds)
    except WrongAnswerError as error:
        costs, why = in_turns(ways, rounds), f"{' '.join(str(error).split())}, so that it was not measured"
    for name, case in CASES.items():
        yield Row(name, size, costs[name], "kubectl get -o json", costs.get(case.lists), case.budget, why)


def _no_kubectl(kubectl: Path, rounds: int) -> str:
    if not kubectl.exists():
        return "kubectl was not built (make e2e)"
    info = Path("/proc/meminfo").read_text(encoding="utf-8")
    free = int(info.partition("MemAvailable:")[2].split(maxsplit=1)[0]) / 1024
    return "too little memory for kubectl" if rounds == 1 and free < KUBECTL_MEGABYTES else ""


if __name__ == "__main__":
    server.record(Path(sys.argv[1]), world.objects(int(sys.argv[2]), PENDING))
    hand_over(cpu=0.0, clock=0.0)
