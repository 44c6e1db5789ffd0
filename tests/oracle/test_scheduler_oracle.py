"""The oracle gives the recorded answers: it is the code that they were recorded from."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracle.scheduler_oracle import Oracle, OracleError, ask_all
from tests.vectors.rows import rows

pytestmark = pytest.mark.go


def _comparable(row: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in row.get("nondeterministic", ())}


def test_selectors() -> None:
    asked = rows("cel")[::3]
    for row, answer in zip(asked, ask_all("cel", asked), strict=True):
        assert _comparable(row, answer["scheduler"]) == _comparable(row, row["expect"]), row["id"]
        assert _comparable(row, answer["admission"]) == _comparable(row, row["expect_new"]), row["id"]


@pytest.mark.parametrize("name", ["alloc_probes", "alloc_corners", "alloc"])
def test_allocations(name: str) -> None:
    asked = rows(name)[:: 5 if name == "alloc" else 1]
    for row, answer in zip(asked, ask_all("alloc", asked), strict=True):
        recorded = [
            {"name": run["name"], "impl": run["impl"], **each} for run in row["expect"] for each in run["results"]
        ]
        for expected, given in zip(recorded, answer["results"], strict=True):
            if not expected.get("orderSensitive"):
                assert given == expected, row["id"]


def test_whole_clusters() -> None:
    asked = rows("sched")[::20]
    with Oracle("schedule") as oracle:
        for row in asked:
            given = oracle.ask({name: value for name, value in row.items() if name != "expect"})["expect"]
            for expected, entry in zip(row["expect"], given, strict=True):
                assert _decided(entry) == _decided(expected), row["id"]


def _decided(entry: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on chance: which of several nodes preemption names does."""
    several = len(entry.get("preemption", {}).get("nominated", ())) > 1
    return {
        name: value for name, value in entry.items() if name != "preemption" and not (several and name == "message")
    }


def test_a_row_that_cannot_be_read_is_a_fault_and_not_an_answer() -> None:
    with Oracle("alloc") as oracle:
        with pytest.raises(OracleError, match="node"):
            oracle.ask({"id": "x", "expect": [{"name": "n", "features": [], "results": [{"node": "nosuch"}]}]})
        with pytest.raises(OracleError, match="unknown feature"):
            oracle.ask({"id": "x", "expect": [{"name": "n", "features": ["Telepathy"], "results": []}]})
        assert oracle.ask({"id": "x", "expect": []}) == {"id": "x", "results": []}


def test_timing_counts_what_it_timed() -> None:
    device = {"name": "gpu-0", "attributes": {"model": {"string": "A100"}}}
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.example.com", "pool": pool, "nodeName": "n", "devices": [device, {**device, "name": "gpu-1"}]}
    slices = [{"metadata": {"name": "s"}, "spec": spec}]
    expression = 'device.attributes["d.example.com"].model == "A100"'
    timed = ask_all("time-selector", [{"expression": expression, "slices": slices, "repeat": 2}])[0]
    assert (timed["devices"], timed["matches"]) == (2, 2)
    assert timed["seconds"] > 0
    request = {"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 2}}
    claim = {"metadata": {"name": "c", "namespace": "ns", "uid": "1"}, "spec": {"devices": {"requests": [request]}}}
    nodes = [{"metadata": {"name": name}} for name in ("n", "other")]
    classes = [{"metadata": {"name": "c"}}]
    row = {"nodes": nodes, "slices": slices, "classes": classes, "claims": [claim], "features": []}
    timed = ask_all("time-allocator", [row])[0]
    assert timed["outcomes"] == {"allocated": 1, "unsatisfiable": 1}
