"""The pods of objects of any kind: where templates stand, how many, what was assumed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import Planned, read_all, read_planned
from kubectl_dra.api.sources import Source
from kubectl_dra.api.trees import group_of
from kubectl_dra.api.workloads import expand
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.api.workloads.kinds import KNOWN
from kubectl_dra.api.workloads.shape import _NUMBERS, _SIZES
from kubectl_dra.api.workloads.templates import MAX_PODS, Growth
from kubectl_dra.model.inventory import key_of

POD: dict[str, Any] = {"spec": {"containers": [{"name": "main", "image": "x"}]}}


def made(api_version: str, kind: str, spec: dict[str, Any], **fields: Any) -> list[tuple[str, int | None]]:
    """Role and number of the pods of each template."""
    tree = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"}, "spec": spec, **fields}
    return [(each.role, each.copies) for each in expand(tree, group_of(api_version), kind).templates]


def job(**fields: int) -> dict[str, Any]:
    return {"template": POD, **fields}


CASES: list[tuple[str, str, dict[str, Any], list[tuple[str, int | None]]]] = [
    ("apps/v1", "Deployment", {"replicas": 3, "template": POD}, [("", 3)]),
    ("apps/v1", "Deployment", {"template": POD}, [("", 1)]),
    ("apps/v1", "Deployment", {"replicas": 0, "template": POD}, [("", 0)]),
    ("apps/v1", "StatefulSet", {"replicas": 2, "template": POD}, [("", 2)]),
    ("apps/v1", "ReplicaSet", {"replicas": 2, "template": POD}, [("", 2)]),
    ("v1", "ReplicationController", {"replicas": 2, "template": POD}, [("", 2)]),
    ("apps/v1", "DaemonSet", {"template": POD}, [("", None)]),
    ("batch/v1", "Job", job(), [("", 1)]),
    ("batch/v1", "Job", job(parallelism=4), [("", 4)]),
    ("batch/v1", "Job", job(parallelism=4, completions=2), [("", 2)]),
    # Upstream, pkg/apis/batch/v1/defaults.go: without parallelism one pod after the other.
    ("batch/v1", "Job", job(completions=8), [("", 1)]),
    ("batch/v1", "Job", job(completions=0), [("", 0)]),
    ("batch/v1", "CronJob", {"jobTemplate": {"spec": job(parallelism=3)}}, [("", 3)]),
    (
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        {
            "replicatedJobs": [
                {"name": "driver", "template": {"spec": job()}},
                {"name": "workers", "replicas": 2, "template": {"spec": job(parallelism=4, completions=4)}},
            ]
        },
        [("driver", 1), ("workers", 8)],
    ),
    (
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "leaderTemplate": POD, "workerTemplate": POD}},
        [("leader", 2), ("worker", 6)],
    ),
    (
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        {"leaderWorkerTemplate": {"size": 4, "workerTemplate": POD}},
        [("leader", 1), ("worker", 3)],
    ),
    (
        "kubeflow.org/v2beta1",
        "MPIJob",
        {"mpiReplicaSpecs": {"Launcher": {"template": POD}, "Worker": {"replicas": 2, "template": POD}}},
        [("Launcher", 1), ("Worker", 2)],
    ),
    (
        "ray.io/v1",
        "RayCluster",
        {
            "headGroupSpec": {"template": POD},
            "workerGroupSpecs": [
                {"groupName": "gpu", "replicas": 2, "numOfHosts": 2, "template": POD},
                {"groupName": "low", "minReplicas": 3, "template": POD},
                {"groupName": "none", "template": POD},
            ],
        },
        [("head", 1), ("gpu", 4), ("low", 3), ("none", 0)],
    ),
    (
        "ray.io/v1",
        "RayJob",
        {"rayClusterSpec": {"headGroupSpec": {"template": POD}, "workerGroupSpecs": []}},
        [("head", 1), ("submitter", 1)],
    ),
    (
        "ray.io/v1",
        "RayJob",
        {"rayClusterSpec": {"headGroupSpec": {"template": POD}}, "submissionMode": "HTTPMode"},
        [("head", 1)],
    ),
    (
        "ray.io/v1",
        "RayJob",
        {"rayClusterSpec": {"headGroupSpec": {"template": POD}}, "submitterPodTemplate": POD},
        [("head", 1), ("submitter", 1)],
    ),
    ("ray.io/v1", "RayJob", {"clusterSelector": {"ray.io/cluster": "there"}}, [("submitter", 1)]),
    (
        "ray.io/v1",
        "RayCronJob",
        {
            "jobTemplate": {
                "rayClusterSpec": {
                    "headGroupSpec": {"template": POD},
                    "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "template": POD}],
                }
            }
        },
        [("head", 1), ("gpu", 2), ("submitter", 1)],
    ),
    ("ray.io/v1", "RayService", {"rayClusterConfig": {"headGroupSpec": {"template": POD}}}, [("head", 1)]),
    (
        "batch.volcano.sh/v1alpha1",
        "Job",
        {"tasks": [{"name": "ps", "replicas": 1, "template": POD}, {"name": "w", "replicas": 3, "template": POD}]},
        [("ps", 1), ("w", 3)],
    ),
    (
        "grove.io/v1alpha1",
        "PodCliqueSet",
        {
            "replicas": 2,
            "template": {"cliques": [{"name": "prefill", "spec": {"replicas": 3, "podSpec": POD["spec"]}}]},
        },
        [("prefill", 6)],
    ),
    (
        "grove.io/v1alpha1",
        "PodCliqueSet",
        {
            "replicas": 2,
            "template": {
                "cliques": [
                    {"name": "leader", "spec": {"podSpec": POD["spec"]}},
                    {"name": "worker", "spec": {"replicas": 3, "podSpec": POD["spec"]}},
                    {"name": "router", "spec": {"podSpec": POD["spec"]}},
                ],
                "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["leader", "worker"], "replicas": 4}],
            },
        },
        [("leader", 8), ("worker", 24), ("router", 2)],
    ),
    (
        "disaggregatedset.x-k8s.io/v1",
        "DisaggregatedSet",
        {
            "slices": 2,
            "roles": [
                {
                    "name": "prefill",
                    "spec": {
                        "replicas": 2,
                        "leaderWorkerTemplate": {"size": 3, "leaderTemplate": POD, "workerTemplate": POD},
                    },
                },
                {"name": "decode", "spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": POD}}},
            ],
        },
        [("prefill leader", 4), ("decode leader", 2), ("prefill worker", 8), ("decode worker", 2)],
    ),
    ("kubeflow.org/v1", "Notebook", {"template": POD}, [("", 1)]),
    (
        "serving.kserve.io/v1alpha1",
        "LLMInferenceService",
        {"replicas": 2, "template": POD["spec"], "prefill": {"replicas": 3, "template": POD["spec"]}},
        [("", 2), ("prefill", 3)],
    ),
    (
        "serving.kserve.io/v1alpha1",
        "LLMInferenceService",
        {
            "replicas": 2,
            "parallelism": {"data": 16, "dataLocal": 8},
            "template": POD["spec"],
            "worker": POD["spec"],
            "prefill": {"parallelism": {"pipeline": 4}, "worker": POD["spec"]},
            "router": {"scheduler": {"template": POD["spec"]}},
        },
        [("", 2), ("worker", 2), ("prefill", 1), ("prefill worker", 3), ("scheduler", 1)],
    ),
    (
        "serving.kserve.io/v1alpha2",
        "LLMInferenceService",
        {"scaling": {"minReplicas": 2, "maxReplicas": 5}, "template": POD["spec"]},
        [("", 2)],
    ),
    ("argoproj.io/v1alpha1", "Rollout", {"replicas": 2, "template": POD}, [("", 2)]),
    ("kueue.x-k8s.io/v1beta1", "Workload", {"podSets": [{"name": "main", "count": 3, "template": POD}]}, [("main", 3)]),
    ("serving.kserve.io/v1alpha1", "ServingRuntime", POD["spec"], []),
    ("serving.kserve.io/v1alpha1", "ClusterServingRuntime", POD["spec"], []),
    ("serving.kserve.io/v1alpha1", "LLMInferenceServiceConfig", {"template": POD["spec"], "worker": POD["spec"]}, []),
    ("apps.kruise.io/v1alpha1", "SidecarSet", POD["spec"], []),
]
for _kind, _field in {
    "PyTorchJob": "pytorchReplicaSpecs",
    "TFJob": "tfReplicaSpecs",
    "XGBoostJob": "xgbReplicaSpecs",
    "PaddleJob": "paddleReplicaSpecs",
    "JAXJob": "jaxReplicaSpecs",
    "MXJob": "mxReplicaSpecs",
}.items():
    _spec = {_field: {"Master": {"template": POD}, "Worker": {"replicas": 3, "template": POD}}}
    CASES.append(("kubeflow.org/v1", _kind, _spec, [("Master", 1), ("Worker", 3)]))


@pytest.mark.parametrize(("api_version", "kind", "spec", "expected"), CASES, ids=lambda value: str(value)[:24])
def test_known_kinds(api_version: str, kind: str, spec: dict[str, Any], expected: list[tuple[str, int | None]]) -> None:
    assert made(api_version, kind, spec) == expected


def containers(spec: dict[str, Any]) -> dict[str, list[str]]:
    """The containers of each role of a RayJob."""
    tree = {"apiVersion": "ray.io/v1", "kind": "RayJob", "spec": spec}
    found = expand(tree, "ray.io", "RayJob").templates
    specs = {each.role: each.body["spec"] for each in found}
    return {
        role: [each["name"] for field in ("containers", "initContainers") for each in body.get(field, ())]
        for role, body in specs.items()
    }


def test_containers_that_kuberay_adds_are_there() -> None:
    """Upstream: ray-operator/controllers/ray/common/pod.go and job.go. Their requests decide whether a pod fits."""
    workers = [{"groupName": "w", "replicas": 1, "template": POD}]
    cluster = {"headGroupSpec": {"template": POD}, "workerGroupSpecs": workers}
    plain = containers({"rayClusterSpec": cluster})
    assert plain == {"head": ["main"], "w": ["main", "wait-gcs-ready"], "submitter": ["ray-job-submitter"]}
    scaling = containers({"rayClusterSpec": {**cluster, "enableInTreeAutoscaling": True}})
    assert scaling["head"] == ["main", "autoscaler"]
    beside = containers({"rayClusterSpec": cluster, "submissionMode": "SidecarMode"})
    assert beside == {"head": ["main", "ray-job-submitter"], "w": ["main", "wait-gcs-ready"]}


def test_a_reference_to_a_workload_is_none() -> None:
    """A HorizontalPodAutoscaler, a ScaledObject and the like name what they scale."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    for reference in (target, {**target, "spec": None}):
        assert made("autoscaling/v2", "HorizontalPodAutoscaler", {"scaleTargetRef": reference, "maxReplicas": 8}) == []


def test_templates_without_names_are_told_apart_by_their_fields() -> None:
    spec = {"router": {"template": POD}, "engine": {"replicas": 2, "podTemplate": POD}, "x": 1}
    assert made("example.com/v1", "Server", spec) == [("router", 1), ("engine", 2)]


def test_parts_that_a_mapping_names_are_called_by_its_keys() -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    services = {
        "Prefill": {"replicas": 3, "extraPodSpec": {"resourceClaims": claims}},
        "Decode": {"extraPodSpec": {"resourceClaims": claims}},
    }
    assert made("nvidia.com/v1alpha1", "Graph", {"services": {"Frontend": {}, **services}}) == [
        ("Prefill", 3),
        ("Decode", 1),
    ]
    both = {name: {"leader": {"podSpec": POD["spec"]}, "worker": {"podSpec": POD["spec"]}} for name in services}
    assert [role for role, _ in made("x.io/v1", "Graph", {"services": both, "router": {"podSpec": POD["spec"]}})] == [
        "Prefill leader",
        "Prefill worker",
        "Decode leader",
        "Decode worker",
        "router",
    ]


def test_every_known_kind_is_tried_here() -> None:
    others = {
        ("", "PodTemplate"),
        ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
        ("trainer.kubeflow.org", "TrainingRuntime"),
    }
    assert {(group_of(version), kind) for version, kind, *_ in CASES} | others == KNOWN.keys()


def test_fields_that_count_in_unknown_kinds_are_those_of_known_ones() -> None:
    paths = (field for kind in KNOWN.values() for part in kind.parts for each in part.factors for field in each.fields)
    known = {path.rpartition(".")[2] for path in paths} | {"numNodes", "minReplicas", "instances"}
    assert {*_NUMBERS, *_SIZES} <= known


def test_the_same_kind_of_another_group_is_unknown() -> None:
    tree = {"spec": {"replicas": 3, "template": POD}}
    found = expand(tree, "example.com", "Deployment")
    assert not found.known
    (template,) = found.templates
    assert (template.copies, template.count, template.assumed) == (3, CountSource.ASSUMED, ("spec.replicas",))


def test_unknown_kinds_are_read_by_shape() -> None:
    groups = {"groups": [{"name": "a", "replicas": 2, "podTemplate": POD}, {"name": "b", "podTemplate": POD}]}
    found = expand({"spec": {"replicas": 3, **groups}}, "example.com", "Widget").templates
    assert [(each.role, each.copies) for each in found] == [("a", 6), ("b", 3)]
    assert found[0].assumed == ("spec.replicas", "spec.groups[0].replicas")
    assert found[0].path == "spec.groups[0].podTemplate"


def test_a_pod_spec_without_a_template_around_it_is_found() -> None:
    found = expand({"spec": {"predictor": {"minReplicas": 2, "containers": [{"name": "x"}]}}}, "serving.kserve.io", "X")
    (template,) = found.templates
    assert (template.path, template.copies) == ("spec.predictor", 2)


def test_a_number_beside_a_template_is_that_of_this_template() -> None:
    spec = {"replicas": 2, "template": POD["spec"], "prefill": {"replicas": 3, "template": POD["spec"]}}
    found = expand({"spec": spec}, "example.com", "Server").templates
    assert [(each.copies, each.assumed) for each in found] == [
        (2, ("spec.replicas",)),
        (3, ("spec.prefill.replicas",)),
    ]


def test_a_number_beside_a_template_multiplies_parts_without_numbers_and_sizes() -> None:
    spec = {"replicas": 2, "size": 4, "template": POD, "workers": {"template": POD}}
    assert [count for _, count in made("example.com/v1", "X", spec)] == [8, 8]


@pytest.mark.parametrize(
    ("api_version", "kind", "annotation"),
    [
        ("kubeflow.org/v1", "Notebook", {"kubeflow-resource-stopped": "2026-01-01T00:00:00Z"}),
        ("serving.kserve.io/v1alpha1", "LLMInferenceService", {"serving.kserve.io/stop": "True"}),
    ],
)
def test_what_is_stopped_has_no_pods(api_version: str, kind: str, annotation: dict[str, str]) -> None:
    spec = {"template": POD if kind == "Notebook" else POD["spec"]}
    assert made(api_version, kind, spec, metadata={"name": "w", "annotations": annotation}) == [("", 0)]


def test_servers_with_containers_from_elsewhere_are_their_claims() -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
    tree = {"spec": {"replicas": 2, "template": {"resourceClaims": claims}, "prefill": {"replicas": 1}}}
    (found,) = expand(tree, "serving.kserve.io", "LLMInferenceService").templates
    assert (found.copies, found.rest_by) == (2, "KServe")


def test_without_a_number_one_pod_stands_for_all() -> None:
    (template,) = expand({"spec": {"template": POD}}, "example.com", "Widget").templates
    assert (template.copies, template.count) == (1, CountSource.UNKNOWN)


def test_roles_by_name_are_named() -> None:
    roles = {"Chief": {"template": POD}, "Worker": {"replicas": 2, "template": POD}}
    found = expand({"spec": {"xReplicaSpecs": roles}}, "example.com", "XJob").templates
    assert [(each.role, each.copies) for each in found] == [("Chief", 1), ("Worker", 2)]


def test_objects_in_objects_are_those_of_their_kind() -> None:
    inner = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": job(parallelism=4)}
    tree = {"spec": {"components": [{"template": inner}, {"template": {"apiVersion": "v1", "kind": "Service"}}]}}
    (template,) = expand(tree, "workload.codeflare.dev", "AppWrapper").templates
    assert (template.role, template.copies) == ("Job j", 4)


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"data": {"a": "containers: []"}},
        {"spec": {"containers": []}},
        {"spec": {"containers": "x"}},
        {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"containers": [{"name": "x"}]}}}]}},
        {"spec": None},
    ],
)
def test_what_looks_like_no_pod_makes_none(tree: dict[str, Any]) -> None:
    assert expand(tree, "example.com", "Widget").templates == ()


def test_absurd_numbers_are_bounded() -> None:
    assert made("apps/v1", "Deployment", {"replicas": 10**30, "template": POD}) == [("", MAX_PODS)]
    # Whatever the API accepts is taken as it is.
    assert made("apps/v1", "Deployment", {"replicas": 2147483647, "template": POD}) == [("", 2147483647)]
    assert made("apps/v1", "Deployment", {"replicas": -1, "template": POD}) == [("", 1)]
    assert made("apps/v1", "Deployment", {"replicas": True, "template": POD}) == [("", 1)]
    deep: Any = POD
    for _ in range(100):
        deep = {"x": deep}
    assert expand({"spec": deep}, "example.com", "Widget").templates == ()


def test_suspended_work_is_told_with_its_queue() -> None:
    body = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": "sample-", "labels": {"kueue.x-k8s.io/queue-name": "user-queue"}},
        "spec": {"suspend": True, **job(parallelism=3)},
    }
    planned = planned_of(body)
    assert (planned.suspended, planned.queue, planned.generated) == (True, "user-queue", True)
    assert planned.name.startswith("sample-")
    assert len(planned.name) == len("sample-") + 5
    assert planned_of(body).name == planned.name
    mpi = {"mpiReplicaSpecs": {"Worker": {"template": POD}}, "runPolicy": {"suspend": True}}
    assert expand({"spec": mpi}, "kubeflow.org", "MPIJob").suspended


def planned_of(body: dict[str, Any]) -> Planned:
    return read_planned(Source(json.dumps(body).encode()), "ml")


def all_of(*bodies: dict[str, Any]) -> list[Planned]:
    return read_all([Source(json.dumps(body).encode()) for body in bodies], "ml")


def test_a_kind_that_is_none_of_ours_gets_its_pods_a_namespace() -> None:
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"template": POD}}
    planned = planned_of(widget)
    assert planned.record is None
    assert key_of(planned.pods[0].pod.metadata) == ("ml", "w")


def test_templates_that_are_broken_are_an_error() -> None:
    body = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "w"}}
    broken = planned_of({**body, "spec": {"pytorchReplicaSpecs": {"Worker": {"template": {}}}}})
    assert broken.error == "spec.pytorchReplicaSpecs.Worker.template.spec: Required value"
    spec = {"containers": [{"name": "x", "resources": {"claims": 5}}]}
    broken = planned_of({**body, "spec": {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": spec}}}}})
    assert broken.error.startswith("spec.pytorchReplicaSpecs.Worker.template")


def test_known_kinds_without_pods_say_so() -> None:
    empty = planned_of({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "w"}})
    assert empty.untried
    assert not empty.pods


# --- objects that several make together -----------------------------------------------------------------------------

RUNTIME: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "ClusterTrainingRuntime",
    "metadata": {"name": "torch"},
    "spec": {
        "mlPolicy": {"numNodes": 1},
        "template": {
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "template": {
                            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                            "spec": {"template": {"spec": {"containers": [{"name": "node"}]}}},
                        },
                    }
                ]
            }
        },
    },
}


def train_job(**spec: Any) -> dict[str, Any]:
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "t"}}
    return {**head, "spec": {"runtimeRef": {"name": "torch"}, **spec}}


def test_a_train_job_has_the_pods_of_its_runtime() -> None:
    trainer = {"numNodes": 4, "resourcesPerNode": {"claims": [{"name": "gpu"}], "requests": {"cpu": "2"}}}
    runtime, planned = all_of(RUNTIME, train_job(trainer=trainer))
    (plan,) = planned.pods
    assert (plan.copies, plan.role) == (4, "node")
    assert [claim.name for claim in plan.pod.spec.containers[0].resources.claims] == ["gpu"]
    assert runtime.catalog
    assert not runtime.pods, "it is tried as the job has it, not by itself as well"
    assert all_of(RUNTIME)[0].pods
    assert all_of(RUNTIME, train_job())[1].pods[0].copies == 1


def test_a_train_job_without_its_runtime_says_what_is_missing() -> None:
    (planned,) = all_of(train_job())
    assert planned.untried == "its pods are described by ClusterTrainingRuntime torch, which is not among the files"


def test_a_rollout_may_name_the_deployment_whose_template_it_takes() -> None:
    """Argo Rollouts, docs/migrating.md: ``workloadRef`` stands in place of the template."""
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "r"}}
    spec = {"replicas": 2, "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}
    found = expand({**head, "spec": spec}, "argoproj.io", "Rollout")
    assert (found.templates, found.untried) == ((), "its pods are described by Deployment web")
    (broken,) = expand({**head, "spec": {"workloadRef": 5}}, "argoproj.io", "Rollout").templates
    assert broken.problem


def test_a_compute_domain_has_a_template_for_its_workload() -> None:
    domain = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": "cd", "namespace": "ai"},
        "spec": {"numNodes": 2, "channel": {"resourceClaimTemplate": {"name": "cd-channel"}}},
    }
    _, template = all_of(domain)
    assert (template.kind, template.key, template.made_by) == (
        "ResourceClaimTemplate",
        ("ai", "cd-channel"),
        "ComputeDomain cd",
    )


def test_a_stateful_set_has_claims_for_volumes() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    body = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"}}
    planned = planned_of({**body, "spec": {"template": POD, "volumeClaimTemplates": [claim]}})
    assert [each.metadata.name for each in planned.pods[0].volume_claims] == ["data"]


def test_pods_of_a_volcano_job_get_the_scheduler_of_the_job() -> None:
    own = {"spec": {**POD["spec"], "schedulerName": "mine"}}
    tasks = [{"name": "ps", "template": POD}, {"name": "w", "template": own}]
    for named, expected in (({}, "volcano"), ({"schedulerName": "vc-2"}, "vc-2")):
        tree = {"spec": {**named, "tasks": tasks}}
        found = [each.body["spec"]["schedulerName"] for each in expand(tree, "batch.volcano.sh", "Job").templates]
        assert found == [expected, "mine"]


def lowered(api_version: str, kind: str, spec: dict[str, Any], pods: int) -> dict[str, tuple[tuple[str, int], ...]]:
    """The fields that would make so many pods of each template."""
    tree = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"}, "spec": spec}
    found = expand(tree, group_of(api_version), kind).templates
    return {each.role: each.counted_by.lowered(pods).fields for each in found}


RAY_WORKERS: dict[str, Any] = {"groupName": "gpu", "replicas": 6, "minReplicas": 5, "maxReplicas": 9, "template": POD}


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "role", "fields"),
    [
        ("apps/v1", "Deployment", {"replicas": 6, "template": POD}, "", (("spec.replicas", 4),)),
        ("apps/v1", "Deployment", {"replicas": 4, "template": POD}, "", ()),
        ("batch/v1", "Job", job(parallelism=6, completions=9), "", (("spec.parallelism", 4),)),
        (
            "kubeflow.org/v1",
            "MPIJob",
            {"mpiReplicaSpecs": {"Worker": {"replicas": 10, "template": POD}}},
            "Worker",
            (("spec.mpiReplicaSpecs.Worker.replicas", 4),),
        ),
        (
            "ray.io/v1",
            "RayCluster",
            {"headGroupSpec": {"template": POD}, "workerGroupSpecs": [RAY_WORKERS]},
            "gpu",
            (("spec.workerGroupSpecs[0].replicas", 4), ("spec.workerGroupSpecs[0].minReplicas", 4)),
        ),
        # Of groups the whole ones only.
        (
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"replicas": 3, "leaderWorkerTemplate": {"size": 3, "workerTemplate": POD}},
            "worker",
            (("spec.replicas", 2),),
        ),
        (
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"replicas": 1, "leaderWorkerTemplate": {"size": 8, "workerTemplate": POD}},
            "worker",
            (),
        ),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            {"replicatedJobs": [{"name": "w", "replicas": 3, "template": {"spec": job(parallelism=2)}}]},
            "w",
            (("spec.replicatedJobs[0].replicas", 2),),
        ),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            {"replicatedJobs": [{"name": "w", "template": {"spec": job(parallelism=6)}}]},
            "w",
            (("spec.replicatedJobs[0].template.spec.parallelism", 4),),
        ),
        (
            "serving.kserve.io/v1beta1",
            "InferenceService",
            {"predictor": {"minReplicas": 6, "containers": [{"name": "x"}]}},
            "",
            (("spec.predictor.minReplicas", 4),),
        ),
    ],
)
def test_the_fields_that_would_make_fewer_pods(
    api_version: str, kind: str, spec: dict[str, Any], role: str, fields: tuple[tuple[str, int], ...]
) -> None:
    assert lowered(api_version, kind, spec, 4)[role] == fields


def test_what_may_make_more_pods_later() -> None:
    def growth(group: dict[str, Any], *, own: bool) -> tuple[int | None, CountSource, Growth | None]:
        cluster = {"enableInTreeAutoscaling": own, "workerGroupSpecs": [{"template": POD, **group}]}
        found = expand({"spec": {"headGroupSpec": {"template": POD}, **cluster}}, "ray.io", "RayCluster").templates[-1]
        return found.copies, found.count, found.growth

    ray = Growth("the Ray autoscaler", 8)
    assert growth({"replicas": 1, "maxReplicas": 8}, own=True) == (1, CountSource.STATED, ray)
    assert growth({"replicas": 0, "maxReplicas": 4, "numOfHosts": 2}, own=True) == (1, CountSource.UNKNOWN, ray)
    assert growth({"replicas": 8, "maxReplicas": 8}, own=True) == (8, CountSource.STATED, None)
    assert growth({"replicas": 1, "maxReplicas": 8}, own=False) == (1, CountSource.STATED, None)
    service = {"headGroupSpec": {"template": POD}, "workerGroupSpecs": [{"replicas": 2, "template": POD}]}
    for strategy, most in (({}, 4), ({"upgradeStrategy": {"type": "None"}}, None)):
        found = expand({"spec": {"rayClusterConfig": service, **strategy}}, "ray.io", "RayService").templates[-1]
        assert (found.growth.most if found.growth is not None else None) == most
    served = {"spec": {"predictor": {"minReplicas": 2, "maxReplicas": 6, "containers": [{"name": "x"}]}}}
    (found,) = expand(served, "serving.kserve.io", "InferenceService").templates
    assert found.growth == Growth("its autoscaler", 6)


def test_claims_inside_of_an_object_are_made_with_it() -> None:
    claims = {"spec": {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "x"}}]}}}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one"},
        "spec": claims,
    }
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": POD}}
    spec = {"components": [{"template": template}, {"template": deployment}]}
    meta = {"name": "w", "namespace": "ml"}
    tree = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": meta, "spec": spec}
    wrapper, made = read_all([Source(json.dumps(tree).encode())], "default")
    assert [plan.role for plan in wrapper.pods] == ["Deployment d"]
    assert (made.kind, made.key, made.made_by) == ("ResourceClaimTemplate", ("ml", "one"), "AppWrapper w")
    # Names with placeholders are those of objects that somebody makes later.
    template["metadata"]["name"] = "${schema.spec.name}"
    assert len(read_all([Source(json.dumps(tree).encode())], "default")) == 1


def test_containers_for_pods_of_others_are_no_pods() -> None:
    tree = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "SidecarSet", "metadata": {"name": "w"}, **POD}
    (found,) = read_all([Source(json.dumps(tree).encode())], "default")
    assert (found.pods, found.untried) == ((), "")


@pytest.mark.parametrize(
    ("api_version", "spec"),
    [
        ("nvidia.com/v1alpha1", {"services": {"decode": {"replicas": 2, "multinode": {"nodeCount": 3}, **POD}}}),
        ("nvidia.com/v1beta1", {"components": [{"replicas": 2, "multinode": {"nodeCount": 3}, "podTemplate": POD}]}),
    ],
)
def test_a_replica_over_several_nodes_has_a_pod_on_each(api_version: str, spec: dict[str, Any]) -> None:
    tree = {"apiVersion": api_version, "kind": "DynamoGraphDeployment", "metadata": {"name": "w"}, "spec": spec}
    (found,) = expand(tree, "nvidia.com", "DynamoGraphDeployment").templates
    assert found.copies == 6
    (number,) = found.counted_by.lowered(5).fields
    assert (number[0].rpartition(".")[2], number[1]) == ("replicas", 1)


def test_what_nodes_have_is_not_for_pods_of_the_object() -> None:
    meta = {"name": "p"}
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": meta, "spec": {"limits": {"x.org/gpu": 8}}}
    assert not expand(pool, "karpenter.sh", "NodePool").untried
