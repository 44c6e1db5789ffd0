"""The same commands on a live cluster beside ``kubectl get -o json`` of the same lists from the same server.

A part of its own, because kubectl needs minutes and 10 GB for the large cluster: ``python -m bench kubectl``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench import server
from bench.frame import Budget, Measure, Row, WrongAnswerError, child, in_turns, run
from bench.live import CASES, SIZES
from bench.world import PODS_PER_NODE
from tests.controlplane.build import module

KUBECTL_MEGABYTES = 12_000
_BUDGET = Budget(Measure.RATIO, 1.5)
_ALL = "pods,nodes,resourceslices,resourceclaims"
#: The lists that kubectl gets for each command.
_LISTS = dict(zip(CASES, (_ALL, _ALL, "resourceslices"), strict=True))


def rows() -> Iterator[Row]:
    """Each command at two sizes."""
    kubectl = module().built() / "kubectl"
    for nodes in SIZES:
        size = f"{nodes} nodes, {nodes * PODS_PER_NODE} pods"
        why = _no_kubectl(kubectl, nodes)
        if why:
            yield from (Row(name, size, None, "kubectl get -o json", None, _BUDGET, why) for name in CASES)
            continue
        with tempfile.TemporaryDirectory() as folder:
            child("live", folder, str(nodes))
            with server.serving(Path(folder)) as environment:
                yield from _beside(kubectl, size, environment)


def _beside(kubectl: Path, size: str, environment: dict[str, str]) -> Iterator[Row]:
    for name, case in CASES.items():
        lists = _LISTS[name]
        ways = {
            "ours": partial(run, [sys.executable, "-m", "kubectl_dra", *case.words], environment, case.expect),
            "theirs": partial(run, [str(kubectl), "get", lists, "-A", "-o", "json"], environment),
        }
        try:
            costs = in_turns(ways, 1)
        except WrongAnswerError as error:
            why = f"{' '.join(str(error).split())}, so that it was not measured"
            yield Row(name, size, None, "kubectl get -o json", None, _BUDGET, why)
            continue
        yield Row(name, size, costs["ours"], "kubectl get -o json", costs["theirs"], _BUDGET)


def _no_kubectl(kubectl: Path, nodes: int) -> str:
    if not kubectl.exists():
        return "kubectl was not built (make e2e)"
    info = Path("/proc/meminfo").read_text(encoding="utf-8")
    free = int(info.partition("MemAvailable:")[2].split(maxsplit=1)[0]) / 1024
    return "too little memory for kubectl" if nodes == SIZES[-1] and free < KUBECTL_MEGABYTES else ""
