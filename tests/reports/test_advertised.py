"""Devices that a device plugin advertises as well are named where a pool or a node is said to have free ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.advertised import advertised
from tests.corpus.shapes import attributes, claim, device_class, devices, node, pod, request, slice_
from tests.kit import build, facts
from tests.kit.state import state_of

NVIDIA = "gpu.nvidia.com"


def cluster(resource: str = "nvidia.com/gpu", driver: str = NVIDIA, amount: str = "8") -> list[dict[str, Any]]:
    gpus = [{"name": f"gpu-{n}", "attributes": attributes(index=n)} for n in range(8)]
    user = pod("old", labels={"app": "x"})
    user["spec"].pop("resourceClaims")
    user["spec"]["nodeName"] = "n"
    user["spec"]["containers"][0]["resources"] = {"requests": {resource: "3"}, "limits": {resource: "3"}}
    return [node("n", **{resource: amount}), slice_(driver, "n", gpus), device_class(driver, driver), user]


def found(*bodies: dict[str, Any]) -> list[tuple[str, int, int]]:
    state = state_of(facts.inventory(bodies), facts.evidence())
    assert all(each.requested.bound is Bound.EXACT for each in advertised(state, ["n"]))
    return [(each.resource, each.amount, each.requested.value) for each in advertised(state, ["n"])]


@pytest.mark.parametrize(
    ("resource", "driver"),
    [("nvidia.com/gpu", NVIDIA), ("amd.com/gpu", "gpu.amd.com"), ("gpu.intel.com/i915", "gpu.intel.com")],
)
def test_a_resource_of_the_same_vendor_is_told(resource: str, driver: str) -> None:
    assert found(*cluster(resource, driver)) == [(resource, 8, 3)]


@pytest.mark.parametrize(
    ("resource", "driver", "amount"),
    [
        ("nvidia.com/gpu", NVIDIA, "0"),
        ("amd.com/gpu", NVIDIA, "8"),
        ("example.kubernetes.io/x", "gpu.kubernetes.io", "8"),
        ("hugepages-2Mi", NVIDIA, "8"),
    ],
)
def test_others_are_not(resource: str, driver: str, amount: str) -> None:
    assert found(*cluster(resource, driver, amount)) == []


def test_pages_warn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    recorded, manifest = tmp_path / "cluster.json", tmp_path / "claim.json"
    recorded.write_text(json.dumps({"kind": "List", "items": [build.namespace(), *cluster()]}), encoding="utf-8")
    manifest.write_text(json.dumps(claim(devices(request(NVIDIA)))), encoding="utf-8")
    for words in (["describe-pool", "n"], ["simulate", "-f", str(manifest)]):
        assert run([*words, "--from", str(recorded), "--color", "never"]) == 0
        text = " ".join(capfd.readouterr().out.split())
        assert "Warning: node n also advertises nvidia.com/gpu: 8 (3 requested by pods)" in text
