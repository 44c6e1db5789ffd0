"""What an autoscaler's words and the nodes that it adds mean for a pod: wait for one, or change what keeps it away."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.autoscaling.records import Doubt, GroupVerdict
from kubectl_dra.diagnosis.records import NodeOutcome
from kubectl_dra.model.features import features
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.devices.node_page import node_page
from kubectl_dra.output.pending.node_groups import node_group_lines
from kubectl_dra.reports.devices.nodes import node_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_idle_daemons import daemon_set
from tests.output.pending.test_situations import POD, driver_pod, first_line, page_of, report_of

TYPE = "node.kubernetes.io/instance-type"
GPU = build.slice_("old", build.device("gpu-0"))
USER = (
    build.pod("user", claims=["held"], node_name="old", phase="Running"),
    build.claim("held", held=[("old", "gpu-0")], by=["user"], on="old"),
)


def told_of(name: str, *objects: dict[str, Any]) -> str:
    """describe-node in one line."""
    state = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    return " ".join(" ".join(node_page(node_report(name, state), CLOCK.now())).split())


def ago(**time: int) -> str:
    return (CLOCK.now() - timedelta(**time)).strftime("%Y-%m-%dT%H:%M:%SZ")


def node(name: str, made: str, *, ready: bool = True) -> dict[str, Any]:
    found = build.node(name, labels={TYPE: "g5"})
    found["metadata"]["creationTimestamp"] = made
    found["status"]["conditions"] = [{"type": "Ready", "status": "True" if ready else "False"}]
    if not ready:
        found["spec"]["taints"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    return found


def said(message: str, reason: str = "Nominated", time: str = "") -> dict[str, Any]:
    event = build.event("pod", reason, message, time=time or ago(minutes=4))
    return event | {"type": "Normal", "source": {"component": "karpenter"}}


OLD = node("old", ago(days=9))
NOMINATED = said("Pod should schedule on: nodeclaim/gpu-x, node/new")


@pytest.mark.parametrize(
    ("ready", "told", "command"),
    [
        (False, "is not ready yet", "kubectl describe node/new"),
        (True, "publishes no devices yet", "kubectl get resourceslices --field-selector spec.nodeName=new"),
    ],
)
def test_a_node_that_was_added_a_minute_ago_is_waited_for(command: str, told: str, *, ready: bool) -> None:
    new = node("new", ago(seconds=70), ready=ready)
    report = report_of(OLD, new, GPU, *USER, POD, build.claim("claim"), NOMINATED)
    assert first_line(report).endswith(f"Karpenter added a node for it, and new has joined since and {told}.")
    page = page_of(report)
    assert "Wait: new joined 70s ago" in page
    assert command in page
    assert "delete pod" not in page


def test_one_that_is_there_for_long_or_has_its_devices_is_not() -> None:
    late = node("new", ago(minutes=11))
    has = (node("new", ago(seconds=70)), build.slice_("new", build.device("gpu-0")))
    taken = build.claim("other", held=[("new", "gpu-0")], by=["user"], on="new")
    early = said("Pod should schedule on: nodeclaim/gpu-x, node/new", time=ago(minutes=12))
    for objects in ((late, early), (*has, taken, NOMINATED)):
        report = report_of(OLD, GPU, *USER, POD, build.claim("claim"), *objects)
        assert first_line(report).endswith("new has joined since.")
        page = page_of(report)
        assert "Wait: " not in page
        assert "delete pod ml/user" in page


@pytest.mark.parametrize(
    ("words", "clause", "advice"),
    [
        (
            'incompatible with nodepool "cpu", no instance type has enough resources; incompatible with nodepool '
            '"gpu", did not tolerate taint (taint=example.com/gpu=true:NoSchedule)',
            "the pod does not tolerate the taint example.com/gpu=true:NoSchedule of NodePool gpu",
            'tolerations: - {key: example.com/gpu, operator: Equal, value: "true", effect: NoSchedule}',
        ),
        (
            'incompatible with nodepool "gpu", did not tolerate example.com/gpu:NoSchedule',
            "the pod does not tolerate the taint example.com/gpu:NoSchedule of NodePool gpu",
            "tolerations: - {key: example.com/gpu, operator: Exists, effect: NoSchedule}",
        ),
        (
            "all available instance types exceed limits for nodepool (NodePool=gpu)",
            "NodePool gpu is at its limits",
            "An administrator can raise spec.limits of NodePool gpu.",
        ),
        (
            'all available instance types exceed limits for nodepool: "gpu"',
            "NodePool gpu is at its limits",
            "An administrator can raise spec.limits of NodePool gpu.",
        ),
    ],
)
def test_why_karpenter_adds_no_node_and_what_changes_that(words: str, clause: str, advice: str) -> None:
    refusal = said(f"Failed to schedule pod, {words}", "FailedScheduling")
    report = report_of(OLD, GPU, *USER, POD, build.claim("claim"), refusal)
    assert first_line(report).endswith(f"Karpenter adds no node for it ({clause}).")
    page = page_of(report)
    assert advice in page
    assert "node group of fixed size" not in page


def test_where_karpenter_says_what_to_change_nobody_is_told_to_label_nodes_that_exist() -> None:
    pod = {**POD, "spec": {**POD["spec"], "nodeSelector": {"pool": "finetune"}}}
    words = 'Failed to schedule pod, incompatible with nodepool "gpu", did not tolerate taint (taint=a=b:NoSchedule)'
    page = page_of(report_of(OLD, pod, build.claim("claim"), said(words, "FailedScheduling")))
    assert 'add to the pod\'s tolerations: - {key: a, operator: Equal, value: "b", effect: NoSchedule}' in page
    assert "Relax the node selector" not in page


WANTS = {"nodeSelector": {"example.com/gpu.present": "true"}}
LABEL = "kubectl label nodes new example.com/gpu.present=true"


def daemons() -> tuple[dict[str, Any], ...]:
    """The driver's, with a pod on the old node."""
    pod = driver_pod(node="old", ready=True, state={"running": {}})
    pod["metadata"]["namespace"] = "example-dra"
    return pod, daemon_set(**WANTS)


def test_a_node_like_those_with_devices_to_which_the_driver_does_not_come() -> None:
    objects = (OLD, GPU, *USER, *daemons(), build.device_class())
    new = node("new", ago(minutes=30))
    report = report_of(*objects, new, POD, build.claim("claim"))
    assert "runs on old but not on new, which does not match example.com/gpu.present=true" in first_line(report)
    assert LABEL in page_of(report)
    told = told_of("new", *objects, new)
    assert LABEL in told
    new["metadata"]["labels"][TYPE] = "other"
    assert "runs on old" not in page_of(report_of(*objects, new, POD, build.claim("claim")))
    assert LABEL not in told_of("new", *objects, new)


def test_the_page_of_a_node_says_that_its_driver_is_still_starting() -> None:
    starting = driver_pod(node="new", state={"waiting": {"reason": "ContainerCreating"}})
    objects = (OLD, GPU, node("new", ago(seconds=70)), starting)
    told = told_of("new", *objects)
    assert "is still starting (ContainerCreating)" in told
    published = build.slice_("new", build.device("gpu-0"))
    told = told_of("new", *objects, published)
    assert "still starting" not in told


@pytest.mark.parametrize(
    ("key", "who"),
    [
        ("karpenter.sh/disrupted", "Karpenter"),
        ("ToBeDeletedByClusterAutoscaler", "the cluster autoscaler"),
        ("aws-node-termination-handler/spot-itn", "the cloud provider"),
    ],
)
def test_the_taint_of_a_node_that_goes_is_nothing_to_tolerate(key: str, who: str) -> None:
    going = node("old", ago(days=9))
    going["spec"]["taints"] = [{"key": key, "effect": "NoSchedule"}]
    report = report_of(going, GPU, POD, build.claim("claim"))
    assert f"being removed by {who} (taint {key}:NoSchedule)" in first_line(report)
    page = page_of(report)
    assert "tolerate the node taint" not in page
    assert "wait for its replacement" in page
    assert "free (node being removed)" in told_of("old", going, GPU)


@pytest.mark.parametrize(
    ("name", "written", "told"), [("w1", "w1.corp", True), ("w1.corp", "w1", True), ("w1", "w2.corp", False)]
)
def test_slices_for_the_name_of_the_host_in_place_of_the_nodes(name: str, written: str, *, told: bool) -> None:
    slices = build.slice_(written, build.device("gpu-0"))
    page = told_of(name, build.node(name), slices)
    assert (f"published for node {written}, which does not exist" in page) is told
    assert (f"kubectl get resourceslices --field-selector spec.nodeName={written}" in page) is told
    assert "does not exist" not in told_of(name, build.node(name), build.node(written), slices)


def test_what_is_true_of_all_node_groups_is_said_once() -> None:
    groups = [
        GroupVerdict("NodePool", "a", NodeOutcome.REJECTED, doubts=(Doubt.NO_DEVICES,)),
        GroupVerdict("NodePool", "b", NodeOutcome.REJECTED, doubts=(Doubt.NO_DEVICES, Doubt.AT_LIMIT)),
    ]
    told = " ".join(" ".join(node_group_lines(groups, (), HERE)).split())
    assert told.count("the group describes no devices") == 1
    assert "For all of them: the group describes no devices" in told
    assert "NodePool b and the pool's limits leave no room" in told
    alone = " ".join(" ".join(node_group_lines(groups[:1], (), HERE)).split())
    assert "NodePool a and the group describes no devices" in alone
