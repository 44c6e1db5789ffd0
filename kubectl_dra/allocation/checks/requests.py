"""The claims of one attempt, prepared: every request and subrequest resolved, with the checks made before any search.

Upstream: the first part of the structured allocator's Allocate and validateDeviceRequest. What can be said without a
node is said here once; a :class:`Plan` lists the rest (enumerating ``All``, limits) in the order in which it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from kubectl_dra.allocation import errors
from kubectl_dra.allocation.checks import constraints
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import (
    DeviceClass,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
)
from kubectl_dra.selectors.compiling import Selector
from kubectl_dra.selectors.evaluate import placed

MAX_RESULTS: Final = 32


@dataclass(slots=True, eq=False)
class Request:
    """One request or subrequest; ``number`` counts all of the attempt, ``position`` those of the claim.

    ``takes_all``: the mode is ``All``. Subrequests can't have admin access.
    """

    number: int
    claim_index: int
    position: int
    claim: Key
    name: str
    parent: str | None
    spec: ExactDeviceRequest | DeviceSubRequest
    device_class: DeviceClass
    selectors: tuple[Selector, ...]
    applying: tuple[int, ...]
    derived: Mapping[str, str]
    takes_all: bool = field(init=False)
    admin: bool = field(init=False)

    def __post_init__(self) -> None:
        self.takes_all = self.spec.allocation_mode == "All"
        self.admin = isinstance(self.spec, ExactDeviceRequest) and bool(self.spec.admin_access)

    @property
    def full_name(self) -> str:
        """``request`` or ``request/subrequest``."""
        return self.name if self.parent is None else f"{self.parent}/{self.name}"

    @property
    def tolerations(self) -> tuple[DeviceToleration, ...]:
        return self.spec.tolerations

    @property
    def capacity(self) -> Mapping[str, Quantity] | None:
        return self.spec.capacity.requests if self.spec.capacity is not None else None


class Choice(msgspec.Struct, eq=False):
    """A request as the search meets it: one form, or the alternatives of ``firstAvailable`` in order."""

    name: str
    options: tuple[Request, ...]
    alternatives: bool


class ClaimPlan(msgspec.Struct, eq=False):
    index: int
    key: Key
    claim: ResourceClaim
    choices: list[Choice] = msgspec.field(default_factory=list)


class Enumerate(msgspec.Struct, frozen=True):
    """List the devices of an ``All`` request."""

    request: Request


class Limit(msgspec.Struct, frozen=True):
    """Check the number of devices of the claim so far, ``choices`` included: one request, until 1.36 all of them."""

    claim: ClaimPlan
    choices: tuple[Choice, ...]


class Stop(msgspec.Struct, frozen=True):
    """The attempt ends here."""

    error: errors.AllocationError


Step = Enumerate | Limit | Stop


class Plan(msgspec.Struct, eq=False):
    """The claims of one attempt and what is to be checked before the search, in order."""

    claims: list[ClaimPlan]
    requests: list[Request]
    steps: list[Step]

    @property
    def takes_all(self) -> bool:
        """Whether any request that is reached asks for all devices."""
        return any(isinstance(step, Enumerate) for step in self.steps)


def plan(claims: Sequence[ResourceClaim], classes: Mapping[str, DeviceClass], features: Features) -> Plan:
    """Prepare the claims; preparation ends at the first error that needs no node."""
    result = Plan([], [], [])
    for index, claim in enumerate(claims):
        prepared = ClaimPlan(index, Key(claim.metadata.namespace, claim.metadata.name), claim)
        result.claims.append(prepared)
        for step in _Claim(result, prepared, classes, features).steps():
            result.steps.append(step)
            if isinstance(step, Stop):
                return result
    return result


class _Claim:
    def __init__(
        self, result: Plan, prepared: ClaimPlan, classes: Mapping[str, DeviceClass], features: Features
    ) -> None:
        self.result = result
        self.prepared = prepared
        self.classes = classes
        self.features = features
        self.specs = prepared.claim.spec.devices

    def steps(self) -> Iterator[Step]:
        for position, request in enumerate(self.specs.requests):
            yield from self._choice(position, request)
        if not self.features.limits_each_request:
            yield Limit(self.prepared, tuple(self.prepared.choices))
        for index, constraint in enumerate(self.specs.constraints):
            known = constraint.match_attribute if self.features.implementation == "stable" else True
            if known is None or constraints.make(constraint, False) is None:
                yield Stop(errors.EmptyConstraint(self.prepared.key, index))

    def _choice(self, position: int, request: DeviceRequest) -> Iterator[Step]:
        subrequests = request.first_available
        if subrequests and not self.features.prioritized_list:
            yield Stop(errors.SubrequestsDisabled(self.prepared.key, request.name))
        yield from self._capacity(request)
        options: list[Request] = []
        parent = request.name if subrequests else None
        forms: Sequence[DeviceSubRequest] | tuple[ExactDeviceRequest] = subrequests or (
            request.exactly or ExactDeviceRequest(),
        )
        for spec in forms:
            name = spec.name if isinstance(spec, DeviceSubRequest) else request.name
            yield from self._form(position, name, parent, spec)
            options.append(self.result.requests[-1])
        choice = Choice(request.name, tuple(options), bool(subrequests))
        self.prepared.choices.append(choice)
        if self.features.limits_each_request:
            yield Limit(self.prepared, (choice,))

    def _capacity(self, request: DeviceRequest) -> Iterator[Stop]:
        # The first implementation does not know capacity requests and ignores them.
        if self.features.consumable_capacity or self.features.implementation == "stable":
            return
        if request.exactly is not None and request.exactly.capacity is not None:
            yield Stop(errors.CapacityRequestsDisabled(self.prepared.key, request.name, False))
        for subrequest in request.first_available:
            if subrequest.capacity is not None:
                yield Stop(errors.CapacityRequestsDisabled(self.prepared.key, subrequest.name, True))

    def _form(
        self, position: int, name: str, parent: str | None, spec: ExactDeviceRequest | DeviceSubRequest
    ) -> Iterator[Step]:
        error = self._error(name, spec)
        if error is not None:
            yield Stop(error)
            return
        device_class = self.classes[spec.device_class_name]
        applying = tuple(i for i, c in enumerate(self.specs.constraints) if constraints.applies(c, name, parent))
        request = Request(
            len(self.result.requests),
            self.prepared.index,
            position,
            self.prepared.key,
            name,
            parent,
            spec,
            device_class,
            (*placed(device_class.spec.selectors, device_class.metadata.name), *placed(spec.selectors, None)),
            applying,
            {attribute.name: attribute.expression for attribute in spec.derived_attributes},
        )
        self.result.requests.append(request)
        if spec.allocation_mode == "All":
            yield Enumerate(request)
        elif spec.allocation_mode != "ExactCount":
            yield Stop(errors.UnsupportedAllocationMode(self.prepared.key, name, spec.allocation_mode))

    def _error(self, name: str, spec: ExactDeviceRequest | DeviceSubRequest) -> errors.AllocationError | None:
        key, features = self.prepared.key, self.features
        if spec.derived_attributes and not features.derived_attributes:
            return errors.DerivedAttributesDisabled(key, name)
        for index, selector in enumerate(spec.selectors):
            if selector.cel is None:
                return errors.UnknownSelectorType(key, name, index)
        if isinstance(spec, ExactDeviceRequest) and spec.admin_access is not None and not features.admin_access:
            return errors.AdminAccessDisabled(key, name)
        if not spec.device_class_name:
            return errors.DeviceClassMissing(key, name)
        if spec.device_class_name not in self.classes:
            return errors.DeviceClassNotFound(key, name, spec.device_class_name)
        return None
