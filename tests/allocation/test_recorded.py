"""Every recorded answer of the real allocator: outcome, allocations, error texts, step counter.

``alloc_mutated`` holds such rows damaged at random (odd quantities, policies, selectors, node selectors, pools, gates
on and off, all three implementations), answered by the same code.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.vectors.answer_alloc import answer
from tests.vectors.rows import rows

_CATEGORIES = sorted({row["category"] for row in rows("alloc")})


def _check(row: dict[str, Any]) -> None:
    recorded = [{"name": run["name"], "impl": run["impl"], **each} for run in row["expect"] for each in run["results"]]
    for expected, given in zip(recorded, answer(row)["results"], strict=True):
        # Where the real answer depends on the order in which slices are listed, ours depends on it, too.
        if not expected.get("orderSensitive"):
            assert given == expected, (row["id"], row.get("note"))


@pytest.mark.parametrize("category", _CATEGORIES)
def test_generated(category: str) -> None:
    asked = [row for row in rows("alloc") if row["category"] == category]
    assert len(asked) >= 60
    for row in asked:
        _check(row)


def test_probes() -> None:
    assert len(rows("alloc_probes")) == 81
    for row in rows("alloc_probes"):
        _check(row)


def test_mutated() -> None:
    asked = rows("alloc_mutated")
    assert {run["impl"] for row in asked for run in row["expect"]} == {"stable", "incubating", "experimental"}
    for row in asked:
        _check(row)
