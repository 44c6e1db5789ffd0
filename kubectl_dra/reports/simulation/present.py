"""Workloads that the cluster has already: which of their pods stay when the file's takes its place, and which go.

Compared is what the scheduler reads of a template, and images; commands and environments are not held. Upstream:
pkg/controller/deployment (rolling.go, recreate.go), pkg/controller/statefulset and daemon end an old pod first, unless
a Deployment or DaemonSet has a surge. A ReplicaSet replaces no pods, and a Job never makes those anew that it has made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.workloads import Owners, ReadOwner
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.diagnosis.rollouts import REVISION, fenceposts, is_rolling
from kubectl_dra.model.core import Container, Pod, PodSpec
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.model.workloads import ONE_RUN, PodTemplate, RollingUpdate, WorkloadObject, WorkloadStatus
from kubectl_dra.reports.simulation.trials import PodTrial

_DEPLOYMENT: Final = "Deployment"
_REPLICA_SET: Final = "ReplicaSet"
_CRON_JOB: Final = "CronJob"
_JOB: Final = "Job"
_KINDS: Final = frozenset({_DEPLOYMENT, _REPLICA_SET, "StatefulSet", "DaemonSet", _JOB, _CRON_JOB})
#: Stands for the number that a Deployment and its newest ReplicaSet share.
NEW_REVISION: Final = "simulated"


@dataclass(frozen=True, slots=True)
class Present:
    """The pods of a workload in the cluster: those that ``stay``, and ``old`` ones, which new ones replace.

    ``waiting`` ones have no node; they are tried again as new ones. ``surge``: an old pod goes only when a new one is
    ready. ``policy``: of a CronJob whose ``old`` pods are those of its run of now, why the next has none beside it.
    ``left``: of a Job how many pods have yet to succeed, of which no more run at the same time.
    """

    workload: WorkloadObject
    stay: tuple[Pod, ...] = ()
    old: tuple[Pod, ...] = ()
    waiting: tuple[Pod, ...] = ()
    surge: bool = False
    policy: str = ""
    left: int | None = None


def with_workloads(state: ClusterState, objects: Sequence[Planned], read_owner: ReadOwner | None) -> ClusterState:
    """The cluster with its own workloads of the names that the files have, where these were not read yet."""
    found = dict[tuple[str, str, str], WorkloadObject]()
    for each in objects:
        key = each.kind, each.key.namespace, each.name
        if read_owner is None or each.kind not in _KINDS or not each.pods or key in state.inventory.workloads:
            continue
        read = read_owner(each.key.namespace, OwnerReference(each.api_version, each.kind, each.name))
        if isinstance(read, WorkloadObject):
            found[key] = read
    if not found:
        return state
    return state.changed(state.inventory.replace(workloads={**state.inventory.workloads, **found}))


def present(state: ClusterState, trial: PodTrial, read_owner: ReadOwner | None) -> Present | None:
    """What the cluster has of the workload of a trial; None for a new one."""
    planned = trial.planned
    known = state.inventory.workloads.get((planned.kind, planned.key.namespace, planned.name))
    if planned.kind not in _KINDS or known is None or known.metadata.deletion_timestamp is not None:
        return None
    policy = planned.record.spec.concurrency_policy if isinstance(planned.record, WorkloadObject) else ""
    if planned.kind == _CRON_JOB and policy not in ONE_RUN:
        return None
    left = _left(known) if planned.kind == _JOB else None
    # Whoever tries a Job that has ended, or another one of its name, means a new one.
    if left == 0 or (planned.kind == _JOB and _is_another(known, planned.record)):
        return None
    pods = list(_pods(state, planned, known, Owners(state.inventory, read_owner)))
    waiting = tuple(pod for pod, _ in pods if not pod.spec.node_name)
    placed = [(pod, newest) for pod, newest in pods if pod.spec.node_name]
    if planned.kind == _CRON_JOB:
        return Present(known, (), tuple(pod for pod, _ in placed), waiting, policy=policy) if pods else None
    keeps = planned.kind in (_REPLICA_SET, _JOB) or not _differs(known, planned.record)
    stay = tuple(pod for pod, newest in placed if keeps and newest)
    old = tuple(pod for pod, newest in placed if not (keeps and newest))
    return Present(known, stay, old, waiting, planned.kind == _DEPLOYMENT and _surges(planned), left=left)


def without(state: ClusterState, pods: Sequence[Pod]) -> ClusterState:
    """The cluster without ``pods``, and with what only they held free."""
    return state.changed(without_pods({key_of(pod.metadata) for pod in pods})(state.inventory)) if pods else state


def rolled_out(planned: Planned, found: Present) -> WorkloadObject:
    """The Deployment of the file as it is when its first new pod has been made."""
    meta = found.workload.metadata
    generation = max(meta.generation, 1)
    assert isinstance(planned.record, WorkloadObject)  # noqa: S101
    return replace(
        _defaulted(planned.record),
        metadata=replace(meta, generation=generation, annotations={**meta.annotations, REVISION: NEW_REVISION}),
        status=WorkloadStatus(
            observed_generation=generation,
            replicas=len(found.old) + 1,
            updated_replicas=1,
            available_replicas=len(found.old),
        ),
    )


def _pods(state: ClusterState, planned: Planned, known: WorkloadObject, owners: Owners) -> Iterator[tuple[Pod, bool]]:
    """Its pods that neither end nor have ended, and whether each is of its newest ReplicaSet, as far as that is known.

    What made a pod is looked up only of those that its selector selects.
    """
    labels = known.spec.selector.match_labels.items() if known.spec.selector is not None else ()
    number = known.metadata.annotations.get(REVISION)
    for key, pod in state.inventory.pods.items():
        if key.namespace != planned.key.namespace or is_terminal(pod) or pod.metadata.deletion_timestamp is not None:
            continue
        if not all(item in pod.metadata.labels.items() for item in labels):
            continue
        chain = owners.of(pod)
        if not any((each.ref.kind, each.ref.name) == (planned.kind, planned.name) for each in chain):
            continue
        made_by = chain[0].object
        its = made_by.metadata.annotations.get(REVISION) if made_by is not None else None
        yield pod, planned.kind != _DEPLOYMENT or None in (number, its) or number == its


def _is_another(known: WorkloadObject, record: object) -> bool:
    """Whether a Job's template is not that of the cluster, in which the server has added labels."""
    template = record.spec.template if isinstance(record, WorkloadObject) else None
    there = known.spec.template
    return there is None or template is None or _compared(there)[1] != _compared(template)[1]


def _left(job: WorkloadObject) -> int | None:
    """How many pods of a Job that runs have yet to succeed; None where it does not say how many have to.

    Upstream: pkg/controller/job/job_controller.go, manageJob (wantActive).
    """
    completions = job.spec.completions
    if completions is None:
        return None if not job.status.succeeded else 0
    return max(completions - job.status.succeeded, 0)


def _differs(known: WorkloadObject, record: object) -> bool:
    template = record.spec.template if isinstance(record, WorkloadObject) else None
    return (
        known.spec.template is not None
        and template is not None
        and _compared(known.spec.template) != _compared(template)
    )


def _compared(template: PodTemplate) -> tuple[Mapping[str, str], PodSpec]:
    """Labels and spec with what a server fills in where a manifest leaves it out."""
    pod = defaulted(Pod(spec=template.spec))
    assert isinstance(pod, Pod)  # noqa: S101
    containers = (tuple(map(_with_protocols, each)) for each in (pod.spec.containers, pod.spec.init_containers))
    spec = replace(pod.spec, **dict(zip(("containers", "init_containers"), containers, strict=True)))
    return template.metadata.labels, replace(spec, scheduler_name=spec.scheduler_name or DEFAULT_SCHEDULER)


def _with_protocols(container: Container) -> Container:
    return replace(container, ports=tuple(replace(port, protocol=port.protocol or "TCP") for port in container.ports))


def _surges(planned: Planned) -> bool:
    """Whether no old pod of a Deployment may go before a new one is ready."""
    if not isinstance(planned.record, WorkloadObject) or not is_rolling(planned.record.spec.strategy):
        return False
    limits = fenceposts(_defaulted(planned.record))
    return limits is not None and limits[1] == 0


def _defaulted(deployment: WorkloadObject) -> WorkloadObject:
    """With the limits of a rolling update that the server fills in (pkg/apis/apps/v1/defaults.go)."""
    strategy = deployment.spec.strategy
    given = strategy.rolling_update
    if given is None or None not in (given.max_surge, given.max_unavailable):
        return deployment
    default = RollingUpdate("25%", "25%")
    limits = RollingUpdate(
        default.max_surge if given.max_surge is None else given.max_surge,
        default.max_unavailable if given.max_unavailable is None else given.max_unavailable,
    )
    return replace(deployment, spec=replace(deployment.spec, strategy=replace(strategy, rolling_update=limits)))
