"""Devices that the scheduler gives in spite of a taint and from which the pod is evicted at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from tests.kit import build, facts, work
from tests.kit.clock import CLOCK
from tests.kit.state import diagnose_pod
from tests.output.pending.test_situations import POD, first_line, page_of, report_of

LEAVING = "2026-01-01T00:00:00Z"
RUNNING = {"node_name": "node-1", "phase": "Running"}


def tainted(minutes: int, name: str = "gpu-0") -> dict[str, Any]:
    added = (CLOCK.now() - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return build.device(name, taints=[{"key": "xid", "value": "79", "effect": "NoExecute", "timeAdded": added}])


def wish(**toleration: Any) -> dict[str, Any]:
    return build.request(tolerations=[{"key": "xid", "operator": "Exists", "effect": "NoExecute", **toleration}])


def ending() -> list[dict[str, Any]]:
    """A pod that is being deleted and holds the device."""
    old = build.pod("old", claims=["theirs"], **RUNNING)
    old["metadata"] |= {"deletionTimestamp": LEAVING}
    return [old, build.claim("theirs", held=[("node-1", "gpu-0")], by=["old"], on="node-1")]


@pytest.mark.parametrize(("minutes", "seconds", "waits"), [(52, 300, False), (3, 300, True), (52, None, True)])
def test_to_wait_for_a_device_helps_only_who_may_keep_it(minutes: int, seconds: int | None, waits: bool) -> None:
    ask = wish(tolerationSeconds=seconds) if seconds is not None else wish()
    objects = [build.node(), build.slice_("node-1", tainted(minutes)), *ending(), POD, build.claim("claim", ask)]
    report = report_of(*objects)
    assert report.code is Code.DEVICES_IN_USE
    assert any(each.kind is RemedyKind.WAIT for each in report.remedies) is waits
    told = (
        "A pod that gets gpu-0 on node-1 is evicted at once: it has the taint xid=79:NoExecute for 52m, which the claim"
    )
    assert (told in page_of(report)) is not waits


def test_a_pod_that_gets_such_a_device_is_evicted_again() -> None:
    objects = [build.node(), build.slice_("node-1", tainted(52)), POD]
    report = report_of(*objects, build.claim("claim", wish(tolerationSeconds=300)))
    assert (report.verdict, report.code) == (Verdict.SCHEDULABLE, Code.EVICTED_AT_ONCE)
    assert first_line(report) == (
        "Pod ml/pod is pending, but would fit now on node-1. There it is evicted at once: gpu-0 has the taint "
        "xid=79:NoExecute, which the claim tolerates for 300 s only."
    )
    assert "for 300 s" in page_of(report)
    assert "What usually helps: Remove the toleration" in page_of(report)


def test_where_it_would_stay_elsewhere_that_is_told_too() -> None:
    nodes = [build.node(), build.node("node-2")]
    slices = [build.slice_("node-1", tainted(52)), build.slice_("node-2", build.device("gpu-1"))]
    report = report_of(*nodes, *slices, POD, build.claim("claim", wish(tolerationSeconds=300)))
    assert report.code is Code.FITS_NOW
    assert Code.EVICTED_AT_ONCE in [cause.code for cause in report.causes]


def test_a_toleration_without_an_effect_lets_a_pod_in_and_does_not_keep_it() -> None:
    """Upstream: devicetainteviction reads only tolerations whose effect is NoExecute."""
    ask = build.request(tolerations=[{"key": "xid", "operator": "Exists"}])
    report = report_of(build.node(), build.slice_("node-1", tainted(1)), POD, build.claim("claim", ask))
    assert report.code is Code.EVICTED_AT_ONCE
    assert "which no toleration with effect: NoExecute covers" in first_line(report)


def test_devices_of_a_large_pool_are_looked_at_once() -> None:
    """A pool of the whole cluster has thousands of devices, all of which may be in use."""

    def diagnosed(size: int) -> object:
        names = [f"gpu-{number}" for number in range(size)]
        slice_ = build.slice_("node-1", *(tainted(52, name) for name in names))
        held = build.claim("theirs", held=[("node-1", name) for name in names], by=["old"], on="node-1")
        user = build.pod("old", claims=["theirs"], **RUNNING)
        ask = build.claim("claim", wish(tolerationSeconds=300))
        inventory = facts.inventory([build.device_class(), build.node(), slice_, user, held, POD, ask])
        found = diagnose_pod(inventory, facts.evidence(), Features(), Key("ml", "pod"))
        assert Code.EVICTED_AT_ONCE in [cause.code for cause in found.causes]
        return found

    work.grows_with_its_size(diagnosed, 512)
