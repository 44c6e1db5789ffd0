"""What a plain YAML scalar means to Kubernetes: the rules of go-yaml v2, which sigs.k8s.io/yaml reads manifests with.

They differ from PyYAML's: ``y`` and ``n`` are booleans, ``1:30`` and dates are texts, ``1e3`` is a number.
"""

from __future__ import annotations

import re
from typing import Final

Scalar = str | int | float | bool | None

_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_INTEGER: Final = re.compile(r"[-+]?(?:0[bB][01]+|0[xX][0-9a-fA-F]+|0(?:[oO]?[0-7]+)?|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INTEGERS: Final = range(-(2**63), 2**64)
# Longer digits fit into no 64 bits and are read as floating point.
_MAX_DIGITS: Final = 80


def resolved(text: str) -> Scalar:
    """The value of a plain scalar without a tag."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    if len(digits) <= _MAX_DIGITS and _INTEGER.fullmatch(digits):
        value = _integer(digits)
        if value in _INTEGERS:
            return value
    if _FLOAT.fullmatch(digits):
        number = float(digits)
        return text if number in (float("inf"), float("-inf")) else number
    return text


def _integer(digits: str) -> int:
    sign, body = (-1, digits[1:]) if digits[0] == "-" else (1, digits.lstrip("+"))
    if len(body) > 1 and body[0] == "0" and body[1] in "01234567":
        return sign * int(body, 8)
    return sign * int(body, 0)
