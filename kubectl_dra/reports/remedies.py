"""Remedies with the steps that the API allows: commands as words, manifests as objects. Nothing is executed.

Specs of claims and templates are immutable, so an edit replaces the object: ``kubectl replace --force`` deletes and
creates. A pending pod keeps waiting for a claim of that name; a claim made from a template is deleted, and the claim
controller makes a new one from the new template. Pod specs are immutable too, so a pod is replaced.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef, PodDiagnosis
from kubectl_dra.diagnosis.remedies import Proposal, find
from kubectl_dra.diagnosis.remedies.records import (
    Action,
    DeleteClaim,
    DeletePod,
    EditClaim,
    EditClass,
    EditPod,
    LabelNamespace,
    RemedyKind,
    RemoveGates,
    RemoveTaintRule,
    Uncordon,
)
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate, ResourceClaimTemplateSpec
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.invocations import Words, kubectl, of, plain_word

Change = tuple[str, Any]

# Which version of a claim every server has from some minor on: schedulers up to 1.33 themselves speak v1beta1.
_SINCE: Final = ((34, "v1"), (32, "v1beta1"), (31, "v1alpha3"))
# What the server fills in; a new object must not carry it.
_SERVER_METADATA: Final = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")


class Step(ReportRecord, frozen=True):
    """One thing to do: commands, each reading the output of the one before, the first one reading ``manifest``."""

    commands: tuple[Words, ...]
    manifest: dict[str, Any] | None = None


class RemedyReport(ReportRecord, frozen=True):
    """A remedy and how to carry it out; no steps where only a person knows how (a driver, a new device)."""

    kind: RemedyKind
    actions: tuple[Action, ...]
    verified: bool
    nodes: tuple[str, ...]
    steps: tuple[Step, ...]


class FoundRemedies(ReportRecord, frozen=True):
    """The ways out in the order of their numbers: verified ones first, each part with the cheapest first.

    ``no_pair_helps``: two changes at a time were tried too, and none of them helps.
    """

    remedies: tuple[RemedyReport, ...] = ()
    no_pair_helps: bool = False


def find_remedies(world: ClusterState, diagnosis: PodDiagnosis, *, keep: Collection[Key] = ()) -> FoundRemedies:
    """What could be done about a pod, without deleting the pods to ``keep``."""
    found = find(world, diagnosis, keep=keep)
    reports = sorted((_report(world, proposal) for proposal in found.proposals), key=lambda each: not each.verified)
    return FoundRemedies(tuple(reports), found.none_of_size_two)


def remedy_reports(world: ClusterState, diagnosis: PodDiagnosis) -> tuple[RemedyReport, ...]:
    """The ways out alone."""
    return find_remedies(world, diagnosis).remedies


def _report(world: ClusterState, proposal: Proposal) -> RemedyReport:
    remedy = proposal.remedy
    found = [_steps(action, world, proposal.changed) for action in remedy.actions]
    complete = all(steps is not None for steps in found)
    steps = tuple(step for each in found if each is not None for step in each) if complete else ()
    return RemedyReport(remedy.kind, remedy.actions, remedy.verified, remedy.nodes, steps)


def _steps(action: Action, world: ClusterState, changed: Inventory | None) -> Sequence[Step] | None:
    """The steps of one action; None where there are none that a command could take."""
    make = _MAKERS.get(type(action))
    if isinstance(action, EditClaim):
        return tuple(_edited_claim(action, world, changed)) or None
    if isinstance(action, EditPod):
        return tuple(_edited_pod(action, world.inventory)) or None
    words = None if make is None else make(action)
    return None if words is None else (Step((words,)),)


def _delete_pod(action: DeletePod) -> Words | None:
    return kubectl("delete", of("pod", action.pod.name, action.pod.namespace))


def _delete_claim(action: DeleteClaim) -> Words | None:
    return kubectl("delete", of("resourceclaim", action.claim.name, action.claim.namespace))


def _remove_gates(action: RemoveGates) -> Words | None:
    patch = _patch("/spec/schedulingGates")
    return kubectl("patch", of("pod", action.pod.name, action.pod.namespace), "--type=json", "-p", patch)


def _remove_rule(action: RemoveTaintRule) -> Words | None:
    return kubectl("delete", of("devicetaintrule", action.rule))


def _label(action: LabelNamespace) -> Words | None:
    return kubectl("label", of("namespace", action.namespace), plain_word(f"{action.label}={action.value}"))


def _uncordon(action: Uncordon) -> Words | None:
    return kubectl("uncordon", of("node", action.node))


def _edit_class(action: EditClass) -> Words | None:
    index = action.field.partition("[")[2].removesuffix("]")
    path = f"/spec/selectors/{index}" + ("/cel/expression" if action.after else "")
    patch = _patch(path, action.after or None)
    return kubectl("patch", of("deviceclass", action.device_class), "--type=json", "-p", patch)


_MAKERS: Final[dict[type, Callable[[Any], Words | None]]] = {
    DeletePod: _delete_pod,
    DeleteClaim: _delete_claim,
    RemoveGates: _remove_gates,
    RemoveTaintRule: _remove_rule,
    LabelNamespace: _label,
    Uncordon: _uncordon,
    EditClass: _edit_class,
}


def lacks_a_name(remedy: RemedyReport) -> bool:
    """Whether there are no steps because an object has a name that the API can't hold."""
    return not remedy.steps and any(map(_is_unnameable, remedy.actions))


def _is_unnameable(action: Action) -> bool:
    if (make := _MAKERS.get(type(action))) is not None:
        return make(action) is None
    named: tuple[ObjectRef | None, ...] = ()
    if isinstance(action, EditClaim):
        named = (action.claim, action.template)
    elif isinstance(action, EditPod):
        named = (action.workload or action.pod,)
    return any(ref is not None and of(ref.kind.lower(), ref.name, ref.namespace) is None for ref in named)


# --- edited claims --------------------------------------------------------------------------------------------------


def _edited_claim(action: EditClaim, world: ClusterState, changed: Inventory | None) -> Iterator[Step]:
    claim = changed.claims.get(action.claim.key) if changed is not None else None
    version = next((version for since, version in _SINCE if world.features.minor >= since), None)
    if claim is None or version is None:
        return
    delete = _delete_claim(DeleteClaim(action.claim, ()))
    if delete is None:
        return
    if action.template is None:
        yield _replace(json.loads(encode(_unallocated(claim), RESOURCE_CLAIM, RESOURCE_CLAIM.api_version_of(version))))
        return
    template = world.inventory.templates.get(action.template.key)
    if template is not None and of("resourceclaimtemplate", action.template.name) is not None:
        spec = ResourceClaimTemplateSpec(template.spec.metadata, claim.spec)
        edited = ResourceClaimTemplate(metadata=template.metadata, spec=spec)
        api_version = RESOURCE_CLAIM_TEMPLATE.api_version_of(version)
        yield _replace(json.loads(encode(edited, RESOURCE_CLAIM_TEMPLATE, api_version)))
        yield Step((delete,))


def _unallocated(claim: ResourceClaim) -> ResourceClaim:
    return ResourceClaim(metadata=claim.metadata, spec=claim.spec)


def _replace(manifest: dict[str, Any]) -> Step:
    for name in _SERVER_METADATA:
        manifest["metadata"].pop(name, None)
    manifest["metadata"].pop("ownerReferences", None)
    return Step((("kubectl", "replace", "--force", "-f", "-"),), manifest)


# --- edited pods ----------------------------------------------------------------------------------------------------


def _edited_pod(action: EditPod, inventory: Inventory) -> Iterator[Step]:
    pod = inventory.pods.get(action.pod.key)
    changes = _pod_changes(action, pod) if pod is not None else ()
    if not changes:
        return
    if action.workload is not None:
        yield from _patched_workload(action.workload, changes)
        return
    target = of("pod", action.pod.name, action.pod.namespace)
    patch = kubectl("patch", target, "--type=json", "-p", _patches("/spec", changes), "--dry-run=client", "-o", "yaml")
    if patch is not None:
        yield Step((patch, ("kubectl", "replace", "--force", "-f", "-")))


def _patched_workload(workload: ObjectRef, changes: Sequence[Change]) -> Iterator[Step]:
    prefix = "/spec/jobTemplate/spec/template/spec" if workload.kind == "CronJob" else "/spec/template/spec"
    target = of(workload.kind.lower(), workload.name, workload.namespace)
    patch = kubectl("patch", target, "--type=json", "-p", _patches(prefix, changes))
    if patch is not None:
        yield Step((patch,))


def _pod_changes(action: EditPod, pod: Pod) -> Sequence[Change]:
    """JSON pointers below the pod's spec, with the new values (None: remove)."""
    if action.field.partition("[")[0] in ("resources", "containers"):
        return tuple(_resource_changes(action, pod))
    if action.field.startswith("resourceClaims[") and not action.after:
        return tuple(_dropped_entry(action, pod))
    change = _pod_change(action, pod)
    return () if change is None else (change,)


def _dropped_entry(action: EditPod, pod: Pod) -> Iterator[Change]:
    """One of two entries that name the same claim; what refers to it then refers to the other one."""
    name = action.field.partition("[")[2].removesuffix("]")
    entries = pod.spec.resource_claims
    other = next((e.name for e in entries if e.name != name and e.resource_claim_name == action.before), "")
    for kind, containers in (("initContainers", pod.spec.init_containers), ("containers", pod.spec.containers)):
        for position, container in enumerate(containers):
            used = container.resources.claims
            # From the end, as what is removed moves what comes after it.
            for index, claim in reversed(list(enumerate(used))):
                if claim.name == name:
                    path = f"/{kind}/{position}/resources/claims/{index}"
                    double = any((each.name, each.request) == (other, claim.request) for each in used)
                    yield (path, None) if double else (f"{path}/name", other)
    yield from ((f"/resourceClaims/{i}", None) for i, entry in enumerate(entries) if entry.name == name)


def _resource_changes(action: EditPod, pod: Pod) -> Iterator[Change]:
    """Another amount of a resource of one container, or another resource's name in all containers."""
    name, _, rest = action.field.partition("[")
    only, _, resource = rest.removesuffix("]").partition("].resources[")
    for position, container in enumerate(pod.spec.containers):
        for kind, amounts in (("limits", container.resources.limits), ("requests", container.resources.requests)):
            path = f"/containers/{position}/resources/{kind}/"
            if name == "resources" and action.before in amounts:
                yield path + _pointer(action.before), None
                yield path + _pointer(action.after), str(amounts[action.before])
            elif container.name == only and resource in amounts:
                yield path + _pointer(resource), action.after


def _pod_change(action: EditPod, pod: Pod) -> Change | None:
    """The JSON pointer below the pod's spec, and the new value (None: remove)."""
    name, _, rest = action.field.partition("[")
    key = rest.removesuffix("]")
    if name == "schedulerName":
        return "/schedulerName", action.after or "default-scheduler"
    if name == "nodeSelector" and not action.after:
        return f"/nodeSelector/{_pointer(key)}", None
    if name == "affinity.nodeAffinity":
        return "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution", None
    if name == "tolerations":
        value = _toleration(action.after)
        return ("/tolerations/-", value) if pod.spec.tolerations else ("/tolerations", [value])
    if name == "resourceClaims":
        position = next((i for i, entry in enumerate(pod.spec.resource_claims) if entry.name == key), None)
        return None if position is None else _claim_reference(pod, position, action.after)
    return None


def _toleration(taint: str) -> dict[str, str]:
    """A toleration of ``KEY[=VALUE]:EFFECT``."""
    head, _, effect = taint.rpartition(":")
    key, equals, value = head.partition("=")
    operator = {"operator": "Equal", "value": value} if equals else {"operator": "Exists"}
    return {"key": key, **operator, "effect": effect}


def _claim_reference(pod: Pod, position: int, name: str) -> tuple[str, Any]:
    template = pod.spec.resource_claims[position].resource_claim_template_name is not None
    return f"/resourceClaims/{position}/resourceClaim{'Template' if template else ''}Name", name


def _patch(path: str, value: Any = None) -> str:  # noqa: ANN401 - any JSON value
    return _patches("", ((path, value),))


def _patches(prefix: str, changes: Sequence[Change]) -> str:
    found = ((prefix + path, value) for path, value in changes)
    return json.dumps([_operation(path, value) for path, value in found])


def _operation(path: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return {"op": "remove", "path": path} if value is None else {"op": "add", "path": path, "value": value}


def _pointer(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
