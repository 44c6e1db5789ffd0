"""JSON patches of pod specs: where a change of a pod stands in the spec that it is made in, and the new value.

The spec is the pod's own, or that of the template that makes it: admission and the API server add to pods what their
templates do not have.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kubectl_dra.diagnosis.remedies.claim_instead import ENTRY
from kubectl_dra.diagnosis.remedies.company import HOST_PORTS
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.diagnosis.remedies.runtimes import FIELD as RUNTIME
from kubectl_dra.model.core import PodSpec

Change = tuple[str, Any]


def pod_changes(action: EditPod, spec: PodSpec) -> Sequence[Change]:
    """JSON pointers below ``spec``, with the new values (None: remove); none where there is nothing to change."""
    name = action.field.partition("[")[0]
    if name == "resources.claim":
        return tuple(_claim_instead(action, spec))
    if name in ("resources", "containers"):
        return tuple(_resource_changes(action, spec))
    if name == "resourceClaims" and not action.after:
        return tuple(_dropped_entry(action, spec))
    if name == RUNTIME:
        return tuple(_other_runtime(action, spec))
    if name == HOST_PORTS:
        return tuple(_other_ports(action, spec))
    if name == "claims":
        return tuple(_named_claim(action, spec))
    if name.startswith("resourceClaims."):
        return tuple(_other_source(action, spec))
    if name == "nodeSelector" and action.after:
        return tuple(_other_label(action, spec))
    change = _pod_change(action, spec)
    return () if change is None else (change,)


def _dropped_entry(action: EditPod, spec: PodSpec) -> Iterator[Change]:
    """One of two entries that name the same claim; what refers to it then refers to the other one."""
    name = in_brackets(action.field)
    entries = spec.resource_claims
    other = next((e.name for e in entries if e.name != name and e.resource_claim_name == action.before), "")
    for kind, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for position, container in enumerate(containers):
            used = container.resources.claims
            # From the end, as what is removed moves what comes after it.
            for index, claim in reversed(list(enumerate(used))):
                if claim.name == name:
                    path = f"/{kind}/{position}/resources/claims/{index}"
                    double = any((each.name, each.request) == (other, claim.request) for each in used)
                    yield (path, None) if double else (f"{path}/name", other)
    yield from ((f"/resourceClaims/{i}", None) for i, entry in enumerate(entries) if entry.name == name)


def _other_ports(action: EditPod, spec: PodSpec) -> Iterator[Change]:
    """Containers' ports with other host ports in place of some numbers, or without."""
    before = list(map(int, action.before.split(",")))
    after: list[int | None] = list(map(int, action.after.split(","))) if action.after else [None] * len(before)
    other = dict(zip(before, after, strict=True))
    for kind, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for position, container in enumerate(containers):
            for index, port in enumerate(container.ports):
                if port.host_port in other:
                    yield f"/{kind}/{position}/ports/{index}/hostPort", other[port.host_port]


def _other_label(action: EditPod, spec: PodSpec) -> Iterator[Change]:
    """A label (``KEY=VALUE``) in place of another one of the node selector."""
    key, (instead, _, value) = in_brackets(action.field), action.after.partition("=")
    if key in spec.node_selector:
        if key != instead:
            yield f"/nodeSelector/{_pointer(key)}", None
        yield f"/nodeSelector/{_pointer(instead)}", value


def _other_runtime(action: EditPod, spec: PodSpec) -> Iterator[Change]:
    """Another RuntimeClass, and nothing of what the former one has put into a pod."""
    yield "/runtimeClassName", action.after or None
    if spec.overhead:
        yield "/overhead", None
    labels = in_brackets(action.field).split(",")
    yield from ((f"/nodeSelector/{_pointer(key)}", None) for key in labels if key in spec.node_selector)


def _named_claim(action: EditPod, spec: PodSpec) -> Iterator[Change]:
    """An entry of the pod's claims that a container names."""
    wanted, value = in_brackets(action.field), {"name": action.after}
    for position, container in enumerate(spec.containers):
        if container.name == wanted:
            yield _appended(f"/containers/{position}/resources/claims", value, container.resources.claims)


def _claim_instead(action: EditPod, spec: PodSpec) -> Iterator[Change]:
    """A claim made from a template in place of an extended resource of one container."""
    wanted = in_brackets(action.field)
    for position, container in enumerate(spec.containers):
        path, resources = f"/containers/{position}/resources", container.resources
        amounts = {"limits": resources.limits, "requests": resources.requests}
        if container.name != wanted or not any(action.before in each for each in amounts.values()):
            continue
        for kind, each in amounts.items():
            if action.before in each:
                yield f"{path}/{kind}/{_pointer(action.before)}", None
        yield _appended(f"{path}/claims", {"name": ENTRY}, resources.claims)
        entry = {"name": ENTRY, "resourceClaimTemplateName": action.after}
        yield _appended("/resourceClaims", entry, spec.resource_claims)


def _appended(path: str, value: Any, known: Sequence[object]) -> Change:  # noqa: ANN401 - any JSON value
    return (f"{path}/-", value) if known else (path, [value])


def _other_source(action: EditPod, spec: PodSpec) -> Iterator[Change]:
    """An entry that names a claim where it named a template, or the other way around."""
    sources = ["resourceClaimName", "resourceClaimTemplateName"]
    new, old = sources if ".claim[" in action.field else reversed(sources)
    name = in_brackets(action.field)
    for position, entry in enumerate(spec.resource_claims):
        if entry.name == name:
            yield f"/resourceClaims/{position}/{old}", None
            yield f"/resourceClaims/{position}/{new}", action.after


def _resource_changes(action: EditPod, spec: PodSpec) -> Iterator[Change]:
    """Another amount of a resource of one container, or another resource's name in all containers."""
    name, _, rest = action.field.partition("[")
    only, of_default, resource = rest.removesuffix("]").partition("].resources.requests[")
    if of_default:
        yield from _own_request(only, resource, action.after, spec)
        return
    only, _, resource = rest.removesuffix("]").partition("].resources[")
    for position, container in enumerate(spec.containers):
        for kind, amounts in (("limits", container.resources.limits), ("requests", container.resources.requests)):
            path = f"/containers/{position}/resources/{kind}/"
            if name == "resources" and action.before in amounts:
                yield path + _pointer(action.before), None
                yield path + _pointer(action.after), str(amounts[action.before])
            elif container.name == only and resource in amounts:
                yield path + _pointer(resource), action.after


def _own_request(container: str, resource: str, value: str, spec: PodSpec) -> Iterator[Change]:
    """An amount of a container that has written none."""
    for position, each in enumerate(spec.containers):
        if each.name == container:
            path, known = f"/containers/{position}/resources/requests", each.resources.requests
            yield (f"{path}/{_pointer(resource)}", value) if known else (path, {resource: value})


def _pod_change(action: EditPod, spec: PodSpec) -> Change | None:
    name, key = action.field.partition("[")[0], in_brackets(action.field)
    if name == "schedulerName":
        return ("/schedulerName", action.after or "default-scheduler") if spec.scheduler_name else None
    if name == "nodeName":
        return ("/nodeName", None) if spec.node_name else None
    if name == "nodeSelector":
        return (f"/nodeSelector/{_pointer(key)}", None) if key in spec.node_selector else None
    if name.startswith("affinity.pod"):
        return _without_term(name.partition(".")[2], int(key), spec)
    if name == "topologySpreadConstraints":
        return _spread(action, spec)
    if name == "volumes":
        position = next((i for i, volume in enumerate(spec.volumes) if volume.name == key), None)
        path = f"/volumes/{position}/persistentVolumeClaim/claimName"
        return None if position is None else (path, action.after)
    if name == "affinity.nodeAffinity":
        known = spec.affinity is not None and spec.affinity.node_affinity is not None
        return ("/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution", None) if known else None
    if name == "tolerations":
        value = toleration(action.after)
        return ("/tolerations/-", value) if spec.tolerations else ("/tolerations", [value])
    if name == "resourceClaims":
        position = next((i for i, entry in enumerate(spec.resource_claims) if entry.name == key), None)
        return None if position is None else _claim_reference(spec, position, action.after)
    return None


def _without_term(part: str, index: int, spec: PodSpec) -> Change | None:
    """Without one required term about other pods."""
    affinity = spec.affinity
    found = None if affinity is None else affinity.pod_affinity if part == "podAffinity" else affinity.pod_anti_affinity
    if found is None or index >= len(found.required_during_scheduling_ignored_during_execution):
        return None
    return f"/affinity/{part}/requiredDuringSchedulingIgnoredDuringExecution/{index}", None


def _spread(action: EditPod, spec: PodSpec) -> Change | None:
    key, _, field = action.field.partition("[")[2].rpartition("].")
    position = next(
        (
            index
            for index, each in enumerate(spec.topology_spread_constraints)
            if (each.topology_key, each.when_unsatisfiable) == (key, "DoNotSchedule")
        ),
        None,
    )
    value: int | str = int(action.after) if field in ("maxSkew", "minDomains") else action.after
    return None if position is None else (f"/topologySpreadConstraints/{position}/{field}", value)


def toleration(taint: str) -> dict[str, str]:
    """A toleration of ``KEY[=VALUE]:EFFECT``."""
    head, _, effect = taint.rpartition(":")
    key, equals, value = head.partition("=")
    operator = {"operator": "Equal", "value": value} if equals else {"operator": "Exists"}
    return {"key": key, **operator, "effect": effect}


def _claim_reference(spec: PodSpec, position: int, name: str) -> Change:
    template = spec.resource_claims[position].resource_claim_template_name is not None
    return f"/resourceClaims/{position}/resourceClaim{'Template' if template else ''}Name", name


def patch_text(changes: Iterable[Change], prefix: str = "") -> str:
    """The JSON patch that makes the changes below ``prefix``."""
    return json.dumps([_operation(prefix + path, value) for path, value in changes])


def _operation(path: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return {"op": "remove", "path": path} if value is None else {"op": "add", "path": path, "value": value}


def pointer(*keys: str) -> str:
    """A JSON pointer made of keys."""
    return "".join(f"/{_pointer(key)}" for key in keys)


def _pointer(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def in_brackets(field: str) -> str:
    """``gpu`` of ``resourceClaims[gpu]``."""
    return field.partition("[")[2].removesuffix("]")
