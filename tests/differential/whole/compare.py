"""The real scheduler's answers beside ours, and the smallest cluster on which they still differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.differential.whole.cluster import whole_cluster
from tests.oracle.scheduler_oracle import Oracle, OracleError
from tests.vectors.answer_sched import answer

Row = dict[str, Any]
FIELDS: Final = ("outcome", "reason", "message", "messageWithoutPostFilter", "feasible", "best")


class Comparison:
    """Clusters compared so far. ``seen`` counts branches of the generator, and what the real scheduler answered."""

    def __init__(self, admit: Oracle, schedule: Oracle) -> None:
        self._admit, self._schedule = admit, schedule
        self.seen: Counter[str] = Counter()
        self.pods = self.unstable = 0
        self.differences: list[str] = []

    def add(self, seed: str) -> None:
        """Ask about the cluster of a seed."""
        cluster, taken = whole_cluster(seed)
        row = self._admit.ask(cluster)
        try:
            real = self._schedule.ask(row)["expect"]
        except OracleError as error:
            # Two runs of the real code that differ, by the order of Go's maps, decide nothing; nor does an attempt
            # that the program's check of itself can't repeat.
            if not str(error).startswith(("unstable:", "pod ")):
                raise
            self.unstable += 1
            return
        self.seen.update(taken)
        self.pods += len(real)
        for entry in real:
            self.seen.update(_told(entry))
        for pod, told in differences(row, real):
            self.differences.append(f"{seed} {pod}: {told}; smallest cluster: {self.smallest(row, pod)}")

    def smallest(self, row: Row, pod: str) -> Row:
        """The row without the objects that don't matter for the difference about a pod."""
        removed = True
        while removed:
            removed = False
            for name in [name for name, value in row.items() if isinstance(value, list)]:
                for position in reversed(range(len(row[name]))):
                    less = {**row, name: [*row[name][:position], *row[name][position + 1 :]]}
                    if self._differs(less, pod):
                        row, removed = less, True
        return row

    def _differs(self, row: Row, pod: str) -> bool:
        try:
            real = self._schedule.ask(row)["expect"]
        except OracleError:
            return False
        return any(name == pod for name, _ in differences(row, real))


def differences(row: Row, real: list[Row], ask: Callable[[Row], Row] = answer) -> Iterator[tuple[str, str]]:
    """The pods about which our answers are not the real ones, each with the first field that differs."""
    ours = {entry["pod"]: entry for entry in ask(row)["expect"]}
    for entry in real:
        mine = ours.get(entry["pod"], {"undecided": "not asked"})
        for name in FIELDS:
            expected, given = entry.get(name) or None, mine.get(name) or None
            if expected != given and not (name == "message" and given in _ties(entry)):
                yield entry["pod"], f"{name} is {expected!r}, ours is {given!r}{mine.get('undecided', '')}"
                break


def _ties(entry: Row) -> list[str]:
    """The message for each of several nodes that preemption chooses among by chance."""
    nodes = entry.get("preemption", {}).get("nominated", ())
    return [entry["message"].replace(f" on node {one},", f" on node {other},") for one in nodes for other in nodes]


def _told(entry: Row) -> Iterator[str]:
    """What an answer exercised."""
    yield f"outcome {entry['outcome']}"
    if "preFilter" in entry:
        yield f"PreFilter of {entry['preFilter']['plugin']} ends it"
    for status in entry.get("perNode", {}).values():
        yield f"Filter of {status['plugin']} refuses" if "plugin" in status else "PreFilter leaves nodes out"
    if len(entry.get("best", ())) > 1:
        yield "several best nodes"
    if len(set(entry.get("scores", {}).values())) > 1:
        yield "scores differ"
    candidates = entry.get("preemption", {}).get("candidates", {})
    if candidates:
        yield "preemption"
    if len(candidates) > 1:
        yield "preemption on several nodes"
    if any(each.get("pdbViolations") for each in candidates.values()):
        yield "preemption violates a budget"
    if "not helpful" in entry.get("message", ""):
        yield "preemption does not help"
