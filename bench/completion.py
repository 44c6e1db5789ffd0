"""How long a TAB takes through the ``__complete`` of the real kubectl, in a cluster with very many slices.

Completion gives kubectl one second for what it does not know yet, and keeps the answer: measured is a TAB with the
answer kept.
"""

from __future__ import annotations

import os
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from bench import server, world
from bench.frame import Budget, Cost, Measure, Row, WrongAnswerError, child, in_turns, kept_trying, run
from tests.controlplane.build import module

ROUNDS, TRIES = 5, 20
NODES = 10_000
BUDGET = Budget(Measure.TIME, 250)
_POOL = f"{world.GPU}/node-00042"
#: The words, and what must be among the candidates.
CASES = {
    "TAB: commands": (("",), "why-pending"),
    "TAB: a class": (("get", "classes", ""), world.GPU),
    "TAB: drivers, as pools are very many": (("describe-pool", ""), f"{world.GPU}/"),
    "TAB: a device of a pool": (("taint-device", f"{_POOL}/"), f"{_POOL}/gpu-7\t"),
    "TAB: an attribute in a selector": (("test-selector", f"{world.OURS}.mo"), f"{world.OURS}.model\t"),
}


def rows() -> Iterator[Row]:
    """Each case beside a kubectl that only says its version."""
    kubectl = module().built() / "kubectl"
    if not kubectl.exists():
        yield Row("TAB", "", None, "kubectl version", None, BUDGET, "kubectl was not built (make e2e)")
        return
    with tempfile.TemporaryDirectory() as folder:
        child("live", folder, str(NODES))
        with server.serving(Path(folder)) as environment:
            places = [str(kubectl.parent), sysconfig.get_path("scripts"), environment["PATH"]]
            yield from _measured(kubectl, {**environment, "PATH": os.pathsep.join(places)})


def _measured(kubectl: Path, environment: Mapping[str, str]) -> Iterator[Row]:
    version = in_turns({"": lambda: run([str(kubectl), "version", "--client"], environment)}, ROUNDS)[""]
    for name, (words, expect) in CASES.items():
        tab = partial(_kept, [str(kubectl), "__complete", "dra", *words], environment, expect)
        try:
            cost, why = in_turns({"": partial(kept_trying, tab, TRIES)}, ROUNDS)[""], ""
        except WrongAnswerError:
            cost, why = None, "kubectl never answered within the second that it is given"
        yield Row(name, f"{NODES} nodes", cost, "kubectl version", version, BUDGET, why)


def _kept(command: list[str], environment: Mapping[str, str], expect: str) -> Cost:
    """The second of two times: an answer is kept for some seconds only."""
    run(command, environment, expect)
    return run(command, environment, expect)
