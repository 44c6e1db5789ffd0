"""Remedies that change what the pod's containers ask of a node: cpu, memory, extended resources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.rejections import added_requests
from kubectl_dra.diagnosis.gates.pod_admission import LIMIT_RANGE, VERTICAL_AUTOSCALER
from kubectl_dra.diagnosis.records import ExtendedResource, NodeOutcome, NodeShortage, ObjectRef, QuotaShortage
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, first_of, merged, pod_edit
from kubectl_dra.diagnosis.remedies.claim_instead import instead
from kubectl_dra.diagnosis.remedies.pod_edits import POD_LEVEL, applied
from kubectl_dra.diagnosis.remedies.records import EXTENDED_NAME, CreateObject, EditClass, EditPod, RemedyKind
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Container
from kubectl_dra.model.forms import class_names
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.model.request_parts import BURSTABLE, GUARANTEED, QUALITY_RESOURCES, is_guaranteed, lowered, requested
from kubectl_dra.model.requests import HUGE_PAGES, amount, quantity_of
from kubectl_dra.model.resource import DeviceClass, ResourceClaim
from kubectl_dra.scheduler.extended import CLAIM_NAME, asked, served_resources
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX, is_dra_extended_resource

_AMOUNT_COST: Final = 36
_NAME_COST: Final = 32
#: Before a request is given up that stands alone.
_TWICE_COST: Final = 30
_CREATE_COST: Final = 22
_SERVE_COST: Final = 21
_NODE_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
# Smaller numbers that are tried.
_STEPS: Final = 64


def candidates(case: Case) -> Iterator[Candidate]:
    for cause in case.causes(Code.EXTENDED_RESOURCE_UNSERVED):
        if isinstance(cause.detail, ExtendedResource):
            yield from _unserved(case, cause.detail)
    for cause in case.causes(Code.NODE_RESOURCES):
        if isinstance(cause.detail, NodeShortage) and cause.detail.resource != "pods":
            yield from _as_much_as_is_left(case, cause.detail, cause.nodes)
    yield from _within_quota(case)
    for resource in {c.detail.resource for c in case.causes(Code.NODE_RESOURCES) if isinstance(c.detail, NodeShortage)}:
        # Nodes offer it by a device plugin; a class may have the same hardware elsewhere.
        if is_dra_extended_resource(resource) and resource not in served_resources(case.state):
            yield from _served_by(case, resource)
            for name in _namesakes(case, resource):
                yield from instead(case, resource, name)
    if _lacks_extended(case) or _forbids_own_claim(case):
        for resource in asked(case.pod):
            if resource in served_resources(case.state):
                yield from _fewer(case, resource)
                yield from _not_twice(case, resource)


def _unserved(case: Case, detail: ExtendedResource) -> Iterator[Candidate]:
    """Another name that a class serves, or a class that serves this one; a claim where no class can serve any."""
    for name in detail.similar:
        yield pod_edit(case, "resources", detail.resource, name, _NAME_COST)
    if not case.state.features.extended_resource:
        # The server would drop what a class says of it.
        for name in _namesakes(case, detail.resource):
            yield from instead(case, detail.resource, name)
        return
    yield from _served_by(case, detail.resource)
    if detail.similar:
        return  # a class for a name that was typed wrong would serve whatever the driver has
    if detail.resource.startswith(DEVICE_CLASS_PREFIX):
        action = CreateObject(ObjectRef("DeviceClass", "", detail.resource.removeprefix(DEVICE_CLASS_PREFIX)))
    else:
        domain, _, name = detail.resource.partition("/")
        free = [f"{name.lower()}.{domain}", f"{name.lower()}-extended.{domain}"]
        unused = next((each for each in free if each not in case.state.inventory.classes), free[0])
        action = CreateObject(ObjectRef("DeviceClass", "", unused), detail.resource)
    yield Candidate(RemedyKind.CREATE_OBJECT, (action,), _CREATE_COST)


def _served_by(case: Case, resource: str) -> Iterator[Candidate]:
    """A class that serves no extended resource yet, and whose name says that it is about the same."""
    for name in _namesakes(case, resource):
        if case.state.inventory.classes[name].spec.extended_resource_name is None:
            action = EditClass(name, EXTENDED_NAME, "", resource)
            change = changes.edit_class(name, _serving(resource))
            yield Candidate(RemedyKind.EDIT_CLASS, (action,), _SERVE_COST, (change,))


def _namesakes(case: Case, resource: str) -> Sequence[str]:
    """The classes whose names say that they are about the same: rather those of the same vendor."""
    domain, _, short = resource.partition("/")
    if resource.startswith(DEVICE_CLASS_PREFIX) or not short:
        return ()
    words = {name: re.split(r"[.-]", name) for name in sorted(case.state.inventory.classes)}
    alike = [name for name in words if short.lower() in words[name] or name == domain]
    return [name for name in alike if domain.partition(".")[0] in words[name]] or alike


def _serving(resource: str) -> Callable[[DeviceClass], DeviceClass]:
    def edit(old: DeviceClass) -> DeviceClass:
        return with_spec(old, extended_resource_name=resource)

    return edit


# --- devices for extended resources -----------------------------------------------------------------------------------


def _lacks_extended(case: Case) -> bool:
    groups = (group for group in case.diagnosis.nodes if group.outcome is NodeOutcome.CANNOT_ALLOCATE)
    return any(report.claim.name == CLAIM_NAME for group in groups for report in group.requests)


def _forbids_own_claim(case: Case) -> bool:
    """Whether a quota forbids the claim that the scheduler makes for extended resources, which no request names."""
    return any(not cause.request for cause in case.causes(Code.QUOTA_EXCEEDED))


def _fewer(case: Case, resource: str) -> Iterator[Candidate]:
    """The largest smaller number that works, of each container that decides alone, or of those that do together."""
    whole, alone = asked(case.pod)[resource], list[Candidate]()
    for container in _containers(case):
        fewer = range(requested(container, resource) - 1, 0, -1)[:_STEPS]
        forms = [_with_amount(case, container, resource, number) for number in fewer]
        alone += first_of([form for form in forms if _asks_less(case, form, resource, whole)])
    together = (_lowered(case, resource, number) for number in range(whole - 1, 0, -1)[:_STEPS])
    yield from alone or first_of([form for forms in together for form in forms])


def _asks_less(case: Case, form: Candidate, resource: str, than: int) -> bool:
    """Whether a pod asks for less with one of its containers changed, beside what an init container needs."""
    (action,) = form.actions
    return isinstance(action, EditPod) and asked(applied(action)(case.pod)).get(resource, 0) < than


def _not_twice(case: Case, resource: str) -> Iterator[Candidate]:
    """No extended resource for a container that has devices of the same class by a claim: one of them was left over."""
    served = served_resources(case.state)[resource].metadata.name
    claims = {name for claim in case.searched for name in case.entries(key_of(claim.metadata)) if _is_of(claim, served)}
    for container in _containers(case):
        if requested(container, resource) and claims & {each.name for each in container.resources.claims}:
            field = f"{_list_of(case, container)}[{container.name}].resources[{resource}]"
            yield pod_edit(case, field, str(container.resources.requests[resource]), "", _TWICE_COST)


def _is_of(claim: ResourceClaim, device_class: str) -> bool:
    return device_class in class_names(claim.spec)


# --- cpu, memory ------------------------------------------------------------------------------------------------------


def _as_much_as_is_left(case: Case, shortage: NodeShortage, nodes: tuple[str, ...]) -> Iterator[Candidate]:
    """The pod asks for less, so that it fits in what its nearest node has left."""
    room = shortage.allocatable - shortage.used
    if _is_of_no_size(shortage.resource):
        return
    for candidate in _lowered(case, shortage.resource, _whole_pages(shortage.resource, room)):
        yield replace(candidate, only=nodes)


def _is_of_no_size(resource: str) -> bool:
    """Whether it is named as huge pages are, and says no size that they can have: the API server refuses that."""
    size = resource.removeprefix(HUGE_PAGES)
    if size == resource:
        return False
    try:
        return amount(resource, Quantity.parse(size)) <= 0
    except QuantityError:
        return True


def _whole_pages(resource: str, room: int) -> int:
    """Of huge pages no parts of one can be requested (pkg/apis/core/validation, ValidateContainerResources)."""
    size = resource.removeprefix(HUGE_PAGES)
    if size == resource:
        return room
    page = amount(resource, Quantity.parse(size))
    return room // page * page


def _within_quota(case: Case) -> Iterator[Candidate]:
    """The pod asks for as much less as the only limit that forbids it is short of."""
    over = [each.detail for each in case.causes(Code.QUOTA_EXCEEDED) if isinstance(each.detail, QuotaShortage)]
    resource = over[0].resource.removeprefix("requests.") if len(over) == 1 else ""
    if resource not in _NODE_RESOURCES or over[0].kind != "Pod":
        return
    used, more, hard = (
        amount(resource, Quantity.parse(each)) for each in (over[0].used, over[0].requested, over[0].hard)
    )
    if used + more > hard:
        yield from _lowered(case, resource, more - (used + more - hard))


def _lowered(case: Case, resource: str, room: int) -> Iterator[Candidate]:
    """What makes the pod ask for more than ``room`` asks for less: its own request, or the containers that exceed it.

    The fewest of them: a request of the pod as a whole takes the place of its containers' (it may not be less than
    their sum), what runs beside each other is added up, and each init container counts beside the sidecars before it.
    """
    parts = lowered(case.pod, resource, room)
    added = added_requests(case.state, case.pod, resource)
    kept = {each.container for each in added if each.kind == VERTICAL_AUTOSCALER}
    if any(container is not None and container.name in kept for container, _ in parts):
        return  # it is set again in each new pod
    edits = [
        _of_pod(case, resource, number) if container is None else _with_amount(case, container, resource, number)
        for container, number in parts
    ]
    if edits:
        yield reduce(merged, edits)


def _of_pod(case: Case, resource: str, number: int) -> Candidate:
    own = case.pod.spec.resources
    assert own is not None  # noqa: S101 - it is what is lowered
    before, after = own.requests[resource], quantity_of(resource, number)
    limits = [each.resources.limits.get(resource, after) for each in _containers(case)]
    quality = _quality(case, resource)
    if quality and any(limit.cmp(after) > 0 for limit in limits):
        quality = BURSTABLE  # no container's limit may be higher than the pod's (validatePodResourceConsistency)
    return pod_edit(case, f"{POD_LEVEL}[{resource}]", str(before), str(after), _AMOUNT_COST, qos_class=quality)


def _with_amount(case: Case, container: Container, resource: str, number: int) -> Candidate:
    before, after = container.resources.requests[resource], quantity_of(resource, number)
    added = added_requests(case.state, case.pod, resource)
    of_default = any(each.kind == LIMIT_RANGE and each.container == container.name for each in added)
    field = f"{_list_of(case, container)}[{container.name}].resources{'.requests' if of_default else ''}[{resource}]"
    return pod_edit(case, field, str(before), str(after), _AMOUNT_COST, qos_class=_quality(case, resource))


def _quality(case: Case, resource: str) -> str:
    """Of a Guaranteed pod, which stays that when its limit is lowered with its request."""
    return GUARANTEED if resource in QUALITY_RESOURCES and is_guaranteed(case.pod) else ""


def _containers(case: Case) -> tuple[Container, ...]:
    return (*case.pod.spec.init_containers, *case.pod.spec.containers)


def _list_of(case: Case, container: Container) -> str:
    return "initContainers" if container in case.pod.spec.init_containers else "containers"
