"""Which pods of an object have ended, or are ready, before others of it start.

JobSet (api/jobset/v1alpha2, ReplicatedJob.dependsOn, StartupPolicy): a job starts once others are ready, or complete.
Runtimes of the Kubeflow trainer hold the jobs of a JobSet. LeaderWorkerSet (pkg/controllers/pod_controller.go,
Reconcile): workers are made once their leader is ready, if its startupPolicy says so. MPI operator
(pkg/controller/mpi_job_controller.go, syncHandler): so may a launcher wait for all workers. A StatefulSet makes each
pod when the one before it is ready, unless it says otherwise (pkg/controller/statefulset, monotonic). Which templates
of an Argo workflow run at the same time its steps decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kubectl_dra.api.trees import Tree, at, list_at, mapping
from kubectl_dra.api.workloads.templates import MadeTemplate

#: Where the jobs of a JobSet stand.
_JOBS: Final[Mapping[tuple[str, str], str]] = {
    ("jobset.x-k8s.io", "JobSet"): "spec",
    ("trainer.kubeflow.org", "TrainingRuntime"): "spec.template.spec",
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"): "spec.template.spec",
}
#: Of Kubernetes, and of OpenKruise.
_ONE_BY_ONE: Final = frozenset({"StatefulSet"})
_POLICY: Final = "podManagementPolicy"
_COMPLETE: Final = "Complete"


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Pods of ``role`` wait for ``others`` where a field of the spec has this value; ``any_``: each for one of them."""

    field: str
    value: str
    role: str
    others: str
    any_: bool = False


_WAITING: Final[Mapping[tuple[str, str], _Waiting]] = {
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _Waiting("startupPolicy", "LeaderReady", "worker", "leader", True),
    ("kubeflow.org", "MPIJob"): _Waiting("launcherCreationPolicy", "WaitForWorkersReady", "Launcher", "Worker"),
}


def staged(tree: Tree, group: str, kind: str, templates: Iterable[MadeTemplate]) -> Iterator[MadeTemplate]:
    """The templates of a known kind, with the roles that have ended or are ready before."""
    found = list(templates)
    if (group, kind) in _JOBS:
        return _jobs(at(tree, _JOBS[group, kind]), found)
    if kind in _ONE_BY_ONE:
        named = at(tree, "spec").get(_POLICY) == "Parallel"
        return (replace(e, one_by_one="" if named else f"spec.{_POLICY}") for e in found)
    waiting = _WAITING.get((group, kind))
    if waiting is None or at(tree, "spec").get(waiting.field) != waiting.value:
        return iter(found)
    others, any_ = (waiting.others,), waiting.any_
    return (replace(e, awaits=others, awaits_any=any_) if e.role == waiting.role else e for e in found)


def _jobs(spec: Tree, templates: Iterable[MadeTemplate]) -> Iterator[MadeTemplate]:
    in_order = at(spec, "startupPolicy").get("startupPolicyOrder") == "InOrder"
    ended: dict[str, tuple[str, ...]] = {}
    awaited: dict[str, tuple[str, ...]] = {}
    # A job depends on jobs before it only.
    for job in map(mapping, list_at(spec, "replicatedJobs")):
        name = job.get("name")
        if isinstance(name, str):
            before = tuple(ended)[-1:] if in_order else ()
            awaited[name] = tuple(dict.fromkeys((*before, *_names(job.get("dependsOn")))))
            ended[name] = tuple(dict.fromkeys(_ended(job.get("dependsOn"), ended)))
    return (replace(e, after=ended.get(e.role, ()), awaits=awaited.get(e.role, ())) for e in templates)


def _names(depends_on: object) -> Iterator[str]:
    names = (mapping(each).get("name") for each in (depends_on if isinstance(depends_on, list) else ()))
    return (name for name in names if isinstance(name, str))


def _ended(depends_on: object, known: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for each in map(mapping, depends_on if isinstance(depends_on, list) else ()):
        name = each.get("name")
        if isinstance(name, str):
            yield from known.get(name, ())
            if each.get("status") == _COMPLETE:
                yield name


def each_alone(templates: Sequence[MadeTemplate]) -> Iterator[MadeTemplate]:
    """Templates of which it is not known which run at the same time: each as if all others had ended."""
    for each in templates:
        yield replace(each, after=tuple(other.role for other in templates if other is not each and other.role))
