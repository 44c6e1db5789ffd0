"""Values in error texts, as Go's ``%v`` prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kubectl_dra.cel.run.keys import decode_key
from kubectl_dra.cel.run.labor import charge_work, write
from kubectl_dra.cel.run.values import (
    CIDR,
    IP,
    LISTS,
    MAPS,
    NONE,
    URL,
    AnyMessage,
    Duration,
    NamedFormat,
    Optional,
    QuantityValue,
    TypeValue,
    Uint,
    Value,
    format_double,
    list_size,
)
from kubectl_dra.model.semver import Semver


def plain(value: Value) -> str:
    """Texts without quotes, ``[a, b]``, ``{k: v}``, ``optional(v)``."""
    pieces: list[str] = []
    _print(value, pieces)
    return "".join(pieces)


def _print(value: Value, pieces: list[str]) -> None:
    kind = value.__class__
    if kind in LISTS:
        charge_work(list_size(value))
        pieces.append("[")
        for position, element in enumerate(value):
            pieces.append(", " if position else "")
            _print(element, pieces)
        pieces.append("]")
    elif kind in MAPS:
        charge_work(len(value))
        pieces.append("{")
        for position, (key, element) in enumerate(value.items()):
            pieces.append(", " if position else "")
            _print(decode_key(key), pieces)
            pieces.append(": ")
            _print(element, pieces)
        pieces.append("}")
    elif kind is Optional and value is not NONE:
        pieces.append("optional(")
        _print(value.value, pieces)
        pieces.append(")")
    else:
        text = _SCALARS[kind](value) if kind in _SCALARS else _moment_or_address(value)
        write(len(text))
        pieces.append(text)


def _moment_or_address(value: Value) -> str:
    # Only the texts of rare errors need these.
    from kubectl_dra.cel.functions import addresses, time

    match value:
        case IP():
            return addresses.format_ip(value)
        case CIDR():
            return addresses.format_cidr(value)
        case Duration():
            return time.plain_duration(value)
        case _:
            return time.plain_timestamp(value)


_SCALARS: Final[dict[type, Callable[[Value], str]]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    Uint: lambda value: str(int(value)),
    float: format_double,
    str: str,
    bytes: lambda value: "[" + " ".join(map(str, value)) + "]",
    type(None): lambda value: "0",
    TypeValue: lambda value: value.name,
    Optional: lambda value: "optional.none()",
    QuantityValue: lambda value: str(value.amount),
    Semver: str,
    URL: lambda value: value.text,
    NamedFormat: lambda value: value.name,
    AnyMessage: lambda value: "",
}
