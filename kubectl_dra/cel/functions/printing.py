"""Values in error texts, as Go's ``%v`` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.cel.functions.addresses import format_cidr, format_ip
from kubectl_dra.cel.functions.conversions import format_duration
from kubectl_dra.cel.functions.time import format_timestamp
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
    Value,
    decode_key,
    format_double,
    too_large,
)

# Longer texts than any real value has: nested lists that share parts could print without end.
MAX_TEXT: Final = 1 << 26


def plain(value: Value) -> str:
    """Texts without quotes, ``[a, b]``, ``{k: v}``, ``optional(v)``."""
    pieces: list[str] = []
    length = 0
    for piece in _pieces(value):
        pieces.append(piece)
        length += len(piece)
        if length > MAX_TEXT:
            raise too_large()
    return "".join(pieces)


def _pieces(value: Value) -> Iterator[str]:
    kind = value.__class__
    if kind in LISTS:
        yield from _separated("[", ", ", "]", value)
    elif kind in MAPS:
        yield "{"
        for position, (key, element) in enumerate(value.items()):
            yield ", " if position else ""
            yield plain(decode_key(key)) + ": "
            yield from _pieces(element)
        yield "}"
    elif kind is bytes:
        yield "[" + " ".join(map(str, value)) + "]"
    elif kind is Optional:
        yield "optional.none()" if value is NONE else f"optional({plain(value.value)})"
    else:
        yield _scalar(value)


def _separated(before: str, between: str, after: str, elements: Value) -> Iterator[str]:
    yield before
    for position, element in enumerate(elements):
        yield between if position else ""
        yield from _pieces(element)
    yield after


def _scalar(value: Value) -> str:
    match value:
        case None:
            return "0"
        case bool():
            return "true" if value else "false"
        case float():
            return format_double(value)
        case Duration():
            return _go_duration(value.nanos)
        case Timestamp():
            return _go_timestamp(value)
        case IP():
            return format_ip(value)
        case CIDR():
            return format_cidr(value)
        case URL():
            return value.text
        case QuantityValue():
            return str(value.amount)
        case TypeValue() | NamedFormat():
            return value.name
        case AnyMessage():
            return ""
        case int():
            return str(int(value))
        case _:
            return str(value)


def _go_duration(nanos: int) -> str:
    """``1h2m3.5s``."""
    sign, rest = ("-" if nanos < 0 else ""), abs(nanos)
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
