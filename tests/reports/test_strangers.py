"""Manifests as strangers write them, in simulate: what other controllers and the API server make of them counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.api.trees import at
from kubectl_dra.api.workloads import beside
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import features
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.capacity.page import capacity_page
from kubectl_dra.output.safe import plain as plain_text
from kubectl_dra.reports.base import Bound, Fits
from kubectl_dra.reports.capacity.capacity import capacity_report
from kubectl_dra.reports.pending.renewal import FitThen
from kubectl_dra.reports.simulation import Counted, SimulationReport
from kubectl_dra.reports.simulation.counts import Growing
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.reports import test_simulated_files as files
from tests.reports.test_simulated_files import a_pod, cluster, page, pod_template, template, thing

NS = build.NAMESPACE


def simulated(*bodies: dict[str, Any], **options: Any) -> SimulationReport:
    return files.simulated(*({"apiVersion": "v1", **body} for body in bodies), **options)


def deployment(replicas: int | None = None, **meta: Any) -> dict[str, Any]:
    labelled = {"metadata": {"labels": {"app": "web"}}, **pod_template("one")}
    labelled["spec"] = {**labelled["spec"], "restartPolicy": "Always"}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": labelled}
    return thing("apps/v1", "Deployment", {**spec, **({} if replicas is None else {"replicas": replicas})}, **meta)


def priority_class(name: str, value: int) -> dict[str, Any]:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


# --- names of other namespaces ----------------------------------------------------------------------------------------


def test_a_template_of_another_namespace_of_the_files_is_named() -> None:
    there = template("one")
    there["metadata"]["namespace"] = "other"
    report = simulated(build.namespace("other"), there, deployment(1))
    assert "does not exist in its namespace (there is one in other, for pods of that namespace only)" in page(report)
    told = page(report)
    assert "put ResourceClaimTemplate other/one into namespace ml, in which its pods are" in told
    assert "metadata.namespace)" in told
    assert "A bare pod with ResourceClaimTemplate other/one" not in told


def test_behind_a_template_of_another_namespace_the_next_obstacle_is_told() -> None:
    there = template("one")
    there["metadata"]["namespace"] = "other"
    fits = simulated(build.namespace("other"), there, deployment(2))
    assert fits.fits is Fits.NO
    assert [(each.copies, each.fits) for each in fits.then] == [(2, Fits.YES)]
    text = "As if ResourceClaimTemplate other/one were in namespace ml: Deployment ml/w: both copies fit."
    assert text in page(fits)
    few = simulated(build.namespace("other"), there, deployment(6))
    assert "were in namespace ml: Deployment ml/w: 4 of 6 copies fit; the next one does not" in page(few)
    twice = template("one")
    twice["metadata"]["namespace"] = "another"
    assert not simulated(build.namespace("other"), build.namespace("another"), there, twice, deployment(2)).misplaced


def test_behind_a_misspelt_template_the_next_obstacle_is_told() -> None:
    body = deployment(6)
    body["spec"]["template"]["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = "big-gpus"
    report = simulated(template("big-gpu"), template("one"), body)
    told = page(report)
    assert [(each.template.name, each.name) for each in report.misplaced] == [("big-gpu", "big-gpus")]
    assert '1 name "big-gpu" instead of "big-gpus" in the pod' in told
    assert "As if ResourceClaimTemplate ml/big-gpu were named instead of big-gpus: Deployment ml/w: 4 of 6" in told
    assert "A bare pod with ResourceClaimTemplate ml/big-gpu" not in told
    assert not simulated(template("big-gpu"), template("big-gpus-2"), body).misplaced


def test_behind_a_template_that_is_named_as_a_claim_the_next_obstacle_is_told() -> None:
    body = deployment(6)
    body["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "one"}]
    report = simulated(template("one"), body)
    told = page(report)
    assert [(each.template.name, each.as_claim) for each in report.misplaced] == [("one", True)]
    assert 'it names the ResourceClaim "one", which does not exist: there is a ResourceClaimTemplate' in told
    as_if = "As if ResourceClaimTemplate ml/one were named as resourceClaimTemplateName: Deployment ml/w: 4 of 6"
    assert as_if in told
    assert "A bare pod with" not in told
    there = build.claim("one")
    assert not simulated(template("one"), body, world=cluster(there)).misplaced
    made = {"apiVersion": "resource.k8s.io/v1", **{key: there[key] for key in ("kind", "metadata", "spec")}}
    assert not simulated(template("one"), made, body).misplaced


def test_as_if_a_name_were_right_only_what_that_changes_is_told_again() -> None:
    head, worker = pod_template("one"), pod_template("big-gpus")
    head["spec"].pop("resourceClaims")
    head["spec"]["containers"][0].pop("resources")
    spec = {"headGroupSpec": {"template": head}, "workerGroupSpecs": [{"groupName": "g", "replicas": 1}]}
    spec["workerGroupSpecs"][0]["template"] = worker
    report = simulated(template("big-gpu", 9), template("one"), thing("ray.io/v1", "RayCluster", spec))
    assert [each.role for each in report.pods if not each.alone] == ["head", "g"]
    assert [each.role for each in report.then] == ["g"]
    told = page(report)
    assert told.count("RayCluster ml/w, head fits.") == 1
    assert "ResourceClaimTemplate ml/big-gpu do not" not in told
    assert told.startswith("Not everything fits: RayCluster ml/w, g does not: 1 of the RayCluster's 2 pods fit.")


def test_as_if_a_name_were_right_another_object_that_is_missing_is_told() -> None:
    body = deployment(1)
    spec = body["spec"]["template"]["spec"]
    spec["resourceClaims"][0]["resourceClaimTemplateName"] = "big-gpus"
    spec["resourceClaims"].append({"name": "nic", "resourceClaimTemplateName": "absent"})
    spec["containers"][0]["resources"]["claims"].append({"name": "nic"})
    told = page(simulated(template("big-gpu"), body))
    assert "As if ResourceClaimTemplate ml/big-gpu were named instead of big-gpus: Deployment ml/w does not fit" in told
    assert 'it needs ResourceClaimTemplate "absent"' in told


def test_a_limit_that_stands_in_the_files_is_changed_there() -> None:
    hard = {f"{build.DRIVER}.deviceclass.resource.k8s.io/devices": "2"}
    meta = {"name": "q", "namespace": NS}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}
    told = page(simulated(template("one"), quota, deployment(3)))
    assert f'spec.hard["{build.DRIVER}.deviceclass.resource.k8s.io/devices"])' in told


@pytest.mark.parametrize(("mode", "copies"), [("ReadWriteOnce", 1), ("ReadWriteMany", 2), ("ReadOnlyMany", 2)])
def test_replicas_share_a_volume_over_nodes_only_where_it_can_be_used_on_several(mode: str, copies: int) -> None:
    """It is made where the first pod goes; which node was selected for it no longer matters then."""
    storage_class = {"kind": "StorageClass", "metadata": {"name": "s"}, "provisioner": "x"}
    more = build.slice_("node-2", *(build.device(f"gpu-{number}") for number in range(4)))
    nodes = [build.node("node-2", cpu="64"), more, {**storage_class, "volumeBindingMode": "WaitForFirstConsumer"}]
    spec = {"accessModes": [mode], "storageClassName": "s", "resources": {"requests": {"storage": "1Gi"}}}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "m", "namespace": NS},
        "spec": spec,
    }
    body = deployment(2)
    volume = {"name": "m", "persistentVolumeClaim": {"claimName": "m"}}
    body["spec"]["template"]["spec"]["volumes"] = [volume]
    report = simulated(template("one", 4), claim, body, world=cluster(*nodes))
    told = page(report)
    assert report.pods[0].copies == copies
    assert ("Give each pod a volume of its own" in told) is (copies == 1)
    assert "selected-node" not in told
    assert ("taken as reachable from all these nodes" in told) is (copies == 2)


def test_pods_on_several_nodes_that_share_a_volume_of_one_node_are_warned_of() -> None:
    more = build.slice_("node-2", *(build.device(f"gpu-{number}") for number in range(4)))
    storage = [
        {"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {"csi": {"driver": "x", "volumeHandle": "v"}}},
        {"kind": "StorageClass", "metadata": {"name": "s"}, "provisioner": "x", "volumeBindingMode": "Immediate"},
    ]
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "s", "volumeName": "v"}
    meta = {"name": "m", "namespace": NS, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    storage += [{"kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, "status": {"phase": "Bound"}}]
    world = cluster(build.node("node-2", cpu="64"), more, *storage)
    body = deployment(2)
    body["spec"]["template"]["spec"]["volumes"] = [{"name": "m", "persistentVolumeClaim": {"claimName": "m"}}]
    told = page(simulated(template("one", 4), body, world=world))
    assert "both copies fit." in told
    assert "Warning: PersistentVolumeClaim m is ReadWriteOnce." in told
    body["spec"]["replicas"] = 1
    assert "Warning" not in page(simulated(template("one", 4), body, world=world))


@pytest.mark.parametrize(
    ("hook", "alone", "fits"),
    [("pre-install,pre-upgrade", True, Fits.YES), ("test", False, Fits.NO), ("post-install", False, Fits.NO)],
)
def test_hooks_of_helm_that_have_ended_before_are_tried_without_the_rest(hook: str, alone: bool, fits: Fits) -> None:
    """A test, which ``helm test`` creates, finds what the release has left, wherever it stands in the files."""
    first = thing("batch/v1", "Job", {"template": pod_template("one")}, name="hook")
    first["metadata"]["annotations"] = {"helm.sh/hook": hook}
    release = deployment(4)
    report = (
        simulated(template("one"), first, release) if hook == "test" else simulated(template("one"), release, first)
    )
    found = {each.subject.name: each for each in report.pods}
    assert (found["w"].fits, found["hook"].fits, found["hook"].alone) == (Fits.YES, fits, alone)
    said = f"hook of Helm {hook.replace(',', ', ')}, which is not created with the rest of the files"
    assert (said in page(report)) is (hook != "post-install")
    assert (": tried without that" in page(report)) is alone


@pytest.mark.parametrize(("resource", "hard"), [("requests.cpu", "6"), ("cpu", "6")])
def test_pods_that_a_quota_forbids_may_ask_for_less_or_the_limit_be_raised(resource: str, hard: str) -> None:
    """To wait for the scheduler helps no pod that is never created."""
    meta = {"name": "q", "namespace": NS}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": {resource: hard}}}
    body = deployment(1)
    body["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "8"},
        "claims": [{"name": "gpu"}],
    }
    told = page(simulated(template("one"), quota, body))
    assert "1 request 6 cpu instead of 8 in container" in told
    assert "containers[0].resources.requests.cpu)" in told
    assert f"2 raise the limit of ResourceQuota q for {resource} from 6 to 8" in told
    assert "wait for the scheduler" not in told


# --- pods that the scheduler never sees -------------------------------------------------------------------------------


def test_a_pod_that_names_its_node_gets_no_devices() -> None:
    report = simulated(template("one"), a_pod("p", templates=["one"], node_name="node-1"))
    (pod,) = report.pods
    assert (pod.fits, pod.bypasses, report.fits) == (Fits.NO, "node-1", Fits.NO)
    assert "spec.nodeName bypasses the scheduler" in page(report)
    assert "kubernetes.io/hostname: node-1" in page(report)


def test_a_pod_that_names_its_node_takes_a_claim_that_has_devices() -> None:
    held = build.claim("gpus", held=[("node-1", "gpu-0")], on="node-1")
    report = simulated(a_pod("p", claims=["gpus"], node_name="node-1"), world=cluster(held))
    assert report.pods[0].bypasses == ""
    assert report.fits is Fits.YES


def test_a_pod_as_it_was_read_from_the_cluster_has_its_node_from_the_scheduler() -> None:
    there = build.pod("p", templates=["one"], node_name="node-1", phase="Running")
    there["status"]["resourceClaimStatuses"] = [{"name": "one", "resourceClaimName": "p-one"}]
    claim = build.claim("p-one", held=[("node-1", "gpu-0")], by=["p"])
    report = simulated(template("one"), a_pod("p", templates=["one"], node_name="node-1"), world=cluster(there, claim))
    assert report.pods[0].bypasses == ""
    assert "would not start" not in page(report)


def test_a_node_that_does_not_exist_takes_no_pod() -> None:
    report = simulated(template("one"), a_pod("p", templates=["one"], node_name="node-7"))
    assert report.fits is Fits.NO
    assert "spec.nodeName is node-7, and there is no such node" in page(report)


# --- priorities -------------------------------------------------------------------------------------------------------


def test_a_priority_class_of_the_files_counts_for_pods_after_it() -> None:
    pod = a_pod("p", templates=["one"], priorityClassName="urgent")
    urgent = priority_class("urgent", 7)
    assert simulated(urgent, template("one"), pod).fits is Fits.YES
    late = simulated(template("one"), pod, urgent)
    assert late.fits is Fits.NO
    assert "PriorityClass urgent comes after it: put it first." in page(late)


def test_that_a_list_has_no_priority_classes_at_all_is_said() -> None:
    reads = (*facts.evidence().reads, Read("PriorityClass", coverage=Coverage.ASSUMED))
    world = cluster(evidence=Evidence(reads=reads))
    report = simulated(template("one"), a_pod("p", templates=["one"], priorityClassName="urgent"), world=world)
    assert "The cluster's file has no PriorityClass at all." in page(report)


def test_behind_a_priority_class_that_does_not_exist_the_next_obstacle_is_told() -> None:
    body = deployment(6)
    body["spec"]["template"]["spec"]["priorityClassName"] = "urgent"
    report = simulated(priority_class("batch", 5), template("one"), body)
    told = page(report)
    assert report.fits is Fits.NO
    assert "Deployment ml/w: its pods are refused: PriorityClass urgent does not exist. PriorityClasses that" in told
    assert "exist: batch. Name another one in spec.template.spec.priorityClassName, remove the field, or create" in told
    assert "As if PriorityClass urgent existed, with value 0: Deployment ml/w: 4 of 6 copies fit" in told
    reads = (*facts.evidence().reads, Read("PriorityClass", coverage=Coverage.ASSUMED))
    told = page(simulated(template("one"), body, world=cluster(evidence=Evidence(reads=reads))))
    assert "The cluster's file has no PriorityClass at all." in told


def test_of_two_classes_that_do_not_exist_both_are_told() -> None:
    body = deployment(2)
    body["spec"]["template"]["spec"] |= {"priorityClassName": "urgent", "runtimeClassName": "kata"}
    report = simulated(template("one"), body)
    told = page(report)
    assert "PriorityClass urgent does not exist." in told
    assert "RuntimeClass kata does not exist." in told
    assert "As if RuntimeClass kata existed: Deployment ml/w: both copies fit." in told
    assert [each.object.name for each in report.pods[0].absent_classes] == ["urgent", "kata"]


def test_whom_a_pod_evicts_is_in_the_first_line() -> None:
    small = build.pod("small", node_name="node-1", phase="Running", requests={"cpu": "60"}, priority=0)
    pod = a_pod("p", templates=["one"], requests={"cpu": "60"}, priorityClassName="urgent")
    report = simulated(priority_class("urgent", 7), template("one"), pod, world=cluster(small))
    assert "does not fit as things are, and does once the scheduler has evicted ml/small from node-1: " in page(report)


# --- quotas -----------------------------------------------------------------------------------------------------------


def quota(*, status: dict[str, Any] | None = None, **hard: str) -> dict[str, Any]:
    body = {"kind": "ResourceQuota", "metadata": {"name": "few", "namespace": NS}, "spec": {"hard": hard}}
    return {**body, "status": status} if status else body


@pytest.mark.parametrize(
    ("limit", "hard", "copies", "words"),
    [
        (f"{build.DRIVER}.deviceclass.resource.k8s.io/devices", "3", 2, "3 of 3 gpu.example.com devices are used"),
        ("count/resourceclaims.resource.k8s.io", "3", 2, "3 of 3 ResourceClaims are used"),
        ("pods", "2", 1, "2 of 2 pods are used"),
        ("requests.cpu", "2500m", 1, "requests.cpu"),
    ],
)
def test_a_quota_of_the_files_counts_what_the_cluster_has_and_what_the_files_make(
    limit: str, hard: str, copies: int, words: str
) -> None:
    """Whatever status it was written with; a claim of the files is charged, and so is what runs already."""
    there = build.pod("old", claims=["held"], node_name="node-1", requests={"cpu": "1"}, phase="Running")
    held = build.claim("held", held=[("node-1", "gpu-0")], by=["old"])
    web = deployment(3)
    web["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "1"}
    bodies = [template("one"), web]
    few = quota(status={"hard": {limit: "100"}}, **{limit: hard})
    for files_ in ([few, *bodies], [*bodies, few]):
        report = simulated(*files_, world=cluster(there, held))
        assert [pod.copies for pod in report.pods] == [copies]
        assert report.fits is Fits.NO
        assert "few" in page(report)
        assert words in page(report)
    assert simulated(quota(**{limit: "50"}), *bodies, world=cluster(there, held)).fits is Fits.YES


def test_a_quota_of_the_files_with_another_limit_than_the_clusters_keeps_what_that_one_counted() -> None:
    limit = "count/resourceclaims.resource.k8s.io"
    old = {**quota(), "status": {"hard": {limit: "9"}, "used": {limit: "4"}}}
    report = simulated(quota(**{limit: "5"}), template("one"), deployment(2), world=cluster(old))
    assert [pod.copies for pod in report.pods] == [1]


def test_a_quota_comes_with_a_namespace_that_is_new() -> None:
    """The cluster has none there; that of the files is what requires a request of every container."""
    parts = [template("one"), deployment(1), quota(**{"requests.memory": "1Gi"})]
    for each in parts:
        each["metadata"]["namespace"] = "fresh"
    report = simulated({"kind": "Namespace", "metadata": {"name": "fresh"}}, *parts)
    assert report.fits is Fits.NO
    assert "its pods would be refused: failed quota: few: must specify requests.memory for: main." in page(report)


def test_a_quota_refuses_only_what_comes_after_it() -> None:
    few = quota(**{"count/resourceclaims.resource.k8s.io": "1"})
    one, two = ({"apiVersion": "resource.k8s.io/v1", **build.claim(name)} for name in ("a", "b"))
    after = simulated(few, one, two)
    assert [bool(each.refused) for each in after.manifests] == [False, False, True]
    between = simulated(one, few, two)
    assert [bool(each.refused) for each in between.manifests] == [False, False, True]
    assert not any(each.refused for each in simulated(one, two, few).manifests)


def test_what_admits_and_is_not_applied_is_said() -> None:
    """It is no part that an object plays in nothing: it may refuse the pods, or change them."""
    hooks = thing("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", {}, name="inject")
    policy = thing("kyverno.io/v1", "ClusterPolicy", {}, name="tolerate")
    report = simulated(template("one"), deployment(1), hooks, policy, thing("v1", "ConfigMap", {}, name="c"))
    text = "Not applied, and may refuse or change the pods: MutatingWebhookConfiguration ml/inject, ClusterPolicy"
    assert text in page(report)
    assert "Not involved in scheduling devices: ConfigMap ml/c." in page(report)
    assert report.fits is Fits.YES


# --- pods that run one after the other --------------------------------------------------------------------------------


def job_of_set(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "template": {"spec": {"template": pod_template("three")}}, **fields}


def after(name: str, status: str = "Complete") -> dict[str, Any]:
    return {"dependsOn": [{"name": name, "status": status}]}


def test_a_step_after_one_that_does_not_fit_is_said_to_wait_for_it() -> None:
    large = {"image": "x", "resources": {"requests": {"cpu": "999"}}}
    tasks = [{"name": "a", "template": "large"}, {"name": "b", "template": "small", "depends": "a"}]
    templates = [
        {"name": "main", "dag": {"tasks": tasks}},
        {"name": "large", "container": large},
        {"name": "small", "container": {"image": "x"}},
    ]
    report = simulated(thing("argoproj.io/v1alpha1", "Workflow", {"entrypoint": "main", "templates": templates}))
    assert {pod.role: pod.held_up_by for pod in report.pods} == {"large": (), "small": ("large",)}
    assert "starts once large is complete, and large does not fit" in page(report)


def test_jobs_of_a_set_that_wait_for_others_to_complete_are_tried_without_them() -> None:
    """JobSet, ReplicatedJob.dependsOn: ready ones go on running."""

    def tried(*jobs: dict[str, Any]) -> SimulationReport:
        return simulated(template("three", 3), thing("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [*jobs]}))

    report = tried(job_of_set("prep"), job_of_set("train", **after("prep")), job_of_set("test", **after("train")))
    assert [(pod.role, pod.copies) for pod in report.pods] == [("prep", 1), ("train", 1), ("test", 1)]
    assert report.fits is Fits.YES
    assert "starts once prep is complete" in page(report)
    assert "starts once prep and train are complete" in page(report)
    ready = tried(job_of_set("prep"), job_of_set("train", **after("prep", "Ready")))
    assert [(pod.role, pod.copies) for pod in ready.pods] == [("prep", 1), ("train", 0)]


def test_the_initializers_of_a_train_job_are_complete_before_its_nodes_start() -> None:
    jobs = [job_of_set("dataset-initializer"), job_of_set("node", **after("dataset-initializer"))]
    spec = {"template": {"spec": {"replicatedJobs": jobs}}}
    runtime = thing("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", spec, name="r")
    del runtime["metadata"]["namespace"]
    train = thing("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "r"}})
    assert simulated(template("three", 3), runtime, train).fits is Fits.YES


def test_templates_of_a_workflow_may_run_one_after_the_other() -> None:
    step = {"container": {"image": "x"}, "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "three"}]}
    templates = [{"name": "a", **step}, {"name": "b", **step}]
    report = simulated(template("three", 3), thing("argoproj.io/v1alpha1", "Workflow", {"templates": templates}))
    assert [(pod.role, pod.copies) for pod in report.pods] == [("a", 1), ("b", 1)]
    assert report.fits is Fits.UNKNOWN
    assert "tried without the pods of its other templates" in page(report)


# --- other objects that make something of the pods --------------------------------------------------------------------


def autoscaler(least: int, most: int, kind: str = "HorizontalPodAutoscaler") -> dict[str, Any]:
    low, high, version = "minReplicas", "maxReplicas", "autoscaling/v2"
    if kind == "ScaledObject":
        low, high, version = "minReplicaCount", "maxReplicaCount", "keda.sh/v1alpha1"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}
    return thing(version, kind, {low: least, high: most, "scaleTargetRef": target})


@pytest.mark.parametrize("kind", ["HorizontalPodAutoscaler", "ScaledObject"])
def test_an_autoscaler_says_how_many_pods_there_are(kind: str) -> None:
    report = simulated(template("one"), deployment(), autoscaler(6, 20, kind))
    (pod,) = report.pods
    assert (pod.wanted, pod.copies, report.fits) == (6, 4, Fits.NO)
    assert f"{kind} w may make up to 20" in page(report)
    assert "Not involved in scheduling devices" not in page(report)


def test_an_autoscaler_takes_no_more_than_its_most_and_leaves_none_alone() -> None:
    assert simulated(template("one"), deployment(9), autoscaler(1, 3)).pods[0].wanted == 3
    assert simulated(template("one"), deployment(0), autoscaler(1, 3)).pods[0].wanted == 0
    other = autoscaler(6, 20)
    other["spec"]["scaleTargetRef"]["name"] = "another"
    assert simulated(template("one"), deployment(), other).pods[0].wanted == 1


def test_a_number_within_the_bounds_of_an_autoscaler_is_the_workloads_own() -> None:
    report = simulated(template("one"), deployment(2), autoscaler(1, 3))
    assert report.pods[0].wanted == 2
    told = (
        "taken from the workload itself, within the bounds of HorizontalPodAutoscaler w HorizontalPodAutoscaler w may"
    )
    assert told in page(report)
    assert "minReplicas" not in page(report)


def test_an_autoscaler_means_the_namespace_that_it_does_not_name() -> None:
    there, here = autoscaler(6, 20), autoscaler(6, 20)
    there["metadata"]["namespace"], here["metadata"]["namespace"] = "other", "ml"
    bare = deployment()
    del bare["metadata"]["namespace"]
    assert simulated(template("one"), bare, here).pods[0].wanted == 6
    assert simulated(template("one"), bare, there).pods[0].wanted == 1


def test_the_objects_of_large_files_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def counting(tree: dict[str, Any], path: str) -> Any:
        looked.append(path)
        return at(tree, path)

    monkeypatch.setattr(beside, "at", counting)
    numbers = []
    for number in (10, 20):
        looked.clear()
        data = [json.dumps(a_pod(f"p{index}")).encode() for index in range(number)]
        read_all(list(map(Source, data)), "ml")
        numbers.append(len(looked))
    assert numbers[1] <= 2 * numbers[0] + 2


@pytest.mark.parametrize("limits", [5, "x", {"a": 1}, [1], None])
def test_limits_of_another_shape_are_left_to_the_server(limits: Any) -> None:
    report = simulated(thing("v1", "LimitRange", {"limits": limits}), template("one"), a_pod("p", templates=["one"]))
    assert [pod.copies for pod in report.pods] == [1]


def test_the_least_scale_of_a_knative_service_is_its_number() -> None:
    body = pod_template("one")
    body["metadata"] = {"annotations": {"autoscaling.knative.dev/min-scale": "6"}}
    report = simulated(template("one"), thing("serving.knative.dev/v1", "Service", {"template": body}))
    assert (report.pods[0].wanted, report.fits) == (6, Fits.NO)


def test_knative_admits_no_claims_of_pods() -> None:
    """Upstream: knative/serving, pkg/apis/serving/fieldmask.go."""
    service = thing("serving.knative.dev/v1", "Service", {"template": pod_template("one")})
    report = simulated(template("one"), service)
    assert report.fits is Fits.NO
    told = page(report)
    assert "its pods would be refused: spec.template.spec.resourceClaims: must not set the field(s)" in told
    assert "As if they were admitted: One pod of Service ml/w fits" in told
    spec = {"predictor": pod_template("one")["spec"]}
    for mode, fits in (("Serverless", Fits.NO), ("Knative", Fits.NO), ("Standard", Fits.YES)):
        of = {"serving.kserve.io/deploymentMode": mode}
        found = simulated(template("one"), thing("serving.kserve.io/v1beta1", "InferenceService", spec, annotations=of))
        assert ("Knative's webhook admits no claims" in page(found)) == (fits is Fits.NO)
    plain = {"spec": {"containers": [{"name": "main", "image": "x"}]}}
    assert not simulated(thing("serving.knative.dev/v1", "Service", {"template": plain})).pods[0].refused


def test_claims_of_a_whole_pod_are_refused_and_the_next_mistake_is_told() -> None:
    """Upstream: pkg/apis/core/validation, validatePodResources."""
    body = deployment(2)
    spec = body["spec"]["template"]["spec"]
    spec["resources"] = {"claims": [{"name": "one"}]}
    (entry,) = spec["resourceClaims"]
    entry["resourceClaimName"] = entry.pop("resourceClaimTemplateName")
    told = page(simulated(template("one"), body))
    assert "Deployment ml/w would be refused: spec.template.spec.resources.claims: Forbidden" in told
    assert "A bare pod" not in told
    assert "As if that were fixed: As if ResourceClaimTemplate ml/one were named as resourceClaimTemplateName:" in told
    assert "Deployment ml/w: both copies fit" in told


def test_a_group_that_starts_with_no_workers_and_grows_is_tried() -> None:
    group = {"groupName": "gpu", "replicas": 0, "minReplicas": 0, "maxReplicas": 9, "template": pod_template("one")}
    plain = {"containers": [{"name": "head", "image": "x"}]}
    spec = {"headGroupSpec": {"template": {"spec": plain}}, "workerGroupSpecs": [group]}
    report = simulated(template("one"), thing("ray.io/v1", "RayCluster", spec))
    assert [(each.wanted, each.counted) for each in report.pods] == [(1, Counted.STATED), (1, Counted.UNKNOWN)]
    assert report.fits is Fits.UNKNOWN
    assert "RayCluster ml/w, gpu makes no pods now; an autoscaler may make up to 9; 4 of them fit." in page(report)
    group["maxReplicas"] = 0
    assert simulated(template("one"), thing("ray.io/v1", "RayCluster", spec)).pods[1].wanted == 0


PLAIN = {"containers": [{"name": "head", "image": "x"}]}


def test_a_group_without_workers_leaves_the_room_to_others() -> None:
    group = {"groupName": "gpu", "replicas": 0, "maxReplicas": 9, "template": pod_template("one")}
    spec = {"headGroupSpec": {"template": {"spec": PLAIN}}, "workerGroupSpecs": [group]}
    report = simulated(template("one"), thing("ray.io/v1", "RayCluster", spec), deployment(4))
    assert report.pods[-1].copies == 4


def test_a_group_that_may_grow_says_how_many_of_them_fit() -> None:
    group = {"groupName": "gpu", "replicas": 1, "maxReplicas": 9, "template": pod_template("one")}
    head = {"template": {"spec": PLAIN}}
    spec = {"headGroupSpec": head, "workerGroupSpecs": [group], "enableInTreeAutoscaling": True}
    report = simulated(template("one"), thing("ray.io/v1", "RayCluster", spec))
    assert (report.pods[-1].growing, report.fits) == (Growing("the Ray autoscaler", 9, 4), Fits.YES)
    assert "the Ray autoscaler may make up to 9; 4 of them fit" in page(report)


def test_what_several_roles_lack_is_told_once() -> None:
    jobs = [{"name": name, "template": {"spec": {"template": pod_template("none")}}} for name in ("driver", "workers")]
    told = page(simulated(thing("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": jobs})))
    assert told.count('create the ResourceClaimTemplate "none"') == 1
    assert 'JobSet ml/w, workers does not fit: it needs ResourceClaimTemplate "none", which does not exist.' in told
    assert "What helps is told of driver above." in told


def test_executors_of_spark_wait_for_the_driver_and_request_what_its_fields_say() -> None:
    name = "spark-kubernetes-executor"
    own = {"containers": [{"name": name, "resources": {"claims": [{"name": "gpu"}]}}]}
    claiming = {**pod_template("one")["spec"], **own}
    executor = {"instances": 3, "cores": 1, "template": {"spec": claiming}}
    app = thing("sparkoperator.k8s.io/v1beta2", "SparkApplication", {"driver": {"cores": 1}, "executor": executor})
    report = simulated(template("one"), app)
    assert [(each.role, each.copies) for each in report.pods] == [("driver", 1), ("executor", 3)]
    executor["cores"] = 900
    assert "(900 requested)" in page(simulated(template("one"), app))
    app["spec"]["driver"]["cores"] = 900
    told = page(simulated(template("one"), app))
    assert "executor: none of its pods is created until driver is ready, and that does not fit." in told


def test_a_limit_range_gives_requests_to_containers_without_their_own() -> None:
    limits = thing("v1", "LimitRange", {"limits": [{"type": "Container", "default": {"cpu": "100"}}]})
    pod = a_pod("p", templates=["one"])
    report = simulated(limits, template("one"), pod)
    assert report.fits is Fits.NO
    assert "(100 requested, the default of LimitRange w, as container main requests none)" in page(report)
    own = a_pod("p", templates=["one"], requests={"cpu": "1"})
    assert simulated(limits, template("one"), own).fits is Fits.YES
    limits["metadata"]["namespace"] = "other"
    assert simulated(build.namespace("other"), limits, template("one"), pod).fits is Fits.YES


def test_a_runtime_class_of_the_files_adds_to_its_pods() -> None:
    runtime: dict[str, Any] = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
    }
    pod = a_pod("p", templates=["one"], runtimeClassName="kata")
    unread = simulated(template("one"), pod, world=cluster(evidence=facts.evidence("RuntimeClass")))
    assert unread.fits is Fits.UNKNOWN
    assert "not read, and may change what is created: the RuntimeClass of the pod" in page(unread)
    assert [each.kind for each in unread.missing if each.decides] == ["RuntimeClass"]
    assert simulated(runtime, template("one"), pod).fits is Fits.YES
    runtime["overhead"] = {"podFixed": {"cpu": "100"}}
    assert simulated(runtime, template("one"), pod).fits is Fits.NO
    runtime["overhead"], runtime["scheduling"] = {}, {"nodeSelector": {"kata": "yes"}}
    assert "kata=yes" in page(simulated(runtime, template("one"), pod))


# --- groups in one domain ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "annotation",
    ["leaderworkerset.sigs.k8s.io/exclusive-topology", "kueue.x-k8s.io/podset-required-topology"],
)
def test_pods_that_have_to_be_in_one_rack_fit_at_most(annotation: str) -> None:
    """Which pods the annotation means is not known of this object."""
    job = {"spec": {"parallelism": 2, "template": pod_template("one")}}
    body = thing("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [{"name": "w", "template": job}]})
    assert simulated(template("one"), body).fits is Fits.YES
    body["metadata"]["annotations"] = {annotation: "rack"}
    report = simulated(template("one"), body)
    assert (report.fits, report.pods[0].bound) == (Fits.UNKNOWN, Bound.AT_MOST)
    assert f"placement in one domain (annotation {annotation}: rack)" in page(report)


def test_what_is_known_of_racks_is_computed() -> None:
    """``test_domains`` has the rest."""
    job = {"spec": {"parallelism": 2, "template": pod_template("one")}}
    body = thing("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [{"name": "w", "template": job}]})
    body["metadata"]["annotations"] = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"}
    assert simulated(template("one"), body).fits is Fits.NO
    world = cluster()
    world.inventory.nodes["node-1"].metadata.labels["rack"] = "a"
    assert simulated(template("one"), body, world=world).fits is Fits.UNKNOWN


# --- what pods of the files leave to those after them -----------------------------------------------------------------


def test_devices_that_pods_of_the_files_hold_are_nothing_to_wait_for() -> None:
    told = page(simulated(template("one"), deployment(6)))
    assert "All of these are held by earlier pods of the files." in told
    assert "Or ask for fewer: all fit with spec.replicas: 4." in told
    assert "What usually helps" not in told
    some = build.claim("held", held=[("node-1", "gpu-0")], by=["other"], on="node-1")
    other = build.pod("other", claims=["held"], node_name="node-1", phase="Running")
    told = page(simulated(template("one"), deployment(6), world=cluster(some, other)))
    assert "3 of the devices in use are held by earlier pods of the files." in told


def spread(**constraint: Any) -> dict[str, Any]:
    body = deployment(2)
    selector = {"matchLabels": {"app": "web"}}
    whole = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, **constraint}
    body["spec"]["template"]["spec"]["topologySpreadConstraints"] = [whole]
    return body


def test_changes_of_a_file_are_those_of_its_own_object() -> None:
    """Not of the ReplicaSet that a Deployment would make, of which nothing but the selector exists."""
    world = cluster(build.node("node-2", cpu="64", labels={"zone": "b"}))
    world.inventory.nodes["node-1"].metadata.labels["zone"] = "a"
    told = page(simulated(template("one"), spread(topologyKey="zone"), world=world))
    assert "(in Deployment w)" in told
    assert "ReplicaSet" not in told
    assert "something else adds it" not in told


def test_too_few_domains_are_the_cause_and_fewer_the_way_out() -> None:
    world = cluster()
    world.inventory.nodes["node-1"].metadata.labels["zone"] = "a"
    told = page(simulated(template("one"), spread(topologyKey="zone", minDomains=2), world=world))
    assert "minDomains 2 over zone, of which there are 1, so that the emptiest counts as 0" in told
    assert "lower minDomains over zone from 2 to 1 (in Deployment w)" in told


def test_a_node_more_is_a_way_out_of_an_anti_affinity() -> None:
    body = deployment(2)
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    body["spec"]["template"]["spec"]["affinity"] = {"podAntiAffinity": required}
    world = cluster()
    world.inventory.nodes["node-1"].metadata.labels["kubernetes.io/hostname"] = "node-1"
    assert "add a node like node-1" in page(simulated(template("one"), body, world=world))


# --- gangs of other programs ------------------------------------------------------------------------------------------


def gang_of(least: int, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    group = thing("scheduling.x-k8s.io/v1alpha1", "PodGroup", {"minMember": least})
    body = pod_template("one")
    body["metadata"] = {"labels": {"scheduling.x-k8s.io/pod-group": "w"}}
    return group, thing("batch/v1", "Job", {"parallelism": number, "completions": number, "template": body})


def test_a_gang_of_which_too_few_fit_comes_first() -> None:
    report = simulated(template("one"), *gang_of(6, 6))
    (gang,) = report.gangs
    assert (gang.least, gang.fit, gang.wanted) == (6, 4, 6)
    told = page(report)
    assert told.startswith(
        "The coscheduling plugin would start no pod of PodGroup ml/w: it needs 6 at once, and only 4"
    )
    assert "Not involved in scheduling devices" not in told
    assert simulated(template("one"), *gang_of(4, 6)).gangs == ()
    told = page(simulated(template("one"), *gang_of(6, 4)))
    assert "it needs 6 at once, and there are only 4 pods, of which 4 fit." in told


def test_pods_of_a_gang_that_run_already_count() -> None:
    def member(name: str, node: str) -> dict[str, Any]:
        pod = build.pod(name, node_name=node, phase="Running" if node else "Pending")
        return pod | {"metadata": {**pod["metadata"], "labels": {"scheduling.x-k8s.io/pod-group": "w"}}}

    placed, waiting = member("a", "node-1"), member("b", "")
    assert simulated(template("one"), *gang_of(2, 1), world=cluster(placed)).gangs == ()
    (gang,) = simulated(template("one"), *gang_of(3, 1), world=cluster(placed)).gangs
    assert (gang.fit, gang.wanted) == (2, 2)
    # Whether those fit that wait was not tried.
    assert simulated(template("one"), *gang_of(3, 1), world=cluster(placed, waiting)).gangs == ()
    unread = cluster(evidence=facts.evidence("Pod"))
    assert simulated(template("one"), *gang_of(3, 1), world=unread).gangs == ()


@pytest.mark.parametrize(("least", "lacks"), [({}, True), ({"minAvailable": 3}, False)])
def test_a_job_of_volcano_needs_all_of_its_pods_unless_it_says_fewer(least: dict[str, int], lacks: bool) -> None:
    task = {"name": "w", "replicas": 6, "template": pod_template("one")}
    report = simulated(template("one"), thing("batch.volcano.sh/v1alpha1", "Job", {"tasks": [task], **least}))
    assert bool(report.gangs) is lacks


# --- what other programs make -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "kind", "line"),
    [
        ("template.openshift.io/v1", "Template", "oc process -f FILE | kubectl dra simulate -f -"),
        ("argoproj.io/v1alpha1", "Application", "argocd app manifests w | kubectl dra simulate -f -"),
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease", "helm template CHART -f VALUES | kubectl dra simulate -f -"),
    ],
)
def test_what_others_make_manifests_of_is_unknown_and_says_how_to_get_them(version: str, kind: str, line: str) -> None:
    body = {**thing(version, kind, {}), "objects": [template("one"), deployment(1)]}
    report = simulated(body)
    assert (report.fits, report.pods) == (Fits.UNKNOWN, ())
    assert line in page(report)
    assert "can't be created as it is written" not in page(report)


def test_a_name_that_a_shell_would_read_stands_in_no_line() -> None:
    body = thing("argoproj.io/v1alpha1", "Application", {}, name="w;reboot")
    assert "reboot |" not in page(simulated(body))


def test_a_kustomization_among_the_files_is_told_apart() -> None:
    body = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": "prod"}
    told = page(simulated(template("one"), deployment(1), body))
    assert "kubectl apply -f fails on it, and what it changes was not tried. -k DIR reads what it makes." in told
    assert "Not involved in scheduling devices" not in told


def test_a_template_that_is_another_in_the_cluster_is_told_first() -> None:
    told = page(simulated(template("one"), deployment(1), world=cluster(template("one", 8))))
    assert told.startswith("ResourceClaimTemplate ml/one differs between the cluster and the files.")
    assert "exists already" not in told
    told = page(simulated(template("one"), deployment(1), world=cluster(template("one"))))
    assert "is another in the cluster" not in told
    assert "ResourceClaimTemplate ml/one exists already" in told


@pytest.mark.parametrize(
    ("kind", "at", "spec"),
    [
        ("example.com/v1 Widget", "spec.template.spec", lambda body: {"replicas": 2, "template": body}),
        (
            "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",
            "spec.leaderWorkerTemplate.workerTemplate.spec",
            lambda body: {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": body}},
        ),
        (
            "ray.io/v1 RayCluster",
            "spec.workerGroupSpecs[0].template.spec",
            lambda body: {
                "headGroupSpec": {"template": {"spec": {"containers": [{"name": "head", "image": "ray"}]}}},
                "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "template": body}],
            },
        ),
        (
            "kubeflow.org/v2beta1 MPIJob",
            "spec.mpiReplicaSpecs.Worker.template.spec",
            lambda body: {"mpiReplicaSpecs": {"Worker": {"replicas": 2, "template": body}}},
        ),
    ],
)
def test_pods_that_name_a_claim_which_they_do_not_have_are_refused_whoever_makes_them(
    kind: str, at: str, spec: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Of kinds that the server does not know it checks no pod template: the pods it refuses, one after the other."""
    body = pod_template("one")
    body["spec"]["containers"][0]["resources"]["claims"][0]["name"] = "gpus"
    report = simulated(template("one"), thing(*kind.split(), spec(body)))
    assert report.fits is Fits.NO
    told = page(report)
    assert "its pods would be refused:" in told
    refusal = f'{at}.containers[0].resources.claims[0].name: Not found: "gpus" (resourceClaims of the pod: "gpu")'
    assert {each.refused for each in report.pods} - {()} == {(refusal,)}
    assert "As if they were admitted:" in told
    assert "A bare pod with" not in told
    assert "under resources.claims" not in told


def test_behind_what_is_refused_of_pods_the_next_obstacle_is_told() -> None:
    """A Job is refused as a whole, unlike an object of another project whose pods are."""
    body = pod_template("one")
    body["spec"]["containers"][0]["resources"]["claims"][0]["name"] = "gpus"
    job = thing("batch/v1", "Job", {"parallelism": 6, "completions": 6, "template": body})
    report = simulated(template("one"), job)
    assert (report.fits, report.pods) == (Fits.NO, ())
    told = page(report)
    assert told.startswith("Job ml/w would be refused: spec.template.spec.containers[0].resources.claims[0].name: Not")
    assert "As if that were fixed: Job ml/w: 4 of 6 copies fit" in told
    assert "A bare pod" not in told
    body["spec"]["resourceClaims"].append({"name": "gpus"})
    unclear = simulated(template("one"), job)
    assert not unclear.then
    assert "A bare pod with ResourceClaimTemplate ml/one fits" in page(unclear)


def test_refused_pods_do_not_count_among_those_of_their_object_that_fit() -> None:
    head, worker = pod_template("one"), pod_template("one")
    worker["spec"]["containers"][0]["resources"]["claims"][0]["name"] = "gpus"
    groups = [{"groupName": "gpu", "replicas": 2, "template": worker}]
    cluster_of_ray = {"headGroupSpec": {"template": head}, "workerGroupSpecs": groups}
    told = page(simulated(template("one"), thing("ray.io/v1", "RayCluster", cluster_of_ray)))
    assert "RayCluster ml/w, gpu does not: 1 of the RayCluster's 3 pods fit." in told


def test_of_several_racks_the_one_with_most_room_is_told() -> None:
    """The scheduler speaks of any of them; to lower minCount has to be offered to what the best of them holds."""
    more = build.node("node-2", cpu="64", labels={"rack": "b"})
    gpus = build.slice_("node-2", *(build.device(f"gpu-{number}") for number in range(6)))
    world = cluster(more, gpus)
    on = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
    world = ClusterState(world.inventory, world.evidence, features(gates=on), CLOCK)
    world.inventory.nodes["node-1"].metadata.labels["rack"] = "a"
    spec = {
        "schedulingPolicy": {"gang": {"minCount": 8}},
        "schedulingConstraints": {"topology": [{"key": "rack"}]},
    }
    body = pod_template("one")
    body["spec"]["schedulingGroup"] = {"podGroupName": "w"}
    job = thing("batch/v1", "Job", {"parallelism": 8, "completions": 8, "template": body})
    told = page(simulated(template("one"), thing("scheduling.k8s.io/v1beta1", "PodGroup", spec), job, world=world))
    assert "PodGroup w needs 8 pods in one rack at the same time, and only 6 find a node" in told
    assert "lower minCount of PodGroup w from 8 to 6" in told


# --- first lines ------------------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_named_before_what_does() -> None:
    other = deployment(9, name="big")
    told = page(simulated(template("one"), deployment(1), other))
    assert told.startswith("Deployment ml/big: 3 of 9 copies fit; the next one does not: no node has a free")
    assert told.index("Deployment ml/w fits.") > told.index("DRA-211")
    assert page(simulated(template("one"), other, deployment(1))).startswith("Deployment ml/big: 4 of 9 copies fit")
    assert "Not everything" not in page(simulated(template("one"), deployment(1)))


def test_slices_of_a_node_that_does_not_exist_are_told_first() -> None:
    more = {**build.slice_("node2", build.device("gpu-0")), "apiVersion": "resource.k8s.io/v1"}
    told = page(simulated(template("one"), deployment(1), build.node("node-2", cpu="4"), more))
    edit = "set spec.nodeName to node-2 and spec.pool.name to node-2."
    assert told.startswith(
        "ResourceSlice node2-gpu.example.com in the files has nodeName node2, so node-2 has no devices"
    )
    assert edit in told
    assert "node2: named by slices of the files, and neither in the cluster nor in the files (did you mean" in told


def test_a_launcher_that_waits_for_its_workers_comes_after_them() -> None:
    claiming = {"template": pod_template("one")}
    spec = {"mpiReplicaSpecs": {"Launcher": claiming, "Worker": {"replicas": 2, **claiming}}}
    for policy, order in (("AtStartup", ["Launcher", "Worker"]), ("WaitForWorkersReady", ["Worker", "Launcher"])):
        job = thing("kubeflow.org/v2beta1", "MPIJob", {**spec, "launcherCreationPolicy": policy})
        report = simulated(template("one", 2), {**job, "spec": {**job["spec"], "runLauncherAsWorker": True}})
        assert [each.role for each in report.pods] == order
        assert [each.copies for each in report.pods] == ([1, 1] if order[0] == "Launcher" else [2, 0])


@pytest.mark.parametrize(
    "fields",
    [
        {"startupPolicy": {"startupPolicyOrder": "InOrder"}},
        {"depends": "Ready"},
        {"depends": "Complete"},
    ],
)
def test_jobs_of_a_set_that_wait_for_one_that_does_not_fit_are_not_made(fields: dict[str, Any]) -> None:
    spec = {key: value for key, value in fields.items() if key != "depends"}
    depends = after("prep", fields["depends"]) if "depends" in fields else {}
    last = after("train", fields["depends"]) if "depends" in fields else {}
    small = {"template": {"spec": {"template": pod_template("one")}}}
    jobs = [job_of_set("prep"), {"name": "train", **small, **depends}, {"name": "end", **small, **last}]
    files_ = [template("three", 9), template("one")]
    report = simulated(*files_, thing("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": jobs, **spec}))
    assert [(pod.role, pod.copies, pod.awaits) for pod in report.pods] == [
        ("prep", 0, ()),
        ("train", 0, ("prep",)),
        ("end", 0, ("train",)),
    ]
    assert {pod.fits for pod in report.pods} == {Fits.NO}
    assert "JobSet ml/w, train: none of its pods is created until prep is ready, and that does not fit." in page(report)


def test_workers_wait_for_their_own_leader() -> None:
    def tried(policy: str, leaders: int, count: int = 3) -> list[tuple[int, tuple[str, ...]]]:
        parts = {"leaderTemplate": pod_template("big"), "workerTemplate": pod_template("one"), "size": 2}
        spec = {"replicas": leaders, "startupPolicy": policy, "leaderWorkerTemplate": parts}
        lws = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)
        return [(each.copies, each.awaits) for each in simulated(template("big", count), template("one"), lws).pods]

    assert tried("LeaderCreated", 1, 9) == [(0, ()), (1, ())]
    assert tried("LeaderReady", 1, 9) == [(0, ()), (0, ("leader",))]
    assert tried("LeaderReady", 2)[0] == (1, ())
    assert tried("LeaderReady", 2)[1][1] == ()


@pytest.mark.parametrize(("number", "told"), [(2, "1 more Pod: ml/p-1."), (4, "3 more Pods: ml/p-1, ml/p-2, ml/p-3.")])
def test_pods_that_differ_in_their_names_only_are_told_once(number: int, told: str) -> None:
    report = simulated(template("one", 9), *(a_pod(f"p-{index}", templates=["one"]) for index in range(number)))
    text = page(report)
    assert f"The same applies, with other names, to {told}" in text
    assert text.count("kubectl dra explain DRA-") == 1


@pytest.mark.parametrize("own", ["labels", "template", "claim"])
def test_what_is_the_same_but_for_names_is_told_once(own: str) -> None:
    """Each with its own labels, template or claim: one page, and another one where more is different."""

    def objects(index: int, count: int) -> Iterator[dict[str, Any]]:
        name = f"t-{index}" if own == "template" else "t"
        if own == "claim":
            yield {"apiVersion": "resource.k8s.io/v1", **build.claim(f"c-{index}", build.request(count=count))}
            pod = a_pod(f"p-{index}", claims=[f"c-{index}"])
        else:
            yield template(name, count)
            pod = a_pod(f"p-{index}", templates=[name])
        pod["metadata"]["labels"] = {"rank": str(index)}
        yield pod

    text = page(simulated(*(each for index in range(3) for each in objects(index, 9))))
    assert text.count("kubectl dra explain DRA-") == 1
    assert "The same applies, with other names, to 2 more Pods: ml/p-1, ml/p-2." in text
    if own != "labels":
        other = page(simulated(*(each for index in range(2) for each in objects(index, 9 + index))))
        assert other.count("kubectl dra explain DRA-") == 2
        assert "The same applies" not in other


def test_of_what_a_node_has_one_of_another_node_comes_first() -> None:
    def hardware(devices: int) -> str:
        report = simulated(template("one"), deployment(devices + 1), world=cluster(devices=devices))
        return page(report).partition(" fit: add ")[2]

    assert hardware(1).startswith("a node like node-1, or 1 more device like gpu-0 on node-1.")
    assert hardware(2).startswith("1 more device like gpu-0 on node-1, or another such node.")


def test_the_second_cluster_of_an_upgrade_is_tried_and_told_where_it_does_not_fit() -> None:
    """Two workers of one device each on a node with four: an upgrade needs four; with three of them it lacks two."""

    def service(workers: int) -> dict[str, Any]:
        head = {"template": {"spec": {"containers": [{"name": "h", "image": "x"}]}}}
        groups = [{"groupName": "gpu", "replicas": workers, "template": pod_template("one")}]
        return thing(
            "ray.io/v1", "RayService", {"rayClusterConfig": {"headGroupSpec": head, "workerGroupSpecs": groups}}
        )

    fits = simulated(template("one"), service(2))
    assert fits.fits is Fits.YES
    assert "upgrade" not in page(fits)
    lacks = simulated(template("one"), service(3))
    assert lacks.fits is Fits.YES
    text = "an upgrade (upgradeStrategy NewCluster runs a second RayCluster beside this one) may make up to 6; 4"
    assert text in page(lacks)


@pytest.mark.parametrize(("mode", "offered"), [("NonIndexed", True), ("Indexed", False)])
def test_fewer_ranks_of_an_indexed_job_are_no_way_out(mode: str, offered: bool) -> None:
    """They wait for each other; of a job whose pods do not, fewer at a time do the same work."""
    body = pod_template("one")
    body["spec"]["restartPolicy"] = "Never"
    spec = {"completionMode": mode, "completions": 3, "parallelism": 3, "template": body}
    (pod,) = simulated(template("one"), thing("batch/v1", "Job", spec), world=cluster(devices=2)).pods
    assert (pod.copies, pod.wanted, pod.fewer is not None) == (2, 3, offered)


def zoned_storage() -> list[dict[str, Any]]:
    """GPUs on node-1 alone, and a class whose volumes only node-2 reaches beside one of any node."""
    zone = [{"matchLabelExpressions": [{"key": "zone", "values": ["b"]}]}]
    mode = {"provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"}
    return [
        {"kind": "StorageClass", "metadata": {"name": "zoned"}, **mode, "allowedTopologies": zone},
        {"kind": "StorageClass", "metadata": {"name": "wide"}, **mode},
    ]


def stateful_set(replicas: int, storage_class: str, mode: str = "ReadWriteOnce") -> dict[str, Any]:
    body = deployment(replicas)
    spec = {"accessModes": [mode], "storageClassName": storage_class, "resources": {"requests": {"storage": "1Gi"}}}
    own = [{"metadata": {"name": "home"}, "spec": spec}]
    return {**body, "kind": "StatefulSet", "spec": {**body["spec"], "serviceName": "w", "volumeClaimTemplates": own}}


@pytest.mark.parametrize(("storage_class", "fit"), [("zoned", 0), ("wide", 4)])
def test_capacity_counts_the_volumes_that_a_stateful_set_makes_for_each_pod(storage_class: str, fit: int) -> None:
    bodies = ({"apiVersion": "v1", **each} for each in (template("one"), stateful_set(2, storage_class)))
    planned = read_all([Source(json.dumps(each).encode()) for each in bodies], NS)
    (shape,) = capacity_report(cluster(*zoned_storage()), planned, NS).shapes
    assert (shape.capacity.copies.value, shape.capacity.copies.bound) == (fit, Bound.EXACT)


def test_another_storage_class_is_written_in_the_set_that_makes_the_claims() -> None:
    report = simulated(template("one"), stateful_set(2, "zoned"), world=cluster(*zoned_storage()))
    (pod,) = report.pods
    assert pod.pending is not None
    ways = [way for way in pod.pending.remedies if way.kind is RemedyKind.MOVE_VOLUME]
    (edit,) = [step.edit for way in ways for step in way.steps]
    assert edit is not None
    field = "spec.volumeClaimTemplates[0].spec.storageClassName"
    assert (edit.object.kind, edit.object.name, edit.field, edit.value) == ("StatefulSet", "w", field, "wide")
    assert [note.copies for note in ways[0].notes if isinstance(note, FitThen)] == [2]
    told = page(report)
    assert "1 in volumeClaimTemplates home, set storageClassName" in told
    assert "recreate PersistentVolumeClaim" not in told


def test_the_volume_that_is_in_the_way_is_that_of_its_own_template() -> None:
    """Of templates whose names begin alike."""
    body = stateful_set(2, "zoned")
    (zoned,) = body["spec"]["volumeClaimTemplates"]
    wide = {**zoned, "metadata": {"name": "home"}, "spec": {**zoned["spec"], "storageClassName": "wide"}}
    body["spec"]["volumeClaimTemplates"] = [wide, {**zoned, "metadata": {"name": "home-logs"}}]
    (pod,) = simulated(template("one"), body, world=cluster(*zoned_storage())).pods
    assert pod.pending is not None
    ways = [way for way in pod.pending.remedies if way.kind is RemedyKind.MOVE_VOLUME]
    fields = [step.edit.field for way in ways for step in way.steps if step.edit is not None]
    assert fields == ["spec.volumeClaimTemplates[1].spec.storageClassName"]
    assert [note.copies for note in ways[0].notes if isinstance(note, FitThen)] == [2]


def test_an_extended_resource_beside_a_claim_of_the_same_devices_is_dropped_in_the_file() -> None:
    """As charts have it that got claims, and kept what they requested of a device plugin."""
    shared = {**build.device_class(build.DRIVER), "metadata": {"name": build.DRIVER}}
    shared["spec"] = {**shared["spec"], "extendedResourceName": "example.com/gpu"}
    body = deployment(3)
    body["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] = {"example.com/gpu": "1"}
    report = simulated(template("one"), body, world=cluster(shared, devices=5))
    (pod,) = report.pods
    assert pod.pending is not None
    (first, *_) = pod.pending.remedies
    (edit,) = [step.edit for step in first.steps]
    assert edit is not None
    field = 'spec.template.spec.containers[0].resources.limits["example.com/gpu"]'
    assert (pod.copies, edit.field, edit.value) == (2, field, None)
    assert [note.copies for note in first.notes if isinstance(note, FitThen)] == [3]
    told = page(report)
    assert "gpu and example.com/gpu of container main need 2 devices together, and no node has as many" in told
    assert "node-1 has 1 device for all of them. If one device was meant, drop example.com/gpu of container" in told
    # One table for both.
    assert "Request gpu (claim w-2-gpu) and example.com/gpu of container main" in told


@pytest.mark.parametrize(
    ("name", "made"), [("eu-w", "eu-big-gpu"), ("w-v2", "big-gpu-v2"), ("eu-w-v2", "eu-big-gpu-v2")]
)
def test_a_template_that_kustomize_has_renamed_alone_is_found_with_what_renames_its_name_too(
    name: str, made: str
) -> None:
    body = deployment(6, name=name)
    body["spec"]["template"]["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = "big-gpu"
    report = simulated(template(made), body)
    (found,) = report.misplaced
    path = "spec/template/spec/resourceClaims/resourceClaimTemplateName"
    assert [(each.kind, each.path) for each in found.references] == [("Deployment", path)]
    told = page(report)
    assert f"nameReference: - kind: ResourceClaimTemplate fieldSpecs: - kind: Deployment path: {path}" in told
    assert f"As if ResourceClaimTemplate ml/{made} were named instead of big-gpu: Deployment ml/{name}: 4 of 6" in told
    # Its user has not been renamed: a name that is like it may be meant.
    for other in ("web", "eu-", "v2"):
        own = {**body, "metadata": {"name": other, "namespace": NS}}
        assert not any(each.references for each in simulated(template(made), own).misplaced)


@pytest.mark.parametrize(("served", "words"), [("example.com/gpu", "(2 × example.com/gpu) "), (None, "")])
def test_capacity_of_a_pod_with_an_extended_resource_does_not_say_that_it_requests_no_device(
    served: str | None, words: str
) -> None:
    """Whether a class serves the resource, or nodes offer it by a device plugin."""
    offered = build.node("node-2", **{} if served else {"example.com/gpu": "8"})
    shared = build.device_class(build.DRIVER)
    shared["spec"] = {**shared["spec"], **({"extendedResourceName": served} if served else {})}
    plain = a_pod("plain")
    plain["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "2"}}
    bodies = [
        {"apiVersion": "v1", **each} for each in (template("one"), a_pod("p", templates=["one"]), plain, a_pod("no"))
    ]
    planned = read_all([Source(json.dumps(each).encode()) for each in bodies], NS)
    report = capacity_report(cluster(shared, offered), planned, NS)
    told = " ".join(" ".join(map(plain_text, capacity_page(report, HERE))).split())
    assert f"A pod like ml/plain {words}fits" in told
    (none,) = re.findall(r"(\S+) fits \S+ more times? now. It requests no device.", told)
    assert none == "ml/no"
