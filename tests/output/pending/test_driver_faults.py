"""What only a driver can mend: taints that it has set itself, and an attribute that it leaves out on one node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import build
from tests.output.pending.test_situations import POD, page_of, report_of

DRIVER = build.DRIVER
ROOT = "resource.kubernetes.io/pcieRoot"
SICK = {"key": "gpu.example.com/health", "value": "bad", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}


def plugin(node: str) -> dict[str, Any]:
    """The driver's own pod on a node."""
    pod = build.pod("gpu-dra-plugin-x7k2p", node_name=node, phase="Running")
    pod["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "p", "uid": "p"}]
    return pod


def page(*objects: dict[str, Any]) -> str:
    return " ".join(page_of(report_of(*objects)).split())


def rule() -> dict[str, Any]:
    taint = {key: SICK[key] for key in ("key", "value", "effect")}
    return {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "sick"},
        "spec": {"deviceSelector": {"driver": DRIVER, "pool": "node-1", "device": "gpu-0"}, "taint": taint},
    }


def test_a_taint_that_the_driver_has_set_names_its_log() -> None:
    sick = build.slice_("node-1", build.device("gpu-0", taints=[SICK]))
    text = page(sick, POD, build.claim("claim"), build.node("node-1"), plugin("node-1"))
    assert f"The taint is set by driver {DRIVER} itself" in text
    assert "kubectl logs pod/gpu-dra-plugin-x7k2p -n ml" in text


def test_a_taint_of_a_rule_is_not_the_drivers() -> None:
    text = page(build.slice_("node-1", build.device("gpu-0")), rule(), POD, build.claim("claim"), build.node("node-1"))
    assert "rule sick" in text
    assert "itself" not in text


def constrained(there: dict[str, Any], *more: dict[str, Any]) -> str:
    """Two devices with the same root, on a node where they publish none; ``there``: what one of node-2 publishes."""
    asked = build.claim(
        "claim", build.request("gpu", count=2), constraints=[{"requests": ["gpu"], "matchAttribute": ROOT}]
    )
    here = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    other = build.slice_("node-2", build.device("gpu-0", attributes=there))
    return page(here, other, POD, asked, build.node("node-1"), build.node("node-2"), plugin("node-1"), *more)


def test_an_attribute_that_the_driver_publishes_on_other_nodes_only_names_its_log() -> None:
    text = constrained({ROOT: "pci0"})
    assert f"Driver {DRIVER} publishes pcieRoot on other nodes, and not on node-1: its log there may say why." in text
    assert "kubectl logs pod/gpu-dra-plugin-x7k2p -n ml" in text


def test_an_attribute_that_the_driver_publishes_nowhere_is_no_fault_of_one_node() -> None:
    assert "on other nodes" not in constrained({})


def apart(*more: dict[str, Any]) -> str:
    """A free device of one driver on node-1, and a free one of another on node-2; the pod needs both."""
    nic = "nic.example.com"
    nics = {"driver": nic, "nodeName": "node-2", "pool": {"name": "node-2", "generation": 1, "resourceSliceCount": 1}}
    slices = build.slice_("node-1", build.device("gpu-0")), build.slice_("node-2", build.device("nic-0"))
    slices[1]["spec"] |= nics
    asked = build.claim("claim", build.request("gpu"), build.request("nic", cls=nic))
    classes = (
        build.device_class(),
        build.device_class(nic, selectors=[{"cel": {"expression": f"device.driver == '{nic}'"}}]),
    )
    return page(*classes, *slices, POD, asked, build.node("node-1"), build.node("node-2"), *more)


def nic_driver(node: str) -> dict[str, Any]:
    pod = plugin(node)
    pod["metadata"] |= {"name": f"nic-dra-{node}", "uid": f"nic-{node}"}
    return pod


SILENT = "Driver nic.example.com runs on node-1 too, and publishes no devices there: if the node has any"


def test_a_driver_that_publishes_nothing_where_the_other_devices_are_names_its_log() -> None:
    text = apart(nic_driver("node-1"), nic_driver("node-2"))
    assert SILENT in text
    assert "kubectl logs pod/nic-dra-node-1 -n ml" in text


def test_a_driver_that_does_not_run_there_has_no_log_there() -> None:
    text = apart(nic_driver("node-2"))
    assert "no single node has both" in text
    assert "publishes no devices there" not in text


def test_nothing_is_said_of_nodes_that_lack_the_other_devices_too() -> None:
    more = build.node("node-3"), nic_driver("node-3"), nic_driver("node-2")
    assert "publishes no devices there" not in apart(*more)


@pytest.mark.parametrize(
    ("times", "daemon", "told"),
    [
        (2, {}, "Wait a minute: the ComputeDomain is ready on node-1 once its daemon runs there."),
        (40, {}, "This should take a minute at most. The ComputeDomain is ready on node-1 once its daemon"),
        (
            40,
            {"restartCount": 8},
            "The ComputeDomain is ready on node-1 once its daemon runs there; the log below says why",
        ),
    ],
)
def test_a_compute_domain_that_is_not_ready_is_no_fault_of_the_claim(
    times: int, daemon: dict[str, Any], told: str
) -> None:
    pod = build.pod(claims=["claim"], node_name="node-1")
    claim = build.claim("claim", held=[("node-1", "channel-0")], by=["pod"], on="node-1")
    claim["status"]["allocation"]["devices"]["results"][0]["driver"] = "compute-domain.nvidia.com"
    words = (
        "Failed to prepare dynamic resources: NodePrepareResources failed for ResourceClaim claim: prepare devices "
        "failed: error applying config: error asserting "
        "ComputeDomain Ready: current node not ready in ComputeDomain"
    )
    event = {**build.event("pod", "FailedPrepareDynamicResources", words), "type": "Warning", "count": times}
    event["source"] = {"component": "kubelet"}
    others = []
    if daemon:
        others = [plugin("node-1")]
        others[0]["metadata"] |= {"name": "computedomain-daemon-x7k2p", "namespace": "nvidia-dra-driver-gpu"}
        others[0]["metadata"]["labels"] = {"resource.nvidia.com/computeDomain": "u"}
        waits = {"waiting": {"reason": "CrashLoopBackOff"}}
        others[0]["status"]["containerStatuses"] = [{"name": "main", "ready": False, "state": waits, **daemon}]
    channel = build.slice_("node-1", build.device("channel-0"), driver="compute-domain.nvidia.com")
    text = page(pod, claim, event, channel, build.node("node-1"), *others)
    assert f"What usually helps: {told}" in text
    assert "The claim needs no change; the kubelet retries by itself." in text
    assert "Correct the configuration" not in text
