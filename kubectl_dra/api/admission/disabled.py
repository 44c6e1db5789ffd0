"""Fields of new objects that the API server drops without a word, because the feature that they belong to is off.

Upstream: DropDisabledFields in pkg/api/resourceclaimspec, and dropDisabledFields of the strategies of slices and
classes in pkg/registry/resource. Tolerations and taints are left as they are: without it they decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeVar, cast

import msgspec

from kubectl_dra.model import resource
from kubectl_dra.model.base import Record
from kubectl_dra.model.features import Features, gates_of

_ValueT = TypeVar("_ValueT")

#: Any item of a list or map.
_EACH: Final = "*"
_EXACTLY: Final = ("devices", "requests", _EACH, "exactly")
_ALTERNATIVE: Final = ("devices", "requests", _EACH, "first_available", _EACH)
_DEVICE: Final = ("spec", "devices", _EACH)
_VALUES: Final = ("ints", "bools", "strings", "versions")
_OF_CLAIMS: Final = (
    ("DRAPrioritizedList", ("devices", "requests", _EACH, "first_available")),
    ("DRAAdminAccess", (*_EXACTLY, "admin_access")),
    ("DRAConsumableCapacity", ("devices", "constraints", _EACH, "distinct_attribute")),
    *(("DRAConsumableCapacity", (*form, "capacity")) for form in (_EXACTLY, _ALTERNATIVE)),
    *(("DRADerivedAttributes", (*form, "derived_attributes")) for form in (_EXACTLY, _ALTERNATIVE)),
)
_OF_CLASSES: Final = (("DRAExtendedResource", ("spec", "extended_resource_name")),)
_OF_SLICES: Final = (
    *(("DRAPartitionableDevices", ("spec", name)) for name in ("shared_counters", "per_device_node_selection")),
    *(
        ("DRAPartitionableDevices", (*_DEVICE, name))
        for name in ("consumes_counters", "node_name", "node_selector", "all_nodes")
    ),
    *(
        ("DRADeviceBindingConditions", (*_DEVICE, name))
        for name in ("binding_conditions", "binding_failure_conditions", "binds_to_node")
    ),
    ("DRAConsumableCapacity", (*_DEVICE, "allow_multiple_allocations")),
    ("DRAConsumableCapacity", (*_DEVICE, "capacity", _EACH, "request_policy")),
    ("DRADeviceCompatibilityGroups", (*_DEVICE, "consumes_counters", _EACH, "compatibility_groups")),
    ("DRANodeAllocatableResources", (*_DEVICE, "node_allocatable_resources")),
    *(("DRAListTypeAttributes", (*_DEVICE, "attributes", _EACH, name)) for name in _VALUES),
    ("DRAOptionalNodeOperations", ("spec", "skip_node_operations")),
)


class Dropped(NamedTuple):
    """A field by its path in the object, as the newest version has it, and the gate that is off."""

    path: str
    gate: str


def without_disabled(
    record: Record, features: Features, old: Record | None = None
) -> tuple[Record, tuple[Dropped, ...]]:
    """``record`` as it is created, and what is dropped of it. It is the same object if that is nothing.

    ``old``: the object that it changes; what that has of a feature since before it was off, changes may have, too.
    """
    on = gates_of(features)
    if old is not None:
        on = {**on, **{each.gate: True for each in without_disabled(old, features)[1]}}
    dropped: list[Dropped] = []
    for gate, steps in _rules(record):
        if not on[gate]:
            paths: list[str] = []
            record = _without(record, steps, "", paths)
            dropped += (Dropped(path, gate) for path in paths)
    return record, tuple(dropped)


def _rules(record: Record) -> Iterator[tuple[str, tuple[str, ...]]]:
    match record:
        case resource.ResourceClaim():
            yield from ((gate, ("spec", *steps)) for gate, steps in _OF_CLAIMS)
        case resource.ResourceClaimTemplate():
            yield from ((gate, ("spec", "spec", *steps)) for gate, steps in _OF_CLAIMS)
        case resource.DeviceClass():
            yield from _OF_CLASSES
        case resource.ResourceSlice():
            yield from _OF_SLICES


def _without(value: _ValueT, steps: tuple[str, ...], at: str, paths: list[str]) -> _ValueT:
    """``value``, which stands ``at`` a path, without what ``steps`` lead to; ``paths`` gets where that was."""
    step, *rest = steps
    more = tuple(rest)
    match value:
        case tuple():
            return cast(_ValueT, tuple(_without(each, more, f"{at}[{i}]", paths) for i, each in enumerate(value)))
        case dict():
            return cast(_ValueT, {key: _without(each, more, f"{at}[{key}]", paths) for key, each in value.items()})
        case Record():
            field = next(each for each in msgspec.structs.fields(value) if each.name == step)
            path, found = f"{at}.{field.encode_name}".removeprefix("."), getattr(value, step)
            if more:
                inner = _without(found, more, path, paths)
                return value if inner is found else msgspec.structs.replace(value, **{step: inner})
            if found not in (field.default, ()):
                paths.append(path)
                return msgspec.structs.replace(value, **{step: field.default})
    return value
