"""Pods that JobSet, LeaderWorkerSet or Kueue keep in one rack: No where no rack has room, else what remains open."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import SimulationReport
from tests.kit import build, facts
from tests.kit.state import state_of
from tests.reports import test_simulated_files as files
from tests.reports.test_simulated_files import page, pod_template, template, thing

JOB_SET = "alpha.jobset.sigs.k8s.io/exclusive-topology"
LEADERS = "leaderworkerset.sigs.k8s.io/exclusive-topology"
SUBGROUPS = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
PODSET = "kueue.x-k8s.io/podset-required-topology"
SLICES = "kueue.x-k8s.io/podset-slice-required-topology"


def racks(*withheld: str, **sizes: int) -> ClusterState:
    """One node of each rack, with so many devices; a node without a rack has eight."""
    objects: list[Any] = [build.device_class()]
    for rack, size in {**sizes, "": 8}.items():
        name = f"node-{rack or 'x'}"
        objects.append(build.node(name, cpu="64", labels={"rack": rack} if rack else {}))
        objects.append(build.slice_(name, *(build.device(f"gpu-{number}") for number in range(size))))
    return state_of(facts.inventory(objects), facts.evidence(*withheld), features())


def simulated(body: dict[str, Any], world: ClusterState, **options: Any) -> SimulationReport:
    return files.simulated(*({"apiVersion": "v1", **each} for each in (template("one"), body)), world=world, **options)


def annotated(key: str, label: str = "rack", **more: str) -> dict[str, Any]:
    """A pod template with an annotation."""
    return {**pod_template("one"), "metadata": {"annotations": {key: label, **more}}}


def job_set(jobs: int, pods: int, **meta: Any) -> dict[str, Any]:
    job = {"spec": {"parallelism": pods, "completions": pods, "template": pod_template("one")}}
    spec = {"replicatedJobs": [{"name": "w", "replicas": jobs, "template": job}]}
    return thing("jobset.x-k8s.io/v1alpha2", "JobSet", spec, **meta)


def leaders(groups: int, size: int, key: str, **more: Any) -> dict[str, Any]:
    spec = {"replicas": groups, "leaderWorkerTemplate": {"size": size, "workerTemplate": pod_template("one"), **more}}
    return thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec, annotations={key: "rack"})


def job(pods: int, body: dict[str, Any]) -> dict[str, Any]:
    return thing("batch/v1", "Job", {"parallelism": pods, "completions": pods, "template": body})


def test_no_rack_has_room_for_a_job() -> None:
    report = simulated(job_set(1, 10, annotations={JOB_SET: "rack"}), racks(a=4, b=8))
    assert report.fits is Fits.NO
    told = page(report)
    assert "JobSet ml/w does not fit: 10 pods have to be in one rack, and no rack has room for more than 8" in told
    assert "of them (b)." in told
    assert f"JobSet demands it (annotation {JOB_SET})." in told
    assert "Make the group at most 8 pods" in told


def test_a_replicated_job_may_have_the_annotation_of_its_own() -> None:
    body = job_set(1, 10)
    assert simulated(body, racks(a=4, b=8)).fits is Fits.YES
    body["spec"]["replicatedJobs"][0]["template"]["metadata"] = {"annotations": {JOB_SET: "rack"}}
    assert simulated(body, racks(a=4, b=8)).fits is Fits.NO


def test_each_job_has_a_rack_of_its_own() -> None:
    body = job_set(3, 4, annotations={JOB_SET: "rack"})
    report = simulated(body, racks(a=4, b=12))
    assert report.fits is Fits.NO
    assert "each of its 3 groups of 4 pods needs a rack of its own, and only 2 have room for one: a, b." in page(report)
    assert simulated(body, racks(a=4, b=4, c=4)).fits is Fits.UNKNOWN


def test_one_rack_that_has_room_leaves_the_choice_open() -> None:
    report = simulated(job_set(1, 8, annotations={JOB_SET: "rack"}), racks(a=4, b=8))
    assert report.fits is Fits.UNKNOWN
    told = page(report)
    assert "1 of 2 values of rack has room for 8 pods together: b. Whether JobSet chooses it is not simulated." in told
    assert "not simulated, and may allow less" not in told


def test_a_leader_and_its_workers_are_one_group() -> None:
    assert simulated(leaders(1, 9, LEADERS), racks(a=4, b=8)).fits is Fits.NO
    assert simulated(leaders(1, 8, LEADERS), racks(a=4, b=8)).fits is Fits.UNKNOWN
    told = page(simulated(leaders(1, 9, LEADERS), racks(a=4, b=8)))
    assert "9 pods have to be in one rack, and no rack has room for more than 8 of them (b)" in told


def test_the_leader_may_need_no_device() -> None:
    leader = {"spec": {"containers": [{"name": "l", "image": "x"}]}}
    body = leaders(1, 9, LEADERS, leaderTemplate=leader)
    assert simulated(body, racks(a=4, b=8)).fits is Fits.UNKNOWN
    assert simulated(body, racks(a=4, b=7)).fits is Fits.NO


def test_subgroups_are_smaller() -> None:
    body = leaders(1, 9, SUBGROUPS, subGroupPolicy={"subGroupSize": 4})
    assert simulated(body, racks(a=5, b=4)).fits is Fits.UNKNOWN
    assert simulated(body, racks(a=3, b=3, c=3)).fits is Fits.NO


@pytest.mark.parametrize(("pods", "fits"), [(8, Fits.UNKNOWN), (9, Fits.NO)])
def test_a_podset_of_kueue(pods: int, fits: Fits) -> None:
    assert simulated(job(pods, annotated(PODSET)), racks(a=4, b=8)).fits is fits


def test_slices_of_kueue_may_share_a_rack() -> None:
    slices = annotated(SLICES, **{"kueue.x-k8s.io/podset-slice-size": "4"})
    assert simulated(job(8, slices), racks(a=3, b=8)).fits is Fits.UNKNOWN
    assert simulated(job(8, slices), racks(a=3, b=3, c=3)).fits is Fits.NO


def test_pods_of_a_deployment_are_podsets_of_their_own() -> None:
    body = annotated(PODSET)
    body["metadata"]["labels"] = {"app": "w"}
    body["spec"]["restartPolicy"] = "Always"
    spec = {"replicas": 10, "selector": {"matchLabels": {"app": "w"}}, "template": body}
    assert simulated(thing("apps/v1", "Deployment", spec), racks(a=4, b=8)).fits is Fits.UNKNOWN


def test_a_label_that_no_node_has() -> None:
    report = simulated(job(2, annotated(PODSET, "zone")), racks(a=4))
    assert report.fits is Fits.NO
    assert "2 pods have to share a value of label zone, which no node has" in page(report)


def test_what_was_not_read_may_have_room() -> None:
    for kind in ("Node", "ResourceSlice", "Pod"):
        report = simulated(job(9, annotated(PODSET)), racks(kind, a=4, b=8))
        assert report.pods[0].domains == ()


def test_pods_that_run_take_their_devices() -> None:
    held = build.claim("held", held=[("node-b", "gpu-0")], by=["other"], on="node-b")
    other = build.pod("other", claims=["held"], node_name="node-b", phase="Running")
    world = racks(a=4, b=8)
    more = facts.inventory([held, other])
    world = world.changed(world.inventory.replace(claims=more.claims, pods=more.pods))
    assert simulated(job(8, annotated(PODSET)), world).fits is Fits.NO


def test_where_devices_are_too_few_in_all_racks_the_racks_are_the_cause() -> None:
    told = page(simulated(job(30, annotated(PODSET)), racks(a=4, b=8)))
    assert told.startswith(
        "Job ml/w does not fit: 30 pods have to be in one rack, and no rack has room for more than 8 "
    )
    assert "the next one does not" not in told
