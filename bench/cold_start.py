"""How long help, a usage error and an offline answer take beyond a bare interpreter."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from bench.frame import Budget, Measure, Row, in_turns, run

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
    ways = {"bare": lambda: run([sys.executable, "-c", "pass"])}
    for name, (words, _) in CASES.items():
        ways[name] = lambda words=words: run([sys.executable, "-m", "kubectl_dra", *words])
    costs = in_turns(ways, ROUNDS)
    for name, (_, budget) in CASES.items():
        yield Row(name, "", costs[name], "bare interpreter", costs["bare"], budget)
