"""What keeps a pod away whatever a missing class will select: its other requests, without constraints."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.reports.pending.still_blocked import StillBlocked
from tests.kit import build
from tests.reports.test_simulated_files import a_pod, cluster, page
from tests.reports.test_strangers import simulated

ABSENT = {"name": "nic", "exactly": {"deviceClassName": "absent", "allocationMode": "ExactCount", "count": 1}}


def found(
    *requests: dict[str, Any], constraints: list[dict[str, Any]] | None = None
) -> tuple[StillBlocked | None, str]:
    devices = {"requests": list(requests), **({"constraints": constraints} if constraints else {})}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": build.NAMESPACE},
        "spec": {"spec": {"devices": devices}},
    }
    report = simulated(template, {"apiVersion": "v1", **a_pod("p", templates=["t"])}, world=cluster())
    (pod,) = report.pods
    assert pod.pending is not None
    assert str(pod.pending.code) == "DRA-200"
    return pod.pending.still_blocked, page(report)


def gpus(count: int, **fields: Any) -> dict[str, Any]:
    return {**build.request(count=count, **fields), "name": "gpu"}


def test_another_request_that_no_node_can_give_is_told() -> None:
    blocked, told = found(gpus(9), ABSENT)
    assert blocked is not None
    assert blocked.missing == ("absent",)
    assert "Even if DeviceClass absent existed, it would not fit: no node has 9 gpu.example.com devices" in told


@pytest.mark.parametrize("constraints", [None, [{"matchAttribute": "gpu.example.com/numa"}]])
def test_where_the_rest_fits_nothing_is_told(constraints: list[dict[str, Any]] | None) -> None:
    """A constraint may compare devices of the class, of which nothing is known."""
    blocked, told = found(gpus(2), ABSENT, constraints=constraints)
    assert blocked is None
    assert "Even if" not in told


def test_a_request_with_an_alternative_of_the_class_is_left_out_whole() -> None:
    alternatives = [
        {"name": "big", "deviceClassName": "absent"},
        {"name": "many", "deviceClassName": build.DRIVER, "count": 9},
    ]
    blocked, _ = found(gpus(2), {"name": "any", "firstAvailable": alternatives})
    assert blocked is None


def test_with_no_other_request_nothing_is_known() -> None:
    assert found(ABSENT)[0] is None


def test_two_classes_are_both_named() -> None:
    other = {**ABSENT, "name": "fpga", "exactly": {**ABSENT["exactly"], "deviceClassName": "gone"}}  # type: ignore[dict-item]
    blocked, told = found(gpus(9), ABSENT, other)
    assert blocked is not None
    assert "Even if DeviceClasses absent and gone existed, it would not fit" in told
