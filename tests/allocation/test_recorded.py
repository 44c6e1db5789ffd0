"""Every recorded answer of the real allocator: outcome, allocations, error texts, step counter.

``alloc_texts`` has one row per error text and per way to spoil a node selector. ``alloc_mutated`` holds rows damaged at
random (odd quantities, policies, selectors, node selectors, pools, gates on and off, all three implementations).
``alloc_corners`` has numbers around 64 bits in node selectors, and constraints on lists beside single values.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from kubectl_dra.allocation.errors import (
    AllocationError,
    CapacityFault,
    CapacityNotComputable,
    NodeSelectorUnparsable,
    RequestError,
    SelectorFault,
)
from kubectl_dra.model.names import label_key, label_value
from kubectl_dra.scheduler.allocation_errors import allocation_error
from tests.kit.sample import sampled
from tests.vectors import answer_alloc
from tests.vectors.rows import rows

_CATEGORIES = sorted({row["category"] for row in rows("alloc")})


def _check(row: dict[str, Any]) -> None:
    recorded = [{"name": run["name"], "impl": run["impl"], **each} for run in row["expect"] for each in run["results"]]
    for expected, given in zip(recorded, answer_alloc.answer(row)["results"], strict=True):
        # Where the real answer depends on the order in which slices are listed, ours depends on it, too.
        if not expected.get("orderSensitive"):
            assert given == expected, (row["id"], row.get("note"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("category", sampled(_CATEGORIES, 2))
def test_generated(category: str) -> None:
    asked = [row for row in rows("alloc") if row["category"] == category]
    assert len(asked) >= 60
    for row in asked:
        _check(row)


def test_probes() -> None:
    assert len(rows("alloc_probes")) == 81
    for row in rows("alloc_probes"):
        _check(row)


def test_corners() -> None:
    assert len(rows("alloc_corners")) == 61
    for row in rows("alloc_corners"):
        _check(row)


def test_texts() -> None:
    assert len(rows("alloc_texts")) > 100
    for row in rows("alloc_texts"):
        _check(row)


def test_every_kind_of_error_is_among_them() -> None:
    met: list[AllocationError] = []

    def watched(error: AllocationError) -> str:
        met.append(error)
        return allocation_error(error)

    with patch.object(answer_alloc, "allocation_error", watched):
        for name in ("alloc_probes", "alloc_texts"):
            for row in rows(name):
                answer_alloc.answer(row)
    # The rows are from 1.37; what earlier schedulers said is replayed in tests/generations.
    earlier = {"InvalidPoolMet"}
    kinds = {kind.__name__ for base in (AllocationError, RequestError) for kind in base.__subclasses__()}
    assert {type(error).__name__ for error in met} == kinds - earlier - {"RequestError"}
    problems = [p for error in met if isinstance(error, NodeSelectorUnparsable) for p in error.problems]
    assert {problem.fault for problem in problems} == set(SelectorFault)
    # The form of the key, three things each of its prefix and its name, length and form of the value.
    wrong = {word for p in problems if p.fault is SelectorFault.KEY for word in label_key(str(p.value))}
    wrong |= {word for p in problems if p.fault is SelectorFault.LABEL_VALUE for word in label_value(str(p.value))}
    assert len(wrong) == 9
    assert {error.fault for error in met if isinstance(error, CapacityNotComputable)} == set(CapacityFault)


def test_mutated() -> None:
    asked = rows("alloc_mutated")
    assert {run["impl"] for row in asked for run in row["expect"]} == {"stable", "incubating", "experimental"}
    for row in asked:
        _check(row)
