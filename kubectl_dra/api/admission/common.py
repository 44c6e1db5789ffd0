"""Parts that several kinds share: metadata, CEL selectors, opaque parameters, taints, tolerations, node selectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from kubectl_dra.api.admission import formats
from kubectl_dra.api.admission.errors import Field
from kubectl_dra.model import names
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, ObjectMeta
from kubectl_dra.model.resource import DeviceSelector, DeviceTaint, DeviceToleration, OpaqueConfiguration
from kubectl_dra.selectors.compiling import COST_LIMIT, MAX_BYTES, Environment, admitted

MAX_SELECTORS: Final = 32
MAX_PARAMETERS: Final = 10 * 1024
MAX_ANNOTATIONS: Final = 256 * 1024
EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
OPERATORS: Final = ("Equal", "Exists")


def metadata(meta: ObjectMeta, namespaced: bool, field: Field, unit: str = names.CHARACTERS) -> None:
    """``metadata`` of an object whose name is a DNS subdomain."""
    if meta.name:
        field.at("name").invalid_for_each(meta.name, names.dns_subdomain(meta.name, unit))
    else:
        field.at("name").required("name or generateName is required")
    _namespace(meta.namespace, namespaced, field.at("namespace"))
    labels(meta.labels, field.at("labels"))
    annotation_keys(meta.annotations, field.at("annotations"))


def _namespace(namespace: str, namespaced: bool, field: Field) -> None:
    if not namespaced:
        if namespace:
            field.forbidden("not allowed on this type")
    elif not namespace:
        field.required()
    else:
        field.invalid_for_each(namespace, names.dns_label(namespace))


def labels(values: Mapping[str, str], field: Field) -> None:
    for key, value in values.items():
        field.invalid_for_each(key, names.label_key(key))
        field.invalid_for_each(value, names.label_value(value))


def annotation_keys(values: Mapping[str, str], field: Field) -> None:
    """Annotations; the case of a key's prefix does not matter."""
    for key in values:
        field.invalid_for_each(key, names.label_key(key.lower()))
    if sum(names.size(key) + names.size(value) for key, value in values.items()) > MAX_ANNOTATIONS:
        field.too_long(MAX_ANNOTATIONS)


def selector(item: DeviceSelector, field: Field, environment: Environment) -> None:
    if item.cel is None:
        field.at("cel").required()
    else:
        expression(item.cel.expression, field.at("cel", "expression"), environment)


def expression(text: str, field: Field, environment: Environment, derived: bool = False) -> int:
    """A new CEL expression; the result is its estimated cost, 0 if it was not compiled."""
    if names.size(text) > MAX_BYTES:
        field.too_long(MAX_BYTES)
        return 0
    found = admitted(text, environment, derived)
    if isinstance(found, int):
        if found > COST_LIMIT:
            field.forbidden("too complex, exceeds cost limit")
        return found
    if found.type == "InternalError":
        field.internal(found.text)
    else:
        field.invalid(text, found.text)
    return 0


def opaque(config: OpaqueConfiguration | None, field: Field) -> None:
    if config is None:
        field.required()
        return
    parameters(config.parameters, field.at("parameters"))
    formats.declared_driver_name(config.driver, field.at("driver"))


def parameters(raw: msgspec.Raw | msgspec.UnsetType, field: Field, limit: int = MAX_PARAMETERS) -> None:
    """A JSON object of at most ``limit`` bytes."""
    data = b"" if isinstance(raw, msgspec.UnsetType) else bytes(raw).strip()
    if not data or data == b"null":
        field.required()
    elif len(data) > limit:
        field.too_long(limit)
    elif not data.startswith(b"{"):
        field.invalid("<value omitted>", "must be a valid JSON object")


def taint(item: DeviceTaint, field: Field) -> None:
    """A taint of a device or of a rule."""
    field.at("key").invalid_for_each(item.key, names.label_key(item.key))
    field.at("value").invalid_for_each(item.value, names.label_value(item.value))
    if not item.effect:
        field.at("effect").required()
    elif item.effect not in EFFECTS:
        field.at("effect").not_supported(item.effect, EFFECTS)


def toleration(item: DeviceToleration, field: Field) -> None:
    if item.key:
        field.at("key").invalid_for_each(item.key, names.label_key(item.key))
    if item.operator == "Exists" and item.value:
        field.at("value").invalid(item.value, "must be empty for operator `Exists`")
    elif item.operator == "Equal":
        field.at("value").invalid_for_each(item.value, names.label_value(item.value))
    elif not item.operator:
        field.at("operator").required()
    elif item.operator not in OPERATORS:
        field.at("operator").not_supported(item.operator, OPERATORS)
    if item.effect and item.effect not in EFFECTS:
        field.at("effect").not_supported(item.effect, EFFECTS)


def node_name(name: str, field: Field) -> None:
    field.invalid_for_each(name, names.dns_subdomain(name))


def node_selector(selector: NodeSelector, field: Field) -> None:
    """A node selector. Upstream: pkg/apis/core/validation."""
    terms = field.at("nodeSelectorTerms")
    if not selector.node_selector_terms:
        terms.required("must have at least one node selector term")
    for index, term in enumerate(selector.node_selector_terms):
        terms.index(index).at("matchExpressions").items(term.match_expressions, None, _node_labels)
        terms.index(index).at("matchFields").items(term.match_fields, None, _node_fields)


def _node_labels(requirement: NodeSelectorRequirement, field: Field) -> None:
    values = field.at("values")
    match requirement.operator:
        case "In" | "NotIn":
            if not requirement.values:
                values.required("must be specified when `operator` is 'In' or 'NotIn'")
        case "Exists" | "DoesNotExist":
            if requirement.values:
                values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
        case "Gt" | "Lt":
            if len(requirement.values) != 1:
                values.required("must be specified single value when `operator` is 'Lt' or 'Gt'")
        case _:
            field.at("operator").invalid(requirement.operator, "not a valid selector operator")
    field.at("key").invalid_for_each(requirement.key, names.label_key(requirement.key))
    for index, value in enumerate(requirement.values):
        values.index(index).invalid_for_each(value, names.label_value(value))


def _node_fields(requirement: NodeSelectorRequirement, field: Field) -> None:
    values = field.at("values")
    if requirement.operator not in ("In", "NotIn"):
        field.at("operator").invalid(requirement.operator, "not a valid selector operator")
    elif len(requirement.values) != 1:
        values.required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
    if requirement.key != "metadata.name":
        field.at("key").invalid(requirement.key, "not a valid field selector key")
        return
    for index, value in enumerate(requirement.values):
        node_name(value, values.index(index))
