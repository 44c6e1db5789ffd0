"""The static types of the DRA CEL environment and their printed forms; no checking rules live here."""

from __future__ import annotations

from typing import Final

import msgspec


class Type(msgspec.Struct, frozen=True):
    """One type.

    ``kind`` is one of ``bool int uint double string bytes null dyn any duration timestamp error`` (no parameters),
    ``type`` (one parameter), ``list`` (one), ``map`` (two), ``opaque`` (``name`` and parameters: ``optional_type``,
    ``net.IP``, ``net.CIDR``), ``object`` (``name``), ``wrapper`` (one), ``param`` (``name`` of the type parameter).
    """

    kind: str
    params: tuple[Type, ...] = ()
    name: str = ""


BOOL: Final = Type("bool")
INT: Final = Type("int")
UINT: Final = Type("uint")
DOUBLE: Final = Type("double")
STRING: Final = Type("string")
BYTES: Final = Type("bytes")
NULL: Final = Type("null")
DYN: Final = Type("dyn")
ANY: Final = Type("any")
DURATION: Final = Type("duration")
TIMESTAMP: Final = Type("timestamp")
ERROR: Final = Type("error")
IP: Final = Type("opaque", name="net.IP")
CIDR: Final = Type("opaque", name="net.CIDR")
DEVICE: Final = Type("object", name="kubernetes.DRADevice")
QUANTITY: Final = Type("object", name="kubernetes.Quantity")
SEMVER: Final = Type("object", name="kubernetes.Semver")
URL: Final = Type("object", name="kubernetes.URL")
FORMAT: Final = Type("object", name="kubernetes.NamedFormat")


def list_of(element: Type) -> Type:
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("opaque", (value,), "optional_type")


def type_of(value: Type) -> Type:
    return Type("type", (value,))


def param(name: str) -> Type:
    return Type("param", name=name)


def unwrapped(declared: Type) -> Type:
    """``T`` of ``wrapper(T)``, which differs from it only in that null is allowed; any other type itself."""
    return declared.params[0] if declared.kind == "wrapper" else declared


_SHORT_NAMES: Final = {"error": "!error!"}
#: As cel-go prints kinds at run time.
FULL_NAMES: Final = {
    "any": "google.protobuf.Any",
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
    "null": "null_type",
}


def short_text(declared: Type) -> str:
    """As cel-go's checker prints a type in its errors: ``any``, ``null``, ``duration``, ``_var3``, ``list(dyn)``."""
    return _text(declared, _SHORT_NAMES)


def full_text(declared: Type) -> str:
    """As cel-go prints an expression's output type: ``google.protobuf.Any``, ``null_type``, ``list(dyn)``."""
    return _text(declared, FULL_NAMES)


def _text(declared: Type, names: dict[str, str]) -> str:
    name = declared.name or names.get(declared.kind, declared.kind)
    if not declared.params:
        return name
    params = [_text(inner, names) for inner in declared.params]
    return f"{name}({', '.join(params)})"
