"""What only a driver can mend: taints that it has set itself, and an attribute that it leaves out on one node."""

from __future__ import annotations

from typing import Any

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
