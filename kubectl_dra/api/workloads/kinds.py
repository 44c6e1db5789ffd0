"""Kinds that make pods: where their templates stand, and which fields say how many pods there will be.

A path names fields with dots, ``[]`` for each item of a list and ``*`` for each value of a mapping; a factor's path is
read with the same items. Sources: the API types of each project at the version that its entry names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Factor:
    """A number that multiplies: the first of the ``fields``, else ``default``, no more than any other; minus ``less``.

    With ``least`` the field's value is at least that of another field (a minimum of an autoscaler). ``unit``: the pods
    of one piece of work, which fewer can't do.
    """

    fields: tuple[str, ...]
    default: int = 1
    less: int = 0
    least: str = ""
    unit: bool = False


@dataclass(frozen=True, slots=True)
class TemplatePath:
    """One template: ``path`` leads to ``{metadata, spec}``, and to the pod's spec itself if ``bare``.

    ``otherwise`` is taken where nothing is at ``path``. ``per_node``: one pod per node, whatever factors say. The pods
    are called by the name of the last item on the path and by ``role``. ``optional``: there may be none.
    """

    path: str
    factors: tuple[Factor, ...] = ()
    role: str = ""
    per_node: bool = False
    bare: bool = False
    otherwise: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class KnownKind:
    """What is known of a kind. ``suspend``: the field that holds its pods back.

    ``catalog``: an object that makes no pods itself, others are made after it. ``scheduler``: who decides about pods
    that name no scheduler.
    """

    parts: tuple[TemplatePath, ...]
    suspend: str = ""
    catalog: bool = False


def _one(*fields: str) -> Factor:
    return Factor(fields)


def _job(prefix: str) -> Factor:
    """A job's pods at the same time: upstream, pkg/apis/batch/v1/defaults.go and pkg/controller/job (wantActive)."""
    return _one(f"{prefix}.parallelism", f"{prefix}.completions")


_REPLICAS: Final = (_one("spec.replicas"),)
_SIMPLE: Final = KnownKind((TemplatePath("spec.template", _REPLICAS),))
_JOB: Final = KnownKind((TemplatePath("spec.template", (_job("spec"),)),), suspend="spec.suspend")
_REPLICATED_JOBS: Final = "spec.replicatedJobs[]"
_RUNTIME: Final = "spec.template.spec.replicatedJobs[]"


def _job_set(prefix: str) -> tuple[TemplatePath, ...]:
    factors = (_one(f"{prefix}.replicas"), _job(f"{prefix}.template.spec"))
    return (TemplatePath(f"{prefix}.template.spec.template", factors),)


def _kubeflow(field: str) -> KnownKind:
    """Training operator v1 (kubeflow.org/v1), MPI operator v2beta1: ReplicaSpecs by role, one pod by default."""
    at = f"spec.{field}.*"
    return KnownKind((TemplatePath(f"{at}.template", (_one(f"{at}.replicas"),)),), suspend="spec.runPolicy.suspend")


def _ray(prefix: str) -> tuple[TemplatePath, ...]:
    """KubeRay v1: a head, and groups of workers whose number is kept between two bounds by the operator."""
    group = f"{prefix}.workerGroupSpecs[]"
    workers = (
        Factor((f"{group}.replicas", f"{group}.maxReplicas"), default=0, least=f"{group}.minReplicas"),
        Factor((f"{group}.numOfHosts",), unit=True),
    )
    return (TemplatePath(f"{prefix}.headGroupSpec.template", role="head"), TemplatePath(f"{group}.template", workers))


def _ray_job(prefix: str) -> KnownKind:
    """What a RayJob makes beside what is written stands in ``operators``."""
    submitter = TemplatePath(f"{prefix}.submitterPodTemplate", role="submitter", optional=True)
    return KnownKind((*_ray(f"{prefix}.rayClusterSpec"), submitter), suspend="spec.suspend")


def _leaders(spec: str, *factors: Factor) -> KnownKind:
    """LeaderWorkerSet v1: groups of a leader and ``size - 1`` workers; leaders without a template are workers."""
    at, replicas = f"{spec}.leaderWorkerTemplate", (*factors, _one(f"{spec}.replicas"))
    size = Factor((f"{at}.size",), less=1, unit=True)
    return KnownKind(
        (
            TemplatePath(f"{at}.leaderTemplate", replicas, "leader", otherwise=f"{at}.workerTemplate", optional=True),
            TemplatePath(f"{at}.workerTemplate", (*replicas, size), role="worker"),
        )
    )


def _model_servers(spec: str, role: str = "") -> tuple[TemplatePath, ...]:
    """KServe's LLMInferenceService: each of its two workloads has a number of its own, prefill those of spec.prefill.

    Upstream: pkg/controller/v1alpha1/llmisvc/workload_single_node.go and workload_multi_node.go. What is not written
    comes from KServe's configurations; ``operators`` has the size of a group of workers.
    """
    replicas = (Factor((f"{spec}.replicas",), least=f"{spec}.scaling.minReplicas"),)
    workers = TemplatePath(f"{spec}.worker", replicas, f"{role} worker".strip(), bare=True, optional=True)
    return (TemplatePath(f"{spec}.template", replicas, role, bare=True, otherwise=workers.path, optional=True), workers)


_ENDPOINT_PICKER: Final = TemplatePath(
    "spec.router.scheduler.template", (_one("spec.router.scheduler.replicas"),), "scheduler", bare=True, optional=True
)
_CRON_JOB: Final = KnownKind(
    (TemplatePath("spec.jobTemplate.spec.template", (_job("spec.jobTemplate.spec"),)),), suspend="spec.suspend"
)
_RUNTIME_KIND: Final = KnownKind(_job_set(_RUNTIME), catalog=True)
_VOLCANO: Final = "spec.tasks[]"
_GROVE: Final = "spec.template.cliques[]"
_POD_SETS: Final = "spec.podSets[]"

#: (group, kind) -> what is known of it.
KNOWN: Final[Mapping[tuple[str, str], KnownKind]] = {
    ("apps", "Deployment"): _SIMPLE,
    ("apps", "ReplicaSet"): _SIMPLE,
    ("apps", "StatefulSet"): _SIMPLE,
    ("", "ReplicationController"): _SIMPLE,
    ("apps", "DaemonSet"): KnownKind((TemplatePath("spec.template", per_node=True),)),
    ("", "PodTemplate"): KnownKind((TemplatePath("template"),), catalog=True),
    ("batch", "Job"): _JOB,
    ("batch", "CronJob"): _CRON_JOB,
    ("jobset.x-k8s.io", "JobSet"): KnownKind(_job_set(_REPLICATED_JOBS), suspend="spec.suspend"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _leaders("spec"),
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): _leaders("spec.roles[].spec", _one("spec.slices")),
    ("kubeflow.org", "MPIJob"): _kubeflow("mpiReplicaSpecs"),
    ("kubeflow.org", "PyTorchJob"): _kubeflow("pytorchReplicaSpecs"),
    ("kubeflow.org", "TFJob"): _kubeflow("tfReplicaSpecs"),
    ("kubeflow.org", "XGBoostJob"): _kubeflow("xgbReplicaSpecs"),
    ("kubeflow.org", "PaddleJob"): _kubeflow("paddleReplicaSpecs"),
    ("kubeflow.org", "JAXJob"): _kubeflow("jaxReplicaSpecs"),
    ("kubeflow.org", "MXJob"): _kubeflow("mxReplicaSpecs"),
    # A StatefulSet of one (upstream: components/notebook-controller/controllers/notebook_controller.go).
    ("kubeflow.org", "Notebook"): KnownKind((TemplatePath("spec.template"),)),
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"): _RUNTIME_KIND,
    ("trainer.kubeflow.org", "TrainingRuntime"): _RUNTIME_KIND,
    ("ray.io", "RayCluster"): KnownKind(_ray("spec"), suspend="spec.suspend"),
    ("ray.io", "RayJob"): _ray_job("spec"),
    ("ray.io", "RayCronJob"): _ray_job("spec.jobTemplate"),
    ("ray.io", "RayService"): KnownKind(_ray("spec.rayClusterConfig")),
    ("batch.volcano.sh", "Job"): KnownKind((TemplatePath(f"{_VOLCANO}.template", (_one(f"{_VOLCANO}.replicas"),)),)),
    ("grove.io", "PodCliqueSet"): KnownKind(
        (TemplatePath(f"{_GROVE}.spec.podSpec", (*_REPLICAS, _one(f"{_GROVE}.spec.replicas")), bare=True),)
    ),
    ("serving.kserve.io", "LLMInferenceService"): KnownKind(
        (*_model_servers("spec"), *_model_servers("spec.prefill", "prefill"), _ENDPOINT_PICKER)
    ),
    ("argoproj.io", "Rollout"): _SIMPLE,
    # Pods of others are made from these, or get containers of them.
    ("serving.kserve.io", "ServingRuntime"): KnownKind((), catalog=True),
    ("serving.kserve.io", "ClusterServingRuntime"): KnownKind((), catalog=True),
    ("serving.kserve.io", "LLMInferenceServiceConfig"): KnownKind((), catalog=True),
    ("apps.kruise.io", "SidecarSet"): KnownKind((), catalog=True),
    ("kueue.x-k8s.io", "Workload"): KnownKind(
        (TemplatePath(f"{_POD_SETS}.template", (_one(f"{_POD_SETS}.count"),)),), catalog=True
    ),
}
