"""From an expression or manifests to questions: one list of selectors each, and the claim that would ask it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from kubectl_dra.api.validate import validate
from kubectl_dra.model.base import Record
from kubectl_dra.model.features import Features
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.names import DEFAULT_NAMESPACE
from kubectl_dra.model.resource import (
    CELSelector,
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from kubectl_dra.reports.selector.records import Subject
from kubectl_dra.selectors.compiling import admission_environment

_REQUEST = "request"


@dataclass(frozen=True)
class Question:
    """The request's own selectors behind those of ``device_class`` (None: no class is given).

    ``own_class`` is set where the selectors are those of a DeviceClass themselves. ``claim`` asks for them in reality;
    None for an expression without a class. ``refusals`` is what admission says of the manifest as a whole.
    """

    subject: Subject
    expressions: tuple[str, ...]
    device_class: str | None = None
    own_class: DeviceClass | None = None
    claim: ResourceClaim | None = None
    refusals: tuple[str, ...] = ()

    def claim_for(self, device_class: str) -> ResourceClaim:
        """A claim with one request of the class; or the real one."""
        return self.claim or simple_claim(device_class, self.expressions)


def simple_claim(device_class: str, expressions: Iterable[str]) -> ResourceClaim:
    """A claim that asks for one device."""
    selectors = tuple(DeviceSelector(cel=CELSelector(expression)) for expression in expressions)
    exactly = ExactDeviceRequest(
        device_class_name=device_class, selectors=selectors, allocation_mode="ExactCount", count=1
    )
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name=_REQUEST, exactly=exactly),)))
    return ResourceClaim(metadata=ObjectMeta(name="test-selector", namespace="default"), spec=spec)


def expression_question(expression: str, device_class: str | None = None) -> Question:
    claim = simple_claim(device_class, (expression,)) if device_class is not None else None
    return Question(Subject("Expression"), (expression,), device_class, claim=claim)


def manifest_questions(records: Iterable[tuple[Record, str]], features: Features) -> tuple[Question, ...]:
    """All selectors of classes, claims and templates (with where they stood), classes before requests."""
    objects = tuple(records)
    classes = [(each, origin) for each, origin in objects if isinstance(each, DeviceClass)]
    claims = [(each, origin) for each, origin in objects if isinstance(each, ResourceClaim | ResourceClaimTemplate)]
    questions = [_class_question(each, origin, features) for each, origin in classes]
    return (*questions, *(q for each, origin in claims for q in _claim_questions(each, origin, features)))


def _class_question(record: DeviceClass, origin: str, features: Features) -> Question:
    name = record.metadata.name
    subject = Subject("DeviceClass", name=name, origin=origin)
    expressions = tuple(each.expression for each in record.spec.selectors)
    return Question(subject, expressions, None, record, simple_claim(name, ()), _refusals(record, features))


def _claim_questions(
    record: ResourceClaim | ResourceClaimTemplate, origin: str, features: Features
) -> Iterator[Question]:
    spec = record.spec.spec if isinstance(record, ResourceClaimTemplate) else record.spec
    meta, kind = record.metadata, type(record).__name__
    namespace = meta.namespace or DEFAULT_NAMESPACE
    claim = ResourceClaim(metadata=ObjectMeta(name=meta.name, namespace=namespace), spec=spec)
    refusals = _refusals(record, features)
    for name, place, form in forms(spec.devices.requests):
        subject = Subject(kind, namespace, meta.name, name, origin)
        expressions = tuple(each.expression for each in form.selectors)
        # What is said of no request in particular goes with the first one.
        own = tuple(text for text in refusals if _belongs(_place(text) or "requests[0]", place))
        refusals = tuple(text for text in refusals if text not in own)
        yield Question(subject, expressions, form.device_class_name or None, None, claim, own)


def forms(requests: Iterable[DeviceRequest]) -> Iterator[tuple[str, str, ExactDeviceRequest | DeviceSubRequest]]:
    """Name, the place that refusals begin with, and the request or subrequest."""
    for index, request in enumerate(requests):
        place = f"requests[{index}]"
        if request.exactly is not None:
            yield request.name, place, request.exactly
        for number, sub in enumerate(request.first_available):
            yield f"{request.name}/{sub.name}", f"{place}.firstAvailable[{number}]", sub


def _belongs(place: str, form: str) -> bool:
    """Whether a refusal is about a form of a request, or about the request as a whole and this its first form."""
    request = form.partition(".")[0]
    if place.startswith(f"{request}.firstAvailable["):
        return place.startswith(form)
    return place.startswith(request) and form in (request, f"{request}.firstAvailable[0]")


def _place(refusal: str) -> str:
    """Where a refusal is, from ``requests[N]`` on; empty if it is about no request."""
    path = refusal.partition(": ")[0]
    return path[path.index("requests[") :] if "requests[" in path else ""


def _refusals(record: Record, features: Features) -> tuple[str, ...]:
    """What the server would say; a manifest without a namespace gets one on its way."""

    metadata = getattr(record, "metadata", ObjectMeta())
    if not isinstance(record, DeviceClass) and not metadata.namespace:
        record = msgspec.structs.replace(record, metadata=msgspec.structs.replace(metadata, namespace="default"))
    return tuple(map(str, validate(record, admission_environment(features))))
