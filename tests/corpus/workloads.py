"""Cases after what runs pods: every kind that makes pods, in a size that fits on 16 GPUs and one that does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.corpus.case import Cases, Confirmed
from tests.corpus.shapes import Object, devices, pod_spec, request, template, workload

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
        {"minAvailable": n, "tasks": [{"name": "w", "replicas": n, "template": _pods()}]},
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
    _open(cases)


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
