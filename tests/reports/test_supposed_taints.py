"""Taints that are only supposed: a rule of the files evicts as a switch does, and nobody is blamed for either."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.whatif import AddTaint, Drain, Switch
from kubectl_dra.diagnosis.whatif.records import PodFate
from kubectl_dra.model.features import features
from kubectl_dra.output.simulation.page import simulation_page
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import Copies, SimulationReport, simulation_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK

NS, GPU = build.NAMESPACE, build.DRIVER
RULE = {
    "apiVersion": "resource.k8s.io/v1beta2",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "fw"},
    "spec": {
        "deviceSelector": {"driver": GPU, "pool": "a"},
        "taint": {"key": "fw", "value": "old", "effect": "NoExecute"},
    },
}
TAINT = AddTaint(f"{GPU}/a", "fw", "old", "NoExecute")


def template() -> dict[str, Any]:
    meta = {"name": "one", "namespace": NS, "uid": "one"}
    spec = {"spec": {"devices": {"requests": [build.request()]}}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": meta, "spec": spec}


def cluster() -> ClusterState:
    """One device on each of two nodes; a pod of a StatefulSet holds that of ``a``."""
    pod = build.pod("db-0", templates=["one"], node_name="a", phase="Running")
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "db", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    pod["spec"]["resourceClaims"][0]["name"] = "one"
    pod["status"]["resourceClaimStatuses"] = [{"name": "one", "resourceClaimName": "db-0-one"}]
    made_for = {"apiVersion": "v1", "kind": "Pod", "name": "db-0", "uid": "pod-db-0", "controller": True}
    held = build.claim(
        "db-0-one",
        build.request(),
        held=[("a", "gpu-0")],
        by=["db-0"],
        on="a",
        metadata={"ownerReferences": [made_for]},
    )
    there = [build.namespace(), build.device_class(), template(), pod, held]
    for name in ("a", "b"):
        there += [build.node(name, cpu="64"), build.slice_(name, build.device("gpu-0"))]
    return ClusterState(facts.inventory(there), facts.evidence(), features(37), CLOCK)


def job() -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}
    entry = {"name": "gpu", "resourceClaimTemplateName": "one"}
    pod = {"spec": {"containers": [container], "resourceClaims": [entry], "restartPolicy": "Never"}}
    meta = {"name": "w", "namespace": NS}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": pod}}


def simulated(*bodies: dict[str, Any], switches: Sequence[Switch] = ()) -> SimulationReport:
    sources = [Source(json.dumps(body).encode()) for body in bodies]
    return simulation_report(cluster(), read_all(sources, NS), Copies(), switches)


def page(report: SimulationReport) -> str:
    text = " ".join(simulation_page(report, CLOCK.now()))
    return " ".join(re.sub("\x1b\\[[0-9;]*m", "", text).split())


def test_a_rule_of_the_files_makes_pods_leave_as_a_switch_does() -> None:
    by_rule, by_switch = simulated(RULE, job()), simulated(job(), switches=[TAINT])
    for report in (by_rule, by_switch):
        assert report.what_if is not None
        assert [(each.fate, each.node) for each in report.what_if.displaced] == [(PodFate.MOVES, "b")]
        assert report.fits is Fits.NO
        assert [pod.copies for pod in report.pods] == [0]
    told = page(by_rule)
    assert "What if: DeviceTaintRule fw is created." in told
    assert "If those are created first, the others may stay pending instead." in told


def test_a_rule_that_does_not_evict_moves_nobody() -> None:
    taint = {"key": "fw", "effect": "NoSchedule"}
    report = simulated({**RULE, "spec": {**RULE["spec"], "taint": taint}}, job())  # type: ignore[dict-item]
    assert report.what_if is None
    assert [pod.copies for pod in report.pods] == [1]


def test_no_driver_is_blamed_for_a_supposed_taint() -> None:
    report = simulated(job(), switches=[TAINT])
    told = page(report)
    assert "set by driver" not in told
    assert "tainted (fw=old:NoExecute)" in told
    assert "tolerate the device taint" not in told


def test_a_drained_node_is_not_uncordoned() -> None:
    report = simulated(job(), switches=[Drain("a")])
    assert [pod.copies for pod in report.pods] == [0]
    assert "uncordon" not in page(report)
