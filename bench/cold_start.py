"""How long help, a usage error and an offline answer take beyond a bare interpreter.

Without ``site``, because what other packages hang into the start of an interpreter may load half of what we need.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import partial

from bench.frame import ROOT, Budget, Measure, Row, in_turns, run

ROUNDS = 9
BUDGET = Budget(Measure.BEYOND, 80)
CASES = {
    "--help": (["--help"], BUDGET),
    "why-pending --help": (["why-pending", "--help"], BUDGET),
    "a usage error": (["why-pending", "-o", "jsonpath"], BUDGET),
    "why-pending -A --from demo": (["why-pending", "-A", "--from", "demo"], None),
}


def rows() -> Iterator[Row]:
    """Each case beside an interpreter that does nothing."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])}
    python = [sys.executable, "-S"]
    ways = {"bare": partial(run, [*python, "-c", "pass"], environment)}
    for name, (words, _) in CASES.items():
        ways[name] = partial(run, [*python, "-m", "kubectl_dra", *words], environment)
    costs = in_turns(ways, ROUNDS)
    for name, (_, budget) in CASES.items():
        yield Row(name, "", costs[name], "bare interpreter", costs["bare"], budget)
