"""Work of the files that waits in a queue of Kueue: it does not fit where its queue never has, or does not have now."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.queues import objects_of
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.queue_room import Admits
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.queues import QueueConfig
from kubectl_dra.output.simulation.page import simulation_summary
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import Copies, SimulationReport, simulation_report
from tests.kit import build
from tests.reports.test_simulated_files import cluster, page, pod_template, template, thing

NS = build.NAMESPACE
KUEUE = "kueue.x-k8s.io/v1beta2"
LABELS = {"kueue.x-k8s.io/queue-name": "team"}
CONFIG = QueueConfig(known=True, device_resources={build.DRIVER: "gpus"})
JOB_SET = thing(
    "jobset.x-k8s.io/v1alpha2",
    "JobSet",
    {"replicatedJobs": [{"name": "workers", "replicas": 3, "template": {"spec": {"template": pod_template("one")}}}]},
    labels=LABELS,
)


def of_kueue(kind: str, name: str, spec: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}, "spec": spec, **fields}


def queues(nominal: int, used: int = 0, resource: str = "gpus", **spec: Any) -> list[dict[str, Any]]:
    flavor = {"name": "f", "resources": [{"name": resource, "nominalQuota": nominal}]}
    group = {"coveredResources": [resource], "flavors": [flavor]}
    status = {"flavorsReservation": [{"name": "f", "resources": [{"name": resource, "total": used}]}]}
    return [
        of_kueue("ClusterQueue", "all", {"resourceGroups": [group], **spec}, status=status),
        thing(KUEUE, "LocalQueue", {"clusterQueue": "all"}, name="team"),
        of_kueue("ResourceFlavor", "f", {}),
    ]


def tried(
    body: dict[str, Any], of_queue: list[dict[str, Any]] | None = None, config: QueueConfig = CONFIG
) -> SimulationReport:
    world = cluster()
    if of_queue is not None:
        world = with_kueue(world, of_queue, config)
    files = [template("one"), body]
    return simulation_report(world, read_all([Source(json.dumps(each).encode()) for each in files], NS), Copies())


def with_kueue(world: ClusterState, bodies: list[dict[str, Any]], config: QueueConfig) -> ClusterState:
    sources = [Source(json.dumps(each).encode(), each["apiVersion"], each["kind"]) for each in bodies]
    return world.changed(world.inventory.replace(queues=replace(objects_of(sources, Evidence()), config=config)))


def test_more_than_the_queue_can_ever_have_does_not_fit() -> None:
    report = tried(JOB_SET, queues(2, 1, cohortName="research"))
    told = page(report)
    first = (
        f"JobSet ml/w will never be admitted by Kueue: it requests 3 gpus (3 × 1 {build.DRIVER}), and ClusterQueue all "
        "can have at most 2 (quota 2; nothing to borrow in cohort research)."
    )
    assert (report.fits, report.bad, [pod.fits for pod in report.pods]) == (Fits.NO, True, [Fits.NO])
    assert told.startswith(first)
    assert simulation_summary(report).startswith(first)
    way = "With spec.replicatedJobs[0].replicas: 2 it requests 2, for which there is room once other work ends"
    assert f"{way} (1 is unused now)." in told
    assert '"path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": "3"' in told
    assert "JobSet ml/w, workers: all 3 copies would find a node." in told
    assert "not part of this answer" not in told
    assert "until Kueue admits it" not in told


def test_a_quota_in_use_is_another_thing_than_one_that_is_too_small() -> None:
    report = tried(JOB_SET, queues(4, 2))
    text = "JobSet ml/w waits in Kueue until 1 of the 4 gpus that ClusterQueue all can have are released: it requests 3"
    assert page(report).startswith(text)
    assert report.fits is Fits.NO
    evicts = tried(JOB_SET, queues(4, 2, preemption={"withinClusterQueue": "LowerPriority"}))
    assert "unless it evicts other work first" in page(evicts)
    assert (evicts.fits, evicts.partial) == (Fits.UNKNOWN, True)


def test_with_quota_left_it_fits() -> None:
    report = tried(JOB_SET, queues(4, 1))
    assert report.fits is Fits.YES
    assert "JobSet ml/w is for queue team, which has quota for it now: Kueue admits it at once." in page(report)
    assert "not read" not in page(report)


def test_others_that_wait_may_come_first() -> None:
    objects = queues(4, 1)
    objects[0]["status"]["pendingWorkloads"] = 2
    told = page(tried(JOB_SET, objects))
    assert "is for queue team, which has quota for it now; 2 workloads in ClusterQueue all may come first." in told


def test_kueue_admits_nothing_from_a_circle_of_cohorts() -> None:
    circle = [of_kueue("Cohort", name, {"parentName": parent}) for name, parent in (("a", "b"), ("b", "c"), ("c", "b"))]
    report = tried(JOB_SET, [*queues(4, 1, cohortName="a"), *circle])
    told = "Kueue does not start JobSet ml/w: the parents of the cohort of ClusterQueue all form a circle (b, c)"
    assert page(report).startswith(told)
    assert "Whoever manages the Cohorts above ClusterQueue all removes spec.parentName of one of them." in page(report)
    assert (report.fits, report.manifests[1].admits) == (Fits.NO, Admits.NO)
    straight = [of_kueue("Cohort", "a", {"parentName": "b"}), of_kueue("Cohort", "b", {})]
    assert tried(JOB_SET, [*queues(4, 1, cohortName="a"), *straight]).fits is Fits.YES


def test_without_the_queue_the_pods_fit_if_kueue_admits_them() -> None:
    report = tried(JOB_SET)
    assert (report.fits, report.bad) == (Fits.YES, False)
    assert "workers: all 3 copies fit if Kueue admits them." in page(report)
    assert (
        "Whether Kueue admits JobSet ml/w is unknown: its queue team and the quota behind that were not read."
        in page(report)
    )


def test_how_devices_count_may_be_unknown() -> None:
    report = tried(JOB_SET, queues(4), QueueConfig())
    assert report.fits is Fits.YES
    assert "workers: all 3 copies fit if Kueue admits them." in page(report)
    assert f"is unknown: how it counts devices of {build.DRIVER} was not read." in page(report)
    metered = QueueConfig(known=True, device_resources={build.DRIVER: "gpus"}, metered=frozenset({build.DRIVER}))
    assert tried(JOB_SET, queues(1), metered).fits is Fits.UNKNOWN


def test_a_queue_that_does_not_exist_starts_nothing() -> None:
    report = tried(JOB_SET, [*queues(4)[:1], thing(KUEUE, "LocalQueue", {"clusterQueue": "all"}, name="others")])
    assert page(report).startswith("Kueue does not start JobSet ml/w: LocalQueue team doesn't exist.")
    assert "LocalQueues of namespace ml: others" in page(report)
    assert report.fits is Fits.NO


DEPLOYED = {
    "replicas": 3,
    "selector": {"matchLabels": {"app": "w"}},
    "template": {
        "metadata": {"labels": {"app": "w"}},
        "spec": {**pod_template("one")["spec"], "restartPolicy": "Always"},
    },
}


def job(**annotations: str) -> dict[str, Any]:
    body = pod_template("one")
    body["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "1"}
    spec = {"parallelism": 3, "completions": 3, "suspend": True, "template": body}
    return thing("batch/v1", "Job", spec, labels=LABELS, annotations=annotations)


def test_a_resource_without_quota_keeps_it_out() -> None:
    told = page(tried(job(), queues(4)))
    assert told.startswith(
        "Job ml/w will never be admitted by Kueue: it requests 3 cpu (3 × 1), and ClusterQueue all has no"
    )
    unread = tried(job(), queues(4), QueueConfig(device_resources=CONFIG.device_resources))
    assert unread.fits is Fits.YES
    assert "has no quota of cpu, and what Kueue does then is in its Configuration" in page(unread)
    assert tried(job(), queues(4), replace(CONFIG, only_declared=True)).fits is Fits.YES
    assert tried(job(), queues(4), replace(CONFIG, excluded=("cpu",))).fits is Fits.YES
    changed = tried(job(), queues(4), replace(CONFIG, transformed=frozenset({"cpu"})))
    assert changed.fits is Fits.UNKNOWN
    assert "is unknown: its Configuration changes cpu before it is counted" in page(changed)


def test_a_job_that_may_start_with_fewer_pods() -> None:
    config = replace(CONFIG, excluded=("cpu",))
    assert tried(job(), queues(2), config).fits is Fits.NO
    least = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    report = tried(job(**least), queues(2), config)
    assert (report.fits, [pod.wanted for pod in report.pods]) == (Fits.YES, [2])
    told = page(report)
    assert told.startswith("Kueue starts Job ml/w with 2 of its 3 pods, as kueue.x-k8s.io/job-min-parallelism lets it:")
    assert "can have at most 2 (quota 2; it is in no cohort to borrow from)" in told
    assert tried(job(**least), queues(1), config).fits is Fits.NO


def test_of_fewer_pods_as_many_start_as_have_room_now() -> None:
    config = replace(CONFIG, excluded=("cpu",))
    report = tried(job(**{"kueue.x-k8s.io/job-min-parallelism": "1"}), queues(3, 2), config)
    assert [pod.wanted for pod in report.pods] == [1]
    assert "1 of 3 in ClusterQueue all is unused" in page(report)


@pytest.mark.parametrize(
    ("body", "unit"),
    [
        (thing("apps/v1", "Deployment", DEPLOYED, labels=LABELS), "pods"),
        (
            thing(
                "leaderworkerset.x-k8s.io/v1",
                "LeaderWorkerSet",
                {"replicas": 3, "leaderWorkerTemplate": {"size": 2, "workerTemplate": pod_template("one")}},
                labels=LABELS,
            ),
            "groups",
        ),
    ],
)
def test_what_kueue_admits_one_by_one(body: dict[str, Any], unit: str) -> None:
    each = 1 if unit == "pods" else 2
    report = tried(body, queues(2 * each))
    told = page(report)
    assert told.startswith(
        f"Kueue admits at most 2 of the 3 {unit} of {body['kind']} ml/w at a time: together they request"
    )
    assert report.fits is Fits.NO
    assert page(tried(body, queues(3 * each, each))).startswith(
        f"Kueue admits 2 of the 3 {unit} of {body['kind']} ml/w now"
    )


@pytest.mark.parametrize(("quota", "told"), [(150, "at most 75 of the 100 groups"), (200, "")])
def test_many_groups_are_counted_without_a_search(quota: int, told: str) -> None:
    """Each set of a group has one flavor to choose from."""
    templates = {"size": 2, "leaderTemplate": pod_template("one"), "workerTemplate": pod_template("one")}
    spec = {"replicas": 100, "leaderWorkerTemplate": templates}
    body = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec, labels=LABELS)
    text = page(tried(body, queues(quota)))
    assert "more ways to spread it" not in text
    assert ("of the 100 groups" in text) is bool(told)
    assert told in text
