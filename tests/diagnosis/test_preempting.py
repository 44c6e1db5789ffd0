"""Preemption in a diagnosis: who is evicted where, or that it does not help."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.records import (
    AssumptionKind,
    Declined,
    LowerHolders,
    ObjectRef,
    PodsThere,
    Preemption,
    Verdict,
)
from kubectl_dra.output.pending.next_in_the_way import preemption_lines
from kubectl_dra.output.safe import plain
from tests.diagnosis.test_other_plugins import diagnose
from tests.kit import build


def runs(name: str, priority: int = 0, **more: Any) -> dict[str, Any]:
    """A pod that takes all cpus of node-1."""
    return build.pod(name, node_name="node-1", phase="Running", requests={"cpu": "4"}, priority=priority, **more)


def waits(priority: int = 5, **more: Any) -> dict[str, Any]:
    return build.pod(claims=["claim"], requests={"cpu": "1"}, priority=priority, **more)


def test_who_is_evicted_is_told() -> None:
    found = diagnose(waits(), build.claim(), runs("low"))
    assert found.verdict is Verdict.UNSCHEDULABLE
    text = "preemption: found a potential placement for pod on node node-1, preempting 1 victims"
    assert found.preemption == Preemption(text, ("node-1",), ("ml/low",))


def test_where_claims_were_not_read_nobody_is_said_to_be_evicted() -> None:
    """Devices that look free may be in use, and for these nobody is evicted."""
    found = diagnose(waits(), build.claim(), runs("low"), withheld=("ResourceClaim",))
    assert found.preemption == Preemption("", certain=False, unread=("ResourceClaim",))
    theirs = build.claim()
    result = {"driver": build.DRIVER, "pool": "node-1", "device": "gpu-0", "request": "gpu"}
    theirs["status"] = {"allocation": {"devices": {"results": [result]}}}
    allocated = diagnose(waits(), theirs, runs("low"), withheld=("ResourceClaim",))
    assert allocated.preemption is not None
    assert allocated.preemption.victims == ("ml/low",)


def test_without_lower_priority_nobody_is() -> None:
    found = diagnose(waits(), build.claim(), runs("equal", 5))
    text = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    assert found.preemption == Preemption(text)


def test_a_pod_may_decline() -> None:
    """It is told whom it would evict, which devices that stay taken have no part in."""
    never = waits(preemptionPolicy="Never", priorityClassName="polite")
    text = "preemption: not eligible due to preemptionPolicy=Never."
    taken = build.claim("theirs", held=[("node-2", "gpu-0")], by=["other"])
    other = build.pod("other", node_name="node-2", phase="Running")
    more = build.node("node-2"), build.slice_("node-2", build.device("gpu-0")), taken, other
    found = diagnose(never, build.claim(), runs("low"), *more)
    assert found.preemption == Preemption(text, declined=Declined("node-1", ("ml/low",), "polite"))
    assert " ".join(map(plain, preemption_lines(found.preemption))) == (
        "Its preemptionPolicy Never (of PriorityClass polite) keeps the scheduler from evicting 1 pod of lower priority"
        " on node-1: ml/low. A PriorityClass of the same value without that policy would let it."
    )
    # Nobody to evict, and devices that stay taken whatever the policy.
    assert diagnose(never, build.claim(), runs("equal", 5)).preemption == Preemption(text)
    held = build.claim("theirs", held=[("node-1", "gpu-0")], by=["low"])
    holds = diagnose(never, build.claim(), runs("low", claims=["theirs"]), held)
    there = PodsThere((ObjectRef("Pod", "ml", "low"),), 1, ("node-1",))
    assert holds.preemption == Preemption(text, holders=LowerHolders((there,), (0,), 5))


def test_devices_are_not_freed_by_it() -> None:
    holder = runs("low", claims=["theirs"])
    device = {"driver": build.DRIVER, "pool": "node-1", "device": "gpu-0", "request": "gpu"}
    theirs = build.claim("theirs")
    theirs["status"] = {
        "allocation": {"devices": {"results": [device]}},
        "reservedFor": [{"resource": "pods", "name": "low", "uid": "pod-low"}],
    }
    found = diagnose(waits(), build.claim(), holder, theirs)
    assert found.preemption is not None
    assert found.preemption.nodes == ()
    assert "cannot allocate all claims" in found.preemption.message


def test_a_pod_that_fits_evicts_nobody() -> None:
    assert diagnose(waits(), build.claim()).preemption is None


@pytest.mark.parametrize(
    ("change", "minor", "told"),
    [
        ({}, 37, ["ml/low"]),
        # Before, only who has evicted others was nominated.
        ({}, 34, []),
        # Nothing is written for it before it is bound, and of equal priority it counts.
        ({"claims": []}, 37, []),
    ],
)
def test_a_pod_of_lower_priority_that_may_be_being_bound_is_an_assumption(
    change: dict[str, Any], minor: int, told: list[str]
) -> None:
    low = build.pod("low", requests={"cpu": "4"}, **{"claims": ["other"], **change})
    low["status"]["nominatedNodeName"] = "node-1"
    objects = (waits(), build.claim(), build.claim("other"), low)
    found = diagnose(*objects, minor=minor)
    assert found.verdict is Verdict.SCHEDULABLE
    assert [each.subject for each in found.assumed if each.kind is AssumptionKind.NOMINATED] == told
    more = build.node("node-2"), build.slice_("node-2", build.device("gpu-0"))
    elsewhere = diagnose(*objects, *more, minor=minor)
    assert not [each for each in elsewhere.assumed if each.kind is AssumptionKind.NOMINATED]


def test_what_is_under_way_is_told_with_its_node_and_pods() -> None:
    victim, pod = runs("low"), waits()
    victim["metadata"]["deletionTimestamp"] = "2026-11-01T00:00:00Z"
    victim["status"]["conditions"] = [
        {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": ""}
    ]
    pod["status"]["nominatedNodeName"] = "node-1"
    found = diagnose(pod, build.claim(), victim)
    assert found.verdict is Verdict.UNSCHEDULABLE
    text = "preemption: not eligible due to a terminating pod on the nominated node."
    assert found.preemption == Preemption(text, ("node-1",), ("ml/low",), under_way=True)
