"""Fewer pods as a way out: the fields that count them, what else has to follow, and other parts of the same object."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.claims.ask import UnfoundRequest
from tests.kit import build
from tests.reports.test_simulated_files import NS, a_pod, cluster, page, pod_template, simulated, template, thing

MODEL = 'device.attributes["gpu.example.com"].model == "{}"'


def test_parts_of_one_object_are_not_made_fewer_for_each_other() -> None:
    """The third worker of the first group, which waits for a device, uses up the quota that the second one lacks."""
    quota = {
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": NS},
        "spec": {"hard": {"count/resourceclaims.resource.k8s.io": "4"}},
        "status": {"hard": {"count/resourceclaims.resource.k8s.io": "4"}, "used": {}},
    }
    devices = [build.device(f"h-{n}", attributes={"model": "H100"}) for n in range(2)]
    devices += [build.device(f"l-{n}", attributes={"model": "L40"}) for n in range(4)]
    world = cluster(build.slice_("node-1", *devices), quota)
    head = {"template": {"spec": {"containers": [{"name": "head", "image": "x"}]}}}
    groups = [
        {"groupName": name, "replicas": number, "template": pod_template(name)} for name, number in (("h", 3), ("l", 2))
    ]
    ray = thing("ray.io/v1", "RayCluster", {"headGroupSpec": head, "workerGroupSpecs": groups})
    made = [template("h", selector=MODEL.format("H100")), template("l", selector=MODEL.format("L40"))]
    report = simulated(*made, ray, world=world)
    assert {each.role: each.copies for each in report.pods} == {"head": 1, "h": 2, "l": 1}
    told = page(report)
    assert "all fit with spec.workerGroupSpecs[0].replicas: 2; l then fits as well." in told
    assert "workerGroupSpecs[1]" not in told


@pytest.mark.parametrize(
    ("version", "kind", "spec", "path"),
    [
        ("apps/v1", "StatefulSet", {"replicas": 2**31, "template": pod_template("one")}, "spec.replicas"),
        (
            "batch/v1",
            "Job",
            {"parallelism": 2, "completions": 2**31, "template": pod_template("one")},
            "spec.completions",
        ),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            {
                "replicatedJobs": [
                    {"name": "w", "replicas": 2**31, "template": {"spec": {"template": pod_template("one")}}}
                ]
            },
            "spec.replicatedJobs[0].replicas",
        ),
    ],
)
def test_numbers_that_no_field_holds_are_refused(version: str, kind: str, spec: dict[str, Any], path: str) -> None:
    """The server reads them as int32; a number that is cut to what fits would be an answer about another object."""
    report = simulated(template("one"), thing(version, kind, spec))
    assert [each.subject.kind for each in report.pods] == ["ResourceClaimTemplate"], "by itself"
    assert report.fits is Fits.NO
    assert f"{path}: must be at most 2147483647 (int32), got 2147483648" in page(report)


def test_fewer_groups_are_told_with_all_their_pods() -> None:
    leaders = {"size": 3, "leaderTemplate": pod_template("one"), "workerTemplate": pod_template("one")}
    groups = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 2, "leaderWorkerTemplate": leaders})
    assert "all fit with spec.replicas: 1 (3 pods)." in page(simulated(template("one"), groups))


def test_groups_are_told_whole_and_made_fewer_whole() -> None:
    """Both leaders have a device then, and no worker has: the naive number of groups would be none."""
    leaders = {"size": 2, "leaderTemplate": pod_template("one"), "workerTemplate": pod_template("one")}
    groups = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 4, "leaderWorkerTemplate": leaders})
    told = page(simulated(template("one"), groups))
    first = "Not everything fits: LeaderWorkerSet ml/w, worker does not: 4 of the LeaderWorkerSet's 8 pods fit"
    assert told.startswith(f"{first}, and none of its 4 groups is whole.")
    assert "all fit with spec.replicas: 2 (4 pods)." in told


@pytest.mark.parametrize("own", [False, True])
def test_leaders_without_a_template_of_their_own_are_told_to_request_what_workers_do(own: bool) -> None:
    leaders = {
        "size": 2,
        "workerTemplate": pod_template("one"),
        **({"leaderTemplate": pod_template("one")} if own else {}),
    }
    groups = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 1, "leaderWorkerTemplate": leaders})
    report = simulated(template("one"), groups)
    base = "spec.leaderWorkerTemplate"
    assert {each.role: (each.made_from, each.instead_of) for each in report.pods} == {
        "leader": ("", "") if own else (f"{base}.workerTemplate", f"{base}.leaderTemplate"),
        "worker": ("", ""),
    }
    told = "leader fits. on node-1 leaderTemplate is not set: made from workerTemplate, with the same requests"
    assert (told in page(report)) is not own


def train_job(**trainer: Any) -> list[dict[str, Any]]:
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": pod_template("one")},
        },
    }
    job["template"]["spec"]["template"]["spec"]["containers"][0]["name"] = "node"  # type: ignore[index]
    runtime = thing(
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [job]}}},
        name="torch",
    )
    spec = {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 6, **trainer}}
    return [runtime, thing("trainer.kubeflow.org/v1alpha1", "TrainJob", spec)]


def test_the_nodes_of_a_train_job_are_its_own_field() -> None:
    """The controller writes the number into the runtime's job, whatever stands there."""
    assert "all fit with spec.trainer.numNodes: 4." in page(simulated(template("one"), *train_job()))


def test_resources_of_a_train_job_take_the_place_of_claims() -> None:
    told = page(simulated(template("one"), *train_job(resourcesPerNode={"requests": {"cpu": "1"}})))
    assert "no container names gpu under resources.claims, so no container sees its devices: spec.trainer.res" in told
    assert told.count("Warning: no container names gpu") == 1


@pytest.mark.parametrize("request_name", ["gpus", "gpu", ""])
def test_a_request_that_its_claim_does_not_have_gives_no_device(request_name: str) -> None:
    made = pod_template("one")
    made["spec"]["containers"][0]["resources"]["claims"][0]["request"] = request_name
    report = simulated(template("one"), thing("batch/v1", "Job", {"template": made}))
    (pod,) = report.pods
    wrong = request_name == "gpus"
    assert pod.unfound == ((UnfoundRequest("main", "gpu", "gpus", ("gpu",)),) if wrong else ())
    told = "Warning: container main names request gpus of claim gpu, which has only gpu: it sees no device."
    assert (told in page(report)) is wrong


def test_containers_that_name_devices_as_requests_are_told_in_one_warning() -> None:
    """And in the first sentence: that the pod fits is half of the truth."""
    pod = {"apiVersion": "v1", **a_pod("p", templates=["one"])}
    names = ("gpu-0", "gpu-1", "gpu-0")
    pod["spec"]["containers"] = [
        {"name": f"c{number}", "image": "x", "resources": {"claims": [{"name": "one", "request": name}]}}
        for number, name in enumerate(names)
    ]
    told = page(simulated(template("one"), pod))
    assert "Pod ml/p fits. But not all of its containers see the devices that they name." in told
    assert "containers c0, c1 and c2 name requests gpu-0 and gpu-1 of claim one, which has only gpu: they see" in told
    assert told.count("Warning") == 1


def test_of_a_request_with_alternatives_its_own_name_counts() -> None:
    alternatives = [{"name": name, "deviceClassName": build.DRIVER} for name in ("big", "small")]
    spec = {"devices": {"requests": [{"name": "gpu", "firstAvailable": alternatives}]}}
    body = {**template("one"), "spec": {"spec": spec}}
    made = pod_template("one")
    made["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu", "request": "gpu"}]
    (pod,) = simulated(body, thing("batch/v1", "Job", {"template": made})).pods
    assert pod.unfound == ()


def test_pods_of_a_cron_job_run_in_turn() -> None:
    job = {"spec": {"parallelism": 6, "completions": 12, "completionMode": "Indexed", "template": pod_template("one")}}
    cron = thing("batch/v1", "CronJob", {"schedule": "* * * * *", "jobTemplate": job})
    (pod,) = simulated(template("one"), cron).pods
    assert pod.in_turn


def test_the_scale_of_a_knative_service_is_an_annotation() -> None:
    """Upstream: knative.dev/serving, pkg/apis/autoscaling."""
    made = pod_template("one")
    made["spec"].pop("restartPolicy")
    known = "autoscaling.knative.dev"
    made["metadata"] = {"annotations": {f"{known}/min-scale": "6", f"{known}/max-scale": "9"}}
    told = page(simulated(template("one"), thing("serving.knative.dev/v1", "Service", {"template": made})))
    assert "4 of 6 copies fit" in told
    assert f"all fit with annotation {known}/min-scale: 4." in told
    assert "Knative's autoscaler may make up to 9; 4 of them fit" in told


def test_as_many_jobs_as_keda_may_make_at_once() -> None:
    """Upstream: kedacore/keda, apis/keda/v1alpha1/scaledjob_types.go."""
    job = {"parallelism": 1, "completions": 1, "template": pod_template("one")}
    spec = {"jobTargetRef": job, "maxReplicaCount": 9}
    report = simulated(template("one"), thing("keda.sh/v1alpha1", "ScaledJob", spec))
    assert [each.copies for each in report.pods] == [1]
    assert "KEDA may make up to 9; 4 of them fit" in page(report)
    most = simulated(template("one"), thing("keda.sh/v1alpha1", "ScaledJob", {"jobTargetRef": job}))
    assert "KEDA may make up to 100; 4 of them fit" in page(most)


def test_an_autoscaler_makes_fewer_by_its_lower_bound() -> None:
    made = pod_template("one")
    made["spec"]["restartPolicy"] = "Always"
    made["metadata"] = {"labels": {"app": "w"}}
    deployment = thing("apps/v1", "Deployment", {"selector": {"matchLabels": {"app": "w"}}, "template": made})
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}
    scaler = {"scaleTargetRef": target, "minReplicas": 6, "maxReplicas": 9}
    told = page(simulated(template("one"), deployment, thing("autoscaling/v2", "HorizontalPodAutoscaler", scaler)))
    assert "all fit with spec.minReplicas of HorizontalPodAutoscaler w: 4." in told
