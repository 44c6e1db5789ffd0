"""Objects that make pods, as far as templates of pods and their replacement go: apps, batch and four well-known CRDs.

All kinds share one shape, of which each sets a part. Nothing else of a template is held than the scheduler reads:
environments and commands never get here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import field

from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod, PodSpec
from kubectl_dra.model.meta import Condition, LabelSelector, LocalObject, ObjectMeta

#: ``spec.backoffLimit`` of a Job that says none (upstream: pkg/apis/batch/v1/defaults.go).
BACKOFF_LIMIT: Final = 6
#: ``spec.concurrencyPolicy`` of CronJobs that have one run at a time (upstream: pkg/controller/cronjob, syncCronJob).
ONE_RUN: Final = frozenset({"Forbid", "Replace"})
_LEADER: Final = "0"
_MPI_ROLES: Final = ("training.kubeflow.org/job-role", "training.kubeflow.org/replica-type")


class PodTemplate(Record, frozen=True):
    """``template``: what pods are made from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class RollingUpdate(Record, frozen=True):
    """``rollingUpdate`` of a strategy: numbers of pods, or percentages of them.

    ``partition``: of a StatefulSet, the first pod that gets the new template.
    """

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    partition: int | None = None


class UpdateStrategy(Record, frozen=True):
    """``strategy`` of a Deployment, ``updateStrategy`` of a StatefulSet or DaemonSet, ``upgradeStrategy`` of Ray."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class JobSpec(Record, frozen=True):
    """``spec`` of the job in a CronJob or JobSet."""

    template: PodTemplate | None = None


class JobTemplate(Record, frozen=True):
    """``jobTemplate`` of a CronJob, ``replicatedJobs[].template`` of a JobSet."""

    spec: JobSpec = JobSpec()


class ReplicatedJob(Record, frozen=True):
    """``spec.replicatedJobs[]`` of a JobSet."""

    name: str = ""
    template: JobTemplate = JobTemplate()


class LeaderWorkerTemplate(Record, frozen=True):
    """``spec.leaderWorkerTemplate`` of a LeaderWorkerSet; leaders without a template are workers."""

    leader_template: PodTemplate | None = None
    worker_template: PodTemplate | None = None


class ReplicaGroup(Record, frozen=True):
    """``spec.mpiReplicaSpecs{}`` of an MPIJob, ``headGroupSpec`` and ``workerGroupSpecs[]`` of a RayCluster."""

    group_name: str = ""
    template: PodTemplate | None = None


class Ordinals(Record, frozen=True):
    """``spec.ordinals`` of a StatefulSet: the number of its first pod."""

    start: int = 0


class RetentionPolicy(Record, frozen=True):
    """``spec.persistentVolumeClaimRetentionPolicy`` of a StatefulSet; empty: Retain."""

    when_scaled: str = ""


class MakerSpec(Record, frozen=True):
    """``spec`` of any of these kinds."""

    replicas: int | None = None
    parallelism: int | None = None
    completions: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate | None = None
    paused: bool = False
    suspend: bool | None = None
    managed_by: str = ""
    pod_management_policy: str = ""
    ordinals: Ordinals = Ordinals()
    persistent_volume_claim_retention_policy: RetentionPolicy = RetentionPolicy()
    strategy: UpdateStrategy = UpdateStrategy()
    update_strategy: UpdateStrategy = UpdateStrategy()
    upgrade_strategy: UpdateStrategy = UpdateStrategy()
    manual_selector: bool | None = None
    backoff_limit: int | None = None
    job_template: JobTemplate | None = None
    concurrency_policy: str = ""
    replicated_jobs: tuple[ReplicatedJob, ...] = ()
    leader_worker_template: LeaderWorkerTemplate | None = None
    mpi_replica_specs: dict[str, ReplicaGroup] = field(default_factory=dict)
    head_group_spec: ReplicaGroup | None = None
    worker_group_specs: tuple[ReplicaGroup, ...] = ()


class WorkloadStatus(Record, frozen=True):
    """``status``: of a Job its failed and succeeded pods; of others how many there are and should be.

    ``conditions``: how a Job ended, what a ReplicaSet or its Deployment was refused.

    ``updated_number_scheduled``: of a DaemonSet. ``update_revision``: what a StatefulSet calls its present template.
    """

    failed: int = 0
    succeeded: int = 0
    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    desired_number_scheduled: int = 0
    updated_number_scheduled: int = 0
    number_unavailable: int = 0
    update_revision: str = ""
    conditions: tuple[Condition, ...] = ()


class WorkloadObject(LocalObject, frozen=True):
    spec: MakerSpec = MakerSpec()
    status: WorkloadStatus = WorkloadStatus()

    def makes_one_by_one(self, kind: str) -> bool:
        """Whether the next pod is made only when those before are ready.

        Upstream: pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet (monotonic).
        """
        return kind == "StatefulSet" and self.spec.pod_management_policy != "Parallel"

    def template_of(self, kind: str, pod: Pod) -> tuple[str, PodTemplate] | None:
        """The JSON pointer of the template that makes ``pod``, and the template; None where that can't be told.

        ``kind`` is the object's, which items of a list don't say.
        """
        return next(((path, found) for path, found in self._templates(kind, pod.metadata.labels) if found), None)

    def _templates(self, kind: str, labels: Mapping[str, str]) -> Iterator[tuple[str, PodTemplate | None]]:
        spec = self.spec
        match kind:
            case "CronJob":
                yield "/spec/jobTemplate/spec/template", spec.job_template.spec.template if spec.job_template else None
            case "JobSet":
                wanted = labels.get("jobset.sigs.k8s.io/replicatedjob-name")
                for index, job in enumerate(spec.replicated_jobs):
                    if job.name == wanted:
                        yield f"/spec/replicatedJobs/{index}/template/spec/template", job.template.spec.template
            case "LeaderWorkerSet":
                yield from self._leader_or_worker(labels.get("leaderworkerset.sigs.k8s.io/worker-index", ""))
            case "MPIJob":
                # Upstream: kubeflow/mpi-operator, defaultLabels; the training operator calls it replica-type.
                role = next((labels[label] for label in _MPI_ROLES if label in labels), "")
                for name, group in spec.mpi_replica_specs.items():
                    if name.lower() == role.lower():
                        yield f"/spec/mpiReplicaSpecs/{name}/template", group.template
            case "RayCluster":
                yield from self._of_ray(labels.get("ray.io/node-type", ""), labels.get("ray.io/group", ""))
            case _:
                yield "/spec/template", spec.template

    def _leader_or_worker(self, index: str) -> Iterator[tuple[str, PodTemplate | None]]:
        template = self.spec.leader_worker_template
        if template is not None and index:
            leads = index == _LEADER and template.leader_template is not None
            name, found = ("leader", template.leader_template) if leads else ("worker", template.worker_template)
            yield f"/spec/leaderWorkerTemplate/{name}Template", found

    def _of_ray(self, role: str, group: str) -> Iterator[tuple[str, PodTemplate | None]]:
        if role == "head" and self.spec.head_group_spec is not None:
            yield "/spec/headGroupSpec/template", self.spec.head_group_spec.template
        for index, each in enumerate(self.spec.worker_group_specs):
            if role == "worker" and each.group_name == group:
                yield f"/spec/workerGroupSpecs/{index}/template", each.template
