"""Pods that a controller or queue keeps in one domain of a node label: which pods, and how many of them together.

Sources: JobSet, pkg/webhooks/pod_mutating_webhook.go (a Job each, no two in one domain); LeaderWorkerSet,
pkg/webhooks/pod_webhook.go (a group or subgroup each, no two in one domain); Kueue, pkg/controller/tas and
pkg/cache/tas_flavor_snapshot.go (a podset, or slices of one).

The ComputeDomains of some files: whose channels a pod has, and for how many nodes such a domain waits. Upstream:
NVIDIA's driver, api/nvidia.com/resource/v1beta1/computedomain.go (spec.numNodes, and a spec that can't be changed):
drivers that heed it have no pod of the domain start before so many nodes have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.api.trees import Tree, at, list_at, mapping, number_of
from kubectl_dra.api.workloads.templates import CountSource, MadeTemplate
from kubectl_dra.model.core import Pod

_JOB_SET: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_GROUP: Final = "leaderworkerset.sigs.k8s.io/exclusive-topology"
_SUBGROUP: Final = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
_PODSET: Final = "kueue.x-k8s.io/podset-required-topology"
_SLICE: Final = "kueue.x-k8s.io/podset-slice-required-topology"
_SLICE_SIZE: Final = "kueue.x-k8s.io/podset-slice-size"
#: Annotations that keep pods of a group within one domain of a node label.
TOGETHER: Final = (_JOB_SET, _GROUP, _SUBGROUP, _PODSET, _SLICE)
#: Kinds of whose pods Kueue makes one podset; of a Deployment each pod is one by itself.
_PODSETS: Final = frozenset(
    {"Job", "JobSet", "LeaderWorkerSet", "StatefulSet", "RayCluster", "RayJob", "MPIJob", "PyTorchJob", "TFJob"}
    | {"XGBoostJob", "PaddleJob", "JAXJob"}
)
#: Kinds of which no pod is of use without the others.
_STARTED_TOGETHER: Final = (_PODSETS - {"Job", "LeaderWorkerSet", "StatefulSet"}) | {"TrainJob", "RayService", "MXJob"}
#: Of a group of a LeaderWorkerSet: the positions of its leader's and its workers' templates.
_LEADER, _WORKER = 0, 1
_COMPUTE_DOMAINS: Final = "resource.nvidia.com/"
_KIND: Final = "ComputeDomain"


@dataclass(frozen=True, slots=True)
class DomainRule:
    """``groups`` of pods, each in one domain of ``label``; ``exclusive``: no two of them in the same one.

    ``pods``: how many of one group are made from which of the object's templates, by their positions.
    """

    program: str
    annotation: str
    label: str
    pods: tuple[tuple[int, int], ...]
    groups: int = 1
    exclusive: bool = False

    @property
    def size(self) -> int:
        return sum(number for _, number in self.pods)


def domain_rules(tree: Tree, templates: Sequence[MadeTemplate]) -> tuple[DomainRule, ...]:
    """What the annotations of an object ask for, as far as it is known which pods they mean."""
    if any(each.count is not CountSource.STATED for each in templates):
        return ()
    kind = str(tree.get("kind"))
    found = [*_by_kueue(tree, kind, templates)]
    if kind == "JobSet":
        found += _of_jobs(tree, templates)
    elif kind == "LeaderWorkerSet" and len(templates) == 2:
        found += _of_leaders(tree)
    return tuple(rule for rule in found if rule.size > 1)


def whole_group(tree: Tree, templates: Sequence[MadeTemplate]) -> tuple[int, ...]:
    """How many pods of each template start together or are of no use: a group of a LeaderWorkerSet, else all of them.

    Empty for objects whose pods are of use one by one. Pods that have ended before others start take no room beside
    these.
    """
    if any(each.count is not CountSource.STATED or each.copies is None for each in templates):
        return ()
    kind = str(tree.get("kind"))
    if kind == "LeaderWorkerSet" and len(templates) == 2:
        _, size = _leader_groups(tree)
        return (1, size - 1) if size > 1 else ()
    ended = {role for each in templates for role in each.after}
    copies = tuple(0 if each.role in ended else each.copies or 0 for each in templates)
    together = kind in _STARTED_TOGETHER or _all_ranks_at_once(tree)
    return copies if together and sum(copies) > 1 else ()


def _all_ranks_at_once(tree: Tree) -> bool:
    """Whether an Indexed Job runs all of its indexes at the same time, as the ranks of one piece of work do."""
    spec = at(tree, "spec")
    completions, parallelism = spec.get("completions"), spec.get("parallelism")
    indexed = tree.get("kind") == "Job" and spec.get("completionMode") == "Indexed"
    return indexed and isinstance(completions, int) and isinstance(parallelism, int) and completions <= parallelism


def _of_jobs(tree: Tree, templates: Sequence[MadeTemplate]) -> Iterator[DomainRule]:
    whole = _annotation(tree, _JOB_SET)
    jobs = {f"spec.replicatedJobs[{i}].": each for i, each in enumerate(list_at(at(tree, "spec"), "replicatedJobs"))}
    for position, template in enumerate(templates):
        job = mapping(next((each for path, each in jobs.items() if template.path.startswith(path)), None))
        label = _annotation(mapping(job.get("template")), _JOB_SET) or whole
        groups = number_of(job.get("replicas"), 1)
        if label and groups:
            pods = (position, (template.copies or 0) // groups)
            yield DomainRule("JobSet", _JOB_SET, label, (pods,), groups, exclusive=True)


def _of_leaders(tree: Tree) -> Iterator[DomainRule]:
    groups, size = _leader_groups(tree)
    label, sub = _annotation(tree, _GROUP), _annotation(tree, _SUBGROUP)
    whole = ((_LEADER, 1), (_WORKER, size - 1))
    if label:
        yield DomainRule("LeaderWorkerSet", _GROUP, label, whole, groups, exclusive=True)
    policy = mapping(at(tree, "spec.leaderWorkerTemplate").get("subGroupPolicy"))
    few = number_of(policy.get("subGroupSize"), 0)
    if sub and few:
        # The first subgroup may have the leader as one more, or in place of a worker.
        pods = ((_WORKER, few),) if few < size else whole
        yield DomainRule("LeaderWorkerSet", _SUBGROUP, sub, pods, groups * ((size - 1) // few or 1), exclusive=True)


def _leader_groups(tree: Tree) -> tuple[int, int]:
    """How many groups, and the pods of each."""
    spec = at(tree, "spec")
    return number_of(spec.get("replicas"), 1), number_of(mapping(spec.get("leaderWorkerTemplate")).get("size"), 1)


def _by_kueue(tree: Tree, kind: str, templates: Sequence[MadeTemplate]) -> Iterator[DomainRule]:
    if kind not in _PODSETS:
        return
    groups, size = _leader_groups(tree) if kind == "LeaderWorkerSet" else (1, 0)
    alike = kind == "LeaderWorkerSet" and len({each.path for each in templates}) == 1
    for position, template in enumerate(templates):
        copies = (template.copies or 0) // max(groups, 1)
        label, part = _annotation(template.body, _PODSET), _annotation(template.body, _SLICE)
        few = _annotation(template.body, _SLICE_SIZE)
        pods: tuple[tuple[int, int], ...] = ((position, copies),)
        if alike:
            # Without a template of their own leaders are workers, and all of a group are one podset.
            pods = ((_LEADER, 1), (_WORKER, size - 1)) if position == _LEADER else ()
        if label and pods:
            yield DomainRule("Kueue", _PODSET, label, pods, groups)
        if part and few.isdecimal() and 0 < int(few) <= copies and not alike:
            yield DomainRule("Kueue", _SLICE, part, ((position, int(few)),), groups * (copies // int(few)))


def _annotation(tree: Tree, name: str) -> str:
    value = mapping(at(tree, "metadata").get("annotations")).get(name)
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Spanned:
    """A domain that pods with claims of ``template`` make up, on ``nodes`` nodes: the value of its ``field``."""

    kind: str
    namespace: str
    name: str
    field: str
    nodes: int
    template: str

    def has(self, pod: Pod) -> bool:
        """Whether a pod has one of its channels, of which each node has one."""
        named = (entry.resource_claim_template_name for entry in pod.spec.resource_claims)
        return pod.metadata.namespace == self.namespace and self.template in named


def spanned(trees: Iterable[Tree], namespace: str) -> tuple[Spanned, ...]:
    """The domains of the files; ``namespace`` is meant by those that name none."""
    found = []
    for tree in trees:
        if tree.get("kind") == _KIND and str(tree.get("apiVersion")).startswith(_COMPUTE_DOMAINS):
            meta, spec = mapping(tree.get("metadata")), at(tree, "spec")
            nodes, template = spec.get("numNodes"), at(spec, "channel.resourceClaimTemplate").get("name")
            if isinstance(nodes, int) and not isinstance(nodes, bool) and isinstance(template, str):
                where = str(meta.get("namespace") or namespace)
                found.append(Spanned(_KIND, where, str(meta.get("name")), "spec.numNodes", nodes, template))
    return tuple(found)
