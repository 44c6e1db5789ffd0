"""Random selectors and derived attributes: compile errors, costs, values and run-time errors as the real ones."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, event, given, settings

from tests.differential.expressions import Row, rows
from tests.oracle.scheduler_oracle import Oracle
from tests.vectors.answer_cel import answer

pytestmark = pytest.mark.go
EXAMPLES = int(os.environ.get("DIFFERENTIAL_EXAMPLES", "500"))
# Go walks maps in random order: where the real answer varies, ours must be one of its answers.
ATTEMPTS = 8


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle("cel") as running:
        yield running


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(row=rows())
def test_random_expressions(oracle: Oracle, row: Row) -> None:
    ours = answer(row)
    for environment in ("scheduler", "admission"):
        mine = ours[environment]
        if "undecided" in mine:
            event("undecided")
            continue
        real = oracle.ask(row)[environment]
        event(next(name for name in ("compile_error", "runtime_error", "value", "match") if name in real))
        if mine != real:
            assert mine in [oracle.ask(row)[environment] for _ in range(ATTEMPTS)], real
