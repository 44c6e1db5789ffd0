"""Two classes with one extendedResourceName: the newer one serves it, and selects nothing."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import DRIVER, first_line, report_of

GPU = "example.com/gpu"
OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
POD = build.pod(requests={GPU: "1"})
GPUS = build.slice_("node-1", *(build.device(f"gpu-{i}", attributes={"type": "gpu"}) for i in range(4)))


def named(name: str, kind: str, created: str, resource: str = GPU) -> dict[str, Any]:
    expression = f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].type == "{kind}"'
    found = build.device_class(name, selectors=[{"cel": {"expression": expression}}], extendedResourceName=resource)
    found["metadata"]["creationTimestamp"] = created
    return found


def page(report: PendingReport) -> str:
    lines = pending_page(report, CLOCK.now(), Address(flags=("--context", "prod")))
    return " ".join(" ".join(map(str, lines)).split())


@pytest.mark.parametrize(
    ("classes", "newer", "older"),
    [
        ([named("gpu", "gpu", OLD), named("gpu-vfio", "vfio", NEW)], "gpu-vfio", "gpu"),
        # Equally old: the name decides.
        ([named("gpu", "gpu", OLD), named("a-vfio", "vfio", OLD)], "a-vfio", "gpu"),
        # A third one is in nobody's way.
        ([named("z", "gpu", OLD), named("gpu", "gpu", OLD), named("vfio", "vfio", NEW)], "vfio", "gpu"),
    ],
)
def test_the_class_that_is_passed_over_is_named_with_the_rule(
    classes: list[dict[str, Any]], newer: str, older: str
) -> None:
    report = report_of(build.node(), GPUS, *classes, POD)
    assert report.code is Code.CLASS_SELECTS_NOTHING
    (ask,) = report.extended
    assert (ask.device_class, ask.passed_over, ask.passed_over_devices) == (newer, older, 4)
    assert first_line(report).endswith(
        f"DeviceClass {older}, with 4 devices, has the same extendedResourceName {GPU} and is passed over: the "
        "scheduler takes the class that was created last, and of equally old ones the first by name."
    )
    text = page(report)
    assert f"removes extendedResourceName from {newer}." in text
    assert f"request deviceclass.resource.kubernetes.io/{older}, or a claim of class {older}" in text
    assert f"kubectl patch deviceclass/{newer} --type=json" in text
    assert "corrects the class with kubectl edit" not in text


@pytest.mark.parametrize(
    "classes",
    [
        [named("gpu", "gpu", OLD, "example.com/other"), named("gpu-vfio", "vfio", NEW)],
        [named("gpu", "fpga", OLD), named("gpu-vfio", "vfio", NEW)],
        [named("gpu-vfio", "vfio", NEW)],
    ],
)
def test_the_class_is_corrected_where_no_other_one_has_devices_under_that_name(classes: list[dict[str, Any]]) -> None:
    report = report_of(build.node(), GPUS, *classes, POD)
    assert report.code is Code.CLASS_SELECTS_NOTHING
    assert "passed over" not in first_line(report)
    assert "corrects the class with kubectl edit" in page(report)


def test_a_class_that_serves_with_devices_is_not_doubted() -> None:
    report = report_of(build.node(), GPUS, named("vfio", "vfio", OLD), named("gpu", "gpu", NEW), POD)
    assert report.code is None or report.code is not Code.CLASS_SELECTS_NOTHING
    assert "passed over" not in page(report)
