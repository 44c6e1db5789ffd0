"""Workloads of other API groups as random clusters use them: the template of the pods that wait, inside their spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Object = dict[str, Any]
_IMAGE: Final = "example.com/app:1"


def _job_set(template: Object, replicas: int) -> Object:
    template["spec"]["restartPolicy"] = "Never"
    job = {"parallelism": replicas, "completions": replicas, "template": template}
    return {"replicatedJobs": [{"name": "driver", "template": {"spec": _plain_job()}}, _replicated("workers", job)]}


def _plain_job() -> Object:
    return {"template": {"spec": {**_without_devices(), "restartPolicy": "Never"}}}


def _replicated(name: str, job: Object) -> Object:
    return {"name": name, "replicas": 1, "template": {"spec": job}}


def _leader_worker_set(template: Object, replicas: int) -> Object:
    """Groups of a leader without devices and one worker with them."""
    leader = {"spec": _without_devices()}
    return {
        "replicas": replicas,
        "leaderWorkerTemplate": {"size": 2, "leaderTemplate": leader, "workerTemplate": template},
    }


def _mpi_job(template: Object, replicas: int) -> Object:
    return {
        "slotsPerWorker": 1,
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "template": {"spec": _without_devices()}},
            "Worker": {"replicas": replicas, "template": template},
        },
    }


def _ray_cluster(template: Object, replicas: int) -> Object:
    head = {"spec": _without_devices()}
    workers = {"groupName": "gpu", "replicas": replicas, "minReplicas": replicas, "maxReplicas": replicas}
    return {
        "rayVersion": "2.52.0",
        "headGroupSpec": {"rayStartParams": {}, "template": head},
        "workerGroupSpecs": [{**workers, "rayStartParams": {}, "template": template}],
    }


def _without_devices() -> Object:
    return {"containers": [{"name": "main", "image": _IMAGE, "resources": {"requests": {"cpu": "100m"}}}]}


#: By kind: its apiVersion, and what makes its spec of a template and a number of pods.
FOREIGN: Final[Mapping[str, tuple[str, Callable[[Object, int], Object]]]] = {
    "JobSet": ("jobset.x-k8s.io/v1alpha2", _job_set),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io/v1", _leader_worker_set),
    "MPIJob": ("kubeflow.org/v2beta1", _mpi_job),
    "RayCluster": ("ray.io/v1", _ray_cluster),
}
