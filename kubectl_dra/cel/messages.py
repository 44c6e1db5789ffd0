"""Message literals of the well-known protobuf types, the only messages that expressions can construct."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_dra.cel.functions.operators import NANOS, checked_int, checked_timestamp, identity
from kubectl_dra.cel.functions.printing import plain
from kubectl_dra.cel.state import State, Step, failing
from kubectl_dra.cel.values import (
    LISTS,
    MAPS,
    NONE,
    AnyMessage,
    CelError,
    Duration,
    Optional,
    Uint,
    Value,
    decode_key,
    go_name,
)

if TYPE_CHECKING:
    from kubectl_dra.cel.ast import MessageLit

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


def _conversion_error(type_name: str, field: str, detail: str) -> CelError:
    return CelError(f"field type conversion error for {_PREFIX}{type_name}.{field} value type: {detail}")


def _wrapper(name: str, expected: type, zero: Value, convert: Callable[[Value], Value] = identity) -> Builder:
    def build(values: dict[str, Value]) -> Value:
        value = values.get("value", zero)
        if value.__class__ is not expected:
            raise _conversion_error(name, "value", f"unsupported conversion from {go_name(value)}")
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


def _struct(values: dict[str, Value]) -> Value:
    return {key: _json(value) for key, value in values.get("fields", {}).items()}


def _list_value(values: dict[str, Value]) -> Value:
    return [_json(value) for value in values.get("values", [])]


def _value(values: dict[str, Value]) -> Value:
    for name, value in values.items():
        return None if name == "null_value" else _json(value)
    return None


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


def _duration(values: dict[str, Value]) -> Duration:
    return Duration(checked_int(values.get("seconds", 0) * NANOS + values.get("nanos", 0)))


_BUILDERS: Final[dict[str, Builder]] = {
    "BoolValue": _wrapper("BoolValue", bool, False),
    "BytesValue": _wrapper("BytesValue", bytes, b""),
    "DoubleValue": _wrapper("DoubleValue", float, 0.0),
    "FloatValue": _wrapper("FloatValue", float, 0.0, _float32),
    "Int32Value": _wrapper("Int32Value", int, 0, _within(_INT32, "integer overflow")),
    "Int64Value": _wrapper("Int64Value", int, 0),
    "UInt32Value": _wrapper("UInt32Value", Uint, Uint(0), _within(_UINT32, "unsigned integer overflow")),
    "UInt64Value": _wrapper("UInt64Value", Uint, Uint(0)),
    "StringValue": _wrapper("StringValue", str, ""),
    "Struct": _struct,
    "ListValue": _list_value,
    "Value": _value,
    "Duration": _duration,
    "Timestamp": lambda values: checked_timestamp(values.get("seconds", 0), values.get("nanos", 0)),
    "Any": lambda values: failing("unsupported conversion to ref.Val: (*dynamicpb.Message)")(None),  # type: ignore[arg-type]
    "Empty": lambda values: AnyMessage(),
}
