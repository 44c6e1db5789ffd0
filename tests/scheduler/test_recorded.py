"""Recorded answers of the real scheduler about pods in whole clusters: outcome, texts, nodes that fit, best nodes."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.vectors import answer_sched
from tests.vectors.rows import rows

_SAMPLE: Final = 16
_COMPARED: Final = (
    *("pod", "outcome", "reason", "messageWithoutPostFilter", "message", "feasible"),
    *("scores", "best", "gates", "preFilter", "preFilterNodes", "perNode", "preemption"),
)


def check(row: dict[str, Any]) -> None:
    asked = {name: value for name, value in row.items() if name != "expect"}
    given = answer_sched.answer(asked)["expect"]
    for expected, entry in zip(row["expect"], given, strict=True):
        for field in _COMPARED:
            assert entry.get(field) == expected.get(field), (row["id"], entry["pod"], field)


@pytest.mark.parametrize("first", range(4))
def test_a_sample(first: int) -> None:
    for row in rows("sched")[first * _SAMPLE // 4 :: _SAMPLE]:
        check(row)


@pytest.mark.rows
@pytest.mark.parametrize("first", range(8))
def test_all(first: int) -> None:
    asked = rows("sched")[first::8]
    assert len(asked) == 200
    for row in asked:
        check(row)
