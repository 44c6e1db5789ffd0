"""How many whole groups fit of a LeaderWorkerSet, a JobSet and the like: not leaders and workers each by themselves."""

from __future__ import annotations

import json
from typing import Any

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.capacity.page import capacity_page
from kubectl_dra.output.safe import plain as plain_text
from kubectl_dra.reports.capacity.capacity import CapacityReport, capacity_report
from tests.kit import build
from tests.reports.test_domains import LEADERS, job, job_set, leaders, racks
from tests.reports.test_simulated_files import pod_template, template

CPU_ONLY = {"spec": {"containers": [{"name": "l", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}}


def counted(body: dict[str, Any], world: ClusterState, *more: dict[str, Any]) -> CapacityReport:
    bodies = ({"apiVersion": "v1", **each} for each in (template("one"), *more, body))
    sources = [Source(json.dumps(each).encode()) for each in bodies]
    return capacity_report(world, read_all(sources, build.NAMESPACE), build.NAMESPACE)


def page(report: CapacityReport) -> str:
    return " ".join(" ".join(map(plain_text, capacity_page(report, HERE))).split())


def plain(groups: int, size: int, **more: Any) -> dict[str, Any]:
    body = leaders(groups, size, LEADERS, **more)
    body["metadata"].pop("annotations")
    return body


def test_groups_of_a_leader_and_workers() -> None:
    report = counted(plain(1, 3), racks(a=4, b=8))
    (found,) = report.groups
    assert (found.groups.value, found.groups.bound) == (6, Bound.EXACT)
    assert "A whole group of LeaderWorkerSet ml/w (1 leader, 2 workers) fits 6 times now." in page(report)


def test_where_leaders_and_workers_differ_another_order_may_place_more() -> None:
    """20 devices and 192 CPUs: a leader takes one device and 33 CPUs."""
    big = pod_template("one")
    big["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "33"}
    (found,) = counted(plain(1, 2, leaderTemplate=big), racks(a=4, b=8)).groups
    assert (found.groups.value, found.most) == (3, 3)


def test_a_leader_without_devices_leaves_them_to_the_workers() -> None:
    (found,) = counted(plain(1, 3, leaderTemplate=CPU_ONLY), racks(a=4, b=8)).groups
    assert (found.groups.value, found.groups.bound, found.most) == (10, Bound.EXACT, 10)


def test_a_job_set_as_a_whole() -> None:
    (found,) = counted(job_set(2, 4), racks(a=4, b=8)).groups
    assert (found.groups.value, found.groups.bound) == (2, Bound.EXACT)
    (found,) = counted(job_set(6, 4), racks(a=4, b=8)).groups
    assert (found.groups.value, found.groups.bound) == (0, Bound.EXACT)
    assert "JobSet ml/w as a whole (24 pods of w) does not fit now." in page(counted(job_set(6, 4), racks(a=4, b=8)))


def test_what_keeps_groups_in_a_rack_may_allow_fewer() -> None:
    (found,) = counted(leaders(1, 3, LEADERS), racks(a=4, b=8)).groups
    assert (found.groups.value, found.groups.bound) == (6, Bound.AT_MOST)
    assert "fits at most 6 times now; that its pods have to be in one domain" in page(
        counted(leaders(1, 3, LEADERS), racks(a=4, b=8))
    )


def test_pods_that_are_of_use_one_by_one_are_no_group() -> None:
    assert counted(job(4, pod_template("one")), racks(a=4)).groups == ()


def test_what_was_not_read_gives_no_number() -> None:
    assert counted(plain(1, 3), racks("Pod", a=4)).groups == ()
