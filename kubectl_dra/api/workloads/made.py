"""Objects that come into being with others: what controllers make, and pods that two objects make together.

Only what pods of the same files may name or need, as the controllers of the named projects make it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, group_of, list_at, mapping
from kubectl_dra.api.workloads import nim, trainer_patches
from kubectl_dra.api.workloads.compute_domains import channel_templates
from kubectl_dra.api.workloads.expand import Expansion, expand
from kubectl_dra.api.workloads.grove import shared_claims
from kubectl_dra.api.workloads.nested import nested
from kubectl_dra.api.workloads.templates import CountField, MadeTemplate

_KEDA: Final = "keda.sh"
TRAINER: Final = "trainer.kubeflow.org"
_STEP: Final = f"{TRAINER}/trainjob-ancestor-step"
RUNTIMES: Final = ("ClusterTrainingRuntime", "TrainingRuntime")


def made_objects(tree: Tree, *, grouped_jobs: bool = False) -> Iterator[dict[str, Any]]:
    """The objects that a controller makes of this one, in the namespace of that.

    A Job that says how it is scheduled has a PodGroup (:func:`job_group`). A ComputeDomain has a template for the
    claims of its workload (:mod:`compute_domains`), a ScaledObject a HorizontalPodAutoscaler
    (:func:`keda_autoscaler`), a NIMService templates (:mod:`nim`), a PodCliqueSet claims (:mod:`grove`). An object may
    hold whole others (:mod:`nested`).
    """
    yield from nested(tree)
    yield from shared_claims(tree)
    group = job_group(tree) if grouped_jobs else None
    if group is not None:
        yield group
    if group_of(tree.get("apiVersion")) == _KEDA and tree.get("kind") == "ScaledObject":
        yield keda_autoscaler(tree)
    if (group_of(tree.get("apiVersion")), tree.get("kind")) == (nim.GROUP, nim.KIND):
        yield from nim.claim_templates(tree)
    yield from channel_templates(tree)


def keda_autoscaler(scaled: Tree) -> dict[str, Any]:
    """The HorizontalPodAutoscaler of a ScaledObject.

    Upstream: kedacore/keda, controllers/keda/hpa.go (newHPAForScaledObject) and apis/keda/v1alpha1 (GetHPAMinReplicas,
    GetHPAMaxReplicas): at least 1, at most 100 where nothing is said; to none at all KEDA scales without it.
    """
    meta, spec = mapping(scaled.get("metadata")), mapping(scaled.get("spec"))
    least, most, target = (spec.get(name) for name in ("minReplicaCount", "maxReplicaCount", "scaleTargetRef"))
    owner = {"apiVersion": scaled.get("apiVersion"), "kind": "ScaledObject", "name": meta.get("name")}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {
            "name": f"keda-hpa-{meta.get('name') or ''}",
            "ownerReferences": [{**owner, "controller": True}],
            **({"namespace": meta["namespace"]} if isinstance(meta.get("namespace"), str) else {}),
        },
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", **mapping(target)},
            "minReplicas": least if _is_int(least) and least else 1,
            "maxReplicas": most if _is_int(most) else 100,
        },
    }


def job_group(job: Tree) -> dict[str, Any] | None:
    """The PodGroup of a Job with ``spec.scheduling``, whose pods all name it; None for Jobs without.

    Upstream (feature gate WorkloadWithJob): pkg/controller/job/job_scheduling_manager.go, getManagementMode, and
    pkg/api/job/util.go, defaultMinCountForJob: Jobs of other controllers, and those whose template names a group, have
    none. The name is a part of the real one, which hashes the Job's uid. Without ``spec.scheduling`` a group is made as
    well, but one that any number of pods will do for.
    """
    spec, meta = mapping(job.get("spec")), mapping(job.get("metadata"))
    wanted, template = mapping(spec.get("scheduling")), mapping(mapping(spec.get("template")).get("spec"))
    owned = any(mapping(owner).get("controller") is True for owner in list_at(meta, "ownerReferences"))
    if not is_job(job) or not wanted or owned or template.get("schedulingGroup"):
        return None
    gang = mapping(wanted.get("schedulingPolicy")).get("gang")
    policy: dict[str, Any] = {"basic": {}}
    if isinstance(gang, dict):
        parallelism = spec.get("parallelism", 1)
        policy = {"gang": {"minCount": gang.get("minCount") or max(1, parallelism)}} if _is_int(parallelism) else {}
    named = {"priorityClassName": template["priorityClassName"]} if template.get("priorityClassName") else {}
    copied = {
        each: wanted[each] for each in ("schedulingConstraints", "disruptionMode", "resourceClaims") if wanted.get(each)
    }
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": f"{meta.get('name') or meta.get('generateName') or ''}-pgt-0",
            **({"namespace": meta["namespace"]} if isinstance(meta.get("namespace"), str) else {}),
        },
        "spec": {"schedulingPolicy": policy, **named, **copied},
    }


def is_job(tree: Tree) -> bool:
    return group_of(tree.get("apiVersion")) == "batch" and tree.get("kind") == "Job"


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_train_job(tree: Tree) -> bool:
    """Whether it is a TrainJob of the Kubeflow trainer: its pods stand in a runtime."""
    return group_of(tree.get("apiVersion")) == TRAINER and tree.get("kind") == "TrainJob"


def runtime_of(job: Tree) -> str:
    """``KIND NAME`` of the runtime that a TrainJob refers to."""
    reference = mapping(mapping(job.get("spec")).get("runtimeRef"))
    return f"{reference.get('kind') or RUNTIMES[0]} {reference.get('name') or ''}".strip()


def runtime_for(job: Tree, objects: Iterable[Tree]) -> Tree | None:
    """The runtime of a TrainJob, if it is among ``objects``."""
    wanted = runtime_of(job)
    namespace = mapping(job.get("metadata")).get("namespace")
    for tree in objects:
        meta = mapping(tree.get("metadata"))
        if group_of(tree.get("apiVersion")) != TRAINER or f"{tree.get('kind')} {meta.get('name')}" != wanted:
            continue
        if tree.get("kind") == RUNTIMES[0] or meta.get("namespace") == namespace:
            return tree
    return None


def train_job(job: Tree, runtime: Tree) -> Expansion:
    """The pods of a TrainJob with its runtime.

    Upstream: kubeflow/trainer, pkg/runtime (the JobSet plugin): nodes and resources of the trainer replace those of the
    runtime's job that is marked as the trainer.
    """
    found = expand(_merged(job, runtime), TRAINER, RUNTIMES[0])
    templates = tuple(_of_trainer(each, job, runtime) for each in found.templates)
    return Expansion(templates, True, suspended=mapping(job.get("spec")).get("suspend") is True)


def _of_trainer(template: MadeTemplate, job: Tree, runtime: Tree) -> MadeTemplate:
    """With the fields of the TrainJob that count its nodes, and take the place of what their containers request.

    Upstream: pkg/runtime/framework/plugins/jobset/builder.go (Trainer): parallelism is that of the job, whatever the
    runtime says.
    """
    position, nodes = _position(template), _nodes(job, runtime)
    if position is None or not _is_trainer(_replicated(runtime)[position]):
        return template
    trainer = mapping(mapping(job.get("spec")).get("trainer"))
    if nodes is not None and nodes > 1 and template.copies:
        counted = CountField((("spec.trainer.numNodes", nodes),), template.copies // nodes)
        template = replace(template, counted_by=counted)
    before = _containers(_replicated(runtime)[position])
    named = any(mapping(mapping(each).get("resources")).get("claims") for each in before if _is_node(each))
    lost = named and "resourcesPerNode" in trainer and not mapping(trainer["resourcesPerNode"]).get("claims")
    return replace(template, claims_lost_to="spec.trainer.resourcesPerNode") if lost else template


def patch_mistakes(job: Tree, runtime: Tree | None) -> tuple[trainer_patches.Mistake, ...]:
    """What a TrainJob would change in its runtime and can't."""
    return tuple(trainer_patches.mistakes(job, None if runtime is None else _replicated(runtime)))


def _position(template: MadeTemplate) -> int | None:
    _, _, rest = template.path.partition("replicatedJobs[")
    index = rest.partition("]")[0]
    return int(index) if index.isdecimal() else None


def _replicated(runtime: Tree) -> list[Any]:
    return list_at(at(runtime, "spec.template.spec"), "replicatedJobs")


def _is_trainer(replicated: object) -> bool:
    template = mapping(mapping(replicated).get("template"))
    return mapping(mapping(template.get("metadata")).get("labels")).get(_STEP) == "trainer"


def _containers(replicated: object) -> list[Any]:
    return list_at(at(mapping(replicated), "template.spec.template.spec"), "containers")


def _is_node(container: object) -> bool:
    return isinstance(container, dict) and container.get("name") == "node"


def _nodes(job: Tree, runtime: Tree) -> int | None:
    trainer = mapping(mapping(job.get("spec")).get("trainer"))
    nodes = trainer.get("numNodes", mapping(mapping(runtime.get("spec")).get("mlPolicy")).get("numNodes"))
    return nodes if _is_int(nodes) else None


def _merged(job: Tree, runtime: Tree) -> dict[str, Any]:
    merged: dict[str, Any] = deepcopy(dict(runtime))
    trainer_patches.apply(job, _replicated(merged))
    trainer, nodes = mapping(mapping(job.get("spec")).get("trainer")), _nodes(job, runtime)
    for replicated in _replicated(merged):
        body = mapping(mapping(replicated).get("template")).get("spec")
        if not _is_trainer(replicated) or not isinstance(body, dict):
            continue
        if nodes is not None:
            body.update({"parallelism": nodes, "completions": nodes})
        for container in _containers(replicated):
            if _is_node(container) and "resourcesPerNode" in trainer:
                container["resources"] = trainer["resourcesPerNode"]
    return merged
