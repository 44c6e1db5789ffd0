"""Extended resources that a node lacks: which program's pod serves them there, or why there is none on that node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import build
from tests.output.pending.test_situations import SLICE, page_of, report_of


def agent(name: str, daemon_set: str, node: str, ready: bool = True, waits: str = "") -> dict[str, Any]:
    pod = build.pod(name, node_name=node, phase="Running")
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": daemon_set, "uid": daemon_set, "controller": True}
    state = {"waiting": {"reason": waits}} if waits else {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    pod["metadata"] |= {"namespace": "agents", "ownerReferences": [owner]}
    pod["status"]["containerStatuses"] = [{"name": "main", "ready": ready, "restartCount": 0, "state": state}]
    return pod


def page(resource: str, *objects: dict[str, Any]) -> str:
    pod = build.pod(claims=["claim"])
    pod["spec"]["containers"][0].setdefault("resources", {})["requests"] = {resource: "1"}
    report = report_of(
        build.node(), build.node("node-2", **{resource: "1"}), SLICE, build.claim("claim"), pod, *objects
    )
    return " ".join(page_of(report).split())


def test_an_agent_that_runs_and_offers_nothing() -> None:
    text = page("devices.kubevirt.io/kvm", agent("virt-handler-g", "virt-handler", "node-1"))
    assert "devices.kubevirt.io/kvm comes from pod agents/virt-handler-g, which runs on node-1 and offers none" in text
    assert "hardware virtualization" in text
    assert "kubectl logs pod/virt-handler-g -n agents --all-containers --since=1h" in text
    assert "Set up devices.kubevirt.io/kvm" not in text


def test_an_agent_that_does_not_run() -> None:
    failing = agent("sriov-x", "sriov-device-plugin", "node-1", ready=False, waits="ImagePullBackOff")
    text = page("intel.com/sriov_netdevice", failing)
    assert "comes from pod agents/sriov-x, which does not run on node-1 (ImagePullBackOff)" in text
    assert "kubectl describe pod/sriov-x -n agents" in text


def test_an_agent_that_has_no_pod_on_the_node() -> None:
    text = page("rdma/hca_shared", agent("rdma-shared-dp-ds-a", "rdma-shared-dp-ds", "node-2"))
    assert (
        "rdma/hca_shared comes from DaemonSet agents/rdma-shared-dp-ds, which runs on node-2 and has no pod on node-1"
        in text
    )
    assert "kubectl get daemonset/rdma-shared-dp-ds -n agents -o yaml" in text


@pytest.mark.parametrize("name", ["fluentd", "gpu-dra-plugin"])
def test_another_daemon_set_is_not_blamed(name: str) -> None:
    assert "Set up example.com/fpga on node-1" in page("example.com/fpga", agent("x", name, "node-1"))


def test_huge_pages_come_from_the_kernel() -> None:
    text = page("hugepages-1Gi")
    assert "Reserve huge pages when node-1 boots (kernel parameters hugepagesz=1G hugepages=1)" in text
