"""The numbered edge cases of the scheduler's rules: each has a small cluster here, or a test that is named."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_dra.scheduler.gangs.decision import GroupOutcome, decide_group
from kubectl_dra.scheduler.snapshot import Snapshot
from tests.scheduler.edges.all import EDGES
from tests.scheduler.edges.objects import Edge
from tests.scheduler.rows import Row, rows_of, snapshot_of
from tests.vectors.answer_sched import answer

ROWS: Final[Mapping[str, Row]] = {row["id"]: row for row in rows_of("edges.jsonl.gz")}
_TESTS: Final = Path(__file__).parents[1]
#: Edges that are not about what becomes of pods in a cluster at rest.
ELSEWHERE: Final = {
    10: ("diagnosis/test_messages_of_pods.py", "test_taking_a_message_apart"),
    11: ("diagnosis/test_messages_of_pods.py", "test_the_time_of_a_message_is_that_of_its_last_event"),
    16: ("diagnosis/test_attempt.py", "test_how_many_nodes_are_enough"),
    18: ("diagnosis/test_attempt.py", "test_with_enough_nodes_that_fit_the_order_decides"),
    24: ("diagnosis/test_nodefilters.py", "test_whose_words"),
    35: ("model/test_usage.py", "test_pod_level_requests_replace_those_of_containers"),
    36: ("diagnosis/test_nodefilters.py", "test_resources_that_nobody_counts_are_ignored"),
    41: ("scheduler/test_attempt.py", "test_a_resize_that_is_infeasible_counts_what_was_allocated"),
    42: ("scheduler/test_attempt.py", "test_a_resize_that_is_infeasible_counts_what_was_allocated"),
    48: ("diagnosis/test_nodefilters.py", "test_taints_and_tolerations"),
    125: ("scheduler/test_edges.py", "test_members_of_several_schedulers"),
}
#: Which event moves a pod back into the queue leaves nothing to say about the cluster as it is.
EVENTS: Final = {121}


def test_every_number_has_a_test() -> None:
    clusters = [edge.number for edge in EDGES]
    assert len(clusters) == len(set(clusters)) == len(ROWS)
    assert sorted([*clusters, *ELSEWHERE, *EVENTS]) == list(range(1, 126))
    for path, name in ELSEWHERE.values():
        assert f"def {name}(" in (_TESTS / path).read_text(encoding="utf-8")


def _entries(answered: Row) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Pods, and groups with the message of their condition, by name."""
    for entry in answered["expect"]:
        if "group" in entry:
            yield entry["group"].partition("/")[2], entry | {"message": entry.get("condition", {}).get("message", "")}
            yield from ((each["pod"].partition("/")[2], each) for each in entry["members"])
        else:
            yield entry["pod"].partition("/")[2], entry


def _is(entry: Mapping[str, Any], told: str) -> bool:
    kind, _, names = told.partition(" ")
    if kind in ("fits", "best"):
        return sorted(entry.get("feasible" if kind == "fits" else "best", ())) == names.split()
    return told in (entry["outcome"], entry.get("message")) or (" " in told and told in entry.get("message", ""))


@pytest.mark.parametrize("edge", EDGES, ids=[str(edge.number) for edge in EDGES])
def test_what_becomes_of_the_pods(edge: Edge) -> None:
    row = ROWS[f"edge-{edge.number}"]
    real = dict(_entries(row))
    ours = dict(_entries(answer({name: value for name, value in row.items() if name != "expect"})))
    assert edge.told
    for name, told in edge.told.items():
        assert _is(real[name], told), (name, real[name])
    for name, entry in real.items():
        for field in ("outcome", "reason", "message", "messageWithoutPostFilter", "feasible", "best", "preemption"):
            assert (ours[name].get(field) or None) == (entry.get(field) or None), (name, field)


def test_members_of_several_schedulers() -> None:
    """The program that answered serves one profile only; the words are those of validatePodGroup."""
    row = copy.deepcopy(ROWS["edge-111"])
    members = [pod for pod in row["pods"] if pod["spec"].get("schedulingGroup")]
    members[1]["spec"]["schedulerName"] = "second"
    schedulers = frozenset(("default-scheduler", "second"))
    snapshot = Snapshot(replace(snapshot_of(row).state, schedulers=schedulers))
    (group,) = snapshot.inventory.groups.pod_groups.values()
    decision = decide_group(snapshot, group)
    assert decision.outcome is GroupOutcome.ERROR
    said = 'same .spec.schedulerName set, got: "second" and "default-scheduler"'
    assert all(said in member.message for member in decision.members)
