"""Binding conditions of which some are True: those, the ones still open with what is reported, and the time left."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import DRIVER, POD, SLICE, first_line, page_of, report_of


def waiting(names: list[str], *conditions: dict[str, Any]) -> PendingReport:
    """A claim that was allocated four minutes ago."""
    claim = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"])
    allocated = (CLOCK.now() - timedelta(minutes=4)).strftime("%Y-%m-%dT%H:%M:%SZ")
    claim["status"]["allocation"]["allocationTimestamp"] = allocated
    (result,) = claim["status"]["allocation"]["devices"]["results"]
    result |= {"bindingConditions": names, "bindingFailureConditions": ["example.com/Failed"]}
    device = {"driver": DRIVER, "pool": "node-1", "device": "gpu-0"}
    claim["status"]["devices"] = [{**device, "conditions": list(conditions)}]
    return report_of(SLICE, POD, claim, build.node("node-1"))


def test_a_condition_that_is_true_stands_beside_the_one_that_is_open() -> None:
    attached = {"type": "example.com/Attached", "status": "True"}
    open_ = {"type": "example.com/Fabric", "status": "False", "reason": "SwitchBusy", "message": "port 3 is training"}
    report = waiting(["example.com/Attached", "example.com/Fabric"], attached, open_)
    assert first_line(report).endswith(
        "waits for the binding condition example.com/Fabric (example.com/Attached is True already), "
        "whose last report is SwitchBusy: port 3 is training."
    )
    page = page_of(report)
    assert page.count("SwitchBusy") == 1
    assert "Allocated 4m" in page
    assert "waits about 6 minutes longer" in page


def test_without_any_that_is_true_none_is_named() -> None:
    line = first_line(waiting(["example.com/Attached", "example.com/Fabric"]))
    assert "has not reported the binding conditions example.com/Attached and example.com/Fabric yet." in line
