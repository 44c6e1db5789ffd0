"""Preemption against answers of the real scheduler, and what the answers don't cover."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kubectl_dra.scheduler.preemption import PreemptionResult
from tests.kit.decisions import decide
from tests.scheduler.edges import objects as edges
from tests.scheduler.rows import Row, pod_of, rows_of, snapshot_of
from tests.vectors import answer_sched

ROWS: Final = tuple(rows_of("preemption.jsonl.gz"))


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_real_scheduler_says_the_same(row: Row) -> None:
    asked = {name: value for name, value in row.items() if name != "expect"}
    for expected, entry in zip(row["expect"], answer_sched.answer(asked)["expect"], strict=True):
        assert entry.get("preemption") == expected.get("preemption")
        assert entry.get("messageWithoutPostFilter") == expected.get("messageWithoutPostFilter")
        if len(expected.get("preemption", {}).get("nominated", ())) < 2:
            assert entry.get("message") == expected.get("message")


def test_the_recorded_rows_have_every_outcome() -> None:
    found = [entry for row in ROWS for entry in row["expect"]]
    texts = " ".join(entry.get("message", "") for entry in found)
    assert "not eligible due to preemptionPolicy=Never." in texts
    assert "not eligible due to a terminating pod on the nominated node." in texts
    assert "No preemption victims found for incoming pod" in texts
    assert "Preemption is not helpful for scheduling" in texts
    candidates = [each["candidates"] for entry in found if (each := entry.get("preemption"))]
    assert any(len(each) > 2 for each in candidates)
    assert any(one.get("pdbViolations") for each in candidates for one in each.values())


# --- small clusters -------------------------------------------------------------------------------------------------


def node(name: str, cpu: str = "1") -> dict[str, Any]:
    return edges.node(name, cpu=cpu)


def pod(name: str, priority: int = 0, cpu: str = "1", on: str = "", start: str = "", **more: Any) -> dict[str, Any]:
    own = {"labels": {"app": name}, "namespace": "a", "metadata": {"uid": name}}
    return edges.pod(
        name, on, cpu=cpu, status={"startTime": start} if start else None, priority=priority, **own, **more
    )


def preemption(row: Row, **options: Any) -> PreemptionResult:
    snapshot = snapshot_of(row, **options)
    found = decide(snapshot, pod_of(snapshot, "a/want")).preemption
    assert found is not None
    return found


def test_budgets_that_were_not_read_leave_the_choice_open() -> None:
    row = {"nodes": [node("n1")], "pods": [pod("want", 10), pod("low", on="n1")]}
    assert preemption(row).unsure == ()
    assert preemption(row, unread=("PodDisruptionBudget",)).unsure == ("PodDisruptionBudget",)
    nobody = {"nodes": [node("n1")], "pods": [pod("want", 10), pod("high", 10, on="n1")]}
    assert preemption(nobody, unread=("PodDisruptionBudget",)).unsure == ()


def test_of_equal_pods_chance_takes_one() -> None:
    row = {
        "nodes": [node("n1", "2")],
        "pods": [pod("want", 10), pod("one", on="n1"), pod("two", on="n1")],
    }
    (candidate,) = preemption(row).candidates.values()
    assert len(candidate.victims) == 1
    assert not candidate.settled
    times = {"one": "2026-01-01T00:00:00Z", "two": "2026-01-02T00:00:00Z"}
    started = {**row, "pods": [pod("want", 10), *(pod(name, on="n1", start=at) for name, at in times.items())]}
    (candidate,) = preemption(started).candidates.values()
    assert candidate.settled
    assert [victim.key.name for victim in candidate.victims] == ["two"]


def test_times_are_compared_as_times() -> None:
    times = {"one": "2026-01-01T00:30:00+02:00", "two": "2026-01-01T00:00:00Z"}
    row = {
        "nodes": [node("n1", "2")],
        "pods": [pod("want", 10), *(pod(name, on="n1", start=at) for name, at in times.items())],
    }
    (candidate,) = preemption(row).candidates.values()
    # 00:30+02:00 is 22:30 of the day before: the other one started later.
    assert [victim.key.name for victim in candidate.victims] == ["two"]


def test_enough_candidates_are_enough() -> None:
    names = [f"n{i}" for i in range(130)]
    row = {"nodes": [node(name) for name in names], "pods": [pod("want", 10), *(pod(f"on-{n}", on=n) for n in names)]}
    assert len(preemption(row).candidates) == 100


def test_nobody_who_could_go_is_looked_for_on_every_node() -> None:
    names = [f"n{i}" for i in range(130)]
    row = {"nodes": [node(n) for n in names], "pods": [pod("want"), *(pod(f"on-{n}", on=n) for n in names)]}
    found = preemption(row)
    assert len(found.tried) == 130
    text = "preemption: 0/130 nodes are available: 130 No preemption victims found for incoming pod."
    assert found.status.reasons == (text,)


def test_host_ports_are_freed() -> None:
    ports = {"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}
    row = {
        "nodes": [node("n1")],
        "pods": [pod("want", 10, containers=[ports]), pod("low", on="n1", containers=[ports]), pod("else", on="n1")],
    }
    snapshot = snapshot_of(row)
    found = decide(snapshot, pod_of(snapshot, "a/want"))
    assert found.base == "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
    assert found.preemption is not None
    (candidate,) = found.preemption.candidates.values()
    assert [victim.key.name for victim in candidate.victims] == ["low"]


def test_devices_of_victims_stay_taken() -> None:
    """Room for the processor could be made, but the device that the victim holds is not freed by that."""
    device = {"driver": "gpu.example.com", "pool": "n1", "device": "d"}
    request = {
        "devices": {
            "requests": [
                {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
            ]
        }
    }
    claims = [
        {"metadata": {"name": "theirs", "namespace": "a", "uid": "t"}, "spec": request, "status": {
            "allocation": {"devices": {"results": [{"request": "r", **device}]}},
            "reservedFor": [{"resource": "pods", "name": "low", "uid": "low"}],
        }},
        {"metadata": {"name": "mine", "namespace": "a", "uid": "m"}, "spec": request},
    ]  # fmt: skip
    row = {
        "nodes": [node("n1")],
        "pods": [
            pod("want", 10, resourceClaims=[{"name": "g", "resourceClaimName": "mine"}]),
            pod("low", on="n1", resourceClaims=[{"name": "g", "resourceClaimName": "theirs"}]),
        ],
        "deviceclasses": [{"metadata": {"name": "gpu", "uid": "c"}, "spec": {}}],
        "resourceslices": [
            {
                "metadata": {"name": "s", "uid": "s"},
                "spec": {
                    "driver": "gpu.example.com",
                    "nodeName": "n1",
                    "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
                    "devices": [{"name": "d"}],
                },
            }
        ],
        "resourceclaims": claims,
    }
    found = preemption(row)
    assert found.candidates == {}
    assert found.tried["n1"].reasons == ("cannot allocate all claims",)
    free = {**row, "resourceclaims": claims[1:]}
    assert set(preemption(free).candidates) == {"n1"}


def test_who_is_evicted_is_told_instead_of_the_claim_that_is_freed() -> None:
    """Where preemption helps, its words stand alone, although the idle claim was deallocated: the real one's answer."""
    cluster = {
        "nodes": edges.nodes("n1", "n2"),
        "deviceclasses": [edges.device_class()],
        "resourceslices": [edges.pool("n1", "d1"), edges.pool("n2", "d2")],
        "resourceclaims": [edges.device_claim("idle", device="d1", on="n1")],
        "pods": [
            edges.pod("r", "n1", cpu="4"),
            edges.pod("p", cpu="1", resourceClaims=edges.devices("idle"), priority=10),
        ],
    }
    (entry,) = answer_sched.answer(edges.Edge(0, cluster).row())["expect"]
    assert entry["message"] == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 resourceclaim not available on the node. "
        "preemption: found a potential placement for pod on node n1, preempting 1 victims"
    )
