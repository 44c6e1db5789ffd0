"""Argo: pods of a workflow's templates, of which each has parts of its own and takes others over; what Rollouts name.

Upstream: argo-workflows, workflow/controller/workflowpod.go (createWorkflowPod): claims, node selector, affinity,
tolerations, scheduler and priority of a template count before those of the workflow, each as a whole; volumes add up.
How often a template runs, its steps, loops and parameters decide.

Strategic merge patches of a pod's spec, as objects of other projects carry them in a text. Upstream:
k8s.io/apimachinery, pkg/util/strategicpatch (StrategicMergePatch) with the merge keys of PodSpec
(k8s.io/api/core/v1/types.go). Directives (``$patch`` and the like) are left to the real one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at
from kubectl_dra.api.workloads.argo_steps import in_order
from kubectl_dra.api.workloads.left_out import unread
from kubectl_dra.api.workloads.nested import texts
from kubectl_dra.api.workloads.stages import each_alone
from kubectl_dra.api.workloads.templates import CountSource, Expansion, MadeTemplate

GROUP: Final = "argoproj.io"
_SPECS: Final[Mapping[str, str]] = {
    "Workflow": "spec",
    "WorkflowTemplate": "spec",
    "ClusterWorkflowTemplate": "spec",
    "CronWorkflow": "spec.workflowSpec",
}
_CATALOGS: Final = frozenset({"WorkflowTemplate", "ClusterWorkflowTemplate"})
_TAKEN_OVER: Final = ("resourceClaims", "nodeSelector", "affinity", "tolerations", "schedulerName", "priorityClassName")
_MAIN: Final = "main"
#: Lists that are merged, by the field that tells their items apart; all others are replaced as a whole.
_KEYS: Final[Mapping[str, str]] = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "resourceClaims": "name",
    "imagePullSecrets": "name",
    "schedulingGates": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "env": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
}
#: What can't be applied here: parameters that are filled in later, directives, and YAML that refers to itself.
_LEFT: Final = re.compile(r"\{\{|[\"']?\$[a-zA-Z]+[/\"':]|(?:^|[\s,\[{:-])[&*]\w", re.MULTILINE)
_MAX: Final = 1 << 16
_DEPTH: Final = 32


def is_workflow(group: str, kind: str) -> bool:
    """Whether it is an object of Argo Workflows that has templates."""
    return group == GROUP and kind in _SPECS


def workflow(tree: Tree, kind: str) -> Expansion:
    """The pods of the templates, as often as the entrypoint says plainly, else each once."""
    path = _SPECS[kind]
    spec = at(tree, path)
    listed = spec.get("templates")
    templates, untried = [], ""
    for index, body in enumerate(listed if isinstance(listed, list) else ()):
        where = f"{path}.templates[{index}]"
        if not isinstance(body, dict) or not (made := _pod_spec(spec, body)):
            continue
        made, unclear = _with_patches(made, {path: spec, where: body})
        if unclear:
            untried = untried or f"{unclear} changes its pods, and is applied when they are made"
            continue
        name = body.get("name")
        role = name if isinstance(name, str) else ""
        meta = body.get("metadata")
        whole = {"metadata": meta if isinstance(meta, dict) else {}, "spec": made}
        templates.append(MadeTemplate(where, whole, role=role, count=CountSource.UNKNOWN, spec_at=where))
    reference = at(spec, "workflowTemplateRef").get("name")
    if isinstance(reference, str) and not templates:
        untried = f"its pods are described by WorkflowTemplate {reference}"
    suspended = at(tree, "spec").get("suspend") is True
    known = in_order(spec, path, templates) if not untried else None
    untried = untried or next((unread(text) for text, _, _ in texts(tree)), "")
    return Expansion(tuple(known or each_alone(templates)), True, kind in _CATALOGS, suspended, untried)


def _with_patches(made: dict[str, Any], holders: Mapping[str, Tree]) -> tuple[dict[str, Any], str]:
    """The pod's spec with the patches of its workflow and its template, and the one that can't be applied here.

    Upstream: workflow/controller/workflowpod.go (processPodSpecPatch), workflow/util (ApplyPodSpecPatch).
    """
    for where, holder in holders.items():
        text = holder.get("podSpecPatch")
        patch = read_patch(text) if text else {}
        if patch is None:
            return made, f"{where}.podSpecPatch"
        made = patched(made, patch)
    return made, ""


def described_by(tree: Tree, group: str, kind: str) -> str:
    """What a Rollout refers to in place of a template (``spec.workloadRef``); empty where it has its own."""
    spec = at(tree, "spec")
    if (group, kind) != (GROUP, "Rollout") or spec.get("template"):
        return ""
    reference = at(spec, "workloadRef")
    words = [reference.get("kind"), reference.get("name")]
    return " ".join(word for word in words if isinstance(word, str) and word)


def _pod_spec(spec: Tree, body: Tree) -> dict[str, Any]:
    """The spec of the pod that runs a template; empty for one that only leads to others."""
    containers = [{"name": _MAIN, **each} for each in map(body.get, ("container", "script")) if isinstance(each, dict)]
    containers += list(_items(at(body, "containerSet"), "containers"))
    if not containers:
        return {}
    made: dict[str, Any] = {"containers": [*containers, *_items(body, "sidecars")], "restartPolicy": "Never"}
    if waiting := list(_items(body, "initContainers")):
        made["initContainers"] = waiting
    if volumes := [*_items(spec, "volumes"), *_items(body, "volumes")]:
        made["volumes"] = volumes
    for field in _TAKEN_OVER:
        own = body.get(field) or spec.get(field)
        if own:
            made[field] = own
    priority = spec.get("podPriorityClassName")
    if priority and not body.get("priorityClassName"):
        made["priorityClassName"] = priority
    if spec.get("hostNetwork") is True:
        made["hostNetwork"] = True
    return made


def _items(tree: Tree, field: str) -> Iterator[dict[str, Any]]:
    found = tree.get(field)
    return (each for each in (found if isinstance(found, list) else ()) if isinstance(each, dict))


def read_patch(text: object) -> dict[str, Any] | None:
    """The patch that a text holds, as YAML or JSON; None where it can't be applied here."""
    if not isinstance(text, str) or len(text) > _MAX or _LEFT.search(text):
        return None
    import yaml  # few objects carry a patch

    try:
        patch = yaml.safe_load(text)
        json.dumps(patch)
    except (yaml.YAMLError, TypeError, ValueError, RecursionError):
        return None
    return patch if isinstance(patch, dict) and all(isinstance(key, str) for key in patch) else None


def patched(value: Mapping[str, Any], patch: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """The value with the patch: mappings are merged, null removes a field."""
    merged = dict(value)
    for key, new in patch.items():
        old = merged.get(key)
        if new is None:
            merged.pop(key, None)
        elif isinstance(new, dict) and depth < _DEPTH:
            merged[key] = patched(old if isinstance(old, dict) else {}, new, depth + 1)
        elif isinstance(new, list) and isinstance(old, list) and key in _KEYS:
            merged[key] = _merged(old, new, _KEYS[key], depth)
        else:
            merged[key] = new
    return merged


def _merged(old: list[Any], new: list[Any], key: str, depth: int) -> list[Any]:
    """The items with those of the patch: one with the same key is merged, any other comes after them."""
    items = list(old)
    for item in new:
        name = item.get(key) if isinstance(item, dict) else None
        there = next((n for n, each in enumerate(items) if isinstance(each, dict) and each.get(key) == name), None)
        if name is None or there is None:
            items.append(item)
        else:
            items[there] = patched(items[there], item, depth + 1)
    return items
