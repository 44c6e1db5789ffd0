"""The devices of a slice: attributes, counters, nodes, binding conditions, node-allocatable resources.

Counter sets: their names and counters, where they are defined and where devices draw on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec

from kubectl_dra.api.admission import common, formats
from kubectl_dra.api.admission.capacity import request_policy
from kubectl_dra.api.admission.errors import Field, itself
from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.model import names
from kubectl_dra.model.base import Record
from kubectl_dra.model.names import LABEL_LENGTH
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Counter, CounterConsumption, Device, DeviceAttribute, DeviceCapacity

MAX_ENTRIES: Final = 32
MAX_VALUES: Final = 48
MAX_TEXT: Final = 64
MAX_TAINTS: Final = 16
MAX_CONSUMPTIONS: Final = 2
MAX_GROUPS: Final = 2
MAX_CONDITIONS: Final = 4
_SCALARS: Final = ("int_value", "bool_value", "string", "version")
_LISTS: Final = ("ints", "bools", "strings", "versions")
_ATTRIBUTE_FIELDS: Final = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
_KEY_LENGTH: Final = LABEL_LENGTH + 1 + formats.IDENTIFIER_LENGTH
_NODE_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
_NODES: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set"
    " to true in the ResourceSlice spec"
)
_MAX_COUNTERS: Final = 32


class Overhead(Record, frozen=True):
    """``nodeAllocatableResources[].overhead``."""

    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class Mapped(Record, frozen=True):
    """``nodeAllocatableResources[].mapping``."""

    capacity_key: str | None = None
    capacity_multiplier: Quantity | None = None
    device_multiplier: Quantity | None = None


class NodeAllocatable(Record, frozen=True):
    """``nodeAllocatableResources[]``."""

    mapping: Mapped | None = None
    overhead: Overhead | None = None


def device(item: Device, field: Field, per_device_nodes: bool) -> None:
    field.at("name").invalid_for_each(item.name, names.dns_label(item.name))
    _sizes(item, field)
    for key, attribute in item.attributes.items():
        formats.qualified_name(key, field.at("attributes"))
        _attribute(attribute, field.at("attributes").key(_cut(key)))
    for key, capacity in item.capacity.items():
        formats.qualified_name(key, field.at("capacity"))
        _capacity(capacity, field.at("capacity").key(_cut(key)), bool(item.allow_multiple_allocations))
    field.at("taints").items(item.taints, MAX_TAINTS, common.taint)
    consumed = field.at("consumesCounters")
    consumed.items(item.consumes_counters, MAX_CONSUMPTIONS, _consumption)
    consumed.unique(item.consumes_counters, MAX_CONSUMPTIONS, lambda entry: entry.counter_set, itself)
    _nodes(item, field, per_device_nodes)
    _conditions(item, field)
    _node_allocatable(item, field.at("nodeAllocatableResources"))


def qualified_attribute(attributes: Mapping[str, DeviceAttribute], name: str, driver: str) -> DeviceAttribute | None:
    """An attribute by its full name; in the driver's own domain the key may also be bare."""
    found = attributes.get(name)
    return found if found is not None else attributes.get(name.removeprefix(f"{driver}/"))


def _sizes(item: Device, field: Field) -> None:
    entries = len(item.attributes) + len(item.capacity)
    if entries > MAX_ENTRIES:
        field.invalid(entries, f"the total number of attributes and capacities must not exceed {MAX_ENTRIES}")
    values = sum(map(_value_count, item.attributes.values()))
    if values > MAX_VALUES:
        field.invalid(values, f"the total number of attribute values must not exceed {MAX_VALUES}")


def _value_count(attribute: DeviceAttribute) -> int:
    return sum(len(getattr(attribute, name) or ()) for name in _LISTS) or 1


def _attribute(attribute: DeviceAttribute, field: Field) -> None:
    for name in _LISTS:
        if getattr(attribute, name) == ():
            field.at(name).invalid((), "must not be empty if specified")
    if attribute.string is not None:
        _text(attribute.string, field.at("string"))
    if attribute.version is not None:
        _version(attribute.version, field.at("version"))
    field.at("strings").items(attribute.strings or (), None, _text)
    field.at("versions").items(attribute.versions or (), None, _version)
    # To the declarative union a list without items is not set.
    given = [name for name in _SCALARS if getattr(attribute, name) is not None]
    given += [name for name in _LISTS if getattr(attribute, name)]
    if not given:
        field.invalid("", f"must specify one of: {_ATTRIBUTE_FIELDS}")
    elif len(given) > 1:
        shown = ", ".join(name.removesuffix("_value") for name in _in_order(given))
        field.invalid("{" + shown + "}", f"must specify exactly one of: {_ATTRIBUTE_FIELDS}")


def _in_order(names: list[str]) -> list[str]:
    return [name for name in (*_SCALARS, *_LISTS) if name in names]


def _text(text: str, field: Field) -> None:
    if names.size(text) > MAX_TEXT:
        field.too_long(MAX_TEXT)


def _version(text: str, field: Field) -> None:
    if not formats.is_version(text):
        field.invalid(text, "must be a string compatible with semver.org spec 2.0.0")
    _text(text, field)


def _capacity(capacity: DeviceCapacity, field: Field, shared: bool) -> None:
    if capacity.request_policy is None:
        return
    if shared:
        request_policy(capacity.value, capacity.request_policy, field.at("requestPolicy"))
    else:
        field.at("requestPolicy").forbidden("allowMultipleAllocations must be true")


def _consumption(item: CounterConsumption, field: Field) -> None:
    counter_names(item.counters, field.at("counters"))
    counter_set_name(item.counter_set, field.at("counterSet"))
    if field.alpha:
        groups = field.at("compatibilityGroups")
        groups.items(item.compatibility_groups, MAX_GROUPS, _group)
        groups.unique(item.compatibility_groups, MAX_GROUPS, itself, itself)


def _group(name: str, field: Field) -> None:
    field.invalid_for_each(name, names.dns_label(name, names.BYTES))


def _nodes(item: Device, field: Field, per_device: bool) -> None:
    if not per_device:
        if item.node_name is not None or item.node_selector is not None or item.all_nodes is not None:
            field.invalid(
                None,
                "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set"
                " to true in the ResourceSlice spec",
            )
        return
    chosen = []
    if item.node_name:
        chosen.append("`nodeName`")
        common.node_name(item.node_name, field.at("nodeName"))
    elif item.node_name is not None:
        field.at("nodeName").invalid("", "must not be empty")
    if item.node_selector is not None:
        chosen.append("`nodeSelector`")
        common.node_selector(item.node_selector, field.at("nodeSelector"))
    if item.all_nodes:
        chosen.append("`allNodes`")
    elif item.all_nodes is not None:
        field.at("allNodes").invalid(False, "must be either unset or set to true")
    if not chosen:
        field.required(_NODES)
    elif len(chosen) > 1:
        field.invalid("{" + ", ".join(chosen) + "}", _NODES)


def _conditions(item: Device, field: Field) -> None:
    success, failure = item.binding_conditions or (), item.binding_failure_conditions or ()
    at_success, at_failure = field.at("bindingConditions"), field.at("bindingFailureConditions")
    at_success.items(success, MAX_CONDITIONS, _condition)
    at_failure.items(failure, MAX_CONDITIONS, _condition)
    at_success.unique(success, None, itself, itself)
    at_failure.unique(failure, None, itself, itself)
    for index, condition in enumerate(failure):
        if condition in success:
            at_failure.index(index).invalid(
                condition, "bindingFailureConditions must not overlap with bindingConditions"
            )
    if failure and not success:
        at_success.invalid(item.binding_conditions, "bindingConditions are required to use bindingFailureConditions")
    if success and not failure:
        at_failure.invalid(
            item.binding_failure_conditions, "bindingFailureConditions are required to use bindingConditions"
        )


def _condition(name: str, field: Field) -> None:
    field.invalid_for_each(name, names.label_key(name))


@cache
def _allocatable() -> msgspec.json.Decoder[Any]:
    return make_decoder(dict[str, NodeAllocatable])


def _node_allocatable(item: Device, field: Field) -> None:
    raw = item.node_allocatable_resources
    if isinstance(raw, msgspec.UnsetType) or bytes(raw) == b"null":
        return
    try:
        resources: dict[str, NodeAllocatable] = _allocatable().decode(raw)
    except msgspec.MsgspecError as error:
        field.invalid("<value omitted>", str(error))
        return
    for name, resource in resources.items():
        at = field.key(name)
        if name not in _NODE_RESOURCES and not name.startswith("hugepages-"):
            at.invalid(name, "must be a node allocatable resource name")
        if resource.mapping is None and resource.overhead is None:
            at.required("at least one of mapping or overhead must be set")
        if resource.mapping is not None:
            _mapping(resource.mapping, item.capacity, at.at("mapping"))
        if resource.overhead is not None:
            _overhead(resource.overhead, at.at("overhead"))


def _mapping(mapping: Mapped, capacity: Mapping[str, DeviceCapacity], field: Field) -> None:
    key, factor, per_device = mapping.capacity_key, mapping.capacity_multiplier, mapping.device_multiplier
    if key == "":
        field.at("capacityKey").invalid("", "capacityKey must not be an empty string")
    elif key is not None and key not in capacity:
        field.at("capacityKey").not_found(key)
    if key is not None and factor is None:
        field.at("capacityMultiplier").required("capacityMultiplier is required when capacityKey is set")
    if key is not None and factor is not None and factor.sign <= 0:
        field.at("capacityMultiplier").invalid(str(factor), "must be positive")
    if key is None and factor is not None:
        field.at("capacityKey").required("capacityKey is required when capacityMultiplier is set")
    if per_device is not None and per_device.sign <= 0:
        field.at("deviceMultiplier").invalid(str(per_device), "must be positive")
    if not field.alpha:
        return
    if key is None and per_device is None:
        field.invalid("", "must specify one of: `capacityKey`, `deviceMultiplier`")
    elif key is not None and per_device is not None:
        field.invalid(
            "{`capacityKey`, `deviceMultiplier`}", "must specify exactly one of: `capacityKey`, `deviceMultiplier`"
        )


def _overhead(overhead: Overhead, field: Field) -> None:
    if overhead.per_pod is None and overhead.per_container is None:
        field.invalid("", "at least one of perPod or perContainer must be set")
    for name, amount in (("perPod", overhead.per_pod), ("perContainer", overhead.per_container)):
        if amount is not None and amount.sign < 0:
            field.at(name).invalid(str(amount), "must be non-negative")


def _cut(key: str) -> str:
    """A key in a path; the middle of one that is too long is left out."""
    raw = key.encode("utf-8", "surrogatepass")
    if len(raw) <= _KEY_LENGTH:
        return key
    remaining = _KEY_LENGTH - len("...")
    head, tail = raw[: (remaining + 1) // 2], raw[len(raw) - remaining // 2 :]
    return f"{head.decode('utf-8', 'replace')}...{tail.decode('utf-8', 'replace')}"


def counter_set_name(name: str, field: Field) -> None:
    """The name of a counter set, where it is defined and where it is drawn on."""
    if name:
        field.invalid_for_each(name, names.dns_label(name, names.BYTES))
    else:
        field.required()


def counter_names(counters: Mapping[str, Counter], field: Field) -> None:
    """Counters by name; any quantity is valid."""
    if not counters:
        field.required()
        return
    if len(counters) > _MAX_COUNTERS:
        field.too_many(len(counters), _MAX_COUNTERS)
    for name in counters:
        field.invalid_for_each(name, names.dns_label(name, names.BYTES))
