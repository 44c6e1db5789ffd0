"""A label, or a value of it, that no node has: said in the first line, with what the nodes have instead."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.diagnosis.explain import rejections
from kubectl_dra.diagnosis.records import NodeSelection
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

LABELS = {"pool": "gpu", "example.com/product": "H100"}
CLUSTER = [
    build.node(labels=LABELS),
    build.node("cpu-1", labels={"pool": "cpu"}),
    build.slice_("node-1", build.device("gpu-0")),
    build.claim("claim"),
]


def affinity(**expression: Any) -> dict[str, Any]:
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def selections(report: PendingReport) -> list[NodeSelection]:
    details = dict.fromkeys(cause.detail for group in report.nodes for cause in group.causes)
    return [each for each in details if isinstance(each, NodeSelection)]


@pytest.mark.parametrize(
    ("selector", "told", "instead"),
    [
        ({"poool": "gpu"}, "no node has the label poool; did you mean pool=gpu?", "pool=gpu"),
        (
            {"example.com/product": "H10O"},
            "no node has that; example.com/product is H100 on those that have it",
            "example.com/product=H100",
        ),
    ],
)
def test_a_misspelled_label_is_corrected(selector: dict[str, str], told: str, instead: str) -> None:
    report = report_of(*CLUSTER, build.pod(claims=["claim"], nodeSelector=selector))
    assert f"({told}), and the free gpu.example.com devices are on node-1." in first_line(report)
    way = report.remedies[0]
    ((label, value),) = selector.items()
    assert remedy_text(way).startswith(f"select {instead} instead of {label}={value} in the pod's node selector")
    assert (way.verified, way.nodes) == (True, ("node-1",))
    text = json.dumps([step.manifest or step.commands for step in way.steps])
    key, _, wanted = instead.partition("=")
    assert key.replace("/", "~1") in text
    assert wanted in text


@pytest.mark.parametrize("selector", [{"accelerator": "yes"}, {"tier": "gold", "pool": "gpu"}])
def test_where_nothing_is_near_nothing_is_guessed(selector: dict[str, str]) -> None:
    report = report_of(*CLUSTER, build.pod(claims=["claim"], nodeSelector=selector))
    assert "no node has the label" in first_line(report)
    assert "did you mean" not in first_line(report)
    assert all(remedy_text(way).startswith("drop ") for way in report.remedies)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        (
            {"key": "pool", "operator": "In", "values": ["gpus", "tpu"]},
            "no node has that; pool is cpu or gpu on those that have it",
        ),
        ({"key": "example.com/present", "operator": "Exists"}, "no node has the label example.com/present"),
    ],
)
def test_so_are_labels_of_a_required_affinity(expression: dict[str, Any], told: str) -> None:
    report = report_of(*CLUSTER, build.pod(claims=["claim"], **affinity(**expression)))
    assert f"({told})" in first_line(report)


def test_a_label_that_some_node_has_is_not_called_missing() -> None:
    expression = {"key": "pool", "operator": "In", "values": ["cpu", "tpu"]}
    report = report_of(*CLUSTER, build.pod(claims=["claim"], **affinity(**expression)))
    assert "no node has" not in first_line(report)


def test_it_is_said_where_there_are_no_devices_either() -> None:
    objects = [each for each in CLUSTER if each["kind"] != "ResourceSlice"]
    report = report_of(*objects, build.pod(claims=["claim"], nodeSelector={"poool": "gpu"}))
    assert first_line(report).endswith("it requires poool=gpu (no node has the label poool; did you mean pool=gpu?).")


# --- nodes with devices that nothing may run on -----------------------------------------------------------------------


def unreachable() -> list[dict[str, Any]]:
    node = build.node(labels=LABELS)
    node["spec"]["taints"] = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]
    held = build.claim("held", held=[("node-1", "gpu-0")], by=["other"])
    other = build.pod("other", claims=["held"], node_name="node-1", phase="Running")
    return [node, build.node("cpu-1"), CLUSTER[2], held, other, build.claim("claim")]


def test_what_keeps_the_pod_from_the_only_node_with_devices_is_said() -> None:
    report = report_of(*unreachable(), build.pod(claims=["claim"]))
    assert first_line(report) == (
        "Pod ml/pod is pending: it may only run on cpu-1, without gpu.example.com devices: the 1 device of the class "
        "is on node-1, which is unreachable: its kubelet has stopped reporting (taint "
        "node.kubernetes.io/unreachable:NoSchedule), and has no free gpu.example.com devices: the only one is in use "
        "(other)."
    )
    page = page_of(report)
    assert "Repair the node" in page
    assert "its node selector, affinity and tolerations decide" not in page


def test_a_taint_of_an_administrator_is_no_fault_of_the_node() -> None:
    node, *others = unreachable()
    node["spec"]["taints"] = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
    report = report_of(node, *others, build.pod(claims=["claim"]))
    assert "which has the taint dedicated=gpu:NoSchedule, which the pod does not tolerate, and" in first_line(report)
    assert "Repair the node" not in page_of(report)


def test_a_node_that_is_named_and_does_not_exist() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["node-11"]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    by_name = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    report = report_of(*CLUSTER, build.pod(claims=["claim"], affinity=by_name))
    assert first_line(report) == (
        "Pod ml/pod is pending: it may only run on nodes with metadata.name In [node-11] (no node has that name; did "
        "you mean node-1?), and the free gpu.example.com devices are on node-1."
    )


def test_a_label_without_a_value_is_one() -> None:
    """As those of roles, ``node-role.kubernetes.io/gpu``: some node has it, and not the other label."""
    role = "node-role.kubernetes.io/gpu"
    nodes = [build.node(labels={"pool": "gpu"}), build.node("cpu-1", labels={role: "", "pool": "cpu"})]
    pod = build.pod(claims=["claim"], nodeSelector={role: "", "pool": "gpu"})
    report = report_of(*nodes, *CLUSTER[2:], pod)
    assert "no node has the label" not in first_line(report)
    assert not any(each.nowhere for each in selections(report))
    missing = [each.label for found in selections(report_of(*CLUSTER, pod)) for each in found.nowhere]
    assert set(missing) == {role}


def test_of_very_many_values_none_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of nodes look alike, and to compare each takes long for each pod that waits."""
    pod = build.pod(claims=["claim"], nodeSelector={"pool": "gpus"})
    (near,) = (each.similar for found in selections(report_of(*CLUSTER, pod)) for each in found.nowhere)
    assert near == ("pool=gpu",)
    monkeypatch.setattr(rejections, "_VALUES", 1)
    (far,) = (each.similar for found in selections(report_of(*CLUSTER, pod)) for each in found.nowhere)
    assert far == ()
    field = {"key": "metadata.name", "operator": "In", "values": ["node-11"]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    by_name = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    report = report_of(*CLUSTER, build.pod(claims=["claim"], affinity=by_name))
    assert "(no node has that name)" in first_line(report)


@pytest.mark.parametrize(
    ("number", "tainted", "gone", "where", "told"),
    [
        (8, 8, 0, "gpu-0, gpu-1, gpu-2 +5", True),
        (8, 5, 0, "gpu-0, gpu-1, gpu-2 +5", False),
        (2, 2, 0, "gpu-0 and gpu-1", True),
        (2, 2, 1, "gone-0, gpu-0 and gpu-1", False),
    ],
)
def test_what_keeps_a_pod_from_nodes_with_devices_is_said_of_all_of_them(
    number: int, tainted: int, gone: int, where: str, told: bool
) -> None:
    nodes = [build.node(f"gpu-{index}") for index in range(number)]
    for index, node in enumerate(nodes):
        taint = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
        node["spec"] = {"taints": [taint]} if index < tainted else {"unschedulable": True}
    names = [*(f"gpu-{index}" for index in range(number)), *(f"gone-{index}" for index in range(gone))]
    slices = [build.slice_(name, build.device("gpu-0")) for name in names]
    pod, claim = build.pod(claims=["claim"]), build.claim("claim", build.request(count=2))
    line = first_line(report_of(*nodes, *slices, build.node("cpu-1"), pod, claim))
    assert f"devices of the class are on {where}" in line
    assert ("which have the taint" in line) is told


def test_of_many_nodes_with_devices_all_have_to_be_unwell() -> None:
    """The record names five of the nodes for which devices are published."""

    def report(*states: str) -> PendingReport:
        nodes = []
        for number, key in enumerate(states):
            node = build.node(f"node-{number}", labels=LABELS)
            node["spec"]["taints"] = [{"key": key, "effect": "NoSchedule"}]
            held = build.claim(f"of-{number}", held=[(f"node-{number}", "gpu-0")], by=[f"pod-{number}"])
            user = build.pod(f"pod-{number}", claims=[f"of-{number}"], node_name=f"node-{number}", phase="Running")
            nodes += [node, build.slice_(f"node-{number}", build.device("gpu-0")), held, user]
        return report_of(*nodes, build.node("cpu-1"), build.claim("claim"), build.pod(claims=["claim"]))

    unreachable = "node.kubernetes.io/unreachable"
    for states, repair in (([unreachable] * 7, True), ([*[unreachable] * 6, "dedicated"], False)):
        found = report(*states)
        assert ("Repair the node" in page_of(found)) is repair
