"""What is free on nodes that take no new pods, and what is allocated on nodes that publish nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.clock import PassingClock
from tests.output.pending.test_more_situations import holding

LOST = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
OWN = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
ON_RACK = {"key": "rack", "operator": "In", "values": ["7"]}
STARTING = {"key": "node.cilium.io/agent-not-ready", "effect": "NoExecute"}


def said(capfd: pytest.CaptureFixture[str], folder: Path, objects: list[dict[str, Any]], *words: str) -> str:
    for each in objects:
        each["apiVersion"] = BY_NAME[each["kind"]].api_version
    path = folder / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": objects}), encoding="utf-8")
    assert run([*words, "--from", str(path), "--color", "never"], PassingClock()) == 0
    out, err = capfd.readouterr()
    return out if "json" in words else " ".join((err + out).split())


def node(name: str, *taints: Mapping[str, Any], **spec: Any) -> list[dict[str, Any]]:
    made = build.node(name)
    made["spec"] |= {"taints": [dict(each) for each in taints], **spec}
    return [made, build.slice_(name, build.device("gpu-0"), build.device("gpu-1"))]


def cluster() -> list[dict[str, Any]]:
    nodes = [*node("lost", LOST), *node("drained", unschedulable=True), *node("new", STARTING), *node("open", OWN)]
    return [build.device_class(), *nodes, *holding("a", "gpu-0", node="lost"), *holding("b", "gpu-0", node="open")]


def test_free_is_what_can_be_had(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capfd, tmp_path, cluster(), "get", "devices", "--free")
    assert "left out 5 free devices on nodes that take no new pods: drained (cordoned), lost (not ready)" in text
    assert text.endswith("gpu.example.com open gpu-1 free -")
    every = said(capfd, tmp_path, cluster(), "get", "devices")
    assert every.count("free (node not ready)") == 3
    assert every.count("free (node cordoned)") == 2
    document = json.loads(said(capfd, tmp_path, cluster(), "get", "devices", "-o", "json"))
    closed = {each["where"]["node"]: each["device"]["nodeClosed"] for each in document["items"]}
    assert closed == {"drained": "cordoned", "lost": "notReady", "new": "notReady", "open": ""}


def test_lists_count_it_apart(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capfd, tmp_path, cluster(), "get", "nodes")
    assert "NAME STATUS DEVICES FREE USED TAINTED CLOSED DRIVERS" in text
    assert "drained ?,SchedulingDisabled 2 0 0 0 2 " in text
    assert "lost ? 2 0 1 0 1 " in text
    assert "open ? 2 1 1 0 0 " in text
    assert "gpu.example.com drained drained 2 0 0 0 2 ready" in said(capfd, tmp_path, cluster(), "get", "pools")
    assert "gpu.example.com 8 1 2 0 5 2 0 1 on open" in said(capfd, tmp_path, cluster(), "get", "classes")
    assert "gpu.example.com 8 1 2 0" in said(capfd, tmp_path, cluster(), "top", "classes")
    assert "8 devices: 1 free, 2 in use, 5 free on closed nodes." in said(capfd, tmp_path, cluster(), "describe-pool")
    assert "All 8 devices match (1 of them free)" in said(capfd, tmp_path, cluster(), "test-selector", "true")
    page = said(capfd, tmp_path, cluster(), "describe-node", "drained")
    assert "Node drained has 2 devices of its own: 2 free. No new pod gets what is free: the node is cor" in page


def test_devices_of_nodes_that_do_not_exist_are_not_to_be_had(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Neither those of a node that is gone, nor those for nodes with a label that no node has."""
    rack = build.slice_("", build.device("nic-0"), pool="rack")
    rack["spec"] |= {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [ON_RACK]}]}}
    gone = build.slice_("gone", build.device("gpu-0"))
    objects = [build.device_class(), *node("open"), gone, rack]
    text = said(capfd, tmp_path, objects, "get", "devices")
    assert "gone gpu-0 free (no such node)" in text
    assert "rack nic-0 free (no such node)" in text
    assert "gpu.example.com 4 2 0 0 2 0 0 2 on open" in said(capfd, tmp_path, objects, "get", "classes")
    labelled = build.node("other")
    labelled["metadata"]["labels"] = {"rack": "7"}
    objects = [*objects, labelled]
    assert "rack nic-0 free -" in said(capfd, tmp_path, objects, "get", "devices")
    nodes = said(capfd, tmp_path, objects, "get", "nodes")
    assert "DRIVERS SHARED SHARED FREE AGE" in nodes
    assert "other ? 0 0 0 0 0 gpu.example.com 1 1 " in nodes
    labelled["spec"]["unschedulable"] = True
    assert "rack nic-0 free (node cordoned)" in said(capfd, tmp_path, objects, "get", "devices")


def test_devices_that_claims_have_are_on_the_node_that_publishes_them_no_more(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    objects = [build.device_class(), build.node("bare"), *node("open"), *holding("a", "gpu-0", node="bare")]
    page = said(capfd, tmp_path, objects, "describe-node", "bare")
    assert "Node bare publishes no devices, but 1 device is allocated there." in page
    assert "gpu-0 pod ml/a" in page
    assert "UNPUBLISHED" in said(capfd, tmp_path, objects, "get", "nodes")
    objects = [each for each in objects if each["kind"] != "ResourceClaim"]
    assert "UNPUBLISHED" not in said(capfd, tmp_path, objects, "get", "nodes")


def test_devices_that_claims_have_of_a_pool_that_is_being_updated_are_told(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The slice that publishes it may come yet; until then nothing else tells who has the device."""
    objects = [build.device_class(), *node("open"), *holding("a", "gpu-0", node="open")]
    assert "UNPUBLISHED" not in said(capfd, tmp_path, objects, "get", "pools")
    (slice_,) = (each for each in objects if each["kind"] == "ResourceSlice")
    slice_["spec"]["pool"]["resourceSliceCount"] = 2
    slice_["spec"]["devices"] = [build.device("gpu-1")]
    table = said(capfd, tmp_path, objects, "get", "pools")
    assert "TAINTED NOT OFFERED UNPUBLISHED STATE" in table
    assert table.endswith("1 0 0 0 1 1 incomplete")
    assert "UNPUBLISHED" in said(capfd, tmp_path, objects, "get", "nodes")
    page = said(capfd, tmp_path, objects, "describe-pool", "open")
    assert "Claims have 1 device of it that no current slice publishes: DEVICE USED BY gpu-0 pod ml/a" in page
    page = said(capfd, tmp_path, objects, "describe-node", "open")
    assert "Claims have 1 more device there that no current slice publishes." in page


def test_what_device_plugins_offer_is_told_of_a_node(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plain = build.node("plain", **{"nvidia.com/gpu": "8", "hugepages-2Mi": "1Gi"})
    user = build.pod("old", node_name="plain", phase="Running", requests={"nvidia.com/gpu": "2"})
    page = said(capfd, tmp_path, [build.device_class(), plain, user], "describe-node", "plain")
    assert "Node plain has no devices that claims could get." in page
    assert "extended resources: nvidia.com/gpu 8 (2 requested by pods)" in page
    none = said(capfd, tmp_path, [build.device_class(), build.node("plain")], "describe-node", "plain")
    assert "Node plain has no devices." in none
