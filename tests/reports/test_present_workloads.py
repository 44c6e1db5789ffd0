"""Manifests of workloads that the cluster has already: only what changes is new, and a rollout replaces pods."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.remedies.records import DeletePod
from kubectl_dra.diagnosis.rollouts import EditRollout
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import SimulationReport
from tests.kit import build
from tests.reports.test_simulated_files import cluster, page, pod_template, simulated, template, thing

NS = build.NAMESPACE
NUMBER = {"deployment.kubernetes.io/revision": "3"}


def body(replicas: int, *, image: str = "", **spec: Any) -> dict[str, Any]:
    made = {"metadata": {"labels": {"app": "web"}}, **pod_template("one")}
    (container,) = made["spec"]["containers"]
    made["spec"] = {**made["spec"], "restartPolicy": "Always", "containers": [{**container, "image": image or "web:1"}]}
    return {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": made, **spec}


def workload(kind: str, replicas: int, **spec: Any) -> dict[str, Any]:
    return thing("apps/v1", kind, body(replicas, **spec), name="web")


def owner(kind: str, name: str) -> list[dict[str, Any]]:
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"{kind}-{name}", "controller": True}]


def running(name: str, device: str, made_by: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A pod of the workload on node-1, and its claim, which has ``device``."""
    pod = build.pod(name, templates=["one"], node_name="node-1", phase="Running")
    pod["metadata"] |= {"labels": {"app": "web"}, "ownerReferences": made_by}
    pod["status"]["resourceClaimStatuses"] = [{"name": "one", "resourceClaimName": f"{name}-one"}]
    claim = build.claim(f"{name}-one", held=[("node-1", device)], by=[name], on="node-1")
    claim["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"pod-{name}", "controller": True}
    ]
    return pod, claim


def there(kind: str, replicas: int, **spec: Any) -> list[dict[str, Any]]:
    """A workload of the cluster that runs ``replicas`` pods, and all that belongs to it."""
    top = workload(kind, replicas, **spec)
    top["metadata"] |= {"uid": f"{kind}-web", "namespace": NS, "generation": 2, "annotations": NUMBER}
    objects, made_by = [top], owner(kind, "web")
    if kind == "Deployment":
        replica_set = {**workload("ReplicaSet", replicas, **spec)}
        replica_set["metadata"] = {"name": "web-7f", "namespace": NS, "uid": "ReplicaSet-web-7f", "annotations": NUMBER}
        replica_set["metadata"]["ownerReferences"] = made_by
        objects, made_by = [*objects, replica_set], owner("ReplicaSet", "web-7f")
    for number in range(replicas):
        objects += running(f"web-{number}", f"gpu-{number}", made_by)
    return [template("one"), *objects]


def report_of(file: dict[str, Any], objects: list[dict[str, Any]], devices: int) -> SimulationReport:
    return simulated(file, world=cluster(*objects, devices=devices))


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet"])
def test_of_a_workload_that_grows_only_the_new_pods_need_devices(kind: str) -> None:
    report = report_of(workload(kind, 3), there(kind, 2), 3)
    (pod,) = report.pods
    assert (pod.wanted, pod.copies, pod.present, report.fits) == (3, 3, 2, Fits.YES)
    assert [(each.node, each.copies) for each in pod.nodes] == [("node-1", 1)]
    assert "all 3 copies fit. 2 of them run already." in page(report)


def test_what_does_not_fit_beside_the_pods_that_run_is_told_with_their_number() -> None:
    report = report_of(workload("Deployment", 4), there("Deployment", 2), 3)
    (pod,) = report.pods
    assert (pod.wanted, pod.copies, pod.present, report.fits) == (4, 3, 2, Fits.NO)
    assert "3 of 4 copies fit; the next one does not:" in page(report)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet"])
def test_a_workload_that_grows_is_not_told_to_end_its_own_pods(kind: str) -> None:
    report = report_of(workload(kind, 4), there(kind, 2), 3)
    (pod,) = report.pods
    assert pod.pending is not None
    ended = [each.pod.name for way in pod.pending.remedies for each in way.actions if isinstance(each, DeletePod)]
    assert ended == []


@pytest.mark.parametrize(("start", "made"), [(None, ["web-2", "web-3"]), (5, ["web-7", "web-8"])])
def test_the_pods_of_a_stateful_set_are_counted_from_its_first_ordinal(start: int | None, made: list[str]) -> None:
    """Upstream: pkg/controller/statefulset/stateful_set_utils.go, getStartOrdinal."""
    first = start or 0
    spec = {} if start is None else {"ordinals": {"start": start}}
    objects = there("StatefulSet", 0, **spec)
    for number in range(2):
        objects += running(f"web-{first + number}", f"gpu-{number}", owner("StatefulSet", "web"))
    report = report_of(workload("StatefulSet", 4, **spec), objects, 3)
    (pod,) = report.pods
    assert (pod.wanted, pod.copies, pod.present, report.fits) == (4, 3, 2, Fits.NO)
    assert pod.pending is not None
    assert pod.pending.pod.name == made[1]


def test_a_workload_that_does_not_change_needs_nothing() -> None:
    report = report_of(workload("Deployment", 2), there("Deployment", 2), 2)
    assert report.fits is Fits.YES
    assert "both copies fit. They run already." in page(report)
    assert "Commands, environment and annotations were not compared" in page(report)


def test_a_workload_that_shrinks_runs_no_more_than_it_wants() -> None:
    report = report_of(workload("Deployment", 1), there("Deployment", 3), 3)
    (pod,) = report.pods
    assert (pod.wanted, pod.copies, pod.present, report.fits) == (1, 1, 1, Fits.YES)
    assert "fits. It runs already." in page(report)


def test_a_rollout_that_waits_for_its_own_old_pods_would_get_stuck() -> None:
    report = report_of(workload("Deployment", 2, image="web:2"), there("Deployment", 2), 2)
    (pod,) = report.pods
    assert (pod.stuck, pod.replaces, report.fits) == (True, 2, Fits.NO)
    assert "its rollout would get stuck: old pods of its own Deployment hold what it needs" in page(report)
    assert pod.pending is not None
    (way,) = pod.pending.remedies
    (edit,) = way.actions
    assert isinstance(edit, EditRollout)
    assert (edit.max_unavailable, way.steps) == (1, ())
    assert "rollout undo" not in page(report)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("Deployment", {"strategy": {"type": "Recreate"}}),
        ("Deployment", {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}),
        ("StatefulSet", {}),
    ],
)
def test_a_rollout_that_ends_old_pods_first_gets_their_devices(kind: str, spec: dict[str, Any]) -> None:
    report = report_of(workload(kind, 2, image="web:2", **spec), there(kind, 2, **spec), 2)
    (pod,) = report.pods
    assert (pod.copies, pod.replaces, pod.present, report.fits) == (2, 2, 0, Fits.YES)
    assert "The rollout replaces the 2 pods that run now." in page(report)


def test_a_rollout_with_a_device_to_spare_goes_on() -> None:
    report = report_of(workload("Deployment", 2, image="web:2"), there("Deployment", 2), 3)
    assert (report.pods[0].stuck, report.fits) == (False, Fits.YES)


def test_a_workload_of_the_same_name_that_is_new_has_all_its_pods_tried() -> None:
    report = report_of(workload("Deployment", 2), there("StatefulSet", 2), 3)
    assert (report.pods[0].present, report.fits) == (0, Fits.NO)


def job(parallelism: int, image: str = "x") -> dict[str, Any]:
    made = pod_template("one")
    made["spec"]["containers"][0]["image"] = image
    return thing("batch/v1", "Job", {"parallelism": parallelism, "completions": 3, "template": made}, name="web")


@pytest.mark.parametrize(
    ("file", "status", "present", "fits"),
    [
        (job(2), {}, 2, Fits.YES),
        (job(3), {"failed": 1}, 2, Fits.NO),
        # Of its three completions two are left, and their pods run.
        (job(2), {"succeeded": 1}, 2, Fits.YES),
        (job(3), {"succeeded": 1}, 2, Fits.YES),
        (job(3), {"succeeded": 2}, 1, Fits.YES),
        # Whoever tries these means a new Job of the same name.
        (job(2), {"succeeded": 3}, 0, Fits.NO),
        (job(2, image="y"), {}, 0, Fits.NO),
    ],
)
def test_a_job_that_runs_already_makes_only_the_pods_that_it_lacks(
    file: dict[str, Any], status: dict[str, Any], present: int, fits: Fits
) -> None:
    known = job(2)
    hash_ = {"batch.kubernetes.io/controller-uid": "Job-web"}
    known["metadata"] |= {"uid": "Job-web", "namespace": NS}
    known["status"] = status
    known["spec"] |= {"selector": {"matchLabels": hash_}}
    known["spec"]["template"] |= {"metadata": {"labels": hash_}}
    made_by = [{**owner("Job", "web")[0], "apiVersion": "batch/v1"}]
    objects = [template("one"), known]
    for number in range(2):
        pod, claim = running(f"web-{number}", f"gpu-{number}", made_by)
        pod["metadata"]["labels"] = hash_
        objects += [pod, claim]
    report = report_of(file, objects, 2)
    assert (report.pods[0].present, report.fits) == (present, fits)
    told = page(report)
    assert ("run already" in told or "It runs already" in told) is bool(present)
    assert ("to apply it neither runs it again nor changes its pods" in told) is (not present)


def cron(policy: str) -> dict[str, Any]:
    job = {"spec": {"template": pod_template("one")}}
    spec = {"schedule": "0 2 * * *", "concurrencyPolicy": policy, "jobTemplate": job}
    return thing("batch/v1", "CronJob", spec, name="nightly")


@pytest.mark.parametrize(("policy", "fits"), [("Forbid", Fits.YES), ("Replace", Fits.YES), ("Allow", Fits.NO)])
def test_the_next_run_of_a_cron_job_has_the_present_one_beside_it_only_where_that_is_allowed(
    policy: str, fits: Fits
) -> None:
    known, job = cron(policy), thing("batch/v1", "Job", {"template": pod_template("one")}, name="nightly-1")
    known["metadata"] |= {"uid": "CronJob-nightly", "namespace": NS}
    job["metadata"] |= {"uid": "Job-nightly-1", "namespace": NS, "ownerReferences": owner("CronJob", "nightly")}
    job["metadata"]["ownerReferences"][0]["apiVersion"] = "batch/v1"
    run = running("nightly-1-x", "gpu-0", [{**owner("Job", "nightly-1")[0], "apiVersion": "batch/v1"}])
    report = report_of(cron(policy), [template("one"), known, job, *run], 1)
    told = page(report)
    assert report.fits is fits
    alone = (
        f"CronJob ml/nightly fits. Tried without its run of now, which ends before the next one starts ({{}} {policy})."
    )
    assert (alone.format("concurrencyPolicy") in told) is (fits is Fits.YES)
    assert ("comes on top of it" in told) is (fits is Fits.NO)


def test_what_is_suspended_takes_nothing_from_others() -> None:
    job = thing("batch/v1", "Job", {"suspend": True, "template": pod_template("one")}, name="later")
    later = {**workload("Deployment", 1), "metadata": {"name": "web", "namespace": NS}}
    report = simulated(job, later, world=cluster(template("one"), devices=1))
    assert [pod.fits for pod in report.pods] == [Fits.YES, Fits.YES]
    assert "Job ml/later, which is suspended, fits." in page(report)
