"""Dynamic operands of every kind in every operator and function, and random nestings of them, as the real code answers.

``dynamic.jsonl.gz`` was recorded with k8s.io/dynamic-resource-allocation v0.37.1: its first line is the device, each
other line an expression with the answers of both environments, cost included.
"""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest

from tests.vectors.answer_cel import answer

FILE = Path(__file__).parent / "dynamic.jsonl.gz"
PARTS = 16


@cache
def recorded():
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        device, *rows = map(json.loads, lines)
    return device, rows


@pytest.mark.parametrize("part", range(PARTS))
def test_answers_are_those_of_the_real_code(part):
    device, rows = recorded()
    for row in rows[part::PARTS]:
        question = {key: value for key, value in row.items() if key in ("expression", "derived", "costLimit")}
        given = answer(device | question | {"id": "row"})
        for environment in ("scheduler", "admission"):
            expected = row[environment]
            if "Syntax error" not in expected.get("compile_error", ""):
                assert given[environment] == expected, (environment, row["expression"])


def test_there_are_thousands_of_each_outcome():
    _, rows = recorded()
    outcomes = [key for row in rows for key in row["scheduler"]]
    assert len(rows) > 5000
    assert outcomes.count("runtime_error") > 2000
    assert outcomes.count("match") + outcomes.count("value") > 1000
