"""Nodes with devices that are not ready yet: who removes the taint, and why that has not happened."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_driver_rollouts import told_of
from tests.output.pending.test_more_situations import before
from tests.output.pending.test_situations import first_line, page_of, report_of

CILIUM = "node.cilium.io/agent-not-ready"


def cluster(*objects: dict[str, Any], key: str = CILIUM) -> PendingReport:
    """A node that joined an hour ago, with a free device and a taint."""
    node = build.node("gpu-new")
    node["metadata"]["creationTimestamp"] = before(1)
    node["spec"]["taints"] = [{"key": key, "effect": "NoExecute"}]
    pod = build.pod(claims=["claim"])
    return report_of(pod, build.claim(), node, build.slice_("gpu-new", build.device("gpu-0")), *objects)


def agent(name: str = "cilium-x9", node: str = "gpu-new", **state: Any) -> dict[str, Any]:
    pod = build.pod(name, node_name=node, phase="Running" if not state else "Pending")
    pod["metadata"]["namespace"] = "kube-system"
    status = {"name": "main", "ready": not state, "restartCount": 0, "state": state or {"running": {}}}
    pod["status"]["containerStatuses"] = [status]
    return pod


PULL = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "quay.io/cilium:v1"'}}


def test_the_agent_that_does_not_run_is_the_cause() -> None:
    report = cluster(agent(**PULL), agent("cilium-operator-b", **PULL), agent("cilium-old", "other"))
    assert report.code is Code.NODE_TAINTS
    line = first_line(report)
    assert f"gpu-new has the device but is not ready (taint {CILIUM}:NoExecute)" in line
    assert (
        "Cilium's agent, which removes the taint, does not run on gpu-new: kube-system/cilium-x9 (ImagePullBackOff)"
        in line
    )
    page = page_of(report)
    assert "gpu-new joined 60m ago" in page
    assert 'Back-off pulling image "quay.io/cilium:v1"' in page
    assert "kubectl describe pod/cilium-x9 -n kube-system" in page


def test_it_is_not_offered_to_tolerate_the_taint() -> None:
    for key in (CILIUM, "karpenter.sh/unregistered", "readiness.k8s.io/network", "csi.example.com/agent-not-ready"):
        report = cluster(key=key)
        assert not any(isinstance(action, EditPod) for way in report.remedies for action in way.actions), key
        assert "A pod that tolerates it" in page_of(report)


def test_an_agent_that_runs_or_is_not_there_is_told() -> None:
    assert "Cilium's agent runs on gpu-new (kube-system/cilium-x9) and has not removed the taint" in first_line(
        cluster(agent())
    )
    assert "The taint is removed by Cilium's agent, which has no pod on gpu-new" in first_line(cluster())


def test_of_an_operator_without_pods_on_the_node_its_name_is_told() -> None:
    assert "Karpenter has not removed the taint" in first_line(cluster(key="karpenter.sh/unregistered"))


def test_a_taint_that_the_sentence_before_is_not_about_is_named() -> None:
    new = build.node("gpu-new")
    new["spec"]["taints"] = [{"key": CILIUM, "effect": "NoSchedule"}]
    holder = build.pod("holder", node_name="gpu-old", claims=["held"])
    held = build.claim("held", held=[("gpu-old", "gpu-0")], by=["holder"], on="gpu-old")
    old = build.node("gpu-old"), build.slice_("gpu-old", build.device("gpu-0"))
    line = first_line(report_of(build.pod(claims=["claim"]), build.claim(), new, *old, holder, held))
    assert "on gpu-old, the only one is in use" in line
    assert f"The taint {CILIUM}:NoSchedule of gpu-new is removed by Cilium's agent" in line


def test_the_page_of_the_node_says_who_removes_the_taint_and_why_that_does_not_happen() -> None:
    node = build.node("gpu-new")
    node["spec"]["taints"] = [{"key": CILIUM, "effect": "NoExecute"}, {"key": "dedicated", "effect": "NoSchedule"}]
    told = told_of("gpu-new", node, agent(**PULL))
    assert "Cilium's agent, which removes the taint, does not run on gpu-new: kube-system/cilium-x9" in told
    assert "kubectl describe pod/cilium-x9 -n kube-system" in told
    node["spec"]["taints"] = node["spec"]["taints"][1:]
    assert "removes the taint" not in told_of("gpu-new", node, agent(**PULL))


@pytest.mark.parametrize(("key", "lacks"), [("disk", "disk space"), ("memory", "memory"), ("pid", "process ids")])
def test_a_node_that_is_short_of_something_says_of_what_and_how_that_ends(key: str, lacks: str) -> None:
    taint = f"node.kubernetes.io/{key}-pressure"
    report = cluster(key=taint)
    assert f"gpu-new has the device but is short of {lacks} (taint {taint}:NoExecute)" in first_line(report)
    page = page_of(report)
    assert f"Free {lacks} on gpu-new" in page
    assert "kubectl describe node/gpu-new" in page
    assert ("unused images" in page) == (key == "disk")
    node = build.node("gpu-new")
    node["spec"]["taints"] = [{"key": taint, "effect": "NoSchedule"}]
    told = told_of("gpu-new", node, build.slice_("gpu-new", build.device("gpu-0")))
    assert "short of disk space, memory or process ids." in told.replace("\x1b[0m", "").replace("\x1b[1m", "")
    assert "free (node under pressure)" in told
    assert "not ready" not in told


PRESSURE = "node.kubernetes.io/disk-pressure"
FULL = "Failed to garbage collect required amount of images. Attempted to free 9 bytes, but only found 0 bytes eligible"


def kubelet_event(reason: str, message: str, hours: float = 0.5, **fields: Any) -> dict[str, Any]:
    about = {"kind": "Node", "name": "gpu-new", "uid": "gpu-new"}
    return {
        "kind": "Event",
        "metadata": {"name": f"gpu-new.{reason}", "namespace": "default"},
        "involvedObject": about,
        "reason": reason,
        "message": message,
        "type": "Warning",
        "source": {"component": "kubelet"},
        "firstTimestamp": before(3),
        "lastTimestamp": before(hours),
        "count": 9,
        **fields,
    }


def full_node(status: str = "True") -> dict[str, Any]:
    node = build.node("gpu-new")
    node["spec"]["taints"] = [{"key": PRESSURE, "effect": "NoSchedule"}]
    condition = {"type": "DiskPressure", "status": status, "lastTransitionTime": before(2)}
    node["status"]["conditions"] = [{"type": "Ready", "status": "True"}, condition]
    return node


def full(*objects: dict[str, Any], status: str = "True") -> PendingReport:
    slices = build.slice_("gpu-new", build.device("gpu-0"))
    return report_of(build.pod(claims=["claim"]), build.claim(), full_node(status), slices, *objects)


def test_since_when_a_disk_is_full_and_what_the_kubelet_says() -> None:
    older = kubelet_event("EvictionThresholdMet", "Attempting to reclaim ephemeral-storage", 2.5)
    other = kubelet_event("Rebooted", "Node gpu-new has been rebooted", 0.1)
    page = " ".join(page_of(full(older, kubelet_event("FreeDiskSpaceFailed", FULL), other)).split())
    assert "gpu-new has been short of disk space for 120m." in page
    assert f"Its kubelet 30m ago (9 times): FreeDiskSpaceFailed: {FULL}" in page
    assert "Rebooted" not in page
    assert "Attempting" not in page
    assert "unused images (crictl rmi --prune on the node)" in page
    assert "The taint is removed by itself, by default 5 minutes after that." in page


def test_what_ends_a_shortage_stands_before_the_end_of_other_work() -> None:
    """Devices of another node are in use, and would be free without the pod that has them."""
    held = build.claim("held", held=[("gpu-2", "gpu-0")], on="gpu-2", by=("other",))
    other = build.pod("other", claims=["held"], node_name="gpu-2", phase="Running")
    page = page_of(full(build.node("gpu-2"), build.slice_("gpu-2", build.device("gpu-0")), held, other))
    assert page.index("Free disk space on gpu-new") < page.index("Stop other work")


def test_a_shortage_that_is_over_has_no_time() -> None:
    page = page_of(full(status="False"))
    assert "has been short" not in page
    assert "Free disk space on gpu-new" in page


def test_a_page_about_the_node_tells_the_same() -> None:
    told = told_of("gpu-new", full_node(), kubelet_event("FreeDiskSpaceFailed", FULL))
    assert "gpu-new has been short of disk space for" in told
    assert "FreeDiskSpaceFailed" in told
    assert "Free disk space on gpu-new" in told


def test_who_uses_most_memory_is_asked_of_the_node() -> None:
    page = " ".join(page_of(cluster(key="node.kubernetes.io/memory-pressure")).split())
    assert "kubectl top pods -A --sort-by=memory --field-selector spec.nodeName=gpu-new" in page
