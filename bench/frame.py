"""How everything here is measured (processes of their own, ours and the peer's in turns, medians, peaks), and as rows.

A budget is judged by processor time (user and system, of all processes that were started), because that is what stays
the same on a busy machine; the seconds on the clock stand beside it and can only make the verdict worse.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Cost:
    """What something took: processor seconds, seconds on the clock, megabytes at the peak (0: not measured).

    ``found`` is what came of it, where the peer must find the same.
    """

    cpu: float
    clock: float
    peak: float = 0.0
    found: str = ""


class Measure(StrEnum):
    """What a budget limits."""

    RATIO = "x"
    BEYOND = "ms more"
    TIME = "ms"


@dataclass(frozen=True, slots=True)
class Budget:
    """``most`` of a ratio to the peer, of milliseconds beyond the peer, or of milliseconds; ``peak`` in megabytes."""

    measure: Measure
    most: float
    peak: float | None = None


class Verdict(StrEnum):
    """Whether a budget is met: by processor time and clock, by processor time alone, or not."""

    MET = "met"
    MET_CPU = "met (cpu)"
    MISSED = "MISSED"
    UNKNOWN = "not measured"
    NONE = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. ``why``: the reason why a peer is missing, or what a reader must know."""

    what: str
    size: str
    ours: Cost | None
    peer: str = ""
    theirs: Cost | None = None
    budget: Budget | None = None
    why: str = ""

    def figure(self, seconds: Callable[[Cost], float]) -> float | None:
        """What the budget limits (without one: the ratio), by processor or by clock."""
        measure = self.budget.measure if self.budget is not None else Measure.RATIO
        if self.ours is None or (self.theirs is None and measure is not Measure.TIME):
            return None
        if measure is Measure.TIME:
            return seconds(self.ours) * 1000
        assert self.theirs is not None
        if measure is Measure.BEYOND:
            return (seconds(self.ours) - seconds(self.theirs)) * 1000
        return seconds(self.ours) / seconds(self.theirs) if seconds(self.theirs) else None

    @property
    def verdict(self) -> Verdict:
        """Whether the budget is met."""
        if self.budget is None:
            return Verdict.NONE
        cpu, clock = self.figure(by_cpu), self.figure(by_clock)
        if cpu is None or clock is None or self.ours is None:
            return Verdict.UNKNOWN
        heavy = self.budget.peak is not None and self.ours.peak > self.budget.peak
        if cpu > self.budget.most or heavy:
            return Verdict.MISSED
        return Verdict.MET if clock <= self.budget.most else Verdict.MET_CPU


def by_cpu(cost: Cost) -> float:
    """Processor seconds."""
    return cost.cpu


def by_clock(cost: Cost) -> float:
    """Seconds on the clock."""
    return cost.clock


class WrongAnswerError(Exception):
    """Raised where something that was measured did not do its work."""


# --- measuring ------------------------------------------------------------------------------------------------------


def run(command: Sequence[str], environment: Mapping[str, str] | None = None, expect: str = "") -> Cost:
    """One process and what it starts; its output must contain ``expect``. Raises :class:`WrongAnswerError`."""
    took, output = _finished(command, environment, keep=bool(expect))
    if expect not in output:
        raise WrongAnswerError(f"{' '.join(command)} says nothing of {expect}: {output[:500]}")
    return took


def child(module: str, *arguments: str) -> Cost:
    """``python -m bench.MODULE ARGUMENTS``, which reports what the part took that counts.

    The peak is that of the process unless it names another. A process counts what its parent had in use when it was
    started, so this one must stay small: data are made in children.
    """
    took, output = _finished([sys.executable, "-m", f"bench.{module}", *arguments], None, keep=True)
    return Cost(**{"peak": took.peak, **json.loads(output.splitlines()[-1])})


def report(work: Callable[[], object], rounds: int = 1) -> None:
    """In a child: do the part that counts, and print the best times and, if it is a text, what came of it."""
    cpus, clocks, found = [], [], ""
    for _ in range(rounds):
        clock, cpu = time.perf_counter(), time.process_time()
        kept = work()
        cpus.append(time.process_time() - cpu)
        clocks.append(time.perf_counter() - clock)
        found = kept if isinstance(kept, str) else ""
        del kept
    hand_over(cpu=min(cpus), clock=min(clocks), found=found)


def hand_over(**fields: float | str) -> None:
    """In a child: print the fields of a :class:`Cost` that were measured here."""
    print(json.dumps(fields))


def _finished(command: Sequence[str], environment: Mapping[str, str] | None, *, keep: bool) -> tuple[Cost, str]:
    output = subprocess.PIPE if keep else subprocess.DEVNULL
    # Who forbids byte code to be written measures the compiler each time.
    environment = {
        name: text
        for name, text in (os.environ if environment is None else environment).items()
        if name != "PYTHONDONTWRITEBYTECODE"
    }
    began = time.perf_counter()
    with subprocess.Popen(command, env=environment, cwd=ROOT, stdout=output, stderr=subprocess.DEVNULL) as process:
        text = process.stdout.read().decode() if process.stdout is not None else ""
        _, status, used = os.wait4(process.pid, 0)
        clock = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    # 2: a usage error is measured as well.
    if process.returncode not in (0, 2):
        raise WrongAnswerError(f"{' '.join(command)} ends with {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, clock, used.ru_maxrss / 1024), text


def in_turns(ways: Mapping[str, Callable[[], Cost]], rounds: int) -> dict[str, Cost]:
    """Each way once per round, so that a busy minute hits all of them; medians of the times, the highest peak."""
    costs: dict[str, list[Cost]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, measure in ways.items():
            costs[name].append(measure())
    return {name: median(found) for name, found in costs.items()}


def kept_trying(measure: Callable[[], Cost], tries: int) -> Cost:
    """As ``measure``, again where it gives no answer, as something with a deadline does on a busy machine."""
    for _ in range(tries - 1):
        with suppress(WrongAnswerError):
            return measure()
    return measure()


def median(costs: Sequence[Cost]) -> Cost:
    """The median of the times and the highest peak."""
    cpu, clock = (statistics.median(map(seconds, costs)) for seconds in (by_cpu, by_clock))
    return Cost(cpu, clock, max(cost.peak for cost in costs), costs[0].found)


# --- one table ------------------------------------------------------------------------------------------------------

HEAD = ("what", "size", "ours", "MB", "peer", "theirs", "MB", "cpu", "clock", "budget", "verdict")
_WIDTHS = ("<44", "<26", ">9", ">6", "<20", ">9", ">6", ">9", ">9", ">17", "<12")


def cells(row: Row) -> tuple[str, ...]:
    """The row as text."""
    unit = row.budget.measure if row.budget is not None else Measure.RATIO
    budget = ""
    if row.budget is not None:
        budget = f"{row.budget.most:g} {unit}" + (f", {row.budget.peak:g} MB" if row.budget.peak is not None else "")
    return (
        row.what,
        row.size,
        _seconds(row.ours),
        _peak(row.ours),
        row.peer,
        _seconds(row.theirs),
        _peak(row.theirs),
        _figure(row.figure(by_cpu), unit),
        _figure(row.figure(by_clock), unit),
        budget,
        row.verdict,
    )


def line(texts: Sequence[str]) -> str:
    """A line of the table on a terminal."""
    return " ".join(format(text, width) for text, width in zip(texts, _WIDTHS, strict=True)).rstrip()


def markdown(rows: Sequence[Row]) -> list[str]:
    """The table in Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "|---|---|--:|--:|---|--:|--:|--:|--:|--:|---|"]
    return lines + [f"| {' | '.join(cells(row))} |" for row in rows]


def _seconds(cost: Cost | None) -> str:
    if cost is None:
        return ""
    return f"{cost.cpu * 1000:.0f} ms" if cost.cpu < 1 else f"{cost.cpu:.2f} s"


def _peak(cost: Cost | None) -> str:
    return f"{cost.peak:.0f}" if cost is not None and cost.peak else ""


def _figure(value: float | None, unit: Measure) -> str:
    if value is None:
        return ""
    return f"{value:.2f} x" if unit is Measure.RATIO else f"{value:.0f} ms"
