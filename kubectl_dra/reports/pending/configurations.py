"""Where the configuration stands that a driver refuses: in a claim, in its template, or in a class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, KubeletText, ObjectRef
from kubectl_dra.model.forms import class_names
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import OpaqueConfiguration, ResourceClaim
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.claims.ask import ClaimAsk

#: A field's path as decoders of JSON quote it, or a name.
_QUOTED: Final = re.compile(r'"([A-Za-z][\w.\[\]-]*)"')


class ConfiguredIn(ReportRecord, frozen=True):
    """The parameters for a driver at ``path`` of an object; ``field``: which of them its words name, if any."""

    ref: ObjectRef
    path: str
    field: str = ""


def configured_in(causes: Sequence[Cause], asks: Sequence[ClaimAsk], inventory: Inventory) -> ConfiguredIn | None:
    """The configuration that the first cause is about: the only one of the claim, or the one with the named field."""
    cause = causes[0] if causes else None
    said = cause.detail if cause is not None and cause.code is Code.DRIVER_FAILED else None
    claim = inventory.claims.get(cause.claim.key) if cause is not None and cause.claim is not None else None
    if not isinstance(said, KubeletText) or claim is None:
        return None
    found = list(_configurations(claim, asks, inventory))
    for name in _QUOTED.findall(said.detail or said.text):
        for place, opaque in found:
            if field := _field(name, _text(opaque)):
                return msgspec.structs.replace(place, field=field)
    return found[0][0] if len(found) == 1 else None


def _configurations(
    claim: ResourceClaim, asks: Sequence[ClaimAsk], inventory: Inventory
) -> Iterator[tuple[ConfiguredIn, OpaqueConfiguration]]:
    """Those of the claim, which were written into its template where it has one, then those of its classes."""
    key = Key(claim.metadata.namespace, claim.metadata.name)
    template = next((each.template for each in asks if (each.namespace, each.name) == key), "")
    ref = ObjectRef("ResourceClaimTemplate", key.namespace, template) if template else ObjectRef.of_claim(claim)
    path = "spec.spec.devices.config" if template else "spec.devices.config"
    for index, each in enumerate(claim.spec.devices.config):
        if each.opaque is not None:
            yield ConfiguredIn(ref, f"{path}[{index}].opaque.parameters"), each.opaque
    for name in class_names(claim.spec):
        found = inventory.classes.get(name)
        for index, of_class in enumerate(found.spec.config if found is not None else ()):
            if of_class.opaque is not None:
                place = ConfiguredIn(ObjectRef("DeviceClass", "", name), f"spec.config[{index}].opaque.parameters")
                yield place, of_class.opaque


def _field(name: str, parameters: str) -> str:
    """The field that quoted words are about, by its path or by its value; empty where the parameters have neither."""
    leaf = re.escape(name.rpartition(".")[2])
    if re.search(rf'"{leaf}"\s*:', parameters):
        return name
    of_value = re.search(rf'"([^"]+)"\s*:\s*"{re.escape(name)}"', parameters)
    return of_value[1] if of_value is not None else ""


def _text(opaque: OpaqueConfiguration) -> str:
    parameters = opaque.parameters
    return "" if isinstance(parameters, msgspec.UnsetType) else bytes(parameters).decode("utf-8", "replace")
