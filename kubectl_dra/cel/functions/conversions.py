"""Conversions between types: ``int() uint() double() string() bool() bytes() duration() timestamp()``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from kubectl_dra.cel.functions.addresses import format_cidr, format_ip
from kubectl_dra.cel.functions.operators import (
    MAX_SECONDS,
    MIN_SECONDS,
    checked_int,
    checked_uint,
    identity,
)
from kubectl_dra.cel.functions.time import format_duration, format_timestamp, parse_duration, parse_timestamp
from kubectl_dra.cel.run.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    CelError,
    Duration,
    Timestamp,
    Uint,
    Value,
    format_double,
)

_INTEGER: Final = re.compile(r"[+-]?[0-9]+\Z", re.ASCII)
_UNSIGNED: Final = re.compile(r"[0-9]+\Z", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z", re.ASCII)
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+\Z", re.ASCII)
_INFINITE: Final = re.compile(r"([+-]?)inf(?:inity)?\Z", re.IGNORECASE | re.ASCII)
_BOOLS: Final = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}
# More digits than any 64-bit number has, leading zeros aside.
_MAX_DIGITS: Final = 20


def _failed(target: str) -> CelError:
    return CelError(f"type conversion error from 'string' to '{target}'")


def _bool(text: str) -> bool:
    if text in _BOOLS:
        return _BOOLS[text]
    raise _failed("bool")


def _int(text: str) -> int:
    if _INTEGER.match(text) and len(text.lstrip("+-").lstrip("0")) <= _MAX_DIGITS:
        number = int(text)
        if MIN_INT <= number <= MAX_INT:
            return number
    raise _failed("int")


def _uint(text: str) -> Uint:
    if _UNSIGNED.match(text) and len(text.lstrip("0")) <= _MAX_DIGITS:
        number = int(text)
        if number <= MAX_UINT:
            return Uint(number)
    raise _failed("uint")


def _double(text: str) -> float:
    plain = _without_underscores(text)
    if plain.lower() == "nan":
        return math.nan
    infinite = _INFINITE.match(plain)
    if infinite:
        return -math.inf if infinite[1] == "-" else math.inf
    number = math.inf
    if _DECIMAL.match(plain):
        number = float(plain)
    elif _HEXADECIMAL.match(plain):
        try:
            number = float.fromhex(plain)
        except OverflowError:
            raise _failed("double") from None
    if math.isinf(number):
        raise _failed("double")
    return number


def _without_underscores(text: str) -> str:
    """Underscores may stand between digits, and after the prefix of a hexadecimal number."""
    if "_" not in text:
        return text
    digits = "0-9a-fA-FxX" if re.match(r"[+-]?0[xX]", text) else "0-9"
    if re.search(rf"(?<![{digits}])_|_(?![{digits}])", text):
        raise _failed("double")
    return text.replace("_", "")


def _double_to_int(number: float) -> int:
    if not -(2.0**63) < number < 2.0**63:
        raise CelError("integer overflow")
    return int(number)


def _double_to_uint(number: float) -> Uint:
    if not 0 <= number < 2.0**64:
        raise CelError("unsigned integer overflow")
    return Uint(int(number))


def _bytes_to_string(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


def _string_to_duration(text: str) -> Duration:
    duration = parse_duration(text)
    if duration is None:
        raise _failed("google.protobuf.Duration")
    return duration


def _string_to_timestamp(text: str) -> Timestamp:
    moment = parse_timestamp(text)
    if moment is None:
        raise _failed("google.protobuf.Timestamp")
    return moment


def _int_to_timestamp(seconds: int) -> Timestamp:
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise CelError("timestamp overflow")
    return Timestamp(seconds)


def _bool_to_string(value: bool) -> str:
    return "true" if value else "false"


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    "bool_to_bool": identity,
    "string_to_bool": _bool,
    "bytes_to_bytes": identity,
    "string_to_bytes": lambda text: text.encode(),
    "double_to_double": identity,
    "int64_to_double": float,
    "uint64_to_double": float,
    "string_to_double": _double,
    "duration_to_duration": identity,
    "string_to_duration": _string_to_duration,
    "int64_to_int64": identity,
    "double_to_int64": _double_to_int,
    "duration_to_int64": lambda duration: duration.nanos,
    "string_to_int64": _int,
    "timestamp_to_int64": lambda moment: moment.seconds,
    "uint64_to_int64": lambda number: checked_int(int(number)),
    "string_to_string": identity,
    "bool_to_string": _bool_to_string,
    "bytes_to_string": _bytes_to_string,
    "double_to_string": format_double,
    "duration_to_string": format_duration,
    "int64_to_string": str,
    "timestamp_to_string": format_timestamp,
    "uint64_to_string": lambda number: str(int(number)),
    "ip_to_string": format_ip,
    "cidr_to_string": format_cidr,
    "timestamp_to_timestamp": identity,
    "int64_to_timestamp": _int_to_timestamp,
    "string_to_timestamp": _string_to_timestamp,
    "uint64_to_uint64": identity,
    "double_to_uint64": _double_to_uint,
    "int64_to_uint64": lambda number: checked_uint(int(number)),
    "string_to_uint64": _uint,
}
