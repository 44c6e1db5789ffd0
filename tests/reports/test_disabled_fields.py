"""New objects with fields whose feature is off: what the server drops is said, and the rest is what is tried."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kubectl_dra.api.lint import Mistake
from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.capacity.capacity import capacity_report
from kubectl_dra.reports.simulation import SimulationReport
from tests.kit import build
from tests.reports.test_simulated_files import NS, cluster, page, pod_template, simulated, template, thing

JOB = thing("batch/v1", "Job", {"template": pod_template("one")})
HOLDER = (
    build.pod("h", node_name="node-1", claims=["held"], phase="Running"),
    build.claim("held", held=[("node-1", "gpu-0")], by=["h"], on="node-1"),
)


def world(minor: int, *more: dict[str, Any], **gates: bool) -> ClusterState:
    return replace(cluster(*more, devices=1), features=features(minor, gates or None, ("DynamicResourceAllocation",)))


def tried(objects: list[dict[str, Any]], state: ClusterState) -> tuple[SimulationReport, list[str]]:
    report = simulated(*objects, world=state)
    found = [finding for each in report.manifests for finding in each.findings]
    assert {each.code for each in found} <= {Mistake.UNSERVED_FIELD}
    return report, [each.path for each in found]


def test_without_its_gate_admin_access_is_a_request_like_any_other() -> None:
    """Whoever only wants to look at a device that is in use would wait for it."""
    monitor = template("one", adminAccess=True)
    path = "spec.spec.devices.requests[0].exactly.adminAccess"
    report, paths = tried([monitor, JOB], world(33, *HOLDER))
    assert (paths, report.fits, report.pods[0].copies) == ([path], Fits.NO, 0)
    told = page(report)
    assert "feature gate DRAAdminAccess is off by default in Kubernetes 1.33, and on since 1.34 (if" in told
    assert "if it is on: --feature-gates DRAAdminAccess=true" in told
    assert "DRA-211 devices in use" in told
    labelled = build.namespace(**{"resource.k8s.io/admin-access": "true"})
    report, paths = tried([monitor, JOB], world(33, *HOLDER, labelled, DRAAdminAccess=True))
    assert (paths, report.fits) == ([], Fits.YES)


def test_what_the_clusters_own_object_has_of_a_feature_is_not_dropped() -> None:
    """Upstream: the strategies leave fields whose feature the old object uses (draAdminAccessFeatureInUse)."""
    monitor, plain = template("one", adminAccess=True), template("one")
    report, paths = tried([monitor, JOB], world(33, monitor))
    assert paths == []
    assert "which it drops silently" not in page(report)
    assert tried([monitor, JOB], world(33, plain))[1] == ["spec.spec.devices.requests[0].exactly.adminAccess"]


def test_alternatives_without_their_gate_leave_no_request() -> None:
    wanted = template("one")
    wanted["spec"]["spec"]["devices"]["requests"] = [{"name": "r", "firstAvailable": [{"name": "x", **SUB}]}]
    report, paths = tried([wanted, JOB], world(33))
    assert (paths, report.fits) == (["spec.spec.devices.requests[0].firstAvailable"], Fits.NO)
    assert "would be refused: spec.spec.devices.requests[0]" in page(report)
    assert tried([wanted, JOB], world(34))[0].fits is Fits.YES


SUB = {"deviceClassName": build.DRIVER}


@pytest.mark.parametrize(
    ("minor", "gates", "said"),
    [
        (33, {}, "Kubernetes 1.33 does not have this field yet"),
        (34, {}, "feature gate DRAConsumableCapacity is off by default in Kubernetes 1.34"),
        (37, {"DRAConsumableCapacity": False}, "feature gate DRAConsumableCapacity is off"),
    ],
)
def test_amounts_of_a_device_are_not_asked_for(minor: int, gates: dict[str, bool], said: str) -> None:
    """Of a capacity that no device has a whole device is given where the server does not know it."""
    wanted = template("one", capacity={"requests": {"memory": "80Gi"}})
    report, paths = tried([wanted, JOB], world(minor, **gates))
    assert paths == ["spec.spec.devices.requests[0].exactly.capacity"]
    assert (report.fits, report.pods[0].copies) == (Fits.NO, 1)
    told = page(report)
    assert said in told
    assert "fits only without the fields that a server drops" in told
    assert tried([wanted, JOB], world(37))[0].pods[0].copies == 0


def test_a_new_class_serves_no_extended_resource_without_its_gate() -> None:
    named = {**build.device_class("new"), "apiVersion": "resource.k8s.io/v1"}
    named["spec"]["extendedResourceName"] = "example.com/gpu"
    assert tried([named], world(35))[1] == ["spec.extendedResourceName"]
    assert tried([named], world(36))[1] == []


def test_where_no_class_can_serve_an_extended_resource_a_claim_is_the_way_out() -> None:
    """A class that is created would lose the field, too."""
    named = {**build.device_class(), "apiVersion": "resource.k8s.io/v1"}
    named["spec"]["extendedResourceName"] = "example.com/gpu"
    job = thing("batch/v1", "Job", {"template": pod_template("one")})
    spec = job["spec"]["template"]["spec"]
    spec["containers"][0]["resources"] = {"limits": {"example.com/gpu": "1"}}
    del spec["resourceClaims"]
    told = page(tried([named, job], world(35))[0])
    assert "and use a claim from it instead of example.com/gpu in container main" in told
    assert "create the DeviceClass" not in told


def test_devices_that_a_new_slice_shares_are_whole_without_the_gate() -> None:
    shared = build.slice_("node-1", build.device("gpu-9", allowMultipleAllocations=True), pool="new")
    body = {"apiVersion": "resource.k8s.io/v1", **shared}
    assert tried([body], world(35))[1] == ["spec.devices[0].allowMultipleAllocations"]
    assert tried([body], world(36))[1] == []


def test_capacity_counts_what_would_be_stored() -> None:
    objects = [template("one", capacity={"requests": {"memory": "80Gi"}}), JOB]
    sources = [Source(json.dumps(body).encode()) for body in objects]
    report = capacity_report(world(34), read_all(sources, NS), NS)
    (shape,) = report.shapes
    assert (shape.misread, shape.capacity.copies.value) == (True, 1)
