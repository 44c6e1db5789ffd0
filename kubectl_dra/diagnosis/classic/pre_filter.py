"""What the schedulers of 1.30 and 1.31 decide about a pod with classic claims before they look at any node.

Upstream: PreFilter of the dynamicresources plugin of 1.30 and 1.31, claim by claim in their order.

Parameters of structured claims of 1.30: which objects a class and a claim refer to, and what they ask of drivers.
Upstream: lookupClassParameters, lookupClaimParameters and newClaimController of the 1.30 plugin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from kubectl_dra.allocation.named_resources import DriverDemand, compile_error
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain import pre_filter
from kubectl_dra.diagnosis.explain.pre_filter import PreFilterStop
from kubectl_dra.diagnosis.gates.gates import consumers_of
from kubectl_dra.diagnosis.records import (
    Cause,
    ClassProblem,
    Consumers,
    FatalError,
    Negotiation,
    ObjectRef,
    ParametersProblem,
)
from kubectl_dra.model import classic
from kubectl_dra.model.classic import (
    IMMEDIATE,
    ClassicDeviceClass,
    ClassicResourceClaim,
    PodSchedulingContext,
    ResourceClass,
)
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.scheduler.claims import is_reserved_for

_GROUP: Final = "resource.k8s.io"
_CLASS_KIND: Final = "ResourceClassParameters"
CLAIM_KIND: Final = "ResourceClaimParameters"
P = TypeVar("P", classic.ResourceClassParameters, classic.ResourceClaimParameters)


class PreFilter:
    """Looks at the claims of one pod. ``demands`` has what structured claims ask for, by the claim's position."""

    def __init__(self, state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim]) -> None:
        self._state = state
        self._pod = pod
        self._claims = claims
        self.demands: dict[int, tuple[DriverDemand, ...]] = {}

    def check(self) -> PreFilterStop | None:
        """The first problem, with the causes of all."""
        problems = list(self._foreign_context())
        for index, claim in enumerate(self._claims):
            if isinstance(claim, ClassicResourceClaim):
                problems += self._problems(index, claim)
            else:
                problems += pre_filter.problems_of(self._state, claim)
        return pre_filter.first_of(problems)

    def _foreign_context(self) -> Iterator[PreFilterStop]:
        context = scheduling_context(self._state, self._pod)
        if context is None:
            return
        owner = context.metadata.controller
        if owner is None or owner.uid != self._pod.metadata.uid:
            uid, pod = context.metadata.uid, key_of(self._pod.metadata)
            text = f"PodSchedulingContext object with UID {uid} is not owned by Pod {pod}"
            yield PreFilterStop(text, True, (Cause(Code.NEGOTIATION_FOREIGN, FatalError(text)),))

    def _problems(self, index: int, claim: ClassicResourceClaim) -> Iterator[PreFilterStop]:
        classic, allocation, ref = claim.classic, claim.status.allocation, ObjectRef.of_claim(claim)
        if classic.controller and not self._state.features.control_plane_controller:
            text = "resourceclaim depends on disabled DRAControlPlaneController feature"
            yield PreFilterStop(text, False, (Cause(Code.CONTROLLER_DISABLED, Negotiation(classic.controller), ref),))
        if classic.deallocation_requested:
            cause = Cause(Code.DEALLOCATION_REQUESTED, Negotiation(driver_of(self._state, claim)), ref)
            yield PreFilterStop("resourceclaim must be reallocated", False, (cause,))
        if allocation is None:
            yield from self._unallocated(index, claim)
            return
        if self._taken(claim):
            cause = Cause(Code.CLAIM_NOT_SHAREABLE, Consumers(consumers_of(claim)), ref)
            yield PreFilterStop("resourceclaim in use", False, (cause,))
        yield from pre_filter.unparsable(claim, allocation.node_selector)

    def _taken(self, claim: ClassicResourceClaim) -> bool:
        """Whether others use an allocated claim that can't be shared; since v1alpha3 all can."""
        if not claim.classic.resource_class_name or claim.classic.shareable or not claim.status.reserved_for:
            return False
        return not is_reserved_for(self._pod, claim, self._state.features)

    def _unallocated(self, index: int, claim: ClassicResourceClaim) -> Iterator[PreFilterStop]:
        name = claim.classic.resource_class_name
        if not name:
            yield from pre_filter.problems_of(self._state, claim)
            for selector in class_nodes(self._state, claim):
                yield from pre_filter.unparsable(claim, selector)
            return
        known = self._state.inventory.classic.classes
        class_ = known.get(name)
        if class_ is None:
            cause = Cause(
                Code.RESOURCE_CLASS_MISSING, ClassProblem(name, similar(name, known)), ObjectRef.of_claim(claim)
            )
            certain = self._state.evidence.complete("ResourceClass")
            yield PreFilterStop(f"resource class {name} does not exist", False, (cause,), certain)
            return
        yield from pre_filter.unparsable(claim, class_.suitable_nodes)
        yield from self._of_class(index, claim, class_)

    def _of_class(self, index: int, claim: ClassicResourceClaim, class_: ResourceClass) -> Iterator[PreFilterStop]:
        if class_.structured_parameters:
            found = demands(self._state, claim, class_)
            if isinstance(found, PreFilterStop):
                yield found
            else:
                self.demands[index] = found
        elif claim.classic.allocation_mode == IMMEDIATE:
            cause = Cause(Code.IMMEDIATE_NOT_ALLOCATED, Negotiation(class_.driver_name), ObjectRef.of_claim(claim))
            yield PreFilterStop("unallocated immediate resourceclaim", False, (cause,))


def scheduling_context(state: ClusterState, pod: Pod) -> PodSchedulingContext | None:
    """The negotiation about a pod; in 1.31 nobody looks at it while controllers are off."""
    if not state.features.control_plane_controller:
        return None
    return state.inventory.classic.scheduling_contexts.get(key_of(pod.metadata))


def driver_of(state: ClusterState, claim: ClassicResourceClaim) -> str:
    """The driver that decides about a claim; empty if its class is not known."""
    classic = claim.classic
    class_ = state.inventory.classic.classes.get(classic.resource_class_name)
    named = class_.driver_name if class_ is not None else ""
    return classic.driver_name or classic.allocation_controller or classic.controller or named


def class_nodes(state: ClusterState, claim: ClassicResourceClaim) -> Iterable[NodeSelector]:
    """The node filters of the claim's class, or classes, while it has no devices."""
    if claim.classic.resource_class_name:
        class_ = state.inventory.classic.classes.get(claim.classic.resource_class_name)
        return [class_.suitable_nodes] if class_ is not None and class_.suitable_nodes is not None else []
    forms = [request.exactly for request in claim.spec.devices.requests]
    classes = [state.inventory.classes.get(form.device_class_name) for form in forms if form is not None]
    nodes = (each.suitable_nodes for each in classes if isinstance(each, ClassicDeviceClass))
    return [selector for selector in nodes if selector is not None]


class _Lookup(msgspec.Struct, frozen=True):
    """A reference, read in ``namespace``; ``owner`` is ``class`` or ``claim``, ``kind`` its in-tree parameters."""

    reference: classic.ParametersReference
    namespace: str
    owner: str
    kind: str
    subject: ObjectRef

    @property
    def direct(self) -> bool:
        """Whether the in-tree object itself is named."""
        return (self.reference.api_group, self.reference.kind) == (_GROUP, self.kind)

    def missing(self, state: ClusterState, known: Iterable[Key]) -> PreFilterStop:
        """What the scheduler says if there are no such parameters."""
        reference = self.reference
        if self.direct:
            text = f"{self.owner} parameters {Key(self.namespace, reference.name)} not found"
        else:
            # Of a class the text leaves out the namespace of the vendor's object.
            where = Key("" if self.owner == "class" else self.namespace, reference.name)
            text = f"generated {self.owner} parameters for {reference.kind}.{reference.api_group} {where} not found"
        names = [key.name for key in known if key.namespace == self.namespace] if self.direct else []
        detail = ParametersProblem(
            self.owner, reference.kind, reference.name, self.namespace, not self.direct, similar(reference.name, names)
        )
        cause = Cause(Code.PARAMETERS_MISSING, detail, self.subject)
        return PreFilterStop(text, False, (cause,), certain=state.evidence.complete(self.kind, self.namespace))


def demands(
    state: ClusterState, claim: classic.ClassicResourceClaim, class_: classic.ResourceClass
) -> tuple[DriverDemand, ...] | PreFilterStop:
    """What the claim asks of each driver; or what keeps it from being tried."""
    subject = ObjectRef.of_claim(claim)
    of_class = _class_parameters(state, class_, subject)
    if isinstance(of_class, PreFilterStop):
        return of_class
    of_claim = _claim_parameters(state, claim, class_, subject)
    return of_claim if isinstance(of_claim, PreFilterStop) else _combined(of_class, of_claim, subject)


def _class_parameters(
    state: ClusterState, class_: classic.ResourceClass, subject: ObjectRef
) -> classic.ResourceClassParameters | PreFilterStop:
    reference = class_.parameters_ref
    if reference is None:
        return classic.ResourceClassParameters()
    lookup = _Lookup(reference, reference.namespace, "class", _CLASS_KIND, subject)
    return _find(state, lookup, state.inventory.classic.class_parameters)


def _claim_parameters(
    state: ClusterState, claim: classic.ClassicResourceClaim, class_: classic.ResourceClass, subject: ObjectRef
) -> classic.ResourceClaimParameters | PreFilterStop:
    reference = claim.classic.parameters_ref
    if reference is None:
        anything = classic.ResourceRequest(named_resources=classic.NamedSelector("true"))
        return classic.ResourceClaimParameters(
            shareable=True, driver_requests=(classic.DriverRequests(class_.driver_name, requests=(anything,)),)
        )
    lookup = _Lookup(reference, claim.metadata.namespace, "claim", CLAIM_KIND, subject)
    return _find(state, lookup, state.inventory.classic.claim_parameters)


def _find(state: ClusterState, lookup: _Lookup, known: Mapping[Key, P]) -> P | PreFilterStop:
    if lookup.direct:
        found = known.get(Key(lookup.namespace, lookup.reference.name))
    else:
        found = next((each for each in known.values() if _generated(each, lookup)), None)
    return lookup.missing(state, known) if found is None else found


def _generated(parameters: classic.ResourceClassParameters | classic.ResourceClaimParameters, lookup: _Lookup) -> bool:
    """Whether the parameters were made from the vendor's object that is referred to."""
    source, wanted = parameters.generated_from, lookup.reference
    if source is None or (source.api_group, source.kind, source.name) != (wanted.api_group, wanted.kind, wanted.name):
        return False
    if lookup.owner == "class":
        return source.namespace == wanted.namespace
    return parameters.metadata.namespace == lookup.namespace


def _combined(
    of_class: classic.ResourceClassParameters, of_claim: classic.ResourceClaimParameters, subject: ObjectRef
) -> tuple[DriverDemand, ...] | PreFilterStop:
    requests: dict[str, list[str]] = {}
    for index, entry in enumerate(of_claim.driver_requests):
        for number, request in enumerate(entry.requests):
            if request.named_resources is None:
                where = f"claim parameters {key_of(of_claim.metadata)}: driverRequersts[{index}].requests[{number}]"
                return _fatal(f"{where}: no supported structured parameters found", subject)
            requests.setdefault(entry.driver_name, []).append(request.named_resources.selector)
    found = tuple(DriverDemand(driver, tuple(asked), _filter(of_class, driver)) for driver, asked in requests.items())
    wrong = next((text for text in map(compile_error, found) if text), "")
    if wrong:
        return _fatal(f"creating claim controller for named resources structured model: {wrong}", subject)
    return found


def _filter(of_class: classic.ResourceClassParameters, driver: str) -> str | None:
    """The first filter of the class for this driver."""
    named = (f.named_resources for f in of_class.filters if f.driver_name == driver)
    first = next((each for each in named if each is not None), None)
    return None if first is None else first.selector


def _fatal(text: str, subject: ObjectRef) -> PreFilterStop:
    code = Code.SELECTOR_DOES_NOT_COMPILE if "CEL expression" in text else Code.REQUEST_MALFORMED
    return PreFilterStop(text, True, (Cause(code, FatalError(text), subject),))
