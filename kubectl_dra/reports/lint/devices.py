"""Selectors of the files on recorded devices: errors, attributes that nobody publishes, matches with nothing."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.api.planned import Planned
from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.model.likeness import best_guess
from kubectl_dra.model.resource import DeviceClass, ResourceClaim, ResourceClaimTemplate
from kubectl_dra.reports.lint.objects import UnplacedFinding
from kubectl_dra.reports.lint.records import Rule
from kubectl_dra.reports.selector import Question, SelectorReport, Setting, manifest_questions, selector_report
from kubectl_dra.reports.selector.questions import forms


def device_findings(planned: Planned, setting: Setting) -> Iterator[UnplacedFinding]:
    """What the devices of a setting show about the selectors of one class, claim or template."""
    record = planned.record
    if not isinstance(record, DeviceClass | ResourceClaim | ResourceClaimTemplate):
        return
    for question in manifest_questions([(record, "")], setting.facts.features):
        report = selector_report(question, setting)
        if all(each.admission.accepted and each.scheduler.accepted for each in report.selectors):
            yield from _of_report(report, _place(record, question))


def _of_report(report: SelectorReport, path: str) -> Iterator[UnplacedFinding]:
    whose = f'request "{report.subject.request}": ' if report.subject.request else ""
    for failure in report.failures:
        near = best_guess(failure.near)
        text = f"{whose}{failure.error}, on {failure.devices} devices such as {failure.examples[0]}{near}"
        yield UnplacedFinding(Rule.ERROR_ON_DEVICE, text, path)
    for domain in report.unknown_domains:
        near = best_guess(domain.near)
        yield UnplacedFinding(Rule.NOT_PUBLISHED, f'{whose}no device has the domain "{domain.name}"{near}', path)
    domains = {domain.name for domain in report.unknown_domains}
    for use in report.names:
        if not use.have and use.of and use.domain not in domains:
            near = best_guess(use.near)
            yield UnplacedFinding(
                Rule.NOT_PUBLISHED, f"{whose}none of {use.of} devices publishes {use.name}{near}", path
            )
    nothing = report.totals.matches.value == 0 and not (report.failures or report.totals.undecided.value)
    if nothing and report.class_found and report.totals.devices.bound is Bound.EXACT:
        yield UnplacedFinding(Rule.NO_DEVICE, f"{whose}no device of the recorded ones matches", path)


def _place(record: DeviceClass | ResourceClaim | ResourceClaimTemplate, question: Question) -> str:
    if isinstance(record, DeviceClass):
        return "spec.selectors"
    prefix = "spec.spec" if isinstance(record, ResourceClaimTemplate) else "spec"
    spec = record.spec.spec if isinstance(record, ResourceClaimTemplate) else record.spec
    for name, place, _ in forms(spec.devices.requests):
        if name == question.subject.request:
            own = "" if "firstAvailable" in place else ".exactly"
            return f"{prefix}.devices.{place}{own}.selectors"
    return f"{prefix}.devices.requests"
