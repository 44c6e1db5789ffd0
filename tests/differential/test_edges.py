"""The edge cases as recorded are what the real scheduler still answers to the clusters as they are written."""

from __future__ import annotations

import pytest

from tests.oracle.scheduler_oracle import Oracle
from tests.scheduler.edges.all import EDGES
from tests.scheduler.rows import rows_of

pytestmark = pytest.mark.go


def test_the_recorded_answers_are_those_of_the_real_scheduler() -> None:
    recorded = {row["id"]: row for row in rows_of("edges.jsonl.gz")}
    with Oracle("admit") as admit, Oracle("schedule") as schedule, Oracle("gangs") as gangs:
        for edge in EDGES:
            row = admit.ask(edge.row())
            answer = (gangs if row.get("podgroups") else schedule).ask(row)
            assert {**row, "expect": answer["expect"]} == recorded[row["id"]]
