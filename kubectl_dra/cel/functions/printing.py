"""Values in error texts, as Go's ``%v`` prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kubectl_dra.cel.run import values
from kubectl_dra.cel.run.keys import decode_key
from kubectl_dra.cel.run.labor import charge_work, write
from kubectl_dra.model.semver import Semver


def plain(value: values.Value) -> str:
    """Texts without quotes, ``[a, b]``, ``{k: v}``, ``optional(v)``."""
    pieces: list[str] = []
    _print(value, pieces)
    return "".join(pieces)


def _print(value: values.Value, pieces: list[str]) -> None:
    kind = value.__class__
    if kind in values.LISTS:
        charge_work(values.list_size(value))
        pieces.append("[")
        for position, element in enumerate(value):
            pieces.append(", " if position else "")
            _print(element, pieces)
        pieces.append("]")
    elif kind in values.MAPS:
        charge_work(len(value))
        pieces.append("{")
        for position, (key, element) in enumerate(value.items()):
            pieces.append(", " if position else "")
            _print(decode_key(key), pieces)
            pieces.append(": ")
            _print(element, pieces)
        pieces.append("}")
    elif kind is values.Optional and value is not values.NONE:
        pieces.append("optional(")
        _print(value.value, pieces)
        pieces.append(")")
    else:
        text = _SCALARS[kind](value) if kind in _SCALARS else _moment_or_address(value)
        write(len(text))
        pieces.append(text)


def _moment_or_address(value: values.Value) -> str:
    # Only the texts of rare errors need these.
    from kubectl_dra.cel.functions import addresses, time

    match value:
        case values.IP():
            return addresses.format_ip(value)
        case values.CIDR():
            return addresses.format_cidr(value)
        case values.Duration():
            return time.plain_duration(value)
        case _:
            return time.plain_timestamp(value)


_SCALARS: Final[dict[type, Callable[[values.Value], str]]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    values.Uint: lambda value: str(int(value)),
    float: values.format_double,
    str: str,
    bytes: lambda value: "[" + " ".join(map(str, value)) + "]",
    type(None): lambda value: "0",
    values.TypeValue: lambda value: value.name,
    values.Optional: lambda value: "optional.none()",
    values.QuantityValue: lambda value: str(value.amount),
    Semver: str,
    values.URL: lambda value: value.text,
    values.NamedFormat: lambda value: value.name,
    values.AnyMessage: lambda value: "",
}
