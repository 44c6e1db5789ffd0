"""What the value of an expression means: a selector's match, or the value of a derived attribute.

Upstream: k8s.io/dynamic-resource-allocation/cel, ``DeviceMatches`` and ``EvaluateDerivedAttribute``.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.cel.run.values import (
    CIDR,
    IP,
    LISTS,
    MAPS,
    NONE,
    URL,
    AnyMessage,
    CapacityMap,
    CelError,
    DomainMap,
    Duration,
    JoinedList,
    MutableList,
    NamedFormat,
    NativeList,
    Optional,
    QuantityValue,
    StringMap,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    go_name,
    list_size,
    type_name,
)
from kubectl_dra.model.resource import DeviceAttribute
from kubectl_dra.model.semver import Semver

_NOT_BOOL: Final[dict[type, str]] = {
    int: "unsupported type conversion from 'int' to bool",
    Uint: "unsupported type conversion from 'uint' to bool",
    str: "unsupported native conversion from string to 'bool'",
    float: "type conversion error from Double to 'bool'",
    bytes: "type conversion error from Bytes to 'bool'",
    type(None): "type conversion error from 'null_type' to 'bool'",
    QuantityValue: "type conversion error from 'Quantity' to 'bool'",
    Semver: "type conversion error from 'Semver' to 'bool'",
    Duration: "type conversion error from 'Duration' to 'bool'",
    Timestamp: "type conversion error from 'Timestamp' to 'bool'",
    IP: "type conversion error from 'IP' to 'bool'",
    CIDR: "type conversion error from 'CIDR' to 'bool'",
    URL: "type conversion error from 'URL' to 'bool'",
    NamedFormat: "type conversion error from 'Format' to 'bool'",
    TypeValue: "type conversion not supported for 'type'",
    AnyMessage: "unsupported type conversion from 'google.protobuf.Empty' to 'bool'",
}

# The Go types behind values, for those that are named in texts.
_NATIVE: Final[dict[type, str]] = {
    float: "float64",
    Uint: "uint64",
    bytes: "[]uint8",
    type(None): "structpb.NullValue",
    Duration: "time.Duration",
    Timestamp: "time.Time",
    dict: "map[ref.Val]ref.Val",
    StringMap: "map[string]interface {}",
    CapacityMap: "map[string]cel.Quantity",
    JoinedList: "[]interface {}",
    DomainMap: "map[string]interface {}",
    QuantityValue: "*resource.Quantity",
    IP: "netip.Addr",
    CIDR: "netip.Prefix",
    URL: "*url.URL",
    NamedFormat: "cel.Format",
    bool: "bool",
    int: "int64",
    str: "string",
    Semver: "semver.Version",
}
_ELEMENTS: Final = {bool: "bool", int: "int64", str: "string", Semver: "cel.Semver"}


def to_match(value: Value) -> bool:
    """Whether a selector matches. Raises :class:`CelError` for a value that is not a bool."""
    inner = value
    while inner.__class__ is Optional and inner is not NONE:
        inner = inner.value
    if inner.__class__ is bool:
        return bool(inner)
    raise CelError(f"CEL result of type {type_name(value)} could not be converted to bool: {_not_bool(inner)}")


def _not_bool(value: Value) -> str:
    if value is NONE:
        return "optional.none() dereference"
    if value.__class__ in LISTS:
        return "type conversion error from list to 'bool'"
    if value.__class__ in MAPS:
        return "type conversion error from map to 'bool'"
    return _NOT_BOOL[value.__class__]


def to_attribute(value: Value) -> DeviceAttribute:
    """The value of a derived attribute. Raises :class:`CelError` for values that no attribute can have."""
    if value.__class__ in LISTS:
        return _list_attribute(value)
    native = _unwrapped(value)
    kind = native.__class__
    if kind is bool:
        return DeviceAttribute(bool_value=native)
    if kind is int:
        return DeviceAttribute(int_value=native)
    if kind is str:
        return DeviceAttribute(string=native)
    if kind is Semver:
        return DeviceAttribute(version=str(native))
    raise CelError(f"unsupported CEL return type: {_native(native)}")


def _unwrapped(value: Value) -> Value:
    """What Go sees as the value: an optional's content, a type's name."""
    while value.__class__ is Optional and value is not NONE:
        value = value.value
    return value.name if value.__class__ is TypeValue else value


def _native(value: Value) -> str:
    if value is NONE:
        return "<nil>"
    if value.__class__ is NativeList:
        return "[]" + _ELEMENTS.get(next(iter(value), "").__class__, "string")
    if value.__class__ in (list, MutableList):
        return "[]ref.Val"
    return _NATIVE.get(value.__class__, go_name(value))


def _list_attribute(elements: Value) -> DeviceAttribute:
    if not list_size(elements):
        return DeviceAttribute(strings=())
    first = _unwrapped(next(iter(elements)))
    kind = first.__class__
    if kind is bool:
        return DeviceAttribute(bools=_all_of(elements, bool, "bool"))
    if kind is int:
        return DeviceAttribute(ints=_all_of(elements, int, "int"))
    if kind is str:
        return DeviceAttribute(strings=_all_of(elements, str, "string"))
    if kind is Semver:
        return DeviceAttribute(versions=tuple(map(str, _all_of(elements, Semver, "semver"))))
    raise CelError(f"unsupported list element type: {_native(first)}")


def _all_of(elements: Value, expected: type, name: str) -> tuple[Value, ...]:
    natives = tuple(map(_unwrapped, elements))
    for index, native in enumerate(natives):
        if native.__class__ is not expected:
            raise CelError(f"expected list element at index {index} to be {name}, got {_native(native)}")
    return natives
