"""What a TrainJob changes in the pod templates of its runtime: ``runtimePatches``, and ``podTemplateOverrides`` before.

Upstream: kubeflow/trainer, pkg/apis/trainer/v1alpha1/trainjob_types.go (PodSpecPatch, ContainerPatch) and
pkg/runtime/core/trainingruntime.go: mergeRuntimePatches since 2.2, mergePodTemplateOverrides in 2.0 and 2.1. Both are
strategic merge patches of the fields that the type has; what else is written there the server drops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from kubectl_dra.api.trees import Tree, at, list_at, mapping, text_at

_PATCHES: Final = "runtimePatches"
_OVERRIDES: Final = "podTemplateOverrides"
_TEMPLATE: Final = "template.spec.template"
#: The fields of a pod that may be patched, and those of its containers.
_POD_FIELDS: Final = frozenset(
    {"serviceAccountName", "volumes", "initContainers", "containers", "imagePullSecrets", "securityContext"}
    | {"nodeSelector", "affinity", "tolerations", "schedulingGates", "terminationGracePeriodSeconds"}
)
_CONTAINER_FIELDS: Final = frozenset({"name", "env", "volumeMounts", "securityContext"})
_CONTAINERS: Final = ("initContainers", "containers")
#: Lists of which items are merged, by what tells these apart; any other list is replaced (core/v1, types.go).
_KEYS: Final = {
    **dict.fromkeys(("containers", "initContainers", "volumes", "env", "schedulingGates", "imagePullSecrets"), "name"),
    "volumeMounts": "mountPath",
}


class Patch(NamedTuple):
    """A pod template that is merged into those of the jobs of a runtime with one of these names."""

    path: str
    jobs: tuple[str, ...]
    template: Tree


class Mistake(NamedTuple):
    """What the server drops of a patch, or refuses."""

    path: str
    message: str


def patches(job: Tree) -> Iterator[Patch]:
    """All patches of a TrainJob, in the order in which they are applied; ``path`` is that of the pod template."""
    spec = mapping(job.get("spec"))
    for index, each in enumerate(map(mapping, list_at(spec, _OVERRIDES))):
        names = tuple(text_at(mapping(target), "name") for target in list_at(each, "targetJobs"))
        yield Patch(f"spec.{_OVERRIDES}[{index}]", names, each)
    for index, each in enumerate(map(mapping, list_at(spec, _PATCHES))):
        path = f"spec.{_PATCHES}[{index}].trainingRuntimeSpec.template.spec.replicatedJobs"
        jobs = list_at(at(each, "trainingRuntimeSpec.template.spec"), "replicatedJobs")
        for number, one in enumerate(map(mapping, jobs)):
            yield Patch(f"{path}[{number}].{_TEMPLATE}", (text_at(one, "name"),), at(one, _TEMPLATE))


def apply(job: Tree, replicated: list[Any]) -> None:
    """Merge the patches of a TrainJob into the jobs of its runtime."""
    for patch in patches(job):
        spec = {name: value for name, value in mapping(patch.template.get("spec")).items() if name in _POD_FIELDS}
        for field in _CONTAINERS:
            if field in spec:
                spec[field] = [_kept(each) for each in map(mapping, list_at(spec, field))]
        meta = mapping(patch.template.get("metadata"))
        labels = {"metadata": {"labels": meta["labels"]}} if isinstance(meta.get("labels"), dict) else {}
        for one in map(mapping, replicated):
            body = mapping(mapping(one.get("template")).get("spec"))
            template = body.get("template")
            if text_at(one, "name") in patch.jobs and isinstance(template, dict):
                body["template"] = _merged(template, {**labels, "spec": spec}, known=_names(template))


def mistakes(job: Tree, replicated: list[Any] | None) -> Iterator[Mistake]:
    """What of the patches has no effect; ``replicated``: the jobs of the runtime, None where that is not known."""
    there = None if replicated is None else {text_at(mapping(each), "name") for each in replicated}
    for patch in patches(job):
        for name in patch.jobs if there is not None else ():
            if name not in (there or ()):
                yield Mistake(patch.path, f'the runtime has no replicated job "{name}"')
        spec = mapping(patch.template.get("spec"))
        yield from _dropped(spec, _POD_FIELDS, f"{patch.path}.spec")
        for field in _CONTAINERS:
            for index, each in enumerate(map(mapping, list_at(spec, field))):
                yield from _dropped(each, _CONTAINER_FIELDS, f"{patch.path}.spec.{field}[{index}]")


def _dropped(tree: Tree, known: frozenset[str], path: str) -> Iterator[Mistake]:
    for field in tree:
        if field not in known:
            yield Mistake(f"{path}.{field}", "a TrainJob cannot patch this field: set it in its runtime")


def _kept(container: Tree) -> dict[str, Any]:
    return {name: value for name, value in container.items() if name in _CONTAINER_FIELDS}


def _names(template: Tree) -> frozenset[str]:
    """The containers that there are: a patch of others is refused by Trainer's webhook."""
    spec = mapping(template.get("spec"))
    return frozenset(text_at(mapping(each), "name") for field in _CONTAINERS for each in list_at(spec, field))


def _merged(old: Tree, patch: Tree, known: frozenset[str]) -> dict[str, Any]:
    """A strategic merge: mappings and some lists item by item, null removes."""
    found = dict(old)
    for name, value in patch.items():
        before = found.get(name)
        if value is None:
            found.pop(name, None)
        elif isinstance(value, dict):
            found[name] = _merged(mapping(before), value, known)
        elif isinstance(value, list) and name in _KEYS:
            new = [each for each in value if name not in _CONTAINERS or text_at(mapping(each), "name") in known]
            found[name] = _joined(before if isinstance(before, list) else [], new, _KEYS[name], known)
        else:
            found[name] = value
    return found


def _joined(old: list[Any], patch: list[Any], key: str, known: frozenset[str]) -> list[Any]:
    by_key = {mapping(each).get(key): mapping(each) for each in patch if isinstance(mapping(each).get(key), str)}
    there = [mapping(each).get(key) for each in old]
    kept = [_merged(mapping(each), by_key.get(at_, {}), known) for each, at_ in zip(old, there, strict=True)]
    return [*(each for name, each in by_key.items() if name not in there), *kept]
