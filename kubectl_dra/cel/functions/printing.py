"""Values in error texts, as Go's ``%v`` prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kubectl_dra.cel.functions.addresses import format_cidr, format_ip
from kubectl_dra.cel.functions.conversions import format_duration
from kubectl_dra.cel.functions.time import format_timestamp
from kubectl_dra.cel.labor import toil, write
from kubectl_dra.cel.values import (
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
    Timestamp,
    TypeValue,
    Uint,
    Value,
    decode_key,
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
        toil(list_size(value))
        pieces.append("[")
        for position, element in enumerate(value):
            pieces.append(", " if position else "")
            _print(element, pieces)
        pieces.append("]")
    elif kind in MAPS:
        toil(len(value))
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
        text = _SCALARS[kind](value)
        write(len(text))
        pieces.append(text)


def _go_duration(duration: Duration) -> str:
    """``1h2m3.5s``."""
    sign, rest = ("-" if duration.nanos < 0 else ""), abs(duration.nanos)
    if rest < 10**9:
        return sign + _small_duration(rest)
    seconds = format_duration(Duration(rest % (60 * 10**9)))
    minutes = rest // (60 * 10**9)
    if not minutes:
        return sign + seconds
    return sign + (f"{minutes // 60}h" if minutes >= 60 else "") + f"{minutes % 60}m{seconds}"


def _small_duration(nanos: int) -> str:
    if not nanos:
        return "0s"
    unit, scale = ("ns", 0) if nanos < 10**3 else ("µs", 3) if nanos < 10**6 else ("ms", 6)
    whole, rest = divmod(nanos, 10**scale)
    return f"{whole}.{rest:0{scale}d}".rstrip("0") + unit if rest else f"{whole}{unit}"


def _go_timestamp(moment: Timestamp) -> str:
    """``2024-03-01 03:04:05.678 +0000 UTC``."""
    text = format_timestamp(moment).replace("T", " ")
    if not moment.offset:
        return text.removesuffix("Z") + " +0000 UTC"
    zone = text[-6:].replace(":", "")
    return f"{text[:-6]} {zone} {zone}"


_SCALARS: Final[dict[type, Callable[[Value], str]]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    Uint: lambda value: str(int(value)),
    float: format_double,
    str: str,
    bytes: lambda value: "[" + " ".join(map(str, value)) + "]",
    type(None): lambda value: "0",
    Duration: _go_duration,
    Timestamp: _go_timestamp,
    TypeValue: lambda value: value.name,
    Optional: lambda value: "optional.none()",
    QuantityValue: lambda value: str(value.amount),
    Semver: str,
    IP: format_ip,
    CIDR: format_cidr,
    URL: lambda value: value.text,
    NamedFormat: lambda value: value.name,
    AnyMessage: lambda value: "",
}
