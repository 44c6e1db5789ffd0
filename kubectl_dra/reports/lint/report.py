"""All findings of the files, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import lacking
from kubectl_dra.diagnosis.records import Bound, Missing, ObjectRef
from kubectl_dra.model.evidence import LACKING
from kubectl_dra.model.forms import class_names
from kubectl_dra.model.ids import Key
from kubectl_dra.model.likeness import best_guess, similar
from kubectl_dra.model.resource import DeviceClass, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from kubectl_dra.reports.claims.ask import unfound_of
from kubectl_dra.reports.lint.constraints import constraint_findings
from kubectl_dra.reports.lint.instead import with_corrections
from kubectl_dra.reports.lint.objects import UnplacedFinding, findings
from kubectl_dra.reports.lint.places import place_of
from kubectl_dra.reports.lint.pools import pool_findings
from kubectl_dra.reports.lint.records import RULES, LintFinding, LintReport, Rule, Severity
from kubectl_dra.reports.lint.shared_claims import shared_claim_findings
from kubectl_dra.reports.lint.taint_rules import nodes_of, pools_of, taint_rule_findings
from kubectl_dra.reports.selector import SelectorReport, Setting, manifest_questions, selector_report
from kubectl_dra.reports.selector.questions import forms
from kubectl_dra.scheduler.claims import sources
from kubectl_dra.scheduler.extended import class_by_resource

#: A file with more is broken as a whole; what is beyond is only counted.
_MOST: Final = 10_000
_KINDS: Final = ("ResourceClaim", "ResourceClaimTemplate")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file; lines and columns count from 1, 0: not known."""

    file: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class BrokenDocument:
    rule: Rule
    message: str
    place: Place


#: Where a field of the object with this number stands; an empty path is the object itself.
Locate = Callable[[int, str], Place]


def lint_report(
    objects: Sequence[Planned],
    locate: Locate,
    broken: Iterable[BrokenDocument] = (),
    *,
    files: int = 1,
    devices: ClusterState | None = None,
) -> LintReport:
    """Every finding, by file and line. ``devices``: recorded slices that selectors are tried on."""
    found = [_of_broken(each) for each in broken]
    found += _of_objects(objects, locate, devices)
    found.sort(key=lambda each: (each.file, each.line, each.column))
    count = {severity: sum(each.severity is severity for each in found) for severity in Severity}
    number = sum(len(s.spec.devices) for s in devices.inventory.slices.values()) if devices is not None else 0
    return LintReport(
        findings=tuple(found[:_MOST]),
        files=files,
        objects=sum(not each.made_by for each in objects),
        errors=count[Severity.ERROR],
        warnings=count[Severity.WARNING],
        devices=number,
        missing=tuple(_missing(objects, devices)) if devices is not None else (),
    )


def _missing(objects: Sequence[Planned], devices: ClusterState) -> Iterator[Missing]:
    """What could not be read and might show more: devices, and classes that neither the files nor the cluster have."""
    known = {*devices.inventory.classes, *(each.name for each in objects if isinstance(each.record, DeviceClass))}
    named = {name for each in objects for name in _classes_of(each.record)}
    decisive = ("ResourceSlice", *(("DeviceClass",) if named - known else ()))
    for need in needs.deciding(decisive):
        if devices.evidence.coverage(need.kind) in LACKING:
            yield lacking(devices.evidence, need, "")


def _of_objects(objects: Sequence[Planned], locate: Locate, devices: ClusterState | None) -> Iterator[LintFinding]:
    names = NamesInFiles(objects, _known_classes(devices))
    own = {each.name: each.record for each in objects if isinstance(each.record, DeviceClass)}
    claims = {each.key: each.record for each in objects if isinstance(each.record, ResourceClaim)}
    setting = Setting(devices, extra=own) if devices is not None else None
    of_pools, published, nodes = pool_findings(objects), pools_of(objects), nodes_of(objects)
    for number, planned in enumerate(objects):
        if planned.made_by:
            continue
        wrong = list(findings(planned))
        wrong += names.findings(planned)
        wrong += shared_claim_findings(planned, claims, devices)
        wrong += of_pools.get(number, ())
        wrong += taint_rule_findings(planned, published, nodes)
        usable = not any(RULES[each.rule].severity is Severity.ERROR for each in wrong)
        if setting is not None and usable:
            wrong += device_findings(planned, setting)
        for each in with_corrections(list(dict.fromkeys(wrong)), planned, setting):
            yield _finding(each, planned, locate(number, each.path))


def _known_classes(devices: ClusterState | None) -> Mapping[str, DeviceClass] | None:
    """The classes of the cluster; None where there may be others."""
    if devices is None or devices.evidence.coverage("DeviceClass") in LACKING:
        return None
    return devices.inventory.classes or None


def _finding(found: UnplacedFinding, planned: Planned, place: Place) -> LintFinding:
    return LintFinding(
        code=found.rule,
        severity=RULES[found.rule].severity,
        message=found.message,
        file=place.file,
        line=place.line,
        column=place.column,
        object=ObjectRef(planned.kind, planned.key.namespace, planned.name),
        path=found.path,
        corrected=found.corrected,
        instead=found.instead,
    )


def _of_broken(broken: BrokenDocument) -> LintFinding:
    place = broken.place
    return LintFinding(
        broken.rule, RULES[broken.rule].severity, broken.message, place.file, place.line, place.column, None, ""
    )


# --- devices that are known -------------------------------------------------------------------------------------------


def device_findings(planned: Planned, setting: Setting) -> Iterator[UnplacedFinding]:
    """What the devices of a setting show about the selectors of one class, claim or template."""
    record = planned.record
    if not isinstance(record, DeviceClass | ResourceClaim | ResourceClaimTemplate):
        return
    drivers = dict[str, set[str]]()
    for question in manifest_questions([(record, "")], setting.state.features):
        report = selector_report(question, setting)
        drivers[question.subject.request] = {pool.driver for pool in report.pools if pool.matches}
        if all(each.admission.accepted and each.scheduler.accepted for each in report.selectors):
            yield from _of_report(report, place_of(record, question))
    if not isinstance(record, DeviceClass):
        yield from constraint_findings(record, drivers, setting.state)


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


# --- names that manifests refer to ------------------------------------------------------------------------------------


class NamesInFiles:
    """What the files have, and the classes that are known besides (``classes`` None: nobody knows the others)."""

    def __init__(self, objects: Sequence[Planned], classes: Mapping[str, DeviceClass] | None) -> None:
        self._keys: dict[str, set[Key]] = {kind: set() for kind in _KINDS}
        for each in objects:
            if each.kind in self._keys and each.record is not None:
                self._keys[each.kind].add(each.key)
        own = {each.name: each.record for each in objects if isinstance(each.record, DeviceClass)}
        self._own, self._classes = own.keys(), classes
        self._served = class_by_resource({**(classes or {}), **own}.values())
        records = [(each.key, each.record) for each in objects]
        self._claims = {key: each.spec for key, each in records if isinstance(each, ResourceClaim)}
        self._templates = {key: each.spec.spec for key, each in records if isinstance(each, ResourceClaimTemplate)}
        self._seen: dict[tuple[str, str, Key], int] = {}

    def findings(self, planned: Planned) -> Iterator[UnplacedFinding]:
        """What is wrong about the names in one object; asked for all objects in their order."""
        yield from self._duplicate(planned)
        told: set[tuple[str, str]] = set()
        for plan in planned.pods:
            yield from self._of_pod(plan, told)
            yield from self._of_containers(plan)
        if isinstance(planned.record, ResourceClaim | ResourceClaimTemplate):
            yield from self._of_claim(planned.record)

    def _duplicate(self, planned: Planned) -> Iterator[UnplacedFinding]:
        if not planned.name or planned.generated or planned.made_by:
            return
        key = (planned.api_version.rpartition("/")[0], planned.kind, planned.key)
        self._seen[key] = self._seen.get(key, 0) + 1
        if self._seen[key] == 2:
            yield UnplacedFinding(
                Rule.DUPLICATE, f"{planned.kind} {planned.key} occurs more than once", "metadata.name"
            )

    def _of_pod(self, plan: PodPlan, told: set[tuple[str, str]]) -> Iterator[UnplacedFinding]:
        namespace = plan.pod.metadata.namespace
        for entry in plan.pod.spec.resource_claims:
            for kind, name in zip(_KINDS, sources(entry), strict=True):
                if name and (kind, name) not in told and Key(namespace, name) not in self._keys[kind]:
                    told.add((kind, name))
                    yield from self._missing(kind, Key(namespace, name))

    def _of_containers(self, plan: PodPlan) -> Iterator[UnplacedFinding]:
        namespace, known = plan.pod.metadata.namespace, dict[str, ResourceClaimSpec | None]()
        for entry in plan.pod.spec.resource_claims:
            claim, template = (Key(namespace, name or "") for name in sources(entry))
            known[entry.name] = self._claims.get(claim) or self._templates.get(template)
        yield from self._twice(plan, known)
        for each in unfound_of(plan.pod, known):
            has = " and ".join(each.requests)
            text = f'container {each.container} names request "{each.request}" of claim "{each.claim}", which has {has}'
            near = best_guess(similar(each.request, each.requests))
            yield UnplacedFinding(Rule.NO_REQUEST, f"{text}{near}", plan.spec_at or "spec")

    def _twice(self, plan: PodPlan, known: Mapping[str, ResourceClaimSpec | None]) -> Iterator[UnplacedFinding]:
        """An extended resource that a class serves, beside a claim of the class: as charts have it that got claims."""
        for container in plan.pod.spec.containers:
            for resource in container.resources.requests:
                served = self._served.get(resource)
                for claim in container.resources.claims if served is not None else ():
                    spec = known.get(claim.name)
                    if served is not None and spec is not None and served.metadata.name in class_names(spec):
                        text = f'container {container.name} requests {resource} beside claim "{claim.name}"'
                        text += f", both of class {served.metadata.name}"
                        yield UnplacedFinding(Rule.TWICE, text, plan.spec_at or "spec")

    def _missing(self, kind: str, key: Key) -> Iterator[UnplacedFinding]:
        path = "spec.resourceClaims"
        elsewhere = sorted(other.namespace for other in self._keys[kind] if other.name == key.name)
        if elsewhere:
            text = f'{kind} "{key.name}" is in namespace {elsewhere[0]}, the pod is in {key.namespace}'
            yield UnplacedFinding(Rule.OTHER_NAMESPACE, text, path)
            return
        other = _KINDS[1 - _KINDS.index(kind)]
        if key in self._keys[other]:
            text = f'{kind} "{key.name}" is not among the files, but a {other} of this name is'
        elif self._keys[kind] or self._keys[other]:
            text = f'{kind} "{key.name}" is not among the files{self._near(kind, key)}'
        else:
            # The files say nothing about claims: they are somewhere else.
            return
        yield UnplacedFinding(Rule.NOT_FOUND, text, path)

    def _near(self, kind: str, key: Key) -> str:
        there = (each.name for each in self._keys[kind] if each.namespace == key.namespace)
        return best_guess(similar(key.name, there))

    def _of_claim(self, record: ResourceClaim | ResourceClaimTemplate) -> Iterator[UnplacedFinding]:
        prefix = "spec.spec" if isinstance(record, ResourceClaimTemplate) else "spec"
        spec = record.spec.spec if isinstance(record, ResourceClaimTemplate) else record.spec
        for name, place, form in forms(spec.devices.requests):
            wanted = form.device_class_name
            if not wanted or wanted in self._own or (self._classes is not None and wanted in self._classes):
                continue
            near = best_guess(similar(wanted, {*self._own, *(self._classes or ())}))
            # Without all classes at hand only a name that looks like one of the files is worth a word.
            if self._classes or near:
                own = "" if "firstAvailable" in place else ".exactly"
                path = f"{prefix}.devices.{place}{own}.deviceClassName"
                yield UnplacedFinding(
                    Rule.NOT_FOUND, f'request "{name}": no DeviceClass "{wanted}" is known{near}', path
                )


def _classes_of(record: object) -> Iterator[str]:
    """The classes that the requests of a claim or template name."""
    if isinstance(record, ResourceClaim | ResourceClaimTemplate):
        spec = record.spec.spec if isinstance(record, ResourceClaimTemplate) else record.spec
        yield from filter(None, class_names(spec))
