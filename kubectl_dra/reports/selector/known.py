"""The selectors that exist already, in classes, claims and templates, to start a new one from."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ResourceClaimSpec
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.selector.questions import forms


class KnownSelector(ReportRecord, frozen=True):
    """One selector: whose it is (``request`` is empty for a class), and the class that it stands behind if any."""

    kind: str
    namespace: str
    name: str
    request: str
    index: int
    expression: str
    device_class: str | None


def known_selectors(inventory: Inventory) -> tuple[KnownSelector, ...]:
    """Those of classes, then of templates, then of claims, by name."""
    return (*_of_classes(inventory), *_of_templates(inventory), *_of_claims(inventory))


def _of_classes(inventory: Inventory) -> Iterator[KnownSelector]:
    for name, device_class in sorted(inventory.classes.items()):
        for index, each in enumerate(device_class.spec.selectors):
            yield KnownSelector("DeviceClass", "", name, "", index, each.expression, None)


def _of_templates(inventory: Inventory) -> Iterator[KnownSelector]:
    for key, template in sorted(inventory.templates.items()):
        yield from _of_spec("ResourceClaimTemplate", key.namespace, key.name, template.spec.spec)


def _of_claims(inventory: Inventory) -> Iterator[KnownSelector]:
    for key, claim in sorted(inventory.claims.items()):
        yield from _of_spec("ResourceClaim", key.namespace, key.name, claim.spec)


def _of_spec(kind: str, namespace: str, name: str, spec: ResourceClaimSpec) -> Iterator[KnownSelector]:
    for request, _, form in forms(spec.devices.requests):
        for index, each in enumerate(form.selectors):
            yield KnownSelector(kind, namespace, name, request, index, each.expression, form.device_class_name)
