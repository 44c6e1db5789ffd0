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
    closed = {each["where"]["node"]: each["nodeClosed"] for each in document["items"]}
    assert closed == {"drained": "cordoned", "lost": "notReady", "new": "notReady", "open": ""}


def test_a_list_of_nodes_has_it_in_brackets(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capfd, tmp_path, cluster(), "get", "nodes")
    assert "2 (2) 0 0" in text
    assert "2 (1) 1 0" in text
    assert "open ? 2 1 1 0" in text
    page = said(capfd, tmp_path, cluster(), "describe-node", "drained")
    assert "Node drained has 2 devices of its own: 2 free. No new pod gets what is free: the node is cor" in page


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
    assert "TAINTED UNPUBLISHED STATE" in table
    assert table.endswith("1 0 0 0 1 incomplete")
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
