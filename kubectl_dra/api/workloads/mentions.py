"""Objects that say something of claims, and in which nothing looks like a pod: what they make is not known.

Operators' own resources name a template for the pods that they make; values of charts and manifests inside of texts
(ConfigMaps, releases, applications) do so as well. None of them may pass for an object without devices.
"""

from __future__ import annotations

import re
from typing import Any, Final

from kubectl_dra.api.trees import Tree

_DEPTH: Final = 40
#: Definitions of kinds describe such fields, and have none.
_DESCRIBING: Final = frozenset({"status", "openAPIV3Schema", "validation"})
_NAMES: Final = frozenset({"resourceClaimName", "resourceClaimTemplateName", "deviceClassName"})
_TEXT: Final = re.compile(
    r"""^[ \t]*(?:-[ \t]+)?["']?(?:resourceClaims|resourceClaimName|resourceClaimTemplateName|deviceClassName)["']?:""",
    re.MULTILINE,
)


#: Objects from which another program makes the manifests -> how its user gets these. Names are put in as they stand.
_RENDERED: Final[dict[tuple[str, str], str]] = {
    ("template.openshift.io", "Template"): "oc process -f FILE",
    ("argoproj.io", "Application"): "argocd app manifests {}",
    ("helm.toolkit.fluxcd.io", "HelmRelease"): "helm template CHART -f VALUES",
    ("kustomize.toolkit.fluxcd.io", "Kustomization"): "flux build kustomization {} --path DIR",
}


def rendered(tree: Tree, group: str, kind: str) -> str:
    """Why nothing of an object is tried from which another program makes the manifests; empty of all others."""
    how = _RENDERED.get((group, kind), "")
    if not how:
        return ""
    meta = tree.get("metadata")
    name = meta.get("name") if isinstance(meta, dict) else None
    said, _, _ = mention(tree).partition(", and ")
    line = how.format(name if isinstance(name, str) and _is_plain(name) else "NAME")
    return f"{f'{said}; ' if said else ''}what is made of it can be: {line} | kubectl dra simulate -f -"


def mention(tree: Tree) -> str:
    """What an object says of claims, as the reason why nothing of it is tried; empty where it says nothing."""
    return _search(tree, "", 0)


def _search(value: Any, path: str, depth: int) -> str:  # noqa: ANN401 - any JSON value
    if depth > _DEPTH:
        return ""
    if isinstance(value, str):
        return f"the text in {path} is about claims, and is not read" if "\n" in value and _TEXT.search(value) else ""
    if isinstance(value, list):
        inside = (_search(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value))
        return next(filter(None, inside), "")
    if not isinstance(value, dict):
        return ""
    for key, child in value.items():
        here = f"{path}.{key}".lstrip(".") if _is_plain(key) else f'{path}["{key}"]'
        if _is_about_claims(key, child):
            return f"{here} is about claims of its pods, and these stand nowhere in it: its operator makes them"
        if key not in _DESCRIBING and (found := _search(child, here, depth + 1)):
            return found
    return ""


def _is_about_claims(key: str, value: object) -> bool:
    if key in _NAMES:
        return isinstance(value, str) and bool(value)
    listed = isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
    return key == "resourceClaims" and listed


def _is_plain(key: object) -> bool:
    return isinstance(key, str) and key.replace("-", "").replace("_", "").isalnum()
