"""Random clusters: devices, their order, errors and the number of steps are those of the real allocator.

Asked node by node and for all nodes at once, where nodes alike share a search.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, event, given, settings

from tests.differential.clusters import Row, rows
from tests.oracle.scheduler_oracle import Oracle
from tests.vectors.answer_alloc import answer, answer_together

pytestmark = pytest.mark.go
EXAMPLES = int(os.environ.get("DIFFERENTIAL_EXAMPLES", "500"))
# Where the real answer depends on the order in which Go walks its maps, ours must be one of its answers.
ATTEMPTS = 8


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle("alloc") as running:
        yield running


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(row=rows())
def test_random_clusters(oracle: Oracle, row: Row) -> None:
    real = oracle.ask(row)["results"]
    for answers in (answer(row), answer_together(row)):
        for position, (expected, mine) in enumerate(zip(real, answers["results"], strict=True)):
            event(expected["outcome"])
            if "undecided" in mine:
                event("undecided")
                continue
            mine["impl"] = expected["impl"]
            if mine != expected:
                assert mine in [oracle.ask(row)["results"][position] for _ in range(ATTEMPTS)], expected
