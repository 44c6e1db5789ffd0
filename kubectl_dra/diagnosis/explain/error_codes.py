"""Which code an error of the allocator has, and the evidence that it carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.allocation import errors as e
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, FatalError, ObjectRef
from kubectl_dra.model.forms import forms
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import DeviceClass, DeviceSelector, ResourceClaim
from kubectl_dra.scheduler.allocation_errors import allocation_error

_CODES: Final[Mapping[type[e.AllocationError], Code]] = {
    e.NodeSelectorUnparsable: Code.NODE_SELECTOR_MALFORMED,
    e.UnsupportedNodeSelector: Code.NODE_SELECTOR_MALFORMED,
    e.SubrequestsDisabled: Code.FEATURE_DISABLED_FATAL,
    e.CapacityRequestsDisabled: Code.FEATURE_DISABLED_FATAL,
    e.DerivedAttributesDisabled: Code.FEATURE_DISABLED_FATAL,
    e.AdminAccessDisabled: Code.FEATURE_DISABLED_FATAL,
    e.UnknownSelectorType: Code.REQUEST_MALFORMED,
    e.DeviceClassMissing: Code.REQUEST_MALFORMED,
    e.DeviceClassNotFound: Code.CLASS_MISSING,
    e.UnsupportedAllocationMode: Code.REQUEST_MALFORMED,
    e.EmptyConstraint: Code.REQUEST_MALFORMED,
    e.PoolNotUsableForAll: Code.ALL_MODE_POOL,
    e.ConstraintRefusesAll: Code.ALL_MODE_CONSTRAINT,
    e.InvalidPoolMet: Code.POOL_INVALID,
    e.TooManyDevices: Code.TOO_MANY_DEVICES,
    e.SelectorNotCompiled: Code.SELECTOR_DOES_NOT_COMPILE,
    e.DerivedAttributeNotCompiled: Code.SELECTOR_DOES_NOT_COMPILE,
    e.SelectorFailed: Code.SELECTOR_FAILS,
    e.DerivedAttributeFailed: Code.SELECTOR_FAILS,
    e.CapacityNotComputable: Code.CAPACITY_ARITHMETIC,
}


def code_of(error: e.AllocationError) -> Code:
    return _CODES[type(error)]


def fatal_cause(
    error: e.AllocationError,
    claims: Mapping[Key, ResourceClaim],
    classes: Mapping[str, DeviceClass],
    nodes: tuple[str, ...],
    minor: int,
) -> Cause:
    """The error as a cause, in the words of 1.``minor``; ``claims`` are those of the attempt, the made-up one, too."""
    key = getattr(error, "claim", None)
    claim = ObjectRef.of("ResourceClaim", key) if isinstance(key, Key) else None
    request = getattr(error, "request", "")
    return Cause(code_of(error), _evidence(error, claims, classes, minor), claim, request, nodes)


def _evidence(
    error: e.AllocationError, claims: Mapping[Key, ResourceClaim], classes: Mapping[str, DeviceClass], minor: int
) -> FatalError:
    text = allocation_error(error, minor)
    match error:
        case e.SelectorFailed() | e.SelectorNotCompiled():
            owner = f"class {error.device_class}" if error.device_class else f"claim {error.claim}"
            expression = _expression(error, claims, classes)
            device = str(error.device) if isinstance(error, e.SelectorFailed) else ""
            return FatalError(text, device, error.selector, owner, expression, error.detail)
        case e.DerivedAttributeFailed() | e.DerivedAttributeNotCompiled():
            device = str(error.device) if isinstance(error, e.DerivedAttributeFailed) else ""
            return FatalError(text, device, owner=f"attribute {error.attribute}", detail=error.detail)
        case e.ConstraintRefusesAll() | e.CapacityNotComputable():
            return FatalError(text, str(error.device))
        case e.TooManyDevices():
            return FatalError(text, owner=f"claim {error.claim}", devices=error.accounted_for + error.adding)
        case e.InvalidPoolMet():
            return FatalError(text, str(error.device), owner=f"pool {error.pool}")
        case e.PoolNotUsableForAll():
            detail = (
                f"{error.seen} of its {error.expected} ResourceSlices" if error.incomplete and error.expected else ""
            )
            return FatalError(text, owner=f"pool {error.pool}", detail=detail)
    return FatalError(text)


def _expression(
    error: e.SelectorFailed | e.SelectorNotCompiled,
    claims: Mapping[Key, ResourceClaim],
    classes: Mapping[str, DeviceClass],
) -> str:
    """The selector's text; a request's selector is told by its position only, so the first that fits is taken."""
    if error.device_class is not None:
        device_class = classes.get(error.device_class)
        return _at(device_class.spec.selectors if device_class is not None else (), error.selector)
    claim = claims.get(error.claim)
    if claim is None:
        return ""
    texts = (_at(form.selectors, error.selector) for _, form in forms(claim.spec))
    return next(filter(None, texts), "")


def _at(selectors: tuple[DeviceSelector, ...], index: int) -> str:
    cel = selectors[index].cel if index < len(selectors) else None
    return cel.expression if cel is not None else ""


def by_key(claims: tuple[ResourceClaim, ...]) -> dict[Key, ResourceClaim]:
    return {key_of(claim.metadata): claim for claim in claims}
