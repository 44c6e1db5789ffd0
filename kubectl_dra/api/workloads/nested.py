"""Whole objects inside of another object, which its controller creates: AppWrappers and the like.

Their pods are found by ``expand``; here are the objects that these pods name. What goes into namespaces of their own,
as from Open Cluster Management's ManifestWork or Karmada's Work, stands for itself.
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
#: Longer texts are not manifests that somebody has written.
_MAX_TEXT: Final = 1 << 16
_IS_OBJECT: Final = re.compile(r"^apiVersion:.*^kind:|^kind:.*^apiVersion:", re.MULTILINE | re.DOTALL)
#: Names with placeholders are those of templates, of which other objects are made first.
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


def nested(tree: Tree) -> Iterator[dict[str, Any]]:
    """Claims and templates in an object of a kind that is none of ours, in its namespace where they name none."""
    api_version, kind = tree.get("apiVersion"), tree.get("kind")
    if find_kind(str(api_version or ""), str(kind or "")) is None:
        namespace = at(tree, "metadata").get("namespace")
        yield from _found(mapping(tree.get("spec")), namespace if isinstance(namespace, str) else "", 0)


def manifests(tree: Tree) -> list[dict[str, Any]]:
    """All whole objects in one of a kind that is none of ours, if one of them is meant for another namespace."""
    if find_kind(str(tree.get("apiVersion") or ""), str(tree.get("kind") or "")) is not None:
        return []
    found = list(_whole(mapping(tree.get("spec")), 0))
    own = text_at(at(tree, "metadata"), "namespace")
    return found if any(text_at(at(each, "metadata"), "namespace") not in ("", own) for each in found) else []


def _whole(value: Any, depth: int) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any JSON value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        meta = at(child, "metadata")
        named = _NAME.fullmatch(text_at(meta, "name") or text_at(meta, "generateName").rstrip("-"))
        if named and text_at(mapping(child), "apiVersion") and text_at(mapping(child), "kind"):
            yield mapping(child)
        elif depth < _DEPTH:
            yield from _whole(child, depth + 1)


def texts(tree: Tree) -> Iterator[tuple[str, str]]:
    """Texts about claims that may be manifests, by their paths: those of ConfigMaps, and what steps of Argo create.

    A program makes pods of a ConfigMap's, as Airflow does (``pod_template_file``). Upstream: argo-workflows,
    pkg/apis/workflow/v1alpha1 (ResourceTemplate).
    """
    found: Iterator[tuple[str, Any]] = iter(())
    if (tree.get("apiVersion"), tree.get("kind")) == ("v1", "ConfigMap"):
        found = ((below("data", name), text) for name, text in at(tree, "data").items())
    elif group_of(tree.get("apiVersion")) == "argoproj.io":
        spec = at(tree, "spec.workflowSpec") or at(tree, "spec")
        steps = enumerate(map(mapping, list_at(spec, "templates")))
        found = (
            (f"{each.get('name') or number}.resource.manifest", at(each, "resource").get("manifest"))
            for number, each in steps
        )
    for path, text in found:
        if isinstance(text, str) and len(text) <= _MAX_TEXT and tells_of_claims(text) and _IS_OBJECT.search(text):
            yield path, text


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
