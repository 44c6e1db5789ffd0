"""What a claim asks for, request by request: the first thing a person wants to see beside an answer.

Requests that containers name and their claims do not have: nobody refuses that, and the container sees no device.
Upstream: pkg/kubelet/cm/dra/claiminfo.go (cdiDevicesAsList): of a container that names a request only the devices of
this one count; of a request with alternatives (``firstAvailable``) its own name does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.api.quantities import encode_hook
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.explain.class_facts import offers
from kubectl_dra.model.classic import ClassicClaim, classic_of
from kubectl_dra.model.core import Pod
from kubectl_dra.model.forms import forms_of
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.request_parts import INIT, maker_of
from kubectl_dra.model.resource import (
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.devices.advertised import advertised
from kubectl_dra.scheduler.claims import claim_names, sources
from kubectl_dra.scheduler.extended import asked, next_to_serve, request_containers, served_resources

_NODES: Final = 5


class RequestAsk(ReportRecord, frozen=True):
    """One request or one alternative of it (``name`` is then ``request/subrequest``).

    ``count`` is None for mode All. ``tolerations`` are in the form ``key=value:effect``.
    """

    name: str
    device_class: str
    mode: str
    count: int | None
    selectors: tuple[str, ...]
    capacity: dict[str, str]
    tolerations: tuple[str, ...]
    admin_access: bool


class ConstraintAsk(ReportRecord, frozen=True):
    """One constraint: ``kind`` is ``match`` or ``distinct``; no requests means all of them."""

    kind: str
    attribute: str
    requests: tuple[str, ...]


class ClassicAsk(ReportRecord, frozen=True):
    """What only claims of v1alpha2, or for a controller of v1alpha3, ask for; empty where it is not said.

    ``parameters`` is ``KIND[.GROUP] NAME``, ``mode`` Immediate or WaitForFirstConsumer.
    """

    resource_class: str
    parameters: str
    mode: str
    controller: str


class ClaimAsk(ReportRecord, frozen=True):
    """A claim of a pod: ``entry`` is the pod's name for it, ``template`` where it was made from one.

    ``name`` is empty before the claim is made; then the template says what it will ask for. ``template_changed``: the
    template says something else by now; the claim stays as it is.
    """

    entry: str
    namespace: str
    name: str
    template: str
    requests: tuple[RequestAsk, ...]
    constraints: tuple[ConstraintAsk, ...]
    classic: ClassicAsk | None
    template_changed: bool = False


class ExtendedAsk(ReportRecord, frozen=True):
    """An extended resource that a pod asks for, and the class whose devices serve it.

    ``requests``: by the names that the scheduler gives the requests of its own claim, the containers they are for.
    ``passed_over``: the class that has the same ``extendedResourceName`` and would serve the resource if
    ``device_class`` did not, with the number of published devices that it selects. ``init_container``: the one that
    needs more than what runs after it, of which the claim has what is more; ``init_count``: what it needs in all.
    ``twice_on``: some nodes that offer the resource by a device plugin, and devices by a driver of the same vendor.
    """

    resource: str
    count: int
    device_class: str
    requests: dict[str, str]
    passed_over: str = ""
    passed_over_devices: int = 0
    init_container: str = ""
    init_count: int = 0
    twice_on: tuple[str, ...] = ()


def claim_ask(
    claim: ResourceClaim, entry: str = "", template: str | None = None, made_from: ResourceClaimTemplate | None = None
) -> ClaimAsk:
    """What ``claim`` asks for, alternatives listed in order of preference; ``made_from``: its template as it is now."""
    devices = claim.spec.devices
    requests = tuple(ask for request in devices.requests for ask in _request_asks(request))
    constraints = tuple(map(_constraint_ask, devices.constraints))
    classic = _classic_ask(classic_of(claim))
    changed = made_from is not None and not _says_the_same(made_from.spec.spec, claim.spec)
    return ClaimAsk(
        entry, claim.metadata.namespace, claim.metadata.name, template or "", requests, constraints, classic, changed
    )


def _says_the_same(one: ResourceClaimSpec, other: ResourceClaimSpec) -> bool:
    """Whether two specs are equal; parameters of drivers may be written in another order, or with other spaces."""
    return one == other or _written(one) == _written(other)


def _written(spec: ResourceClaimSpec) -> object:
    return msgspec.json.decode(msgspec.json.encode(spec, enc_hook=encode_hook))


def _classic_ask(classic: ClassicClaim | None) -> ClassicAsk | None:
    if classic is None:
        return None
    reference = classic.parameters_ref
    kind = "" if reference is None else ".".join(part for part in (reference.kind, reference.api_group) if part)
    parameters = "" if reference is None else f"{kind} {reference.name}"
    return ClassicAsk(classic.resource_class_name, parameters, classic.allocation_mode, classic.controller)


def _request_asks(request: DeviceRequest) -> tuple[RequestAsk, ...]:
    admin = request.exactly is not None and bool(request.exactly.admin_access)
    return tuple(_exact_ask(name, form, admin) for name, form in forms_of(request))


def _exact_ask(name: str, request: ExactDeviceRequest | DeviceSubRequest, admin: bool) -> RequestAsk:
    mode = request.allocation_mode or "ExactCount"
    return RequestAsk(
        name=name,
        device_class=request.device_class_name,
        mode=mode,
        count=(request.count or 1) if mode == "ExactCount" else None,
        selectors=tuple(each.expression for each in request.selectors),
        capacity={key: str(value) for key, value in (request.capacity.requests if request.capacity else {}).items()},
        tolerations=tuple(map(toleration_text, request.tolerations)),
        admin_access=admin,
    )


def toleration_text(toleration: DeviceToleration) -> str:
    """``key=value:effect for 300 s`` in kubectl's notation; parts that match everything are left out."""
    value = "" if toleration.operator == "Exists" else f"={toleration.value}"
    effect = f":{toleration.effect}" if toleration.effect else ""
    seconds = f" for {toleration.toleration_seconds} s" if toleration.toleration_seconds is not None else ""
    return (f"{toleration.key}{value}{effect}" or "every taint") + seconds


def _constraint_ask(constraint: DeviceConstraint) -> ConstraintAsk:
    if constraint.match_attribute is not None:
        return ConstraintAsk("match", constraint.match_attribute, constraint.requests)
    return ConstraintAsk("distinct", constraint.distinct_attribute or "", constraint.requests)


def pending_asks(key: Key, inventory: Inventory) -> tuple[ClaimAsk, ...]:
    """The claims of a pod, with the pod's name for each and the template it was made from, or will be."""
    pod = inventory.pods.get(key)
    if pod is None:
        return ()
    names, asks = claim_names(pod), []
    for entry in pod.spec.resource_claims:
        name = names.get(entry.name)
        claim = inventory.claims.get(Key(pod.metadata.namespace, name)) if name else None
        template = entry.resource_claim_template_name
        made_from = inventory.templates.get(Key(pod.metadata.namespace, template)) if template else None
        if claim is not None:
            asks.append(claim_ask(claim, entry.name, template, made_from))
        elif made_from is not None and not name:
            asks.append(claim_ask(not_made(made_from), entry.name, template))
    return tuple(asks)


def not_made(template: ResourceClaimTemplate) -> ResourceClaim:
    """The claim that a template will make, without a name."""
    return ResourceClaim(metadata=ObjectMeta(namespace=template.metadata.namespace), spec=template.spec.spec)


class UnfoundRequest(ReportRecord, frozen=True):
    """A ``request`` that a ``container`` names of the pod's ``claim``, which has these ``requests``."""

    container: str
    claim: str
    request: str
    requests: tuple[str, ...]


def unfound_requests(state: ClusterState, pod: Pod) -> Iterator[UnfoundRequest]:
    """Those of claims and templates that are known."""
    known = {entry.name: _spec(state, pod, *sources(entry)) for entry in pod.spec.resource_claims}
    return unfound_of(pod, known)


def unfound_of(pod: Pod, known: Mapping[str, ResourceClaimSpec | None]) -> Iterator[UnfoundRequest]:
    """Those of claims that are ``known``, by the names of the pod's entries."""
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        for claim in container.resources.claims:
            spec = known.get(claim.name)
            names = tuple(each.name for each in spec.devices.requests) if spec is not None else ()
            if spec is not None and claim.request and claim.request not in names:
                yield UnfoundRequest(container.name, claim.name, claim.request, names)


def _spec(state: ClusterState, pod: Pod, claim: str | None, template: str | None) -> ResourceClaimSpec | None:
    namespace, inventory = pod.metadata.namespace, state.inventory
    if claim:
        found = inventory.claims.get(Key(namespace, claim))
        return found.spec if found is not None else None
    made_from = inventory.templates.get(Key(namespace, template or ""))
    return made_from.spec.spec if made_from is not None else None


def unseen_entries(pod: Pod) -> tuple[str, ...]:
    """Entries of ``spec.resourceClaims`` that stand in no container's ``resources.claims``.

    The kubelet prepares their devices, and gives them to no container (upstream: pkg/kubelet/cm/dra/manager.go,
    GetResources). Empty where no container is known, and where one names what there is not: it means one of these.
    """
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    named = {claim.name for container in containers for claim in container.resources.claims}
    entries = [entry.name for entry in pod.spec.resource_claims]
    return tuple(name for name in entries if name not in named) if containers and named <= set(entries) else ()


def extended_asks(key: Key, state: ClusterState) -> tuple[ExtendedAsk, ...]:
    """The extended resources that the pod asks for and a class serves."""
    pod = state.inventory.pods.get(key)
    if pod is None:
        return ()
    served, found = served_resources(state), []
    for name, number in sorted(asked(pod).items()):
        if name in served:
            passed_over, devices = _passed_over(name, state)
            containers, maker = request_containers(pod, name, served), maker_of(pod, name)
            init = maker if maker is not None and maker.field == INIT and maker.peak else None
            twice = _twice(state).get(name, ())[:_NODES]
            ask = ExtendedAsk(
                name, number, served[name].metadata.name, containers, passed_over, devices, twice_on=twice
            )
            if init is not None:
                ask = msgspec.structs.replace(ask, init_container=init.container, init_count=init.amount)
            found.append(ask)
    return tuple(found)


@derived("nodes", "slices", "pods")
def _twice(state: ClusterState) -> Mapping[str, tuple[str, ...]]:
    """By resource the nodes that offer it beside the devices of a driver, in the order of their names."""
    found: dict[str, dict[str, None]] = {}
    for each in advertised(state, sorted(state.inventory.nodes)):
        found.setdefault(each.resource, {})[each.node] = None
    return {resource: tuple(nodes) for resource, nodes in found.items()}


def _passed_over(resource: str, state: ClusterState) -> tuple[str, int]:
    """The class that another one takes the resource from, and how many published devices it selects."""
    name = next_to_serve(state, resource)
    facts = offers(state).of(name) if name else None
    return name, len(facts.devices) if facts is not None else 0
