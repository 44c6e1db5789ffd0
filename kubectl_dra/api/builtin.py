"""Pods and the workloads that Kubernetes itself has: fields that no server knows, and what every server refuses.

The fields are those of a server of the newest version (``builtin_fields.json``, written by tools/fields.py). Of other
kinds' pod templates the pod is looked at, since their controllers create it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec

from kubectl_dra.api.quantities import decode_hook
from kubectl_dra.api.trees import Tree, at, below, list_at, mapping
from kubectl_dra.model.core import Pod, PodSpec, ResourceRequirements
from kubectl_dra.model.names import is_label, is_subdomain
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.requests import HUGE_PAGES, amount, container_requests, is_overcommitted, is_pod_level

_TYPES: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "s": ((str,), "a text"),
    "i": ((int,), "a number"),
    "b": ((bool,), "true or false"),
}
#: (apiVersion, kind) -> the type, and where its pod template stands.
_KINDS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("v1", "Pod"): ("Pod",),
    ("v1", "PodTemplate"): ("PodTemplate", "template"),
    ("v1", "ReplicationController"): ("ReplicationController", "spec", "template"),
    ("apps/v1", "Deployment"): ("Deployment", "spec", "template"),
    ("apps/v1", "StatefulSet"): ("StatefulSet", "spec", "template"),
    ("apps/v1", "DaemonSet"): ("DaemonSet", "spec", "template"),
    ("apps/v1", "ReplicaSet"): ("ReplicaSet", "spec", "template"),
    ("batch/v1", "Job"): ("Job", "spec", "template"),
    ("batch/v1", "CronJob"): ("CronJob", "spec", "jobTemplate", "spec", "template"),
}
#: The groups that Kubernetes itself has, or once had, such kinds in.
_GROUPS: Final = frozenset({"", "apps", "batch", "extensions"})
_SELECTING: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})
_JOBS: Final = frozenset({"Job", "CronJob"})
#: How many pods a workload makes, and how often a Job tries.
_COUNTS: Final = ("replicas", "parallelism", "completions", "backoffLimit")
_NO_LIMIT: Final = "Limit must be set for non overcommitable resources"
_NEGATIVE: Final = "must be greater than or equal to 0"
_SERVER_MADE: Final = frozenset({"status", "metadata"})


def is_builtin(api_version: str, kind: str) -> bool:
    return (api_version, kind) in _KINDS


def version_of(kind: str, written: str) -> str:
    """The version that has a kind of Kubernetes itself; empty for others, and for kinds of other projects' groups."""
    return next((version for version, known in _KINDS if known == kind), "") if has_group(written) else ""


def has_group(api_version: str) -> bool:
    """Whether a version is of a group that Kubernetes itself has such kinds in, or of none."""
    return api_version.rpartition("/")[0] in _GROUPS


def unknown(tree: Tree, api_version: str, kind: str) -> list[str]:
    """The paths of the fields that no server knows, in the order of the object."""
    return [path for path, what in _walked(tree, api_version, kind) if what is None]


def known_fields(api_version: str, kind: str, path: Sequence[str]) -> tuple[str, ...]:
    """The fields that may stand at the end of ``path``."""
    name = _KINDS[api_version, kind][0]
    for step in path:
        field = _table().get(name, {}).get(step, "")
        name = field.strip("[{!")
    return tuple(_table().get(name, ()))


def refusals(tree: Tree, api_version: str, kind: str) -> list[str]:
    """What the API server says about an object that it refuses, as far as pods and their claims are concerned."""
    found = [f"{path}: {what}" for path, what in _walked(tree, api_version, kind) if what]
    name = (tree.get("metadata") or {}).get("name") if (api_version, kind) in _KINDS else None
    if isinstance(name, str) and not is_subdomain(name):
        found.append(f'metadata.name: Invalid value: "{name}": must be a lowercase RFC 1123 subdomain')
    if not found:
        found += _workload(tree, api_version, kind)
    return list(dict.fromkeys(found))


# --- fields -----------------------------------------------------------------------------------------------------------


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    text = resources.files("kubectl_dra.api").joinpath("builtin_fields.json").read_text(encoding="utf-8")
    table: Mapping[str, Mapping[str, str]] = json.loads(text)
    return table


def _walked(tree: Tree, api_version: str, kind: str) -> Iterator[tuple[str, str | None]]:
    if (api_version, kind) in _KINDS:
        yield from _check(tree, _KINDS[api_version, kind][0], "")


def _check(value: Any, name: str, path: str) -> Iterator[tuple[str, str | None]]:  # noqa: ANN401 - any JSON value
    """Places that are wrong: with what is wrong, or None where no server knows the field."""
    if value is None or name == "x":
        return
    if name in _TYPES:
        types, what = _TYPES[name]
        if not isinstance(value, types) or (isinstance(value, bool) and name != "b"):
            yield path, f"expected {what}, got {_kind_of(value)}"
        return
    if name[0] in "[{":
        yield from _several(value, name, path)
        return
    if not isinstance(value, dict):
        yield path, f"expected an object, got {_kind_of(value)}"
        return
    fields = _table()[name]
    for key, child in value.items():
        here = below(path, key)
        if key not in fields:
            yield here, None
        elif key not in _SERVER_MADE or path:
            yield from _check(child, fields[key].rstrip("!"), here)
    for key, kind in fields.items():
        if kind.endswith("!") and value.get(key) is None and key not in ("apiVersion", "kind"):
            yield below(path, key), "Required value"


def _several(value: Any, name: str, path: str) -> Iterator[tuple[str, str | None]]:  # noqa: ANN401 - any JSON value
    inner = name[1:]
    if name[0] == "[" and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _check(item, inner, f"{path}[{index}]")
    elif name[0] == "{" and isinstance(value, dict):
        for key, item in value.items():
            yield from _check(item, inner, below(path, key))
    else:
        yield path, f"expected {'a list' if name[0] == '[' else 'an object'}, got {_kind_of(value)}"


def _kind_of(value: object) -> str:
    names = ((bool, "true or false"), (str, "a text"), (int, "a number"), (float, "a number"), (list, "a list"))
    return next((name for kind, name in names if isinstance(value, kind)), "an object")


# --- rules ------------------------------------------------------------------------------------------------------------


def _workload(tree: Tree, api_version: str, kind: str) -> Iterator[str]:
    steps = _KINDS.get((api_version, kind))
    if steps is None:
        return
    template: Any = tree
    for step in steps[1:]:
        template = template.get(step) if isinstance(template, dict) else None
    path = ".".join((*steps[1:], "spec"))
    if len(steps) > 2:
        maker = ".".join(steps[1:-1])
        yield from _numbers(at(tree, maker), maker)
    if not isinstance(template, dict) or not isinstance(template.get("spec"), dict):
        yield f"{path}: Required value"
        return
    if kind in _SELECTING:
        yield from _selector(tree, template)
    policy = template["spec"].get("restartPolicy", "Always")
    if kind in _JOBS and policy not in ("Never", "OnFailure"):
        yield f'{path}.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    if kind in (*_SELECTING, "ReplicationController") and policy != "Always":
        yield f'{path}.restartPolicy: Unsupported value: "{policy}": supported values: "Always"'
    yield from _pod(template["spec"], path)


def _selector(tree: Tree, template: Tree) -> Iterator[str]:
    labels = (template.get("metadata") or {}).get("labels") or {}
    selector = (tree.get("spec") or {}).get("selector") or {}
    matched = selector.get("matchLabels") or {}
    if not matched and not selector.get("matchExpressions"):
        yield "spec.selector: Invalid value: {}: empty selector is invalid for deployment"
    elif any(labels.get(key) != value for key, value in matched.items()):
        yield "spec.template.metadata.labels: Invalid value: `selector` does not match template `labels`"


def _pod(spec: Tree, path: str) -> Iterator[str]:
    yield from claim_refusals(spec, path)
    yield from amount_refusals(spec, path)
    if not spec.get("containers"):
        yield f"{path}.containers: Required value"
    for here, container in _containers(spec, path):
        if not container.get("image"):
            yield f"{here}.image: Required value"


def amount_refusals(spec: Tree, path: str) -> Iterator[str]:
    """What validation says of amounts (upstream: pkg/apis/core/validation, validateResourceRequirements)."""
    whole = [(path, spec)] if mapping(spec.get("resources")) else []
    yield from _pod_level(spec, path) if whole else ()
    for here, holder in (*whole, *_containers(spec, path)):
        resources_ = mapping(holder.get("resources"))
        limits, requests = (_amounts(mapping(resources_.get(field))) for field in ("limits", "requests"))
        for field, amounts in (("limits", limits), ("requests", requests)):
            for name, given in amounts.items():
                if not here.endswith("]") and not is_pod_level(name):
                    yield (
                        f'{here}.resources.{field}[{name}]: Unsupported value: "{name}": supported values: "cpu", '
                        '"hugepages-", "memory" (request it in a container)'
                    )
                elif not is_overcommitted(name) and not name.startswith(HUGE_PAGES) and not _is_whole(given):
                    yield f'{here}.resources.{field}[{name}]: Invalid value: "{given}": must be an integer'
                if given.sign < 0:
                    yield f'{here}.resources.{field}[{name}]: Invalid value: "{given}": {_NEGATIVE}'
        for name, given in requests.items():
            if name not in limits and not is_overcommitted(name):
                yield f"{here}.resources.limits: Required value: {_NO_LIMIT} ({name})"
            limit = limits.get(name, given)
            if given.cmp(limit) and not is_overcommitted(name):
                rule = "equal to"
            elif given.cmp(limit) > 0:
                rule = "less than or equal to"
            else:
                continue
            yield f'{here}.resources.requests: Invalid value: "{given}": must be {rule} {name} limit of {limit}'


def _pod_level(spec: Tree, path: str) -> Iterator[str]:
    """What a pod requests as a whole is no less than its containers do (upstream: validatePodResourceConsistency)."""
    try:
        pod = Pod(spec=msgspec.json.decode(msgspec.json.encode(spec), type=PodSpec, dec_hook=decode_hook))
    except msgspec.ValidationError:
        return
    own, sums = pod.spec.resources or ResourceRequirements(), container_requests(pod)
    for name, quantity in own.requests.items():
        if is_pod_level(name) and amount(name, quantity) < sums.get(name, 0):
            least = Quantity(sums[name], -3 if name == "cpu" else 0, quantity.format)
            rule = f"must be greater than or equal to aggregate container requests of {least}"
            yield f'{path}.resources.requests[{name}]: Invalid value: "{quantity}": {rule}'
    for index, container in enumerate(pod.spec.containers):
        for name, limit in container.resources.limits.items():
            most = own.limits.get(name, limit)
            if limit.cmp(most) > 0:
                here = f"{path}.resources.containers[{index}][{name}].limits"
                yield f'{here}: Invalid value: "{limit}": must be less than or equal to pod limits of {most}'


def _is_whole(given: Quantity) -> bool:
    """In thousandths, which round up (upstream: ValidateResourceQuantityValue)."""
    return given.at_scale(-3)[0] % 1000 == 0


def _amounts(given: Tree) -> dict[str, Quantity]:
    """Those that can be read; what is wrong with others is said where the object is decoded."""
    found = {}
    for name, value in given.items():
        with suppress(ValueError, TypeError):
            found[name] = decode_hook(Quantity, value)
    return {name: each for name, each in found.items() if isinstance(each, Quantity)}


def _numbers(spec: Tree, path: str) -> Iterator[str]:
    """Counts of pods below 0 (upstream: ValidateDeploymentSpec and its like)."""
    for field in _COUNTS:
        number = spec.get(field)
        if isinstance(number, int) and number < 0:
            yield f"{path}.{field}: Invalid value: {number}: {_NEGATIVE}"


def claim_refusals(spec: Tree, path: str) -> Iterator[str]:
    """What validation says of claims in a pod (upstream: pkg/apis/core/validation, validatePodResourceClaims)."""
    names: list[str] = []
    for index, entry in enumerate(each for each in list_at(spec, "resourceClaims") if isinstance(each, dict)):
        here, name = f"{path}.resourceClaims[{index}]", str(entry.get("name", ""))
        if not is_label(name):
            yield f'{here}.name: Invalid value: "{name}": must be a DNS label'
        if name in names:
            yield f'{here}.name: Duplicate value: "{name}"'
        names.append(name)
        given = [key for key in ("resourceClaimName", "resourceClaimTemplateName") if entry.get(key) is not None]
        if len(given) > 1:
            yield f"{here}: Invalid value: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be set"
        if not given and "source" not in entry:
            yield f"{here}: Invalid value: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
    # Upstream: validatePodResources.
    if mapping(spec.get("resources")).get("claims") is not None:
        yield (
            f"{path}.resources.claims: Forbidden: claims may not be set for Resources at pod-level "
            "(name them under resources.claims of a container)"
        )
    for here, container in _containers(spec, path):
        yield from _uses(mapping(container.get("resources")), f"{here}.resources", names)


def _containers(spec: Tree, path: str) -> Iterator[tuple[str, Tree]]:
    for group in ("containers", "initContainers"):
        for index, container in enumerate(list_at(spec, group)):
            yield f"{path}.{group}[{index}]", mapping(container)


def _uses(resources_: Tree, path: str, entries: Sequence[str]) -> Iterator[str]:
    """What is wrong with the claims of a container; which there are is said beside the server's words."""
    seen: set[tuple[str, str]] = set()
    for index, claim in enumerate(map(mapping, list_at(resources_, "claims"))):
        name, request = str(claim.get("name", "")), str(claim.get("request") or "")
        here = f"{path}.claims[{index}]"
        if name not in entries:
            there = ", ".join(f'"{each}"' for each in dict.fromkeys(entries)) or "none"
            yield f'{here}.name: Not found: "{name}" (resourceClaims of the pod: {there})'
        if request and not is_label(request):
            hint = " (a request of the claim, not one of its alternatives)" if "/" in request else ""
            yield f'{here}.request: Invalid value: "{request}": must be a DNS label{hint}'
        if (name, request) in seen or (name, "") in seen or (not request and any(each == name for each, _ in seen)):
            yield f'{here}: Duplicate value: "{name}{"/" if request else ""}{request}"'
        seen.add((name, request))
