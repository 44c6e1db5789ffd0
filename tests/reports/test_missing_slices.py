"""Slices that a pool lacks: which, since when, and where the driver says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.app import run
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.output.devices.pool_page import pool_page, view_text
from kubectl_dra.reports.devices.pool import PoolReport, pool_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK

NODE = "node-1"
POOL = PoolId(build.DRIVER, NODE)


def half(*sets: str, expected: int = 2, name: str = "devices") -> dict[str, Any]:
    """A slice of devices, each of which draws on one of the counter sets."""
    drawn = [
        build.device(f"part-{each}", consumesCounters=[{"counterSet": each, "counters": {"memory": {"value": "1"}}}])
        for each in sets
    ]
    body = build.slice_(NODE, *drawn)
    body["metadata"] |= {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    body["spec"]["pool"] |= {"resourceSliceCount": expected}
    return body


def counters(*sets: str, expected: int = 2) -> dict[str, Any]:
    body = build.slice_(NODE)
    body["metadata"]["name"] = "counters"
    body["spec"] |= {"sharedCounters": [{"name": each, "counters": {"memory": {"value": "8"}}} for each in sets]}
    body["spec"]["pool"] |= {"resourceSliceCount": expected}
    del body["spec"]["devices"]
    return body


def plugin(node: str) -> dict[str, Any]:
    found = build.pod("plugin-x7", node_name=node)
    found["metadata"] |= {
        "namespace": "gpu-dra-driver",
        "ownerReferences": [{"kind": "DaemonSet", "name": "gpu-plugin", "uid": "ds", "controller": True}],
    }
    return found


def told(*objects: dict[str, Any]) -> tuple[PoolReport, str]:
    inventory = facts.inventory([build.node(NODE), *objects])
    report = pool_report(POOL, ClusterState(inventory, facts.evidence(), features(), CLOCK))
    return report, " ".join(" ".join(pool_page(report, CLOCK.now())).split())


def test_the_counter_sets_that_no_slice_has_are_what_is_missing() -> None:
    report, page = told(half("gpu-0", "gpu-1"), plugin(NODE))
    assert report.view.undefined == ("gpu-0", "gpu-1")
    seen = "1 of 2 slices of generation 1, without counter sets gpu-0, gpu-1 that its devices use"
    assert view_text(report.view).startswith(f"Incomplete ({seen}): the scheduler skips it")
    assert "Missing: 1 slice of generation 1, with counter sets gpu-0, gpu-1. The newest slice" in page
    assert "kubectl logs pod/plugin-x7 -n gpu-dra-driver --all-containers" in page


def test_of_several_missing_slices_some_have_them() -> None:
    _, page = told(half("gpu-0", expected=3))
    assert "Missing: 2 slices of generation 1, counter set gpu-0 among them." in page
    assert f"kubectl get pods -A -o wide --field-selector spec.nodeName={NODE}" in page


def test_where_the_counters_are_there_only_the_number_is_told() -> None:
    report, page = told(half("gpu-0", expected=3), counters("gpu-0", expected=3))
    assert report.view.undefined == ()
    assert "Missing: 1 slice of generation 1. The newest" in page
    assert "without counter set" not in page


def test_of_a_whole_pool_nothing_is_missing() -> None:
    report, page = told(half("gpu-0"), counters("gpu-0"), plugin(NODE))
    assert "Missing" not in page
    assert "kubectl logs" not in page
    assert report.driver_pods == ()


@pytest.mark.parametrize(("several", "more"), [(False, ""), (True, ", as do 1 more")])
def test_a_list_says_where_it_stands_what_is_missing(
    several: bool, more: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = build.slice_("node-2", build.device("a"))
    other["spec"]["pool"]["resourceSliceCount"] = 4 if several else 1
    objects = [build.node(NODE), build.node("node-2"), half("gpu-0"), other]
    path = tmp_path / "f.json"
    for each in objects:
        each["apiVersion"] = "v1" if each["kind"] == "Node" else "resource.k8s.io/v1"
    path.write_text(json.dumps({"kind": "List", "items": objects}), encoding="utf-8")
    run(["get", "pools", "--from", str(path)])
    said = " ".join(capsys.readouterr().err.split())
    assert f"note: pool {POOL} lacks 1 of its 2 slices{more}; which: kubectl dra describe-pool {POOL} --from" in said
