"""What ends an attempt at once, as typed records; the scheduler's sentences for them live in ``diagnosis.messages``.

Upstream: every error that the structured allocator's ``Allocate`` returns. All of them abort the scheduling cycle of
the pod on all nodes. ``claim`` is namespace and name, ``request`` the short name of the request or subrequest.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import Device


class SelectorFault(StrEnum):
    """Why a requirement of a node selector can't be parsed."""

    OPERATOR = "operator"
    KEY = "key"
    VALUES_MISSING = "valuesMissing"
    VALUES_UNWANTED = "valuesUnwanted"
    ONE_INTEGER = "oneInteger"
    NOT_INTEGER = "notInteger"
    LABEL_VALUE = "labelValue"
    ONE_VALUE = "oneValue"


class SelectorProblem(msgspec.Struct, frozen=True):
    """One bad requirement: ``nodeSelectorTerms[term].<part>[index]``, and which of its values if one is meant."""

    term: int
    part: str
    index: int
    fault: SelectorFault
    value: str | tuple[str, ...]
    value_index: int = 0
    key: str = ""


class AllocationError(msgspec.Struct, frozen=True):
    """Base of all of them."""


class RequestError(AllocationError, frozen=True):
    """Base of those that one request of a claim is in the way of."""

    claim: Key
    request: str


class NodeSelectorUnparsable(AllocationError, frozen=True):
    """A slice's or device's node selector; without ``slice_name`` the search met it, not the gathering of pools."""

    selector: NodeSelector
    problems: tuple[SelectorProblem, ...]
    slice_name: str | None = None
    device: Device | None = None


class SubrequestsDisabled(RequestError, frozen=True):
    """``firstAvailable`` while DRAPrioritizedList is off."""


class CapacityRequestsDisabled(RequestError, frozen=True):
    """``capacity`` (even an empty one) while DRAConsumableCapacity is off."""

    is_subrequest: bool


class DerivedAttributesDisabled(RequestError, frozen=True):
    """``derivedAttributes`` that this scheduler does not evaluate."""


class UnknownSelectorType(RequestError, frozen=True):
    """A selector without ``cel``."""

    selector: int


class AdminAccessDisabled(RequestError, frozen=True):
    """``adminAccess`` (even false) while DRAAdminAccess is off."""


class DeviceClassMissing(RequestError, frozen=True):
    """A request without a class name."""


class DeviceClassNotFound(RequestError, frozen=True):
    """A request whose class does not exist."""

    device_class: str


class UnsupportedAllocationMode(RequestError, frozen=True):
    """An ``allocationMode`` other than ``ExactCount`` and ``All``."""

    mode: str


class PoolNotUsableForAll(RequestError, frozen=True):
    """``All`` while some pool visible to the node, of any driver, is incomplete or invalid."""

    pool: PoolId
    incomplete: bool
    seen: int = 0
    expected: int = 0


class InvalidPoolMet(AllocationError, frozen=True):
    """Up to 1.34: the search came to a pool with two devices of one name."""

    pool: PoolId
    device: str


class TooManyDevices(RequestError, frozen=True):
    """A claim that asks for more devices than an allocation can hold; without ``request`` all of them together do."""

    adding: int
    accounted_for: int


class EmptyConstraint(AllocationError, frozen=True):
    """A constraint of a type that the allocator does not know."""

    claim: Key
    constraint: int


class SelectorNotCompiled(AllocationError, frozen=True):
    """A selector of a class (``device_class`` given) or of a request that does not compile."""

    claim: Key
    device_class: str | None
    selector: int
    detail: str


class SelectorFailed(AllocationError, frozen=True):
    """A selector that failed on a device; ``detail`` is the bare CEL error."""

    claim: Key
    device_class: str | None
    selector: int
    device: DeviceId
    detail: str


class DerivedAttributeNotCompiled(AllocationError, frozen=True):
    """A derived attribute's expression that does not compile."""

    attribute: str
    detail: str


class DerivedAttributeFailed(AllocationError, frozen=True):
    """A derived attribute's expression that failed on a device."""

    attribute: str
    device: DeviceId
    detail: str


class CapacityFault(StrEnum):
    """Why an amount can't be computed."""

    NEGATIVE = "negative"
    NOT_MILLI = "notMilli"
    MILLI_OVERFLOW = "milliOverflow"
    EXCEEDS_INT64 = "exceedsInt64"
    INT64_OVERFLOW = "int64Overflow"


class CapacityNotComputable(RequestError, frozen=True):
    """A capacity request that the device's range arithmetic can't represent, or that comes out negative.

    ``enumerating``: met while listing the devices of an ``All`` request, where the text has the bare device name.
    """

    device: DeviceId
    capacity: str
    fault: CapacityFault
    amount: str
    enumerating: bool


class ConstraintRefusesAll(RequestError, frozen=True):
    """``All`` with a device that a constraint of the claim refuses."""

    device: DeviceId


class UnsupportedNodeSelector(AllocationError, frozen=True):
    """A chosen device whose node selector has more than one term."""

    claim: Key
    terms: int


class Aborted(Exception):
    """Raised inside the allocator where the attempt ends with ``error``; never leaves this package."""

    def __init__(self, error: AllocationError) -> None:
        super().__init__(error)
        self.error = error


class UndecidedError(Exception):
    """Raised inside the allocator where an expression is too costly to evaluate here; never leaves this package."""
