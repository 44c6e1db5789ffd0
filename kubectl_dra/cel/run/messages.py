"""Message literals of the well-known protobuf types, the only messages that expressions can construct."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_dra.cel.functions.lists import type_text
from kubectl_dra.cel.functions.operators import NANOS, checked_timestamp, identity
from kubectl_dra.cel.functions.printing import plain
from kubectl_dra.cel.run.keys import decode_key
from kubectl_dra.cel.run.native import native
from kubectl_dra.cel.run.state import State, Step, failing
from kubectl_dra.cel.run.values import (
    LISTS,
    MAPS,
    MAX_INT,
    MIN_INT,
    NONE,
    AnyMessage,
    CelError,
    Duration,
    Optional,
    Uint,
    Value,
)

if TYPE_CHECKING:
    from kubectl_dra.cel.syntax.ast import MessageLit

Builder: TypeAlias = Callable[[dict[str, Value]], Value]

_PREFIX: Final = "google.protobuf."
_COST: Final = 40
_INT32: Final = range(-(2**31), 2**31)
_UINT32: Final = range(2**32)


def message(node: MessageLit, fields: Sequence[Step]) -> Step:
    """``name{field: value}`` as a step."""
    build = _BUILDERS.get(node.name.removeprefix(_PREFIX))
    if build is None:
        unknown = failing(f"unknown type '{node.name}'")
        return _charged(lambda values: unknown(values), node, fields)  # type: ignore[arg-type]
    return _charged(build, node, fields)


def _charged(build: Builder, node: MessageLit, fields: Sequence[Step]) -> Step:
    def step(state: State) -> Value:
        try:
            values = _evaluated(state, node, fields)
        except CelError:
            state.spend(_COST)
            raise
        state.spend(_COST)
        return build(values)

    return step


def _evaluated(state: State, node: MessageLit, fields: Sequence[Step]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for entry, field in zip(node.entries, fields, strict=True):
        value, name = field(state), str(entry.key)
        if entry.optional:
            if value.__class__ is not Optional:
                raise CelError(f"cannot initialize optional entry '{name}' from non-optional value {plain(value)}")
            if value is NONE:
                values.pop(name, None)
                continue
            value = value.value
        values[name] = value
    return values


def _converted(type_name: str, field: str, value: Value, expected: type, target: str) -> Value:
    """The value of a field in its Go type. Raises :class:`CelError`."""
    try:
        return native(value, expected, target)
    except CelError as error:
        raise _conversion_error(type_name, field, error.text) from None


def _conversion_error(type_name: str, field: str, detail: str) -> CelError:
    return CelError(f"field type conversion error for {_PREFIX}{type_name}.{field} value type: {detail}")


def _wrapper(
    name: str, expected: type, target: str, zero: Value, convert: Callable[[Value], Value] = identity
) -> Builder:
    def build(values: dict[str, Value]) -> Value:
        value = _converted(name, "value", values.get("value", zero), expected, target)
        try:
            return convert(value)
        except CelError as error:
            raise _conversion_error(name, "value", error.text) from None

    return build


def _within(bounds: range, overflow: str) -> Callable[[int], Value]:
    def convert(value: int) -> Value:
        if int(value) not in bounds:
            raise CelError(overflow)
        return value

    return convert


def _float32(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _container(name: str, field: str, kinds: frozenset[type], value: Value) -> Value:
    """A repeated field or a map. Raises :class:`CelError`."""
    if value.__class__ not in kinds:
        raise CelError(f"unsupported field type for {_PREFIX}{name}.{field}: {type_text(value)}")
    return value


def _struct(values: dict[str, Value]) -> Value:
    fields = _container("Struct", "fields", MAPS, values.get("fields", {}))
    for key in fields:
        _converted("Struct", "fields", decode_key(key), str, "string")
    return {key: _json(value) for key, value in fields.items()}


def _list_value(values: dict[str, Value]) -> Value:
    return [_json(value) for value in _container("ListValue", "values", LISTS, values.get("values", []))]


_VALUE_FIELDS: Final[dict[str, tuple[type, str]]] = {
    "null_value": (int, "protoreflect.EnumNumber"),
    "number_value": (float, "float64"),
    "string_value": (str, "string"),
    "bool_value": (bool, "bool"),
    "struct_value": (dict, "*structpb.Struct"),
    "list_value": (list, "*structpb.ListValue"),
}


def _value(values: dict[str, Value]) -> Value:
    """The last of the fields counts: they exclude each other."""
    chosen = None
    for name, value in values.items():
        held = _converted("Value", name, value, *_VALUE_FIELDS[name])
        if name == "struct_value":
            for key in held:
                _converted("Value", name, decode_key(key), str, "string")
        chosen = None if name == "null_value" else _json(held)
    return chosen


def _json(value: Value) -> Value:
    """A value as JSON holds it: numbers are doubles."""
    kind = value.__class__
    if kind in (int, Uint):
        return float(value)
    if kind in LISTS:
        return [_json(element) for element in value]
    if kind in MAPS:
        return {str(plain(decode_key(key))): _json(element) for key, element in value.items()}
    return value


def _seconds_and_nanos(name: str, values: dict[str, Value]) -> tuple[int, int]:
    found = {"seconds": 0, "nanos": 0}
    for field, value in values.items():
        found[field] = _converted(name, field, value, int, "int64" if field == "seconds" else "int32")
        if field == "nanos" and found[field] not in _INT32:
            raise _conversion_error(name, field, "integer overflow")
    return found["seconds"], found["nanos"]


def _duration(values: dict[str, Value]) -> Duration:
    """Beyond what a Go duration holds, the longest there is."""
    seconds, nanos = _seconds_and_nanos("Duration", values)
    whole = seconds * NANOS
    total = whole + nanos if MIN_INT <= whole <= MAX_INT else whole
    return Duration(min(max(total, MIN_INT), MAX_INT))


_BUILDERS: Final[dict[str, Builder]] = {
    "BoolValue": _wrapper("BoolValue", bool, "bool", False),
    "BytesValue": _wrapper("BytesValue", bytes, "[]uint8", b""),
    "DoubleValue": _wrapper("DoubleValue", float, "float64", 0.0),
    "FloatValue": _wrapper("FloatValue", float, "float32", 0.0, _float32),
    "Int32Value": _wrapper("Int32Value", int, "int32", 0, _within(_INT32, "integer overflow")),
    "Int64Value": _wrapper("Int64Value", int, "int64", 0),
    "UInt32Value": _wrapper("UInt32Value", Uint, "uint32", Uint(0), _within(_UINT32, "unsigned integer overflow")),
    "UInt64Value": _wrapper("UInt64Value", Uint, "uint64", Uint(0)),
    "StringValue": _wrapper("StringValue", str, "string", ""),
    "Struct": _struct,
    "ListValue": _list_value,
    "Value": _value,
    "Duration": _duration,
    "Timestamp": lambda values: checked_timestamp(*_seconds_and_nanos("Timestamp", values)),
    "Any": lambda values: failing("unsupported conversion to ref.Val: (*dynamicpb.Message)")(None),  # type: ignore[arg-type]
    "Empty": lambda values: AnyMessage(),
}
