"""A request that names no amount takes a device whole, which a share in use of it prevents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.diagnosis.remedies.records import EditClaim
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import POD, first_line, page_of, report_of


def card(**sizes: dict[str, Any]) -> dict[str, Any]:
    return build.device("gpu-0", allowMultipleAllocations=True, capacity=sizes)


def share(**amounts: str) -> tuple[dict[str, Any], ...]:
    """A pod that uses as much of the card."""
    held = build.claim("share", held=[("node-1", "gpu-0")], on="node-1", by=["notebook"])
    (result,) = held["status"]["allocation"]["devices"]["results"]
    result.update(shareID="a671734a-e8e5-11e4-8fde-42010af09327", consumedCapacity=amounts)
    return held, build.pod("notebook", claims=["share"], node_name="node-1", phase="Running")


def report_with(request: dict[str, Any], device: dict[str, Any], **used: str) -> PendingReport:
    return report_of(build.node(), build.slice_("node-1", device), *share(**used), POD, build.claim("claim", request))


def test_a_share_in_use_keeps_the_whole_device_from_a_request_without_an_amount() -> None:
    report = report_with(build.request(), card(memory={"value": "40Gi"}), memory="10Gi")
    assert first_line(report) == (
        "Pod ml/pod is pending: no node has a gpu.example.com device with 40Gi of memory left (the request names no "
        "amount of memory, so it takes all of it): on node-1, gpu-0 has 30Gi of "
        "40Gi left (notebook uses the rest)."
    )
    way = report.remedies[0]
    assert way.verified
    assert isinstance(way.actions[0], EditClaim)
    assert "request 30Gi of memory, a share of a device" in page_of(report)
    assert way.steps[0].manifest is not None
    (request,) = way.steps[0].manifest["spec"]["devices"]["requests"]
    assert request["exactly"]["capacity"] == {"requests": {"memory": "30Gi"}}
    assert json.dumps(way.steps[0].manifest).count("capacity") == 1


def test_what_the_policy_of_the_device_gives_is_not_called_all_of_it() -> None:
    sized = {"value": "40Gi", "requestPolicy": {"default": "35Gi", "validRange": {"min": "5Gi", "step": "5Gi"}}}
    report = report_with(build.request(), card(memory=sized), memory="10Gi")
    assert "with 35Gi of memory left (the request names no amount of memory, so it takes the device's default):" in (
        first_line(report)
    )
    assert "request 30Gi of memory, a share of a device" in page_of(report)


@pytest.mark.parametrize("amount", ["20Gi", "40Gi"])
def test_an_amount_that_is_named_is_told_as_before(amount: str) -> None:
    request = build.request(capacity={"requests": {"memory": amount}})
    line = first_line(report_with(request, card(memory={"value": "40Gi"}), memory="30Gi"))
    assert f"with {amount} of memory left: on node-1, gpu-0 has 10Gi of 40Gi left" in line


def test_a_capacity_that_the_request_does_not_name_is_not_taken_for_the_one_that_it_does() -> None:
    device = card(cores={"value": "4"}, memory={"value": "40Gi"})
    request = build.request(capacity={"requests": {"memory": "10Gi"}})
    line = first_line(report_with(request, device, cores="2", memory="10Gi"))
    assert "with 4 of cores left (the request names no amount of cores, so it takes all of it)" in line
    assert "gpu-0 has 2 of 4 left" in line
