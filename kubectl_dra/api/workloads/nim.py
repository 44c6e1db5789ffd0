"""Services of NVIDIA's NIM operator: the pods that it makes, and the templates of claims that it writes for them.

Upstream: NVIDIA/k8s-nim-operator, api/apps/v1alpha1 (nimservice_types.go, dra_types.go), internal/shared
(resourceclaims.go) and internal/controller/platform/standalone (nimservice.go, addGPUResources): a Deployment, or a
LeaderWorkerSet with ``multiNode``; claims of ``draResources`` are for all containers, and resources name none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, list_at, mapping, number_of, text_at
from kubectl_dra.api.workloads.templates import MAX_PODS, CountField, Expansion, Growth, MadeTemplate

GROUP: Final = "apps.nvidia.com"
KIND: Final = "NIMService"
_GPU: Final = "nvidia.com/gpu"
_DRIVER: Final = "gpu.nvidia.com"
_PATH: Final = "spec"
#: Fields of a pod's spec that the service has under the same names.
_COPIED: Final = ("nodeSelector", "tolerations", "affinity", "schedulerName", "priorityClassName", "runtimeClassName")
#: k8s.io/apimachinery, util/rand: letters and digits of made names.
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_FNV_OFFSET, _FNV_PRIME, _FNV_SIZE = 0x811C9DC5, 0x01000193, 0xFFFFFFFF
_HASH: Final = 12
_VALUES: Final = {"boolValue": "bool", "intValue": "int", "stringValue": "string", "versionValue": "version"}
_OPERATORS: Final = {
    "Equal": "==",
    "NotEqual": "!=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}


def service(tree: Tree) -> Expansion:
    """The pods of a service; of one whose number of GPUs stands in the profile of a model, why they are not known."""
    spec = at(tree, _PATH)
    multi = mapping(spec.get("multiNode"))
    if multi.get("computeDomain"):
        return Expansion(known=True, untried="its operator makes a ComputeDomain, and claims for that, for its pods")
    if not list_at(spec, "draResources") and not multi and not _requests_gpus(spec):
        what = "its operator takes the number of its GPUs from the profile of its model"
        return Expansion(known=True, untried=what)
    body = {"metadata": {"labels": mapping(spec.get("labels"))}, "spec": _pod(tree, multi)}
    copies, field, growth = _replicas(spec)
    made = MadeTemplate(_PATH, body, copies=copies, spec_at=_PATH, counted_by=CountField(((field, copies),)))
    made = replace(made, growth=growth)
    size = number_of(mapping(multi.get("parallelism")).get("pipeline"), 1) or 1
    if not multi or size == 1:
        return Expansion((made,), known=True)
    workers = min(copies * (size - 1), MAX_PODS)
    by = CountField(((field, copies),), size - 1)
    return Expansion(
        (replace(made, role="leader"), replace(made, role="worker", copies=workers, counted_by=by)), known=True
    )


def _requests_gpus(spec: Tree) -> bool:
    resources = mapping(spec.get("resources"))
    return any(_GPU in mapping(resources.get(name)) for name in ("requests", "limits"))


def _replicas(spec: Tree) -> tuple[int, str, Growth | None]:
    scale = mapping(spec.get("scale"))
    if scale.get("enabled") is not True:
        return min(number_of(spec.get("replicas"), 1), MAX_PODS), "spec.replicas", None
    bounds = mapping(scale.get("hpa"))
    least, most = number_of(bounds.get("minReplicas"), 1), number_of(bounds.get("maxReplicas"), 0)
    growth = Growth("its autoscaler", most) if most > least else None
    return min(least, MAX_PODS), "spec.scale.hpa.minReplicas", growth


def _pod(tree: Tree, multi: Tree) -> dict[str, Any]:
    spec, name = at(tree, _PATH), text_at(at(tree, "metadata"), "name")
    entries, claims = [], list[dict[str, str]]()
    for index, each in enumerate(list_at(spec, "draResources")):
        entry = {"name": f"claim-{index}", **_source(name, index, mapping(each))}
        entries.append(entry)
        requests = [request for request in list_at(mapping(each), "requests") if isinstance(request, str)]
        named = [{"name": entry["name"], "request": request} for request in requests]
        claims += named or [{"name": entry["name"]}]
    own = mapping(spec.get("resources"))
    resources = {field: dict(mapping(own.get(field))) for field in ("requests", "limits")}
    if multi and not entries and not _requests_gpus(spec):
        gpus = number_of(mapping(multi.get("parallelism")).get("tensor"), 1) or 1
        resources = {field: {**amounts, _GPU: str(gpus)} for field, amounts in resources.items()}
    image = mapping(spec.get("image"))
    main = {
        "name": f"{name}-ctr",
        "image": f"{image.get('repository')}:{image.get('tag')}",
        "resources": {**resources, **({"claims": claims} if claims else {})},
    }
    more = {"resources": {"claims": claims}} if claims else {}
    sidecars = [
        {"name": each["name"], "image": "sidecar", **more}
        for each in map(mapping, list_at(spec, "sidecarContainers"))
        if isinstance(each.get("name"), str)
    ]
    copied = {field: spec[field] for field in _COPIED if spec.get(field)}
    return {"containers": [main, *sidecars], **({"resourceClaims": entries} if entries else {}), **copied}


def _source(name: str, index: int, resource: Tree) -> dict[str, str]:
    for field in ("resourceClaimName", "resourceClaimTemplateName"):
        if text_at(resource, field):
            return {field: text_at(resource, field)}
    return {"resourceClaimTemplateName": _template_name(name, index, mapping(resource.get("claimCreationSpec")))}


def _template_name(name: str, index: int, wanted: Tree) -> str:
    return f"{text_at(wanted, 'generateName') or 'claimtemplate'}-{_hashed(name)}-{index}"


def _hashed(name: str) -> str:
    """Upstream: internal/utils/utils.go, GetTruncatedStringHash (FNV-1a, in letters that make no words)."""
    found = _FNV_OFFSET
    for byte in name.encode():
        found = ((found ^ byte) * _FNV_PRIME) & _FNV_SIZE
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(found))[:_HASH]


# --- templates of claims ----------------------------------------------------------------------------------------------


def claim_templates(tree: Tree) -> Iterator[dict[str, Any]]:
    """The templates that the operator writes for ``claimCreationSpec``."""
    meta = at(tree, "metadata")
    named = {"namespace": meta["namespace"]} if isinstance(meta.get("namespace"), str) else {}
    for index, each in enumerate(list_at(at(tree, _PATH), "draResources")):
        wanted = mapping(mapping(each).get("claimCreationSpec"))
        devices = [_request(device) for device in map(mapping, list_at(wanted, "devices"))]
        if devices:
            yield {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaimTemplate",
                "metadata": {"name": _template_name(text_at(meta, "name"), index, wanted), **named},
                "spec": {"spec": {"devices": {"requests": devices}}},
            }


def _request(device: Tree) -> dict[str, Any]:
    driver = text_at(device, "driverName") or _DRIVER
    written = [each for each in list_at(device, "celExpressions") if isinstance(each, str)]
    attributes = (_attribute(each, driver) for each in map(mapping, list_at(device, "attributeSelectors")))
    amounts = (_amount(each, driver) for each in map(mapping, list_at(device, "capacitySelectors")))
    texts = [*written, *filter(None, attributes), *filter(None, amounts)]
    exactly = {
        "deviceClassName": text_at(device, "deviceClassName") or _DRIVER,
        "allocationMode": "ExactCount",
        "count": device.get("count", 1),
        **({"selectors": [{"cel": {"expression": text}} for text in texts]} if texts else {}),
    }
    return {"name": device.get("name"), "exactly": exactly}


def _operand(kind: str, key: str, driver: str) -> str:
    domain, slash, name = key.partition("/")
    return f"device.{kind}[{json.dumps(domain if slash else driver)}].{name if slash else key}"


def _attribute(selector: Tree, driver: str) -> str:
    """Upstream: internal/k8sutil/cel/cel.go, BuildExpr."""
    operator = _OPERATORS.get(text_at(selector, "op") or "Equal", "==")
    left = _operand("attributes", text_at(selector, "key"), driver)
    value = mapping(selector.get("value"))
    kind, found = next(((_VALUES[field], value[field]) for field in _VALUES if field in value), ("", None))
    if kind == "version":
        return f"({left}).compareTo(semver({json.dumps(found)})) {operator} 0"
    return f"{left} {operator} {json.dumps(found)}" if kind else ""


def _amount(selector: Tree, driver: str) -> str:
    operator = _OPERATORS.get(text_at(selector, "op") or "Equal", "==")
    left = _operand("capacity", text_at(selector, "key"), driver)
    value = selector.get("value")
    return f"({left}).compareTo(quantity({json.dumps(str(value))})) {operator} 0" if value is not None else ""
