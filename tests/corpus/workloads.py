"""Cases after what runs pods: every kind that makes pods, in a size that fits on 16 GPUs and one that does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.corpus.case import Cases, Confirmed
from tests.corpus.shapes import Object, devices, pod, pod_spec, request, template, workload

EXAMPLE: Final = "gpu.example.com"
_ONE: Final = template(devices(request(EXAMPLE)))
_TWO: Final = template(devices(request(EXAMPLE, 2)))
_LABELS: Final = {"app": "work"}


def _pods(**spec: Any) -> Object:
    return {"metadata": {"labels": _LABELS}, "spec": pod_spec(templates=["template"], **spec)}


def _plain(**spec: Any) -> Object:
    """Pods without devices."""
    body = pod_spec(**spec)
    body.pop("resourceClaims")
    body["containers"][0].pop("resources")
    return {"metadata": {"labels": _LABELS}, "spec": body}


def _apps(kind: str, number: int) -> Object:
    spec = {"replicas": number, "selector": {"matchLabels": _LABELS}, "template": _pods()}
    return workload("apps/v1", kind, spec | ({"serviceName": "work"} if kind == "StatefulSet" else {}))


def _job(number: int, **spec: Any) -> Object:
    return {"parallelism": number, "completions": number, "template": _pods(restartPolicy="Never"), **spec}


def _kubeflow(kind: str, field: str, number: int, version: str = "kubeflow.org/v1") -> Object:
    replicas = {"Worker": {"replicas": number, "restartPolicy": "OnFailure", "template": _pods()}}
    return workload(version, kind, {field: replicas})


def _job_set(number: int) -> Object:
    jobs = [{"name": "workers", "replicas": 2, "template": {"spec": _job(number // 2)}}]
    return workload("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": jobs})


def _leader_worker_set(number: int) -> Object:
    spec = {"size": number // 2, "leaderTemplate": _pods(), "workerTemplate": _pods()}
    return workload("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 2, "leaderWorkerTemplate": spec})


def _ray(number: int) -> Object:
    groups = [{"groupName": "gpu", "replicas": number, "minReplicas": 0, "maxReplicas": 99, "template": _pods()}]
    return {"headGroupSpec": {"rayStartParams": {}, "template": _plain()}, "workerGroupSpecs": groups}


def _train_job(number: int) -> tuple[Object, Object]:
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    node = {
        "name": "node",
        "template": {"metadata": {"labels": labels}, "spec": {"template": _pods(restartPolicy="Never")}},
    }
    runtime = workload(
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [node]}}},
        name="torch",
    )
    job = workload(
        "trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": number}}
    )
    return runtime, job


#: Kind -> the object with so many pods that have a GPU each.
KINDS: Final[dict[str, Callable[[int], Object]]] = {
    "Deployment": lambda n: _apps("Deployment", n),
    "StatefulSet": lambda n: _apps("StatefulSet", n),
    "ReplicaSet": lambda n: _apps("ReplicaSet", n),
    "ReplicationController": lambda n: workload("v1", "ReplicationController", {"replicas": n, "template": _pods()}),
    "Job": lambda n: workload("batch/v1", "Job", _job(n)),
    "Job, indexed": lambda n: workload("batch/v1", "Job", _job(n, completionMode="Indexed")),
    "Job, suspended in a queue": lambda n: workload(
        "batch/v1", "Job", _job(n, suspend=True), labels={"kueue.x-k8s.io/queue-name": "user-queue"}
    ),
    "CronJob": lambda n: workload("batch/v1", "CronJob", {"schedule": "0 4 * * *", "jobTemplate": {"spec": _job(n)}}),
    "JobSet": _job_set,
    "LeaderWorkerSet": _leader_worker_set,
    "MPIJob": lambda n: _kubeflow("MPIJob", "mpiReplicaSpecs", n, "kubeflow.org/v2beta1"),
    "PyTorchJob": lambda n: _kubeflow("PyTorchJob", "pytorchReplicaSpecs", n),
    "TFJob": lambda n: _kubeflow("TFJob", "tfReplicaSpecs", n),
    "XGBoostJob": lambda n: _kubeflow("XGBoostJob", "xgbReplicaSpecs", n),
    "PaddleJob": lambda n: _kubeflow("PaddleJob", "paddleReplicaSpecs", n),
    "JAXJob": lambda n: _kubeflow("JAXJob", "jaxReplicaSpecs", n),
    "Rollout": lambda n: workload(
        "argoproj.io/v1alpha1", "Rollout", {"replicas": n, "selector": {"matchLabels": _LABELS}, "template": _pods()}
    ),
    "volcano Job": lambda n: workload(
        "batch.volcano.sh/v1alpha1",
        "Job",
        # Without a name its pods are left to Volcano, and nobody here knows what that decides.
        {"minAvailable": n, "schedulerName": "default-scheduler", "tasks": [{"replicas": n, "template": _pods()}]},
    ),
    "PodCliqueSet": lambda n: workload(
        "grove.io/v1alpha1",
        "PodCliqueSet",
        {
            "replicas": 2,
            "template": {"cliques": [{"name": "p", "spec": {"replicas": n // 2, "podSpec": _pods()["spec"]}}]},
        },
    ),
    "an unknown kind with replicas": lambda n: workload(
        "example.com/v1", "Widget", {"replicas": n, "podTemplate": _pods()}
    ),
    "an unknown kind with groups": lambda n: workload(
        "example.com/v1", "Fleet", {"groups": [{"name": "g", "count": 2, "size": n // 2, "template": _pods()}]}
    ),
}


def add_all(cases: Cases) -> None:
    """All of them."""
    for kind, make in KINDS.items():
        cases.add("workloads", f"{kind} that fits", "example", _ONE, make(16), fits="Yes", copies=_roles(kind, 16))
        cases.add(
            "workloads", f"{kind} that does not fit", "example", _ONE, make(18), fits="No", copies=_roles(kind, 16, 18)
        )
    for kind, field in (("RayCluster", "spec"), ("RayJob", "rayClusterSpec"), ("RayService", "rayClusterConfig")):
        for number, fits in ((16, "Yes"), (17, "No")):
            spec = _ray(number) if field == "spec" else {field: _ray(number)}
            name = f"{kind} that {'fits' if fits == 'Yes' else 'does not fit'}"
            body = workload("ray.io/v1", kind, spec)
            # A RayJob is submitted by a pod of its own.
            copies = (1, 16, 1) if kind == "RayJob" else (1, 16)
            cases.add("workloads", name, "example", _ONE, body, fits=fits, copies=copies)
    for number, fits in ((16, "Yes"), (17, "No")):
        name = f"TrainJob with its runtime that {'fits' if fits == 'Yes' else 'does not fit'}"
        cases.add("workloads", name, "example", _ONE, *_train_job(number), fits=fits, copies=(16,))
    daemon = workload("apps/v1", "DaemonSet", {"selector": {"matchLabels": _LABELS}, "template": _pods()})
    cases.add("workloads", "DaemonSet with one GPU per node", "example", _ONE, daemon, fits="Yes", copies=(2,))
    cases.add(
        "workloads",
        "DaemonSet on four nodes",
        "gb300",
        template(devices(request("gpu.nvidia.com", 4))),
        daemon,
        fits="Yes",
        copies=(4,),
    )
    mpi = _kubeflow("MPIJob", "mpiReplicaSpecs", 8, "kubeflow.org/v2beta1")
    mpi["spec"]["mpiReplicaSpecs"] = {"Launcher": {"template": _plain()}, **mpi["spec"]["mpiReplicaSpecs"]}
    cases.add("workloads", "MPIJob with a launcher", "example", _TWO, mpi, fits="Yes", copies=(1, 8))
    _of_operators(cases)
    _beside(cases)
    _open(cases)
    _of_claims_elsewhere(cases)


def _of_claims_elsewhere(cases: Cases) -> None:
    """Pods of a workflow, whose claims stand beside their containers and not in a pod's spec."""
    seen = {"image": "busybox", "resources": {"claims": [{"name": "gpu"}]}}
    one = [{"name": "gpu", "resourceClaimTemplateName": "template"}]
    many = [{"name": "gpu", "resourceClaimTemplateName": "big"}]
    templates = [
        {"name": "main", "steps": [[{"name": "a", "template": "small"}], [{"name": "b", "template": "large"}]]},
        {"name": "small", "container": seen},
        {"name": "large", "script": seen, "resourceClaims": many},
    ]
    body = workload("argoproj.io/v1alpha1", "Workflow", {"templates": templates, "resourceClaims": one})
    nine = template(devices(request(EXAMPLE, 9)), "big")
    name = "a workflow of which one template has a claim of its own"
    cases.add("workloads", name, "example", _ONE, nine, body, fits="No", copies=(1, 0))


def _of_operators(cases: Cases) -> None:
    """What controllers add, and numbers that are products."""

    def add(name: str, body: Object, fits: str, copies: tuple[int, ...]) -> None:
        cases.add("workloads", name, "example", _ONE, body, fits=fits, copies=copies)

    add("a Job with completions only", workload("batch/v1", "Job", {**_job(1), "completions": 40}), "Yes", (1,))
    one_by_one = {"completions": 40, "template": _pods(restartPolicy="Never")}
    add("a Job that runs one pod at a time", workload("batch/v1", "Job", one_by_one), "Yes", (1,))
    ray = {"rayClusterSpec": _ray(16), "submissionMode": "HTTPMode"}
    add("a RayJob that is submitted by its operator", workload("ray.io/v1", "RayJob", ray), "Yes", (1, 16))
    cron = {"schedule": "0 4 * * *", "jobTemplate": {"rayClusterSpec": _ray(16)}}
    add("RayCronJob that fits", workload("ray.io/v1", "RayCronJob", cron), "Yes", (1, 16, 1))
    reuse = {"clusterSelector": {"ray.io/cluster": "there"}}
    # Nothing of the file uses the template, which is then tried by itself.
    add("a RayJob for a cluster that exists", workload("ray.io/v1", "RayJob", reuse), "Yes", (1, 1))
    scaled = _ray(2)
    scaled["headGroupSpec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "95600m"}}
    add("a head as large as a node", workload("ray.io/v1", "RayCluster", scaled), "Yes", (1, 2))
    beside = {**scaled, "enableInTreeAutoscaling": True}
    add("a head as large as a node, with an autoscaler", workload("ray.io/v1", "RayCluster", beside), "No", (0, 2))
    cliques = [
        {"name": "leader", "spec": {"replicas": 1, "podSpec": _pods()["spec"]}},
        {"name": "worker", "spec": {"replicas": 3, "podSpec": _pods()["spec"]}},
    ]
    for number, fits, workers in ((4, "Yes", 12), (5, "No", 11)):
        group = [{"name": "group", "cliqueNames": ["leader", "worker"], "replicas": number}]
        spec = {"replicas": 1, "template": {"cliques": cliques, "podCliqueScalingGroups": group}}
        name = f"PodCliqueSet with a scaling group of {number}"
        add(name, workload("grove.io/v1alpha1", "PodCliqueSet", spec), fits, (number, workers))
    role = {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": _pods()}}
    roles = [{"name": "prefill", "spec": role}, {"name": "decode", "spec": role}]
    spec = {"slices": 2, "roles": roles}
    add("DisaggregatedSet", workload("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", spec), "Yes", (4, 4, 4, 4))


def _beside(cases: Cases) -> None:
    """Objects that stand beside workloads and make no pods: groups of other schedulers, autoscalers, budgets."""
    labels = {"scheduling.x-k8s.io/pod-group": "work", **_LABELS}
    grouped = {"metadata": {"labels": labels}, "spec": pod_spec(templates=["template"])}
    spec = {"replicas": 3, "selector": {"matchLabels": _LABELS}, "template": grouped}
    group = workload("scheduling.x-k8s.io/v1alpha1", "PodGroup", {"minMember": 3})
    body = workload("apps/v1", "Deployment", spec)
    # Whether the scheduler has the plugin, and what that says, is open; the copies are what the others leave.
    name = "a group of the coscheduling plugin"
    cases.add("workloads", name, "example", group, _ONE, body, fits="Unknown", copies=(3,))
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "work"}
    scaler = workload("autoscaling/v2", "HorizontalPodAutoscaler", {"scaleTargetRef": target, "maxReplicas": 9})
    scaled = workload("keda.sh/v1alpha1", "ScaledObject", {"scaleTargetRef": target, "maxReplicaCount": 9})
    body = workload("apps/v1", "Deployment", {"replicas": 3, "selector": {"matchLabels": _LABELS}, "template": _pods()})
    cases.add("workloads", "autoscalers", "example", _ONE, body, scaler, scaled, fits="Yes", copies=(3,))


def _roles(kind: str, number: int, wanted: int = 16) -> tuple[int, ...]:
    """How many of each role fit, one role after the other."""
    if kind == "LeaderWorkerSet":
        return (2, number - 2)
    return (number,) if wanted else ()


def _open(cases: Cases) -> None:
    """What has no certain answer."""

    def add(name: str, *objects: Object, reason: str, copies: tuple[int, ...] = ()) -> None:
        cases.add(
            "workloads",
            name,
            "example",
            *objects,
            fits="Unknown",
            copies=copies,
            confirmed=Confirmed.HAND,
            reason=reason,
        )

    add(
        "an unknown kind without a number",
        _ONE,
        workload("example.com/v1", "Widget", {"template": _pods()}),
        copies=(1,),
        reason="nothing in the object says how many pods there will be",
    )
    add(
        "TrainJob without its runtime",
        _ONE,
        _train_job(4)[1],
        copies=(1,),
        reason="its pods are described by an object that is not among the files",
    )
    volcano = _pods(schedulerName="volcano")
    spec = {"replicas": 2, "selector": {"matchLabels": _LABELS}, "template": volcano}
    add(
        "pods of Volcano",
        workload("scheduling.volcano.sh/v1beta1", "PodGroup", {"minMember": 2, "queue": "default"}),
        _ONE,
        workload("apps/v1", "Deployment", spec),
        copies=(2,),
        reason="another scheduler decides; the copies are what the default one would place",
    )
    for number, placed in ((2, 2), (3, 0)):
        gang = {"schedulingPolicy": {"gang": {"minCount": number}}}
        together = [pod(f"pod{n}", templates=["big"], schedulingGroup={"podGroupName": "gang"}) for n in range(number)]
        cases.add(
            "workloads",
            f"a PodGroup of {number} with all GPUs of a node each",
            "example",
            template(devices(request(EXAMPLE, 8)), "big"),
            workload("scheduling.k8s.io/v1beta1", "PodGroup", gang, name="gang"),
            *together,
            fits="Yes" if placed else "No",
            copies=(1,) * number if placed else (0,) * number,
            confirmed=Confirmed.HAND,
            reason="pods of a group are placed in one cycle, which tests/scheduler proves; here it is pod by pod",
        )
    add(
        "JobSet without jobs",
        workload("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": []}),
        reason="nothing is tried",
    )
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "demo"},
        "data": {"a": "b"},
    }
    add("a ConfigMap", config, reason="nothing is tried")
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "x.example.com"},
        "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"properties": {"containers": {}}}}}]},
    }
    add("the definition of a kind", crd, reason="nothing is tried")
