"""Values as the Go types of the fields of messages: what fits, and in which words the rest is refused.

The rules are those of ``ConvertToNative`` of each type of cel-go and of Kubernetes' libraries. Which message is built
of the fields is said in ``messages``.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.cel.functions.printing import plain
from kubectl_dra.cel.run.keys import decode_key
from kubectl_dra.cel.run.values import (
    CIDR,
    IP,
    LISTS,
    MAPS,
    NONE,
    URL,
    AnyMessage,
    CelError,
    Duration,
    NamedFormat,
    Optional,
    QuantityValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
)
from kubectl_dra.model.semver import Semver

_QUOTED: Final = "type conversion error from '{}' to '{}'"
_BARE: Final = "type conversion error from {} to '{}'"
_NUMBER: Final = "unsupported type conversion from '{}' to {}"
_REFUSALS: Final[dict[type, tuple[str, str]]] = {
    type(None): (_QUOTED, "null_type"),
    bool: (_BARE, "bool"),
    int: (_NUMBER, "int"),
    Uint: (_NUMBER, "uint"),
    float: (_BARE, "Double"),
    str: ("unsupported native conversion from {} to '{}'", "string"),
    bytes: (_BARE, "Bytes"),
    Duration: (_QUOTED, "Duration"),
    Timestamp: (_QUOTED, "Timestamp"),
    TypeValue: ("type conversion not supported for '{}'", "type"),
    QuantityValue: (_QUOTED, "Quantity"),
    Semver: (_QUOTED, "Semver"),
    URL: (_QUOTED, "URL"),
    NamedFormat: (_QUOTED, "Format"),
    IP: (_QUOTED, "IP"),
    CIDR: (_QUOTED, "CIDR"),
    AnyMessage: (_QUOTED, "*dynamicpb.Message"),
}
_TEXTS: Final = frozenset({QuantityValue, Semver, URL, IP, CIDR})


def native(value: Value, expected: type, target: str) -> Value:
    """``value`` if it is ``expected``, or what stands for it as the Go type ``target``. Raises :class:`CelError`."""
    kind = value.__class__
    if kind is Optional:
        if value is NONE:
            raise CelError("optional.none() dereference")
        return native(value.value, expected, target)
    if kind is expected or (kind in LISTS and expected is list) or (kind in MAPS and expected is dict):
        return value
    if kind in _TEXTS and expected is str:
        return plain(value)
    if kind in LISTS and expected is bytes:
        return bytes(_byte(element) for element in value)
    if kind in MAPS and expected is list:
        return _no_fields(value, target)
    raise CelError(_refusal(value, target))


def _byte(element: Value) -> int:
    number = int(native(element, Uint, "uint8"))
    if number > 255:
        raise CelError("unsigned integer overflow")
    return number


def _no_fields(mapping: Value, target: str) -> list[Value]:
    """Upstream takes a map for the fields of the list's message, of which none can be set."""
    for encoded in mapping:
        name = plain(decode_key(encoded))
        raise CelError(
            f"type conversion error, no such field '{name[:1].upper()}{name[1:]}' in type '{target.removeprefix('*')}'"
        )
    return []


def _refusal(value: Value, target: str) -> str:
    kind = value.__class__
    if kind in LISTS or kind in MAPS:
        return _BARE.format("list" if kind in LISTS else "map", target)
    template, name = _REFUSALS[kind]
    return template.format(name, target)
