"""What the requests of a claim ask for, whichever of their two forms they have."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.model.resource import DeviceRequest, DeviceSubRequest, ExactDeviceRequest, ResourceClaimSpec

#: A request, or an alternative of ``firstAvailable``, which has the same fields but for admin access.
Form = ExactDeviceRequest | DeviceSubRequest


def forms_of(request: DeviceRequest) -> Iterator[tuple[str, Form]]:
    """By full name, which of an alternative is ``REQUEST/ALTERNATIVE``."""
    if request.exactly is not None:
        yield request.name, request.exactly
    for alternative in request.first_available:
        yield f"{request.name}/{alternative.name}", alternative


def forms(spec: ResourceClaimSpec) -> Iterator[tuple[str, Form]]:
    """Those of all requests."""
    return (form for request in spec.devices.requests for form in forms_of(request))


def class_names(spec: ResourceClaimSpec) -> tuple[str, ...]:
    """The classes that they name, each once."""
    return tuple(dict.fromkeys(form.device_class_name for _, form in forms(spec)))
