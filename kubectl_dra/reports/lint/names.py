"""Names across files: claims and templates that pods name, classes that requests name, objects that occur twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.model.ids import Key
from kubectl_dra.model.likeness import best_guess, similar
from kubectl_dra.model.resource import DeviceClass, ResourceClaim, ResourceClaimTemplate
from kubectl_dra.reports.lint.objects import UnplacedFinding
from kubectl_dra.reports.lint.records import Rule
from kubectl_dra.reports.selector.questions import forms
from kubectl_dra.scheduler.claims import sources

_KINDS: Final = ("ResourceClaim", "ResourceClaimTemplate")


class NamesInFiles:
    """What the files have, and the classes that are known besides (``classes`` None: nobody knows the others)."""

    def __init__(self, objects: Sequence[Planned], classes: Mapping[str, object] | None) -> None:
        self._keys: dict[str, set[Key]] = {kind: set() for kind in _KINDS}
        for each in objects:
            if each.kind in self._keys and each.record is not None:
                self._keys[each.kind].add(each.key)
        self._own = {each.name for each in objects if isinstance(each.record, DeviceClass)}
        self._classes = classes
        self._seen: dict[tuple[str, str, Key], int] = {}

    def findings(self, planned: Planned) -> Iterator[UnplacedFinding]:
        """What is wrong about the names in one object; asked for all objects in their order."""
        yield from self._duplicate(planned)
        told: set[tuple[str, str]] = set()
        for plan in planned.pods:
            yield from self._of_pod(plan, told)
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


def class_names(record: object) -> Iterator[str]:
    """The classes that the requests of a claim or template name."""
    if isinstance(record, ResourceClaim | ResourceClaimTemplate):
        spec = record.spec.spec if isinstance(record, ResourceClaimTemplate) else record.spec
        yield from (form.device_class_name for _, _, form in forms(spec.devices.requests) if form.device_class_name)
