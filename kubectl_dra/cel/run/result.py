"""What the value of an expression means: a selector's match, or the value of a derived attribute.

Upstream: k8s.io/dynamic-resource-allocation/cel, ``DeviceMatches`` and ``EvaluateDerivedAttribute``.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.cel.run import values
from kubectl_dra.model.resource import DeviceAttribute
from kubectl_dra.model.semver import Semver

_NOT_BOOL: Final[dict[type, str]] = {
    int: "unsupported type conversion from 'int' to bool",
    values.Uint: "unsupported type conversion from 'uint' to bool",
    str: "unsupported native conversion from string to 'bool'",
    float: "type conversion error from Double to 'bool'",
    bytes: "type conversion error from Bytes to 'bool'",
    type(None): "type conversion error from 'null_type' to 'bool'",
    values.QuantityValue: "type conversion error from 'Quantity' to 'bool'",
    Semver: "type conversion error from 'Semver' to 'bool'",
    values.Duration: "type conversion error from 'Duration' to 'bool'",
    values.Timestamp: "type conversion error from 'Timestamp' to 'bool'",
    values.IP: "type conversion error from 'IP' to 'bool'",
    values.CIDR: "type conversion error from 'CIDR' to 'bool'",
    values.URL: "type conversion error from 'URL' to 'bool'",
    values.NamedFormat: "type conversion error from 'Format' to 'bool'",
    values.TypeValue: "type conversion not supported for 'type'",
    values.AnyMessage: "unsupported type conversion from 'google.protobuf.Empty' to 'bool'",
}

# The Go types behind values, for those that are named in texts.
_NATIVE: Final[dict[type, str]] = {
    float: "float64",
    values.Uint: "uint64",
    bytes: "[]uint8",
    type(None): "structpb.NullValue",
    values.Duration: "time.Duration",
    values.Timestamp: "time.Time",
    dict: "map[ref.Val]ref.Val",
    values.StringMap: "map[string]interface {}",
    values.CapacityMap: "map[string]cel.Quantity",
    values.JoinedList: "[]interface {}",
    values.DomainMap: "map[string]interface {}",
    values.QuantityValue: "*resource.Quantity",
    values.IP: "netip.Addr",
    values.CIDR: "netip.Prefix",
    values.URL: "*url.URL",
    values.NamedFormat: "cel.Format",
    bool: "bool",
    int: "int64",
    str: "string",
    Semver: "semver.Version",
}
_ELEMENTS: Final = {bool: "bool", int: "int64", str: "string", Semver: "cel.Semver"}


def to_match(value: values.Value) -> bool:
    """Whether a selector matches. Raises :class:`CelError` for a value that is not a bool."""
    inner = value
    while inner.__class__ is values.Optional and inner is not values.NONE:
        inner = inner.value
    if inner.__class__ is bool:
        return bool(inner)
    raise values.CelError(
        f"CEL result of type {values.type_name(value)} could not be converted to bool: {_not_bool(inner)}"
    )


def _not_bool(value: values.Value) -> str:
    if value is values.NONE:
        return "optional.none() dereference"
    if value.__class__ in values.LISTS:
        return "type conversion error from list to 'bool'"
    if value.__class__ in values.MAPS:
        return "type conversion error from map to 'bool'"
    return _NOT_BOOL[value.__class__]


def to_attribute(value: values.Value) -> DeviceAttribute:
    """The value of a derived attribute. Raises :class:`CelError` for values that no attribute can have."""
    if value.__class__ in values.LISTS:
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
    raise values.CelError(f"unsupported CEL return type: {_native(native)}")


def _unwrapped(value: values.Value) -> values.Value:
    """What Go sees as the value: an optional's content, a type's name."""
    while value.__class__ is values.Optional and value is not values.NONE:
        value = value.value
    return value.name if value.__class__ is values.TypeValue else value


def _native(value: values.Value) -> str:
    if value is values.NONE:
        return "<nil>"
    if value.__class__ is values.NativeList:
        return "[]" + _ELEMENTS.get(next(iter(value), "").__class__, "string")
    if value.__class__ in (list, values.MutableList):
        return "[]ref.Val"
    return _NATIVE.get(value.__class__, values.go_name(value))


def _list_attribute(elements: values.Value) -> DeviceAttribute:
    if not values.list_size(elements):
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
    raise values.CelError(f"unsupported list element type: {_native(first)}")


def _all_of(elements: values.Value, expected: type, name: str) -> tuple[values.Value, ...]:
    natives = tuple(map(_unwrapped, elements))
    for index, native in enumerate(natives):
        if native.__class__ is not expected:
            raise values.CelError(f"expected list element at index {index} to be {name}, got {_native(native)}")
    return natives
