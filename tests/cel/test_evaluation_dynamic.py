"""Dynamic operands of every kind in every operator and function, random nestings, odd inputs of every library, corners.

The files were recorded with k8s.io/dynamic-resource-allocation v0.37.1 (corners: v0.37.2): the first line is the
device, each other line an expression with the answers of both environments, cost included.
"""

import gzip
import json
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from tests.kit.sample import sampled
from tests.vectors.answer_cel import answer

HERE = Path(__file__).parent
FILES = {"dynamic": 5000, "libraries": 3000, "corners": 1700}
PARTS = 8


@cache
def recorded(name):
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        device, *rows = map(json.loads, lines)
    return device, rows


@pytest.mark.parametrize(("name", "part"), sampled(product(FILES, range(PARTS)), PARTS, lambda case: case[0]))
def test_answers_are_those_of_the_real_code(name, part):
    device, rows = recorded(name)
    for row in rows[part::PARTS]:
        question = {key: value for key, value in row.items() if key in ("expression", "derived", "costLimit")}
        given = answer(device | question | {"id": "row"})
        for environment in ("scheduler", "admission"):
            expected = row[environment]
            if "Syntax error" not in expected.get("compile_error", ""):
                assert given[environment] == expected, (environment, row["expression"])


@pytest.mark.parametrize("name", FILES)
def test_there_are_many_of_each_outcome(name):
    _, rows = recorded(name)
    outcomes = [key for row in rows for key in row["scheduler"]]
    assert len(rows) > FILES[name]
    assert outcomes.count("runtime_error") > FILES[name] / 5
    assert outcomes.count("match") + outcomes.count("value") > FILES[name] / 5
