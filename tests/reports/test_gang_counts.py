"""Gangs whose pods are made only when others of them are ready: they never start, whatever is free."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import SimulationReport
from tests.kit.clock import CLOCK
from tests.reports.test_simulated_files import cluster, page, pod_template, simulated, template, thing

POD_GROUP = thing("scheduling.x-k8s.io/v1alpha1", "PodGroup", {"minMember": 3})


def labelled() -> dict[str, Any]:
    return {**pod_template("one"), "metadata": {"labels": {"scheduling.x-k8s.io/pod-group": "w"}}}


def stateful(replicas: int = 3, **spec: Any) -> dict[str, Any]:
    body = labelled()
    body["spec"] = {**body["spec"], "restartPolicy": "Always"}
    selector = {"matchLabels": body["metadata"]["labels"]}
    return thing("apps/v1", "StatefulSet", {"replicas": replicas, "selector": selector, "template": body, **spec})


def test_a_stateful_set_makes_its_pods_one_by_one() -> None:
    report = simulated(template("one"), POD_GROUP, stateful())
    assert (report.fits, report.bad) == (Fits.NO, True)
    told = page(report)
    assert told.startswith(
        "The coscheduling plugin would start no pod of PodGroup ml/w, whatever is free: it needs 3 at once, and only "
        "1 is ever there, as StatefulSet ml/w makes each pod when the one before it is ready. "
        "Set spec.podManagementPolicy: Parallel."
    )
    assert "Then only" not in told


def test_then_devices_may_be_too_few_as_well() -> None:
    group = {**POD_GROUP, "spec": {"minMember": 6}}
    assert "Set spec.podManagementPolicy: Parallel. Then only 4 of its 6 pods fit." in page(
        simulated(template("one"), group, stateful(6))
    )


def test_a_stateful_set_that_makes_all_at_once_can_be_a_gang() -> None:
    report = simulated(template("one"), POD_GROUP, stateful(podManagementPolicy="Parallel"))
    assert (report.bad, report.gangs) == (False, ())


def job(pods: int, **labels: str) -> dict[str, Any]:
    return thing("batch/v1", "Job", {"parallelism": pods, "completions": pods, "template": labelled()})


def test_what_to_write_where_a_gang_needs_more_pods_than_there_are() -> None:
    """More pods are only offered where they fit."""
    group = {**POD_GROUP, "spec": {"minMember": 4}}
    told = page(simulated(template("one"), group, job(3)))
    assert "it needs 4 at once, and there are only 3 pods, of which 3 fit. If 3 pods are enough: set spec.min" in told
    assert "set spec.minMember: 3 in PodGroup w." in told
    assert "Or make more pods: with spec.parallelism: 4 and spec.completions: 4 in Job w all 4 fit." in told
    group = {**POD_GROUP, "spec": {"minMember": 5}}
    told = page(simulated(template("one"), group, job(3)))
    assert "Or make more pods" not in told


def test_what_to_write_where_fewer_pods_of_a_gang_fit_than_it_needs() -> None:
    task = {"name": "worker", "replicas": 6, "template": pod_template("one")}
    spec = {"minAvailable": 5, "tasks": [task]}
    told = page(simulated(template("one"), thing("batch.volcano.sh/v1alpha1", "Job", spec)))
    assert "If 4 pods are enough: set spec.minAvailable: 4 in Job w." in told
    told = page(simulated(template("one"), thing("batch.volcano.sh/v1alpha1", "Job", {"tasks": [task]})))
    assert "Volcano would start no pod of Job ml/w: it needs 6 at once, and only 4 of its 6 pods fit." in told
    assert "all fit with spec.tasks[0].replicas: 4." in told


@pytest.mark.parametrize(
    ("policy", "program"), [({"coscheduling": {}}, "The coscheduling plugin"), ({"volcano": {}}, "Volcano")]
)
def test_all_pods_of_a_train_job_are_a_gang_where_its_runtime_says_so(policy: dict[str, Any], program: str) -> None:
    ancestor = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    nodes = {"name": "node", "template": {"metadata": ancestor, "spec": {"template": pod_template("one")}}}
    spec = {"podGroupPolicy": policy, "template": {"spec": {"replicatedJobs": [nodes]}}}
    runtime = thing("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", spec, name="torch")
    train = {"runtimeRef": {"name": "torch", "kind": "TrainingRuntime"}, "trainer": {"numNodes": 6}}
    train_job = thing("trainer.kubeflow.org/v1alpha1", "TrainJob", train)
    told = page(simulated(template("one"), runtime, train_job))
    assert f"{program} would start no pod of PodGroup ml/w: it needs 6 at once, and only 4 of its 6 pods fit." in told
    assert "all fit with spec.trainer.numNodes: 4." in told
    spec.pop("podGroupPolicy")
    assert "would start no pod" not in page(simulated(template("one"), runtime, train_job))


def of_kubernetes(least: int) -> list[dict[str, Any]]:
    policy = {"schedulingPolicy": {"gang": {"minCount": least}}}
    body = stateful()
    body["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "w"}
    return [thing("scheduling.k8s.io/v1beta1", "PodGroup", policy), body]


def test_a_group_of_kubernetes_gets_more_pods_of_its_job() -> None:
    group, _ = of_kubernetes(4)
    made = pod_template("one")
    made["spec"]["schedulingGroup"] = {"podGroupName": "w"}
    body = thing("batch/v1", "Job", {"parallelism": 3, "completions": 3, "template": made})
    assert "Or make more pods" not in page(simulated(template("one"), group, body))
    world = cluster()
    world = ClusterState(world.inventory, world.evidence, features(gates={"GenericWorkload": True}), CLOCK)
    told = page(simulated(template("one"), group, body, world=world))
    assert "PodGroup w needs 4 pods at the same time, and only 3 exist" in told
    assert "Or make more pods: with spec.parallelism: 4 and spec.completions: 4 in Job w all 4 fit." in told


def test_a_group_that_lacks_what_an_earlier_group_of_the_files_has() -> None:
    def gang(name: str, pods: int) -> list[dict[str, Any]]:
        made = pod_template("one")
        made["spec"]["schedulingGroup"] = {"podGroupName": name}
        policy = {"schedulingPolicy": {"gang": {"minCount": pods}}}
        job = thing("batch/v1", "Job", {"parallelism": pods, "completions": pods, "template": made}, name=name)
        return [thing("scheduling.k8s.io/v1beta1", "PodGroup", policy, name=name), job]

    world = cluster(devices=5)
    world = ClusterState(world.inventory, world.evidence, features(gates={"GenericWorkload": True}), CLOCK)
    report = simulated(template("one"), *gang("train", 3), *gang("eval", 3), world=world)
    assert [(each.subject.name, each.copies) for each in report.pods] == [("train", 3), ("eval", 0)]
    # Two of its own are placed before the third one finds nothing.
    assert "3 of the devices in use are held by earlier pods of the files." in page(report)


@pytest.mark.parametrize(("least", "starts"), [(3, False), (1, True)])
def test_gangs_of_kubernetes_wait_alike(least: int, starts: bool) -> None:
    report: SimulationReport = simulated(template("one"), *of_kubernetes(least))
    assert (report.gangs == ()) is starts
    assert ("The scheduler would start no pod of PodGroup ml/w" in page(report)) is not starts


def test_workers_that_wait_for_a_leader_of_their_gang() -> None:
    groups = {"leaderTemplate": labelled(), "workerTemplate": labelled(), "size": 3}
    spec = {"replicas": 1, "leaderWorkerTemplate": groups}
    together = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)
    assert simulated(template("one"), POD_GROUP, together).gangs == ()
    waiting = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {**spec, "startupPolicy": "LeaderReady"})
    told = page(simulated(template("one"), POD_GROUP, waiting))
    assert "only 1 is ever there, as LeaderWorkerSet ml/w makes some when others are ready." in told
