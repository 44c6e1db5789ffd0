"""``string.format``: the clauses ``%s %d %f %e %b %x %X %o`` as the second version of CEL's string library has them.

Numbers of ``%f`` and ``%e`` are printed for the English locale: digit groups, ``∞``, exponents as superscripts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from kubectl_dra.cel.functions.addresses import quote
from kubectl_dra.cel.functions.conversions import OVERLOADS as CONVERSIONS
from kubectl_dra.cel.functions.conversions import format_duration
from kubectl_dra.cel.functions.printing import MAX_TEXT
from kubectl_dra.cel.functions.time import format_timestamp
from kubectl_dra.cel.values import (
    LISTS,
    MAPS,
    CelError,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    decode_key,
    format_double,
    list_size,
    too_large,
    type_name,
)

Clause: TypeAlias = Callable[[Value, int], str]

_DIGITS: Final = "0123456789"
_SUPERSCRIPTS: Final = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
_DEFAULT_PRECISION: Final = 6
# Upstream does not bound the precision; nobody means one beyond this.
_MAX_PRECISION: Final = 10**6
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def format_string(template: str, arguments: Value) -> str:
    """``template.format(arguments)``. Raises :class:`CelError` with the texts that templates and clauses can give."""
    pieces: list[str] = []
    length = position = used = 0
    while position < len(template):
        start = position
        position = template.find("%", start)
        if position < 0:
            position = len(template)
        piece = template[start:position]
        if position < len(template):
            if template.startswith("%%", position):
                piece, position = piece + "%", position + 2
            else:
                text, position = _next_clause(template, position, arguments, used)
                piece, used = piece + text, used + 1
        pieces.append(piece)
        length += len(piece)
        if length > MAX_TEXT:
            raise too_large()
    return "".join(pieces)


def _next_clause(template: str, position: int, arguments: Value, used: int) -> tuple[str, int]:
    if used >= list_size(arguments):
        raise CelError(f"index {used} out of range")
    if position + 1 >= len(template):
        raise CelError("unexpected end of string")
    precision, end = _precision(template, position + 1)
    letter = template[end]
    clause = _CLAUSES.get(letter)
    if clause is None:
        shown = chr(letter.encode()[0])
        raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{shown}"')
    try:
        return clause(arguments[used], precision), end + 1
    except CelError as error:
        raise CelError(f"error during formatting: {error.text}") from None


def _precision(template: str, position: int) -> tuple[int, int]:
    if template[position] != ".":
        return _DEFAULT_PRECISION, position
    start = end = position + 1
    while end < len(template) and template[end] in _DIGITS:
        end += 1
    failure = "could not parse formatting clause: error while parsing precision: "
    if end == len(template):
        raise CelError(failure + "could not find end of precision specifier")
    text = template[start:end]
    if not text:
        raise CelError(
            failure + 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
        )
    number = text.lstrip("0") or "0"
    if len(number) > 19 or int(number) > 2**63 - 1:
        raise CelError(
            f'{failure}error while converting precision to integer: strconv.Atoi: parsing "{text}": value out of range'
        )
    if int(number) > _MAX_PRECISION:
        raise too_large()
    return int(number), end


# --- %s ---------------------------------------------------------------------------------------------------------------


def _string(value: Value, _: int) -> str:
    kind = value.__class__
    if value is None:
        return "null"
    if kind in LISTS or kind in MAPS:
        return _collect(_nested(value))
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


def _collect(pieces: Iterator[str]) -> str:
    collected: list[str] = []
    length = 0
    for piece in pieces:
        collected.append(piece)
        length += len(piece)
        if length > MAX_TEXT:
            raise too_large()
    return "".join(collected)


def _nested(value: Value) -> Iterator[str]:
    """A value inside a list or map, as a CEL literal."""
    kind = value.__class__
    if kind in LISTS:
        yield "["
        for position, element in enumerate(value):
            yield ", " if position else ""
            yield from _nested(element)
        yield "]"
    elif kind in MAPS:
        yield "{"
        yield ", ".join(_entries(value))
        yield "}"
    elif kind in _NESTED:
        yield _NESTED[kind](value)
    else:
        raise CelError(f"no formatting function for {type_name(value)}")


def _entries(mapping: dict[Value, Value]) -> Iterator[str]:
    pairs = []
    for encoded, value in mapping.items():
        key = decode_key(encoded)
        if key.__class__ not in (str, bool, int, Uint):
            raise CelError(f"no formatting function for map key of type {type_name(key)}")
        pairs.append((_NESTED[key.__class__](key), _collect(_nested(value))))
    pairs.sort(key=lambda pair: pair[0])
    return (f"{key}:{value}" for key, value in pairs)


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
    return _without_digits(number) or f"{number:,.{precision}f}"


def _scientific(value: Value, width: int) -> str:
    number = _as_double(value, "scientific")
    text = _without_digits(number)
    if text is None:
        mantissa, _, exponent = f"{number:.6e}".partition("e")
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
