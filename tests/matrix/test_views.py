"""Pools, claims and selectors on the real server of each minor, in whichever shape it has them."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.cluster import run_kubectl
from tests.matrix.cases import Case, bring_about, cases
from tests.matrix.conftest import Explain

pytestmark = pytest.mark.matrix
#: Two devices, held by two pods, and a third pod that waits.
_TAKEN: Final = ("all-taken", "structured-all-taken")


@pytest.fixture
def taken(client: Client, minor: str) -> Case:
    """The situation, brought about."""
    case = next(case for name, case in cases(minor).items() if name in _TAKEN)
    bring_about(client, case)
    return case


def test_pools_claims_and_selectors(explain: Explain, taken: Case) -> None:
    (pool,) = explain("describe-pool")["items"]
    assert (pool["driver"], pool["pool"]) == ("gpu.example.com", "node-1")
    totals = {name: count["value"] for name, count in pool["totals"].items()}
    assert (totals["devices"], totals["inUse"], totals["free"]) == (2, 2, 0)
    held = {name: explain("describe-claim", f"claim/{name}", "-n", taken.namespace) for name in ("a", "b")}
    assert {report["state"] for report in held.values()} == {"Reserved"}
    assert {_device(report) for report in held.values()} == {"node-1/gpu-0", "node-1/gpu-1"}
    assert {name: _consumers(report) for name, report in held.items()} == {"a": ["holder-a"], "b": ["holder-b"]}
    waiting = explain("describe-claim", "claim/claim", "-n", taken.namespace)
    assert waiting["results"] == []
    tested = explain("test-selector", 'device.attributes["gpu.example.com"].numa == 1')["totals"]
    assert {name: count["value"] for name, count in tested.items() if count["value"]} == {
        "devices": 2,
        "matches": 1,
        "no": 1,
    }


def test_the_servers_version_is_what_it_was_built_as(plane: ControlPlane, minor: str) -> None:
    assert f"v{minor}." in run_kubectl(plane, "version", "-o", "json")


def test_a_corrected_claim_is_of_a_version_that_the_server_has(
    plane: ControlPlane, client: Client, explain: Explain, minor: str
) -> None:
    case = cases(minor).get("too-few-devices")
    if case is None:
        pytest.skip("claims of classic DRA have no counts that could be corrected")
    bring_about(client, case)
    report = explain("why-pending", "pod/pod", "-n", case.namespace, "--remedies")
    steps = [step for remedy in report["remedies"] for step in remedy["steps"]]
    (manifest,) = [step["manifest"] for step in steps if step["manifest"]]
    manifest["metadata"]["name"] = "corrected"
    command = ("create", "--dry-run=server", "--validate=strict", "-f", "-")
    assert "resourceclaim.resource.k8s.io/corrected created" in run_kubectl(plane, *command, text=json.dumps(manifest))


def _device(report: dict[str, Any]) -> str:
    (result,) = report["results"]
    return f"{result['pool']}/{result['device']}"


def _consumers(report: dict[str, Any]) -> list[str]:
    return [each["name"] for each in report["reservedFor"]]
