"""Which pods of an object have ended before others of it start.

JobSet (api/jobset/v1alpha2, ReplicatedJob.dependsOn): a job starts once others are ready, or complete. Runtimes of the
Kubeflow trainer hold the jobs of a JobSet. Which templates of an Argo workflow run at the same time its steps decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kubectl_dra.api.trees import Tree, at, mapping
from kubectl_dra.api.workloads.templates import MadeTemplate

#: Where the jobs of a JobSet stand.
_JOBS: Final[Mapping[tuple[str, str], str]] = {
    ("jobset.x-k8s.io", "JobSet"): "spec",
    ("trainer.kubeflow.org", "TrainingRuntime"): "spec.template.spec",
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"): "spec.template.spec",
}
_COMPLETE: Final = "Complete"


def staged(tree: Tree, group: str, kind: str, templates: Iterable[MadeTemplate]) -> Iterator[MadeTemplate]:
    """The templates of a known kind, with the roles that have ended before."""
    path = _JOBS.get((group, kind))
    jobs = at(tree, path).get("replicatedJobs") if path is not None else None
    ended: dict[str, tuple[str, ...]] = {}
    # A job depends on jobs before it only.
    for job in jobs if isinstance(jobs, list) else ():
        name = mapping(job).get("name")
        if isinstance(name, str):
            ended[name] = tuple(dict.fromkeys(_ended(mapping(job).get("dependsOn"), ended)))
    return (replace(each, after=ended.get(each.role, ())) for each in templates)


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
