"""Where the selectors stand that a question is about."""

from __future__ import annotations

from kubectl_dra.model.resource import DeviceClass, ResourceClaim, ResourceClaimTemplate
from kubectl_dra.reports.selector import Question
from kubectl_dra.reports.selector.questions import forms


def place_of(record: DeviceClass | ResourceClaim | ResourceClaimTemplate, question: Question) -> str:
    """The path of the list of selectors of a class, or of one request or alternative."""
    if isinstance(record, DeviceClass):
        return "spec.selectors"
    prefix = "spec.spec" if isinstance(record, ResourceClaimTemplate) else "spec"
    spec = record.spec.spec if isinstance(record, ResourceClaimTemplate) else record.spec
    for name, place, _ in forms(spec.devices.requests):
        if name == question.subject.request:
            own = "" if "firstAvailable" in place else ".exactly"
            return f"{prefix}.devices.{place}{own}.selectors"
    return f"{prefix}.devices.requests"
