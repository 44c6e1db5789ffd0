"""Whole objects inside of another object, which its controller creates: AppWrappers and the like.

Their pods are found by ``expand``; here are the objects that these pods name. What a kind carries that does nothing
else, as Open Cluster Management's ManifestWork, stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from kubectl_dra.api.kinds import PERSISTENT_VOLUME_CLAIM, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, find_kind
from kubectl_dra.api.trees import Tree, at, below, group_of, list_at, mapping, text_at
from kubectl_dra.api.workloads.left_out import tells_of_claims

_DEPTH: Final = 8
#: What pods name by itself.
_WANTED: Final = (RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, PERSISTENT_VOLUME_CLAIM)
#: Kinds that do nothing but carry whole objects, which are applied as they are -> where these stand. Upstream:
#: open-cluster-management-io/api (work/v1, work/v1alpha1), karmada-io/karmada (pkg/apis/work/v1alpha1), openshift/hive
#: (apis/hive/v1), crossplane-contrib/provider-kubernetes (apis/{cluster,namespaced}/object).
_CARRIERS: Final = {
    ("work.open-cluster-management.io", "ManifestWork"): "spec.workload.manifests",
    ("work.open-cluster-management.io", "ManifestWorkReplicaSet"): "spec.manifestWorkTemplate.workload.manifests",
    ("work.karmada.io", "Work"): "spec.workload.manifests",
    ("hive.openshift.io", "SyncSet"): "spec.resources",
    ("hive.openshift.io", "SelectorSyncSet"): "spec.resources",
    ("kubernetes.crossplane.io", "Object"): "spec.forProvider.manifest",
    ("kubernetes.m.crossplane.io", "Object"): "spec.forProvider.manifest",
}
#: Steps of Argo that make something.
_MAKES: Final = (None, "", "create", "apply")
_PLACES_NO_POD: Final = ("annotations", "args", "command", "env", "image")
#: Names with placeholders are those of templates, of which other objects are made first.
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


def nested(tree: Tree) -> Iterator[dict[str, Any]]:
    """Claims and templates in an object of a kind that is none of ours, in its namespace where they name none."""
    api_version, kind = tree.get("apiVersion"), tree.get("kind")
    if find_kind(str(api_version or ""), str(kind or "")) is None:
        namespace = at(tree, "metadata").get("namespace")
        yield from _found(mapping(tree.get("spec")), namespace if isinstance(namespace, str) else "", 0)


def manifests(tree: Tree) -> list[dict[str, Any]]:
    """The objects in one of a kind that does nothing but carry them."""
    path = _CARRIERS.get((group_of(tree.get("apiVersion")), text_at(tree, "kind")), "")
    holder, _, field = path.rpartition(".")
    value = at(tree, holder).get(field)
    return [each for each in map(mapping, value if isinstance(value, list) else [value]) if each]


def texts(tree: Tree) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The texts about claims in a ConfigMap or in what steps of Argo make: path, and the mapping and field of each.

    A program makes pods of a ConfigMap's, as Airflow does (``pod_template_file``). Upstream: argo-workflows,
    pkg/apis/workflow/v1alpha1 (ResourceTemplate).
    """
    found = list[tuple[str, dict[str, Any], str]]()
    if (tree.get("apiVersion"), tree.get("kind")) == ("v1", "ConfigMap"):
        data = at(tree, "data")
        found = [(below("data", name), data, name) for name in data]
    elif group_of(tree.get("apiVersion")) == "argoproj.io":
        spec = at(tree, "spec.workflowSpec") or at(tree, "spec")
        for number, each in enumerate(map(mapping, list_at(spec, "templates"))):
            resource = at(each, "resource")
            if resource.get("action") in _MAKES:
                found.append((f"{each.get('name') or number}.resource.manifest", resource, "manifest"))
    for path, holder, field in found:
        if tells_of_claims(text_at(holder, field)):
            yield path, holder, field


def is_template(value: object) -> bool:
    """Whether something is put into an object before it is created, in other places than those that place no pod."""
    if isinstance(value, str):
        return "{{" in value or "${" in value
    if isinstance(value, dict):
        return any(key not in _PLACES_NO_POD and is_template(child) for key, child in value.items())
    return isinstance(value, list) and any(map(is_template, value))


def _found(value: Any, namespace: str, depth: int) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any JSON value
    if depth > _DEPTH:
        return
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        known = find_kind(str(mapping(child).get("apiVersion") or ""), str(mapping(child).get("kind") or ""))
        if known is None:
            yield from _found(child, namespace, depth + 1)
            continue
        meta = mapping(mapping(child).get("metadata"))
        if known in _WANTED and _NAME.fullmatch(str(meta.get("name") or "")):
            named = {"namespace": namespace} if namespace and not meta.get("namespace") else {}
            yield {**mapping(child), "metadata": {**meta, **named}}
