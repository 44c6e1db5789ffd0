"""Recorded groups, changed at random: what becomes of each group and pod is what the real scheduler says.

By hand, more of them: ``DIFFERENTIAL_GANGS=5000 make differential ARGS=tests/differential/test_gangs.py``;
``DIFFERENTIAL_SEED`` asks about the rows of a failure again.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any, Final

import pytest

from tests.differential.gang_rows import CHANGES, changed, with_victims_in_groups
from tests.differential.whole.compare import differences
from tests.oracle.scheduler_oracle import Oracle, OracleError
from tests.scheduler.rows import rows_of
from tests.vectors.answer_sched import answer, answer_pods
from tests.vectors.rows import rows

pytestmark = pytest.mark.go
USUAL: Final = 200
NUMBER: Final = int(os.environ.get("DIFFERENTIAL_GANGS", USUAL))
#: Chance decides which placement is told of, or which of equally good nodes is taken: further runs say what else.
RUNS: Final = 6
Row = dict[str, Any]


class Gangs:
    """What was compared: outcomes of the real scheduler, changes made, and rows about which the answers differ."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.outcomes: Counter[str] = Counter()
        self.changes: Counter[str] = Counter()
        self.differences: list[str] = []
        self.undecided: list[str] = []

    def add(self, row: Row, seed: str) -> None:
        asked, names = changed(row, seed)
        try:
            real = self._oracle.ask(asked)["expect"]
        except OracleError as error:
            # Where its runs contradict each other by the order of Go's maps, the real code decides nothing.
            self.undecided.append(f"{seed} {names}: {str(error)[:300]}")
            return
        self.changes.update(names)
        self.outcomes.update(entry["outcome"] for entry in real)
        ours = {entry["group"]: entry for entry in answer(asked)["expect"]}
        for entry in real:
            if _forgets_nominations(asked, entry["group"]):
                continue
            given, tied = said(ours[entry["group"]]), "tied" in ours[entry["group"]]
            if not self._possible(asked, entry, given, tied=tied):
                self.differences.append(f"{seed} {names}: real {said(entry)}, ours {given}")

    def _possible(self, asked: Row, entry: Row, given: Row, *, tied: bool) -> bool:
        for run in range(RUNS + 1):
            told = [said(each) for each in (entry, *entry.get("alternatives", ()))]
            if given in told or (tied and _any_victims(given) in map(_any_victims, told)):
                return True
            if run < RUNS:
                again = self._oracle.ask(asked)["expect"]
                entry = next(each for each in again if each["group"] == entry["group"])
        return False


def _any_victims(entry: Row) -> Row:
    """Without who is evicted, and how many are: that is chance where a pod had several equally good nodes."""
    if "undecided" in entry:
        return entry
    texts = re.compile(r"preempting \d+ victims")
    condition = {**(entry["condition"] or {})}
    members = [{**each, "message": texts.sub("", each["message"] or "")} for each in entry["members"]]
    condition["message"] = texts.sub("", condition.get("message") or "")
    return {**entry, "evicted": bool(entry["evicted"]), "condition": condition, "members": members}


def _forgets_nominations(row: Row, group: str) -> bool:
    """Whether pods of other groups are nominated.

    The oracle takes those groups out of the queue until it meets the one in question, so that the scheduler has lost
    what their pods need (nominatedPodToInfo); in a real one they wait in the queue.
    """
    nominated = (
        pod for pod in row["pods"] if pod["status"].get("nominatedNodeName") and not pod["spec"].get("nodeName")
    )
    names = {f"{pod['metadata']['namespace']}/{_group(pod)}" for pod in nominated if _group(pod)}
    return bool(names - {group})


def _group(pod: Row) -> str:
    return (pod["spec"].get("schedulingGroup") or {}).get("podGroupName", "")


def said(entry: Row) -> Row:
    """What does not depend on which of several equally good nodes was taken; gated pods in any order."""
    if "undecided" in entry:
        return entry
    members = [{name: each.get(name) for name in ("pod", "outcome", "reason", "message")} for each in entry["members"]]
    if entry["outcome"] == "gated":
        members.sort(key=lambda each: str(each["pod"]))
    told = {name: entry.get(name) for name in ("group", "outcome", "condition", "evicted")}
    return {**told, "members": members}


@pytest.fixture(scope="module")
def compared() -> Gangs:
    recorded = [*rows("sched_gangs"), *rows_of("gangs.jsonl.gz")]
    base = os.environ.get("DIFFERENTIAL_SEED", "gangs")
    with Oracle("gangs") as oracle:
        gangs = Gangs(oracle)
        for number in range(NUMBER):
            seed = f"{base}-{number}"
            gangs.add(dict(recorded[number * 37 % len(recorded)]), seed)
            if len(gangs.differences) >= 5:
                break
        return gangs


def test_ours_says_what_the_real_scheduler_says(compared: Gangs) -> None:
    assert not compared.differences, "\n\n".join(compared.differences)
    assert len(compared.undecided) <= 1 + NUMBER // 10, "\n".join(compared.undecided)


@pytest.mark.skipif(NUMBER < USUAL, reason="too few rows for everything rare")
def test_every_change_and_outcome_occurs(compared: Gangs) -> None:
    assert compared.changes.keys() == CHANGES.keys()
    assert {"scheduled", "unschedulable", "error", "gated"} <= compared.outcomes.keys()


# --- single pods that evict groups ------------------------------------------------------------------------------------


def test_single_pods_evict_groups_as_the_real_scheduler_does() -> None:
    recorded = [row for row in rows("sched") if "preempt" in row["category"] or row.get("poddisruptionbudgets")]
    base, evicted, undecided, found = os.environ.get("DIFFERENTIAL_SEED", "victims"), 0, 0, list[str]()
    with Oracle("schedule") as oracle:
        for number in range(NUMBER):
            seed = f"{base}-{number}"
            asked = with_victims_in_groups(dict(recorded[number * 31 % len(recorded)]), seed)
            try:
                real = oracle.ask(asked)["expect"]
            except OracleError:
                undecided += 1
                continue
            evicted += sum(bool(entry.get("preemption")) for entry in real)
            found += [f"{seed} {pod}: {told}" for pod, told in differences(asked, real, answer_pods)]
    assert not found, "\n\n".join(found[:5])
    assert evicted > NUMBER // 4
    assert undecided <= 1 + NUMBER // 10
