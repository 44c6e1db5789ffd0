"""DeviceClasses that may not be read: what a pod lacks whatever they select."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_more_situations import holding
from tests.output.pending.test_situations import first_line, page_of


def blind(*objects: dict[str, Any]) -> PendingReport:
    """The report of somebody who may not read DeviceClasses."""
    world = ClusterState(facts.inventory(objects), facts.evidence("DeviceClass"), features(), CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    return pending_report(found, world, ways=find_remedies(world, found))


def cluster(wish: dict[str, Any], *objects: dict[str, Any]) -> PendingReport:
    slice_ = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    return blind(build.node(), slice_, build.pod(claims=["claim"]), build.claim("claim", wish), *objects)


def test_devices_that_are_all_in_use_are_certain() -> None:
    report = cluster(build.request(cls="h100"), *holding("run-0", "gpu-0"), *holding("run-1", "gpu-1"))
    assert report.verdict is Verdict.UNKNOWN
    line = first_line(report)
    assert line == (
        "Pod ml/pod is pending: even if class h100 selected every device, no node has a free h100 device: "
        "on node-1, both are in use (run-0 1, run-1 1). More cannot be said: DeviceClass could not be read."
    )
    assert "A cluster administrator can permit it" in page_of(report)


def test_so_is_that_there_are_too_few() -> None:
    report = cluster(build.request(cls="h100", count=3))
    assert "even if class h100 selected every device, no node has 3 h100 devices" in first_line(report)


@pytest.mark.parametrize(
    ("wish", "held"),
    [
        (build.request(cls="h100"), ()),
        ({"name": "gpu", "exactly": {"deviceClassName": "h100", "allocationMode": "All"}}, ("gpu-0",)),
        (build.request(cls="h100", selector='device.attributes["x.example.com"].y == 1'), ("gpu-0",)),
    ],
    ids=["one is free", "all of a node", "a selector fails"],
)
def test_where_the_class_may_decide_nothing_is_certain(wish: dict[str, Any], held: tuple[str, ...]) -> None:
    users = [each for name in held for each in holding(f"run-{name}", name)]
    report = cluster(wish, *users)
    assert report.verdict is Verdict.UNKNOWN
    assert report.still_blocked is None
    assert "even if" not in first_line(report)
