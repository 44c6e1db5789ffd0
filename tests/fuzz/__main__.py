"""``python -m tests.fuzz [--inputs N] [--seed N] [TARGET…]``: tries each target, prints a row of a table for each.

Ends with 1 at the first input that raises what is not declared, or takes too long; the input is printed so that it can
become a test.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import repeat

from tests.fuzz.mutator import Mutator
from tests.fuzz.targets import TARGETS

#: Seconds of the processor for one input; several times what the largest work that is allowed takes.
LIMIT = 10.0


@dataclass
class Run:
    """The figures of one target."""

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    slowest: float = 0.0
    slowest_input: str = ""

    @property
    def row(self) -> str:
        """One line of the table."""
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(self.outcomes.items()))
        slowest = f"{self.slowest * 1000:,.0f} ms"
        return f"| `{self.name}` | {self.outcomes.total():,} | {counts} | {self.seconds:,.1f} s | {slowest} |"


def fuzz(name: str, inputs: int, seed: int) -> Run:
    """Try a target. Raises what the target raises, with the input as a note."""
    target = TARGETS[name]()
    mutate, run = Mutator(list(target.corpus()), seed), Run(name)
    started = time.process_time()
    for _ in repeat(None, inputs):
        text = mutate()
        before = time.thread_time()
        try:
            outcome = target.attempt(text)
            spent = time.thread_time() - before
            assert spent < LIMIT, f"{spent:.1f} seconds"
        except BaseException as error:
            error.add_note(f"target {name}, seed {seed}, after {run.outcomes.total()} inputs: {text!r}")
            raise
        run.outcomes[outcome] += 1
        if spent > run.slowest:
            run.slowest, run.slowest_input = spent, text
    run.seconds = time.process_time() - started
    return run


def main() -> None:
    """Read the arguments, run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="TARGET")
    arguments = parser.parse_args()
    print("| target | inputs | outcomes | processor | slowest |\n|---|---|---|---|---|", flush=True)
    for name in arguments.targets:
        run = fuzz(name, arguments.inputs, arguments.seed)
        print(run.row, flush=True)
        if run.slowest > 1:
            print(f"slowest of {name}: {run.slowest_input[:300]!r}", file=sys.stderr)


if __name__ == "__main__":
    main()
