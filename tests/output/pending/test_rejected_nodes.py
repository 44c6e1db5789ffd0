"""Nodes that fail before devices are tried: what their devices lack is told too, and each number of its own node."""

from __future__ import annotations

from typing import Any

from kubectl_dra.output.pending.headline import pending_cause
from kubectl_dra.reports.base import Fits
from tests.kit import build
from tests.output.pending.test_more_situations import holding
from tests.output.pending.test_situations import SLICE, first_line, page_of, report_of

CLASS = build.device_class()
WAITS = build.pod(claims=["claim"], requests={"cpu": "3"})


def hog(node: str, cpu: str, **more: Any) -> dict[str, Any]:
    return build.pod(f"hog-{node}", node_name=node, phase="Running", requests={"cpu": cpu}, **more)


def test_a_node_without_cpus_is_asked_for_devices_too() -> None:
    held = [*holding("a", "gpu-0"), *holding("b", "gpu-1")]
    report = report_of(CLASS, build.node(cpu="4"), SLICE, *held, hog("node-1", "2"), WAITS, build.claim())
    assert first_line(report) == (
        "Pod ml/pod is pending: node-1 has only 2 of the 3 requested CPUs free (in use by ml/hog-node-1: 2), and has "
        "no free gpu.example.com devices: both are in use (a 1, b 1)."
    )


def test_nodes_with_cpus_and_no_devices_change_nothing_about_that() -> None:
    held = [*holding("a", "gpu-0"), *holding("b", "gpu-1")]
    nodes = [build.node(cpu="4"), build.node("node-2", cpu="8")]
    report = report_of(CLASS, *nodes, SLICE, *held, hog("node-1", "2"), WAITS, build.claim())
    assert "has no free gpu.example.com devices: both are in use (a 1, b 1)" in first_line(report)


def test_what_a_rejected_node_lacks_is_no_matter_where_another_one_was_tried() -> None:
    held = [*holding("a", "gpu-0"), *holding("b", "gpu-1"), *holding("c", "gpu-0", node="node-2")]
    nodes = [build.node(cpu="4"), build.node("node-2", cpu="8")]
    other = build.slice_("node-2", build.device("gpu-0"))
    report = report_of(CLASS, *nodes, SLICE, other, *held, hog("node-1", "2"), WAITS, build.claim())
    assert "on node-2, the only one is in use (c)" in first_line(report)
    assert "Ruled out earlier: node-1 (has only 2 of the 3 requested CPUs free" in page_of(report)


def test_the_best_nodes_number_is_not_that_of_the_others() -> None:
    nodes = [build.node(cpu="4"), build.node("node-2", cpu="4")]
    other = build.slice_("node-2", build.device("gpu-0"))
    hogs = [hog("node-1", "2"), hog("node-2", "3")]
    report = report_of(CLASS, *nodes, SLICE, other, *hogs, WAITS, build.claim())
    told = "node-1 and node-2 have the device but at most 2 of the 3 requested CPUs free (node-1)."
    assert first_line(report).endswith(told)
    hogs[1] = hog("node-2", "2")
    report = report_of(CLASS, *nodes, SLICE, other, *hogs, WAITS, build.claim())
    assert first_line(report).endswith("have the device but only 2 of the 3 requested CPUs free.")


def test_devices_that_may_be_in_use_are_not_there() -> None:
    objects = [CLASS, build.node(cpu="4"), SLICE, hog("node-1", "2"), WAITS, build.claim()]
    report = report_of(*objects, withheld=["ResourceClaim"])
    assert report.nodes[0].devices_fit is Fits.UNKNOWN
    assert first_line(report).endswith("(whether the device is free there is not known).")


def test_a_list_tells_of_a_preemption_under_way() -> None:
    deleted = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    victim = hog("node-1", "4", priority=0)
    victim["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    victim["status"]["conditions"] = [deleted]
    waits = build.pod(claims=["claim"], requests={"cpu": "3"}, priority=5)
    waits["status"]["nominatedNodeName"] = "node-1"
    report = report_of(CLASS, build.node(cpu="4"), SLICE, victim, waits, build.claim())
    name = victim["metadata"]["name"]
    assert pending_cause(report) == f"1 pod evicted for it on node-1 (ml/{name}) has not ended yet"
