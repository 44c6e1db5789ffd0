"""``string.format``: the clauses ``%s %d %f %e %b %x %X %o`` as the second version of CEL's string library has them.

Numbers of ``%f`` and ``%e`` are printed for the English locale: digit groups, ``∞``, exponents as superscripts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

from kubectl_dra.cel.functions.conversions import OVERLOADS as CONVERSIONS
from kubectl_dra.cel.functions.time import format_duration, format_timestamp
from kubectl_dra.cel.run.format import TemplateError, clause_at
from kubectl_dra.cel.run.keys import decode_key
from kubectl_dra.cel.run.labor import charge_work, write
from kubectl_dra.cel.run.values import (
    LISTS,
    MAPS,
    CelError,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    format_double,
    list_size,
    type_name,
)
from kubectl_dra.model.gotext import quote

Clause: TypeAlias = Callable[[Value, int], str]

_SUPERSCRIPTS: Final = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
_DEFAULT_PRECISION: Final = 6
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def format_string(template: str, arguments: Value) -> str:
    """``template.format(arguments)``. Raises :class:`CelError` with the texts that templates and clauses can give."""
    pieces: list[str] = []
    position = used = 0
    while (start := template.find("%", position)) >= 0:
        pieces.append(template[position:start])
        if template.startswith("%%", start):
            pieces.append("%")
            position = start + 2
            continue
        if used >= list_size(arguments):
            raise CelError(f"index {used} out of range")
        text, position = _next_clause(template, start, arguments[used])
        write(len(text))
        pieces.append(text)
        used += 1
    pieces.append(template[position:])
    return "".join(pieces)


def _next_clause(template: str, position: int, argument: Value) -> tuple[str, int]:
    try:
        letter, precision, end = clause_at(template, position)
    except TemplateError as error:
        raise CelError(str(error)) from None
    if precision is not None:
        # Upstream does not bound it.
        write(precision)
    try:
        return _CLAUSES[letter](argument, _DEFAULT_PRECISION if precision is None else precision), end
    except CelError as error:
        raise CelError(f"error during formatting: {error.text}") from None


# --- %s ---------------------------------------------------------------------------------------------------------------


def _string(value: Value, _: int) -> str:
    kind = value.__class__
    if value is None:
        return "null"
    if kind in LISTS or kind in MAPS:
        return _as_literal(value)
    if kind in _SCALARS:
        return str(_SCALARS[kind](value))
    raise CelError(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
        f"and timestamps, was given {type_name(value)}"
    )


_SCALARS: Final[dict[type, Callable[[Value], str]]] = {
    str: str,
    bool: CONVERSIONS["bool_to_string"],
    bytes: CONVERSIONS["bytes_to_string"],
    int: str,
    Uint: lambda value: str(int(value)),
    float: format_double,
    Duration: format_duration,
    Timestamp: format_timestamp,
    TypeValue: lambda value: value.name,
}


def _as_literal(value: Value) -> str:
    pieces: list[str] = []
    _nested(value, pieces)
    return "".join(pieces)


def _nested(value: Value, pieces: list[str]) -> None:
    """A value inside a list or map, as a CEL literal."""
    kind = value.__class__
    if kind in LISTS:
        charge_work(list_size(value))
        pieces.append("[")
        for position, element in enumerate(value):
            pieces.append(", " if position else "")
            _nested(element, pieces)
        pieces.append("]")
    elif kind in MAPS:
        charge_work(len(value))
        pieces.append("{" + ", ".join(_entries(value)) + "}")
    elif kind in _NESTED:
        text = _NESTED[kind](value)
        write(len(text))
        pieces.append(text)
    else:
        raise CelError(f"no formatting function for {type_name(value)}")


def _entries(mapping: dict[Value, Value]) -> list[str]:
    pairs: list[tuple[str, str]] = []
    for encoded, value in mapping.items():
        key = decode_key(encoded)
        if key.__class__ not in (str, bool, int, Uint):
            raise CelError(f"no formatting function for map key of type {type_name(key)}")
        shown = _as_literal(value)
        write(len(shown))
        pairs.append((_NESTED[key.__class__](key), shown))
    pairs.sort(key=lambda pair: pair[0])
    return [f"{key}:{value}" for key, value in pairs]


def _nested_double(value: float) -> str:
    if math.isnan(value) or math.isinf(value):
        return f'"{format_double(value)}"'
    return f"{value:.6f}"


_NESTED: Final[dict[type, Callable[[Value], str]]] = {
    str: quote,
    bool: _SCALARS[bool],
    bytes: lambda value: "b" + quote(_SCALARS[bytes](value)),
    int: str,
    Uint: _SCALARS[Uint],
    float: _nested_double,
    type(None): lambda value: "null",
    TypeValue: lambda value: value.name,
    Duration: lambda value: f'duration("{format_duration(value)}")',
    Timestamp: lambda value: f'timestamp("{format_timestamp(value)}")',
}


# --- numbers ----------------------------------------------------------------------------------------------------------


def _wrong(what: str, value: Value) -> CelError:
    return CelError(f"{what}, was given {type_name(value)}")


def _decimal(value: Value, _: int) -> str:
    if value.__class__ not in (int, Uint):
        raise _wrong("decimal clause can only be used on integers", value)
    return str(int(value))


def _as_double(value: Value, what: str) -> float:
    if value.__class__ is str and value in _SPECIAL:
        return _SPECIAL[value]
    if value.__class__ is not float:
        raise _wrong(f"{what} clause can only be used on doubles", value)
    return float(value)


def _without_digits(number: float) -> str | None:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    return None


def _fixed(value: Value, precision: int) -> str:
    number = _as_double(value, "fixed-point")
    return _without_digits(number) or f"{number or 0.0:,.{precision}f}"


def _scientific(value: Value, width: int) -> str:
    number = _as_double(value, "scientific")
    text = _without_digits(number)
    if text is None:
        mantissa, _, exponent = f"{number or 0.0:.6e}".partition("e")
        text = f"{mantissa}×10{exponent.removeprefix('+').translate(_SUPERSCRIPTS)}"
    return text.rjust(width)


def _binary(value: Value, _: int) -> str:
    if value.__class__ is bool:
        return "1" if value else "0"
    if value.__class__ not in (int, Uint):
        raise _wrong("only integers and bools can be formatted as binary", value)
    return f"{int(value):b}"


def _hexadecimal(value: Value, _: int) -> str:
    if value.__class__ is str:
        return str(value.encode().hex())
    if value.__class__ is bytes:
        return str(value.hex())
    if value.__class__ not in (int, Uint):
        raise _wrong("only integers, byte buffers, and strings can be formatted as hex", value)
    return f"{int(value):x}"


def _octal(value: Value, _: int) -> str:
    if value.__class__ not in (int, Uint):
        raise _wrong("octal clause can only be used on integers", value)
    return f"{int(value):o}"


_CLAUSES: Final[dict[str, Clause]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hexadecimal,
    "X": lambda value, precision: _hexadecimal(value, precision).upper(),
    "o": _octal,
}

OVERLOADS: Final[dict[str, Callable[..., Value]]] = {"string_format": format_string}
