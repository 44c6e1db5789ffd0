"""Names that stand for types, messages and enum constants in an expression."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kubectl_dra.cel.check.types import (
    ANY,
    BOOL,
    BYTES,
    CIDR,
    DEVICE,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
    param,
    type_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

STRUCT: Final = map_of(STRING, DYN)
LIST_DYN: Final = list_of(DYN)
EMPTY: Final = Type("object", name="google.protobuf.Empty")


def _wrapper(inner: Type) -> Type:
    return Type("wrapper", (inner,))


# Messages that may be constructed: full name -> (type of the result, type of each field).
MESSAGES: Final[Mapping[str, tuple[Type, Mapping[str, Type]]]] = MappingProxyType(
    {
        "google.protobuf.BoolValue": (_wrapper(BOOL), {"value": BOOL}),
        "google.protobuf.BytesValue": (_wrapper(BYTES), {"value": BYTES}),
        "google.protobuf.DoubleValue": (_wrapper(DOUBLE), {"value": DOUBLE}),
        "google.protobuf.FloatValue": (_wrapper(DOUBLE), {"value": DOUBLE}),
        "google.protobuf.Int32Value": (_wrapper(INT), {"value": INT}),
        "google.protobuf.Int64Value": (_wrapper(INT), {"value": INT}),
        "google.protobuf.UInt32Value": (_wrapper(UINT), {"value": UINT}),
        "google.protobuf.UInt64Value": (_wrapper(UINT), {"value": UINT}),
        "google.protobuf.StringValue": (_wrapper(STRING), {"value": STRING}),
        "google.protobuf.Struct": (STRUCT, {"fields": STRUCT}),
        "google.protobuf.ListValue": (LIST_DYN, {"values": LIST_DYN}),
        "google.protobuf.Value": (
            DYN,
            {
                "null_value": INT,
                "number_value": DOUBLE,
                "string_value": STRING,
                "bool_value": BOOL,
                "struct_value": STRUCT,
                "list_value": LIST_DYN,
            },
        ),
        "google.protobuf.Duration": (DURATION, {"seconds": INT, "nanos": INT}),
        "google.protobuf.Timestamp": (TIMESTAMP, {"seconds": INT, "nanos": INT}),
        "google.protobuf.Any": (ANY, {"type_url": STRING, "value": BYTES}),
        "google.protobuf.Empty": (EMPTY, {}),
        "kubernetes.DRADevice": (DEVICE, {}),
    }
)

# Names that are values of type `type(T)`, mapped to T. For some of them upstream refuses to make a program.
TYPE_NAMES: Final[Mapping[str, Type]] = MappingProxyType(
    {
        "bool": BOOL,
        "bytes": BYTES,
        "double": DOUBLE,
        "duration": DURATION,
        "int": INT,
        "list": LIST_DYN,
        "map": map_of(DYN, DYN),
        "null_type": NULL,
        "string": STRING,
        "timestamp": TIMESTAMP,
        "type": Type("type"),
        "uint": UINT,
        "optional_type": optional_of(param("V")),
        "net.IP": IP,
        "net.CIDR": CIDR,
        **{name: message[0] for name, message in MESSAGES.items()},
    }
)

ENUM_CONSTANTS: Final[Mapping[str, int]] = MappingProxyType({"google.protobuf.NullValue.NULL_VALUE": 0})

# The type of every global name that is not a variable.
GLOBAL_NAMES: Final[Mapping[str, Type]] = MappingProxyType(
    {**{name: type_of(named) for name, named in TYPE_NAMES.items()}, **dict.fromkeys(ENUM_CONSTANTS, INT)}
)
