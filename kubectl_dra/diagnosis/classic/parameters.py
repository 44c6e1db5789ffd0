"""Parameters of structured claims of 1.30: which objects a class and a claim refer to, and what they ask of drivers.

Upstream: lookupClassParameters, lookupClaimParameters and newClaimController of the 1.30 plugin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from kubectl_dra.allocation.named_resources import DriverDemand, compile_error
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.pre_filter import PreFilterStop
from kubectl_dra.diagnosis.records import Cause, FatalError, ObjectRef, ParametersProblem
from kubectl_dra.model import classic
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.likeness import similar

_GROUP: Final = "resource.k8s.io"
CLASS_KIND: Final = "ResourceClassParameters"
CLAIM_KIND: Final = "ResourceClaimParameters"
P = TypeVar("P", classic.ResourceClassParameters, classic.ResourceClaimParameters)


@dataclass(frozen=True, slots=True)
class _Lookup:
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

    def missing(self, world: ClusterState, known: Iterable[Key]) -> PreFilterStop:
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
        return PreFilterStop(text, False, (cause,), certain=world.evidence.complete(self.kind, self.namespace))


def demands(
    world: ClusterState, claim: classic.ClassicResourceClaim, class_: classic.ResourceClass
) -> tuple[DriverDemand, ...] | PreFilterStop:
    """What the claim asks of each driver; or what keeps it from being tried."""
    subject = ObjectRef.of_claim(claim)
    of_class = _class_parameters(world, class_, subject)
    if isinstance(of_class, PreFilterStop):
        return of_class
    of_claim = _claim_parameters(world, claim, class_, subject)
    return of_claim if isinstance(of_claim, PreFilterStop) else _combined(of_class, of_claim, subject)


def _class_parameters(
    world: ClusterState, class_: classic.ResourceClass, subject: ObjectRef
) -> classic.ResourceClassParameters | PreFilterStop:
    reference = class_.parameters_ref
    if reference is None:
        return classic.ResourceClassParameters()
    lookup = _Lookup(reference, reference.namespace, "class", CLASS_KIND, subject)
    return _find(world, lookup, world.inventory.classic.class_parameters)


def _claim_parameters(
    world: ClusterState, claim: classic.ClassicResourceClaim, class_: classic.ResourceClass, subject: ObjectRef
) -> classic.ResourceClaimParameters | PreFilterStop:
    reference = claim.classic.parameters_ref
    if reference is None:
        anything = classic.ResourceRequest(named_resources=classic.NamedSelector("true"))
        return classic.ResourceClaimParameters(
            shareable=True, driver_requests=(classic.DriverRequests(class_.driver_name, requests=(anything,)),)
        )
    lookup = _Lookup(reference, claim.metadata.namespace, "claim", CLAIM_KIND, subject)
    return _find(world, lookup, world.inventory.classic.claim_parameters)


def _find(world: ClusterState, lookup: _Lookup, known: Mapping[Key, P]) -> P | PreFilterStop:
    if lookup.direct:
        found = known.get(Key(lookup.namespace, lookup.reference.name))
    else:
        found = next((each for each in known.values() if _generated(each, lookup)), None)
    return lookup.missing(world, known) if found is None else found


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
