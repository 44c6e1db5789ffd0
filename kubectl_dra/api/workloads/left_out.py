"""Parts of an object that make pods of which it says nothing: a number beside parts with templates, and no template.

Their operator makes such pods by itself (Dynamo's frontends), or takes the template from somewhere else (KServe: the
endpoint picker, pkg/controller/v1alpha1/llmisvc/scheduler.go).

Objects that say something of claims, and in which nothing looks like a pod: what they make is not known. Operators' own
resources name a template for the pods that they make; values of charts and manifests inside of texts (ConfigMaps,
releases, applications) do so as well. None of them may pass for an object without devices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, group_of, list_at
from kubectl_dra.api.workloads.templates import MadeTemplate

_DEPTH: Final = 12
_NUMBERS: Final = ("replicas", "instances")
_SERVICE: Final = ("serving.kserve.io", "LLMInferenceService")
_PICKER: Final = "router.scheduler"
_MENTION_DEPTH: Final = 40
#: Definitions of kinds describe such fields, and have none.
_DESCRIBING: Final = frozenset({"status", "openAPIV3Schema", "validation"})
_NAMES: Final = frozenset({"resourceClaimName", "resourceClaimTemplateName", "deviceClassName"})
_AMOUNTS: Final = ("limits", "requests")
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

#: Upstream: tektoncd/pipeline, pkg/apis/pipeline/pod/template.go (Template).
TEKTON: Final = "tekton.dev"
_NO_CLAIMS_OF_PODS: Final = (
    " names claims, and pods of Tekton have none, as its podTemplate has no resourceClaims: the API server refuses "
    "them. Request an extended resource that the class serves instead, in limits beside it"
)
#: Its webhook decodes strictly (cmd/webhook/main.go).
_NO_SUCH_FIELD: Final = (
    " is not a field of Tekton's, whose webhook refuses it: its pods have no claims. Request an extended resource "
    "that the class serves instead, in the limits of a step's computeResources"
)

#: Upstream: knative/serving, pkg/apis/serving/fieldmask.go (PodSpecMask, ResourceRequirementsMask).
_KNATIVE: Final = "serving.knative.dev"
_MODE: Final = "serving.kserve.io/deploymentMode"
_NO_CLAIMS_OF_KNATIVE: Final = (
    "must not set the field(s): Knative's webhook admits no claims of pods. Request an extended resource that the "
    "class serves instead, in limits of the container"
)

#: Objects that say nothing of devices, and whose pods have some.
_MADE: Final = {("kaito.sh", "Workspace"): "KAITO makes its pods, and nodes for them"}


def left_out(tree: Tree, group: str, kind: str, templates: Sequence[MadeTemplate], *, known: bool) -> tuple[str, ...]:
    """What an object with ``templates`` calls such parts; of ``known`` kinds the templates are all that there is."""
    if (group, kind) == _SERVICE:
        router = at(tree, "spec.router")
        picker = "scheduler" in router and not at(router, "scheduler").keys() & {"template", "pool"}
        return (_PICKER,) if picker and templates else ()
    return () if known or not templates else tuple(_search(tree, "", [each.path for each in templates], 0))


def _search(value: Any, path: str, found: Sequence[str], depth: int) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Only what stands beside parts with templates is a part."""
    if depth > _DEPTH:
        return
    for here, name, child in _children(value, path):
        if any(_leads(here, each) for each in found):
            yield from _search(child, here, found, depth + 1)
        elif isinstance(child, dict) and any(_is_positive(child.get(field)) for field in _NUMBERS):
            yield name


def _children(value: Any, path: str) -> Iterator[tuple[str, str, Any]]:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        for key, child in value.items():
            yield f"{path}.{key}".lstrip("."), str(key), child
    for index, child in enumerate(value) if isinstance(value, list) else ():
        name = child.get("name") if isinstance(child, dict) else None
        yield f"{path}[{index}]", name if isinstance(name, str) else str(index), child


def _leads(path: str, to: str) -> bool:
    return to == path or (to.startswith(path) and to[len(path)] in ".[")


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def refused_claims(spec: Tree, path: str, tree: Tree) -> Iterator[str]:
    """What the webhook of a project has against the claims of a pod template of an object.

    KServe makes a Knative Service where an annotation says so (kserve/kserve, pkg/constants, DeploymentMode).
    """
    mode = at(tree, "metadata.annotations").get(_MODE)
    by_kserve = mode in ("Serverless", "Knative")
    if (by_kserve or group_of(tree.get("apiVersion")) == _KNATIVE) and list_at(spec, "resourceClaims"):
        other = f"; or have KServe make a Deployment ({_MODE}: Standard)" if by_kserve else ""
        yield f"{path}.resourceClaims: {_NO_CLAIMS_OF_KNATIVE}{other}"


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


def tells_of_claims(text: str) -> bool:
    """Whether a text of several lines names claims, as in manifests."""
    return "\n" in text and _TEXT.search(text) is not None


def unread(path: str) -> str:
    """Why nothing of a text is tried."""
    return f"the text in {path} is about claims, and is not read"


def mention(tree: Tree, group: str = "", kind: str = "") -> str:
    """What an object says of devices, as the reason why nothing of it is tried; empty where it says nothing."""
    found = _mentioned(tree, "", 0)
    where, is_about, _ = found.partition(" is about claims of its pods")
    if group == TEKTON and is_about:
        return where + (_NO_CLAIMS_OF_PODS if where.endswith(".claims") else _NO_SUCH_FIELD)
    return found or _MADE.get((group, kind), "")


def _mentioned(value: Any, path: str, depth: int) -> str:  # noqa: ANN401 - any JSON value
    if depth > _MENTION_DEPTH:
        return ""
    if isinstance(value, str):
        return unread(path) if tells_of_claims(value) else ""
    if isinstance(value, list):
        inside = (_mentioned(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value))
        return next(filter(None, inside), "")
    if not isinstance(value, dict):
        return ""
    for key, child in value.items():
        here = f"{path}.{key}".lstrip(".") if _is_plain(key) else f'{path}["{key}"]'
        if path.lower().endswith("resources") and (resource := _extended(key, child)) is not None:
            return f"{here} has {resource} for its pods, and these stand nowhere in it: its operator makes them"
        if _is_about_claims(key, child) or (path.lower().endswith("resources") and _uses_claims(key, child)):
            return f"{here} is about claims of its pods, and these stand nowhere in it: its operator makes them"
        if key not in _DESCRIBING and (found := _mentioned(child, here, depth + 1)):
            return found
    return ""


def _is_about_claims(key: str, value: object) -> bool:
    if key in _NAMES:
        return isinstance(value, str) and bool(value)
    listed = isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
    return key == "resourceClaims" and listed


def _uses_claims(key: str, value: object) -> bool:
    """Whether it is the claims that a container uses, under its resources (``computeResources`` of others)."""
    names = [each.get("name") for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return key == "claims" and any(isinstance(each, str) and each for each in names)


def _extended(key: str, value: object) -> str | None:
    """The first amount of a resource that is none of Kubernetes' own, as containers have them under resources."""
    amounts = value if key in _AMOUNTS and isinstance(value, dict) else {}
    found = (name for name, amount in amounts.items() if isinstance(name, str) and amount)
    return next((name for name in found if "/" in name and "kubernetes.io/" not in name), None)


def _is_plain(key: object) -> bool:
    return isinstance(key, str) and key.replace("-", "").replace("_", "").isalnum()
