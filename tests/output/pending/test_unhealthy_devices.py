"""Pods that run on a device that the kubelet reports as not healthy."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.kit import build
from tests.output.pending.test_situations import page_of, report_of

DEVICE = "gpu.example.com/node-1/gpu-0"
CRASHES = {"restartCount": 14, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "ready": False}
RUNS = {"restartCount": 0, "state": {"running": {}}, "ready": True}


def page(health: str, state: dict[str, Any], containers: int = 1, devices: int = 1) -> str:
    pod = build.pod(claims=["claim"], node_name="node-1", phase="Running")
    resource = {"resourceID": DEVICE, "health": health, "message": "XID 79"}
    of_claim = {"name": "claim:claim", "resources": [resource]}
    pod["status"]["containerStatuses"] = [
        {"name": f"c{number}", **state, "allocatedResourcesStatus": [of_claim]} for number in range(containers)
    ]
    held = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"], on="node-1")
    there = build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(devices)))
    objects = (build.node(), build.device_class(), there, pod, held)
    return joined(page_of(report_of(*objects)))


def joined(text: str) -> str:
    return " ".join(text.replace("\x1b[1m", "").replace("\x1b[0m", "").split())


def test_the_first_line_names_the_device_and_what_the_kubelet_says_of_it() -> None:
    text = page("Unhealthy", RUNS, containers=2)
    assert text.startswith(
        f"Pod ml/pod runs on node node-1, but the kubelet reports its device {DEVICE} as Unhealthy (XID 79)."
    )
    assert f"kubectl dra taint-device {DEVICE} unhealthy:NoExecute" in text


@pytest.mark.parametrize(
    ("health", "devices", "told"), [("Unhealthy", 2, True), ("Unhealthy", 1, False), ("Unknown", 2, False)]
)
def test_it_is_said_whether_another_device_is_free(health: str, devices: int, told: bool) -> None:
    text = page(health, RUNS, devices=devices)
    way = f"Made anew with this it would be scheduled .* taint device {DEVICE}, so that another one is node-1 taken"
    assert bool(re.search(way, text)) is told
    assert (f"kubectl dra taint-device {DEVICE} unhealthy:NoSchedule" in text) is told


def test_a_container_that_crashes_on_it_is_told_beside_it() -> None:
    text = page("Unhealthy", CRASHES)
    assert f"{DEVICE} as Unhealthy (XID 79), and its container c0 is in CrashLoopBackOff (14 restarts)." in text
    assert "Devices are not what it waits for" not in text


@pytest.mark.parametrize(("health", "said"), [("Unknown", True), ("Healthy", False)])
def test_what_is_not_known_to_be_broken_is_not_tainted(health: str, *, said: bool) -> None:
    text = page(health, RUNS)
    assert (f"reports its device {DEVICE} as Unknown" in text) is said
    assert "taint-device" not in text


@pytest.mark.parametrize("cdi", ["k8s.gpu.example.com/claim=0b5c-gpu-1", "k8s.gpu.example.com/device=gpu-1"])
def test_the_device_of_a_cdi_device_is_told_and_tainted(cdi: str) -> None:
    """The kubelet reports the first CDI device of a device by its name (pkg/kubelet/cm/dra, buildResourceHealth)."""
    pod = build.pod(claims=["claim"], node_name="node-1", phase="Running")
    of_claim = {"name": "claim:claim", "resources": [{"resourceID": cdi, "health": "Unhealthy"}]}
    pod["status"]["containerStatuses"] = [{"name": "main", **RUNS, "allocatedResourcesStatus": [of_claim]}]
    both = [("node-1", "gpu-0"), ("node-1", "gpu-1")]
    held = build.claim("claim", held=both, by=["pod"], on="node-1")
    devices = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    text = page_of(report_of(build.node(), build.device_class(), devices, pod, held))
    assert "device gpu.example.com/node-1/gpu-1 as Unhealthy" in joined(text)
    assert "kubectl dra taint-device gpu.example.com/node-1/gpu-1 unhealthy:NoExecute" in text


@pytest.mark.parametrize("named", ["vendor.com/gpu=GPU-1234-abcd", "", "garbage", "gpu.example.com/node-1/gpu-9"])
def test_what_the_pod_does_not_hold_is_not_tainted(named: str) -> None:
    """Of two devices the one that is meant is not known, where the kubelet's name is none of theirs."""
    pod = build.pod(claims=["claim"], node_name="node-1", phase="Running")
    of_claim = {"name": "claim:claim", "resources": [{"resourceID": named, "health": "Unhealthy"}]}
    pod["status"]["containerStatuses"] = [{"name": "c", **RUNS, "allocatedResourcesStatus": [of_claim]}]
    held = build.claim("claim", held=[("node-1", "gpu-0"), ("node-1", "gpu-1")], by=["pod"], on="node-1")
    there = build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(4)))
    text = joined(page_of(report_of(build.node(), build.device_class(), there, pod, held)))
    assert "as Unhealthy" in text
    assert ":NoSchedule" not in text
    assert "kubectl delete" not in text
