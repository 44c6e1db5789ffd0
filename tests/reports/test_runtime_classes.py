"""What a RuntimeClass puts into its pods is changed there, or by naming another one; never in the pod."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.reports.simulation import SimulationReport
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of
from tests.reports.test_simulated_files import a_pod, cluster, page, simulated, template


def runtime(name: str, overhead: dict[str, str] | None = None, **scheduling: Any) -> dict[str, Any]:
    body = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "x"}
    return {**body, "scheduling": scheduling, **({"overhead": {"podFixed": overhead}} if overhead else {})}


KATA = runtime("kata", nodeSelector={"kata": "yes"})
THERE = [
    build.node("node-1"),
    build.node("node-2", labels={"kata": "yes"}),
    build.slice_("node-1", build.device("gpu")),
]


def pod(selector: dict[str, str], **spec: Any) -> dict[str, Any]:
    return build.pod(claims=["claim"], nodeSelector=selector, **spec)


def edits(report: Any) -> list[tuple[str, str]]:
    found = [way.actions[0] for way in report.remedies if way.verified]
    return [(each.field, each.after) for each in found if isinstance(each, EditPod)]


def test_a_node_selector_of_the_runtime_class_is_not_dropped_from_the_pod() -> None:
    waiting = pod({"kata": "yes"}, runtimeClassName="kata")
    report = report_of(*THERE, KATA, runtime("runc"), waiting, build.claim())
    assert first_line(report).endswith(
        "it may only run on nodes with kata=yes (node-2), which its RuntimeClass kata sets, and the free "
        "gpu.example.com devices are on node-1."
    )
    assert edits(report) == [("runtimeClassName[kata]", "runc"), ("runtimeClassName[kata]", "")]
    told = page_of(report)
    assert "drop kata=yes" not in told
    assert "It is changed in the RuntimeClass (scheduling.nodeSelector), for all of its pods, or by another" in told
    assert "use RuntimeClass runc instead of kata (recreate the pod)" in told
    # The pod's own selector is.
    own = report_of(*THERE, runtime("kata"), pod({"kata": "yes"}, runtimeClassName="kata"), build.claim())
    assert edits(own) == [("nodeSelector[kata]", "")]
    assert "RuntimeClass" not in page_of(own)


def test_part_of_a_selector_is_named() -> None:
    waiting = pod({"kata": "yes", "zone": "b"}, runtimeClassName="kata")
    line = first_line(report_of(*THERE, KATA, waiting, build.claim()))
    assert "kata=yes and zone=b (no node" in line
    assert ", of which kata=yes its RuntimeClass kata sets" in line


def test_where_runtime_classes_could_not_be_read_no_label_is_dropped() -> None:
    waiting = pod({"kata": "yes"}, runtimeClassName="kata")
    assert edits(report_of(*THERE, waiting, build.claim(), withheld=["RuntimeClass"])) == []


def test_a_class_that_would_refuse_the_pod_is_not_offered() -> None:
    waiting = pod({"kata": "yes", "zone": "a"}, runtimeClassName="kata")
    nodes = [build.node("node-1", labels={"zone": "a"}), *THERE[1:]]
    other = runtime("other", nodeSelector={"zone": "b"})
    assert edits(report_of(*nodes, KATA, other, waiting, build.claim())) == [("runtimeClassName[kata]", "")]


def told_of(*classes: dict[str, Any], cpu: str = "1") -> SimulationReport:
    body = {"apiVersion": "v1", **a_pod("p", templates=["one"], requests={"cpu": cpu}, runtimeClassName="kata")}
    return simulated(template("one"), body, world=cluster(*classes))


@pytest.mark.parametrize(
    ("kata", "cpu", "why"),
    [
        (KATA, "1", "which its RuntimeClass kata sets"),
        (runtime("kata", {"cpu": "10"}), "60", "10 of them the overhead of RuntimeClass kata"),
    ],
)
def test_the_file_is_told_only_of_what_is_in_it(kata: dict[str, Any], cpu: str, why: str) -> None:
    told = page(told_of(kata, runtime("runc"), cpu=cpu))
    assert why in told
    assert "puts kata=yes into each pod" in told or "puts the overhead into each pod" in told
    assert "use RuntimeClass runc instead of kata (in Pod p)" in told
    assert "spec.runtimeClassName" in told
    assert "spec.nodeSelector" not in told
    assert "spec.overhead" not in told
