"""Resource slices: pool, nodes, counters; their devices are checked in ``devices``."""

from __future__ import annotations

from typing import Final

from kubectl_dra.api.admission import common, formats
from kubectl_dra.api.admission.devices import counter_names, counter_set_name, device, qualified_attribute
from kubectl_dra.api.admission.errors import Field, itself
from kubectl_dra.model import resource

MAX_DEVICES: Final = 128
MAX_DEVICES_WITH_FEATURES: Final = 64
MAX_COUNTER_SETS: Final = 8
_GO_NAMES: Final = {
    "IntValue": "int_value",
    "BoolValue": "bool_value",
    "StringValue": "string",
    "VersionValue": "version",
    "IntValues": "ints",
    "BoolValues": "bools",
    "StringValues": "strings",
    "VersionValues": "versions",
}
OPERATIONS: Final = ("*", "NodePrepareResources", "NodeUnprepareResources")
_NODES: Final = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"


def resource_slice(record: resource.ResourceSlice, root: Field) -> None:
    common.metadata(record.metadata, False, root.at("metadata"))
    spec, field = record.spec, root.at("spec")
    formats.driver_name(spec.driver, field.at("driver"))
    _pool(spec.pool, field.at("pool"))
    _nodes(spec, field)
    if spec.shared_counters and spec.devices:
        field.invalid("", "only one of `sharedCounters` or `devices` is allowed")
    limit = max_devices(spec.devices)
    devices = field.at("devices")
    devices.items(spec.devices, limit, lambda item, at: device(item, at, bool(spec.per_device_node_selection)))
    devices.unique(spec.devices, limit, lambda item: item.name, lambda item: item.name)
    field.at("sharedCounters").items(spec.shared_counters, MAX_COUNTER_SETS, _counter_set)
    field.at("sharedCounters").unique(spec.shared_counters, MAX_COUNTER_SETS, lambda item: item.name, itself)
    if spec.partition_type_attribute is not None:
        _partition_type(spec, spec.partition_type_attribute, field)
    _skipped_operations(spec.skip_node_operations, field.at("skipNodeOperations"))


def max_devices(devices: tuple[resource.Device, ...]) -> int:
    """How many devices one slice may hold: fewer if any has taints, counters or lists as attributes."""
    advanced = any(item.taints or item.consumes_counters or _has_list(item) for item in devices)
    return MAX_DEVICES_WITH_FEATURES if advanced else MAX_DEVICES


def _has_list(item: resource.Device) -> bool:
    return any(
        value is not None
        for attribute in item.attributes.values()
        for value in (attribute.ints, attribute.bools, attribute.strings, attribute.versions)
    )


def _pool(pool: resource.ResourcePool, field: Field) -> None:
    formats.pool_name(pool.name, field.at("name"))
    if pool.resource_slice_count <= 0:
        field.at("resourceSliceCount").invalid(pool.resource_slice_count, "must be greater than zero")
    if pool.generation < 0:
        field.at("generation").invalid(pool.generation, "must be greater than or equal to zero")


def _nodes(spec: resource.ResourceSliceSpec, field: Field) -> None:
    chosen = []
    if spec.node_name:
        chosen.append("`nodeName`")
        common.node_name(spec.node_name, field.at("nodeName"))
    elif spec.node_name is not None:
        field.at("nodeName").invalid("", "must be either unset or set to a non-empty string")
    if spec.node_selector is not None:
        chosen.append("`nodeSelector`")
        common.node_selector(spec.node_selector, field.at("nodeSelector"))
        terms = spec.node_selector.node_selector_terms
        if len(terms) != 1:
            shown = [
                {"MatchExpressions": _shown(term.match_expressions), "MatchFields": _shown(term.match_fields)}
                for term in terms
            ]
            field.at("nodeSelector", "nodeSelectorTerms").invalid(shown, "must have exactly one node selector term")
    for name, value in (("allNodes", spec.all_nodes), ("perDeviceNodeSelection", spec.per_device_node_selection)):
        if value:
            chosen.append(f"`{name}`")
        elif value is not None:
            field.at(name).invalid(False, "must be either unset or set to true")
    if not chosen:
        field.required(_NODES)
    elif len(chosen) > 1:
        field.invalid("{" + ", ".join(chosen) + "}", f"{_NODES}, but multiple fields are set")


def _shown(requirements: tuple[object, ...]) -> list[object] | None:
    names = ("key", "operator", "values")
    return [{name.capitalize(): getattr(r, name) for name in names} for r in requirements] or None


def _counter_set(counter_set: resource.CounterSet, field: Field) -> None:
    counter_names(counter_set.counters, field.at("counters"))
    counter_set_name(counter_set.name, field.at("name"))


def _partition_type(spec: resource.ResourceSliceSpec, name: str, field: Field) -> None:
    if not any(item.consumes_counters for item in spec.devices):
        field.at("partitionTypeAttribute").invalid(
            name, "may only be set on a slice which declares devices that consume counters"
        )
        return
    if not formats.is_fully_qualified(name):
        return
    for index, item in enumerate(spec.devices):
        if not item.consumes_counters:
            continue
        at = field.at("devices").index(index).at("attributes").key(name)
        attribute = qualified_attribute(item.attributes, name, spec.driver)
        if attribute is None:
            at.required("device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set")
        elif attribute.string is None:
            at.invalid(
                _go_fields(attribute), "must be a string value because `partitionTypeAttribute` names this attribute"
            )


def _go_fields(attribute: resource.DeviceAttribute) -> dict[str, object]:
    """The attribute as the server's internal type prints it."""
    return {go_name: getattr(attribute, name) for go_name, name in _GO_NAMES.items()}


def _skipped_operations(operations: tuple[str, ...], field: Field) -> None:
    skipped = set(operations)
    if "NodePrepareResources" in skipped and not skipped & {"*", "NodeUnprepareResources"}:
        field.invalid(
            operations, "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"
        )
    if not field.alpha:
        return
    field.unique(operations, None, itself, itself)
    for index, operation in enumerate(operations):
        if operation not in OPERATIONS:
            field.index(index).not_supported(operation, OPERATIONS)
