"""Recorded answers of the real scheduler about groups of pods: of the group, and of each of its pods."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.scheduler.rows import rows_of
from tests.vectors import answer_sched
from tests.vectors.rows import rows

_SAMPLE: Final = 60


def _said(entry: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on which of several equally good nodes was taken."""
    members = [{name: each.get(name) for name in ("pod", "outcome", "reason", "message")} for each in entry["members"]]
    told = {name: entry.get(name) for name in ("group", "outcome", "condition", "evicted")}
    return {**told, "members": members}


def _check(row: dict[str, Any]) -> None:
    asked = {name: value for name, value in row.items() if name != "expect"}
    given = {entry["group"]: entry for entry in answer_sched.answer(asked)["expect"]}
    assert given.keys() == {entry["group"] for entry in row["expect"]}
    for expected in row["expect"]:
        possible = [_said(each) for each in (expected, *expected.get("alternatives", ()))]
        assert _said(given[expected["group"]]) in possible, (row["id"], expected["group"])


@pytest.mark.parametrize("first", range(4))
def test_a_sample(first: int) -> None:
    for row in rows("sched_gangs")[first * _SAMPLE // 4 :: _SAMPLE]:
        _check(row)


@pytest.mark.parametrize("first", range(4))
def test_policies_domains_nominations_and_volumes(first: int) -> None:
    """Groups that were asked about later: other keys, modes and policies; pods with volumes, ports and spread."""
    for row in list(rows_of("gangs.jsonl.gz"))[first::4]:
        _check(row)


@pytest.mark.rows
@pytest.mark.parametrize("first", range(4))
def test_all(first: int) -> None:
    asked = rows("sched_gangs")[first::4]
    assert len(asked) == 150
    for row in asked:
        _check(row)
