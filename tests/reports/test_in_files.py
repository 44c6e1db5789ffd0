"""Nodes and pools that only the files of a simulation have: advice is about the manifests, no command reaches them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.simulation.page import simulation_page
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import SimulationReport
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import first_line, page_of, report_of
from tests.reports.test_simulated_files import V1, a_pod, cluster, simulated, template

NEW = "new.example.com"


def node(**spec: Any) -> dict[str, Any]:
    body = {"apiVersion": "v1", **build.node("new-1", cpu="64")}
    return {**body, "spec": {**body.get("spec", {}), **spec}}


def pool(slices: int = 1) -> dict[str, Any]:
    body = {"apiVersion": V1, **build.slice_("new-1", build.device("d0"))}
    pool = {"name": "new-1", "generation": 1, "resourceSliceCount": slices}
    return {**body, "spec": {**body["spec"], "driver": NEW, "pool": pool}}


def device_class() -> dict[str, Any]:
    selector = {"cel": {"expression": f'device.driver == "{NEW}"'}}
    return {"apiVersion": V1, **build.device_class(NEW, selectors=[selector])}


def files(*more: dict[str, Any], count: int = 1, **options: Any) -> SimulationReport:
    wanted = template("one", count=count)
    wanted["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = NEW
    pod = {"apiVersion": "v1", **a_pod("p", templates=["one"])}
    return simulated(*more, device_class(), wanted, pod, **options)


def whole(report: SimulationReport) -> str:
    """The page with the commands."""
    text = " ".join(simulation_page(report, CLOCK.now(), steps=True))
    return " ".join(re.sub("\x1b\\[[0-9;]*m", "", text).split())


@pytest.mark.parametrize(("count", "then"), [(1, "fits."), (2, "does not fit: no node has 2 new.example.com devices")])
def test_a_pool_of_which_the_files_have_a_part_is_completed_there(count: int, then: str) -> None:
    report = files(node(), pool(slices=2), count=count)
    told = whole(report)
    assert report.fits is Fits.NO
    assert told.startswith(
        "Pool new.example.com/new-1 in the files is incomplete, so none of its devices can be allocated: it has 1 "
        "ResourceSlice, and spec.pool.resourceSliceCount is 2: set spec.pool.resourceSliceCount to 1 in ResourceSlice "
        "new-1-gpu.example.com, or add the missing ones. As if the ResourceSlices were written so: Pod ml/p " + then
    )
    assert "kubectl" not in told.replace("kubectl dra explain", "")
    assert "restart its pod" not in told


def test_a_pool_of_the_cluster_is_the_drivers() -> None:
    there = {key: value for key, value in pool(slices=2).items() if key != "apiVersion"}
    told = whole(files(world=cluster(build.node("new-1", cpu="64"), there)))
    assert "have the driver publish pool new.example.com/new-1 anew" in told
    assert f"Log of driver {NEW} on new-1" in told


def test_the_taint_of_a_node_that_was_not_ready_is_dropped_in_the_file() -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    told = whole(files(node(taints=[taint]), pool()))
    assert "Drop taint node.kubernetes.io/not-ready:NoSchedule from spec.taints of Node new-1 in the files" in told
    assert "kubectl describe" not in told
    there = {key: value for key, value in node(taints=[taint]).items() if key != "apiVersion"}
    told = whole(files(pool(), world=cluster(there)))
    assert "kubectl describe node/new-1" in told
    assert "in the files:" not in told


def test_a_cordoned_node_of_the_files_is_opened_there() -> None:
    told = whole(files(node(unschedulable=True), pool()))
    assert "drop spec.unschedulable of Node new-1 in the files" in told
    assert "kubectl uncordon" not in told
    there = {key: value for key, value in node(unschedulable=True).items() if key != "apiVersion"}
    assert "kubectl uncordon node/new-1" in whole(files(pool(), world=cluster(there)))


def test_a_taint_rule_of_the_files_is_deleted_by_no_command() -> None:
    taint = {"key": "ecc", "effect": "NoSchedule"}
    rule = {"apiVersion": V1, "kind": "DeviceTaintRule", "metadata": {"name": "ecc"}}
    rule |= {"spec": {"deviceSelector": {"driver": NEW}, "taint": taint}}
    told = whole(files(node(), pool(), rule))
    assert "delete DeviceTaintRule ecc" in told
    assert "kubectl delete" not in told


def test_an_unused_pool_on_the_only_nodes_with_devices_leads() -> None:
    """Not that other nodes have none: the pod may run where the devices are."""
    devices = [build.device("gpu-0")]
    incomplete = build.slice_("node-1", *devices)
    incomplete["spec"]["pool"]["resourceSliceCount"] = 2
    others = [build.node(f"node-{number}") for number in (2, 3)]
    report = report_of(build.node(), incomplete, *others, build.claim("c"), build.pod("pod", claims=["c"]))
    assert report.code is Code.POOL_INCOMPLETE
    assert "is incomplete: 1 of its 2 ResourceSlices" in first_line(report)
    assert "where the pod may run" not in page_of(report)
