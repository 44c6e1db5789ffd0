"""Values of literal tokens: numbers with their ranges, strings and bytes with their escapes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

_INT_MIN, _INT_MAX, _UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1
_SIMPLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "?": "?",
    '"': '"',
    "'": "'",
    "`": "`",
}
_ESCAPED: Final = re.compile(
    r"\\(?:([0-3][0-7][0-7])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))",
)


class LiteralError(ValueError):
    """A literal token has no value; the text is that of cel-go."""


def int_value(text: str, negative: bool) -> int:
    """Of ``12`` or ``0x1F``, within 64 bits."""
    value = _integer(text, "invalid int literal")
    value = -value if negative else value
    if not _INT_MIN <= value <= _INT_MAX:
        raise LiteralError("invalid int literal")
    return value


def uint_value(text: str) -> int:
    """Of ``12u`` or ``0x1FU``, within 64 bits."""
    value = _integer(text[:-1], "invalid uint literal")
    if value > _UINT_MAX:
        raise LiteralError("invalid uint literal")
    return value


def double_value(text: str, negative: bool) -> float:
    """Of ``1.5e3``; overflow is an error, underflow gives zero."""
    value = float(text)
    if math.isinf(value):
        raise LiteralError("invalid double literal")
    return -value if negative else value


def string_value(text: str) -> str:
    """Of a string token with quotes and prefix."""
    raw, body = _body(text)
    if raw or "\\" not in body:
        return body
    return _ESCAPED.sub(_unescape_in_string, body)


def bytes_value(text: str) -> bytes:
    """Of a bytes token: escapes give single bytes, everything else its UTF-8 encoding."""
    raw, body = _body(text[1:])
    if raw or "\\" not in body:
        return body.encode("utf-8", "surrogatepass")
    out = bytearray()
    start = 0
    for escape in _ESCAPED.finditer(body):
        out += body[start : escape.start()].encode("utf-8", "surrogatepass")
        out.append(_unescape_in_bytes(escape))
        start = escape.end()
    return bytes(out + body[start:].encode("utf-8", "surrogatepass"))


def _integer(text: str, error: str) -> int:
    base, digits = (16, text[2:]) if text.startswith("0x") else (10, text)
    digits = digits.lstrip("0") or "0"
    if len(digits) > 20:
        raise LiteralError(error)
    return int(digits, base)


def _body(text: str) -> tuple[bool, str]:
    """Whether the token is raw, and what stands between its quotes with line ends normalized to LF."""
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    quotes = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    body = text[quotes:-quotes]
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    return raw, body


def _unescape_in_string(escape: re.Match[str]) -> str:
    octal, hexadecimal, short, long, simple = escape.groups()
    if simple is not None:
        return _SIMPLE[simple]
    code = int(octal, 8) if octal else int(hexadecimal or short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise LiteralError("invalid unicode code point")
    return chr(code)


def _unescape_in_bytes(escape: re.Match[str]) -> int:
    octal, hexadecimal, _, _, simple = escape.groups()
    if simple is not None:
        return ord(_SIMPLE[simple])
    if octal or hexadecimal:
        return int(octal, 8) if octal else int(hexadecimal, 16)
    raise LiteralError("unable to unescape string")


LiteralValue = int | float | str | bytes | bool | None
#: How the values of tokens of each kind are read.
LITERALS: Final[dict[str, Callable[[str, bool], tuple[str, LiteralValue]]]] = {
    "NUM_INT": lambda text, negative: ("int", int_value(text, negative)),
    "NUM_UINT": lambda text, _: ("uint", uint_value(text)),
    "NUM_FLOAT": lambda text, negative: ("double", double_value(text, negative)),
    "STRING": lambda text, _: ("string", string_value(text)),
    "BYTES": lambda text, _: ("bytes", bytes_value(text)),
    "true": lambda _text, _: ("bool", True),
    "false": lambda _text, _: ("bool", False),
    "null": lambda _text, _: ("null", None),
}


def literal_value(token: str, text: str, negative: bool) -> tuple[str, LiteralValue]:
    """Kind and value of a literal by the kind of its token. Raises :class:`LiteralError`."""
    return LITERALS[token](text, negative)
