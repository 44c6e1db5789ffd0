"""A list of objects says no version of its server: what is taken for it, and what a page then says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.commands.shared.cluster import features_of
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import NEWEST_MINOR
from tests.kit import build, facts


def node(name: str, version: str) -> dict[str, Any]:
    found = build.node(name)
    found["status"]["nodeInfo"] = {"kubeletVersion": version}
    return found


@pytest.mark.parametrize(
    ("kubelets", "written_in", "minor"),
    [
        ((), (), NEWEST_MINOR),
        (("v1.33.4", "v1.34.1-gke.100", "v1.32.0"), (), 34),
        # A server that writes the stable version is not older than it, however old its kubelets are.
        (("v1.32.0",), ("v1",), 34),
        (("v1.36.0",), ("v1",), 36),
        (("v1.33.0",), ("v1beta1",), 33),
        # What only plays a kubelet.
        (("v1.0.0", "fake", ""), (), NEWEST_MINOR),
        (("v1.0.0", "v1.35.0"), (), 35),
    ],
)
def test_the_newest_kubelet_tells_the_version(
    kubelets: tuple[str, ...], written_in: tuple[str, ...], minor: int
) -> None:
    inventory = facts.inventory([node(f"n{number}", version) for number, version in enumerate(kubelets)])
    assert features_of(inventory, Evidence(written_in=frozenset(written_in)), {}).minor == minor


def test_a_snapshot_says_its_version_itself() -> None:
    inventory = facts.inventory([node("n", "v1.33.0")])
    assert features_of(inventory, Evidence(server_version=(1, 36)), {}).minor == 36


@pytest.mark.parametrize(("version", "dropped"), [("v1.34.2", True), ("v1.36.0", False)])
def test_the_page_is_that_of_the_version(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, version: str, dropped: bool
) -> None:
    """Amounts of a device's capacity are dropped until 1.35."""
    stable = "resource.k8s.io/v1"
    gpu = build.slice_("n", build.device("gpu-0", capacity={"memory": {"value": "40Gi"}}))
    there = [build.namespace(), node("n", version), {"apiVersion": stable, **gpu}]
    classes = {"apiVersion": stable, **build.device_class()}
    for each in there[:2]:
        each["apiVersion"] = "v1"
    wanted = build.claim("claim", build.request(capacity={"requests": {"memory": "10Gi"}}))
    (tmp_path / "cluster.json").write_text(
        json.dumps({"kind": "List", "apiVersion": "v1", "items": [*there, classes]}), encoding="utf-8"
    )
    (tmp_path / "claim.json").write_text(json.dumps({"apiVersion": stable, **wanted}), encoding="utf-8")
    run(["simulate", "-f", str(tmp_path / "claim.json"), "--from", str(tmp_path / "cluster.json")])
    told = " ".join(capfd.readouterr().out.split())
    gate = "feature gate DRAConsumableCapacity is off by default in Kubernetes 1.34"
    assert (gate in told) is dropped
    assert ("fits only without the fields that a server drops" in told) is dropped
