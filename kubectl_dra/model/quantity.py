"""Kubernetes quantities, exact: parsing, comparison, arithmetic and canonical text of apimachinery's Quantity.

Two representations matter because they are visible (printing, CEL's ``isInteger``): a *pair* of an int64 and a power of
ten, and a *big decimal*. Upstream: k8s.io/apimachinery/pkg/api/resource.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

MAX_INT64: Final = 2**63 - 1
_NANO: Final = -9
_PAIR_DIGITS: Final = 18
_SUFFIX_LETTERS: Final = frozenset("eEinumkKMGTP")
_DIGITS: Final = frozenset("0123456789")
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_BY_EXPONENT: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_BY_EXPONENT: Final = {exponent: suffix for suffix, exponent in _BINARY.items()} | {0: ""}
# Upstream prints amounts beyond its suffix table without one ("1000E" reads back as "1"); so do we.
_NO_SUFFIX: Final = ""

FORMAT_ERROR: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX_ERROR: Final = "unable to parse quantity's suffix"
NUMERIC_ERROR: Final = "unable to parse numeric part of quantity"
# Beyond this power of ten a number would need megabytes of digits; no quantity of a device comes near it.
_MAX_EXPONENT: Final = 4096


def wrapped(number: int) -> int:
    """As an int64, which wraps around."""
    return (number + 2**63) % 2**64 - 2**63


class QuantityError(ValueError):
    """Raised when a text is not a quantity; the message is the API server's."""


class Quantity:
    """``unscaled * 10**scale``; never changed after it is made.

    ``big`` says that upstream holds it as a big decimal rather than as an int64 pair. ``text`` is the text as written,
    kept only where upstream keeps it (nothing computed, already canonical enough); then it prints unchanged.
    Equality of instances is equality of all that (as of the Go struct); compare amounts with :meth:`cmp`.
    A plain class, because msgspec would decode a dataclass from a JSON object instead of a text.
    """

    __slots__ = ("big", "format", "scale", "text", "unscaled")

    def __init__(
        self, unscaled: int, scale: int = 0, format: Format = "DecimalSI", big: bool = False, text: str | None = None
    ) -> None:
        self.unscaled = unscaled
        self.scale = scale
        self.format = format
        self.big = big
        self.text = text

    def _fields(self) -> tuple[object, ...]:
        return self.unscaled, self.scale, self.format, self.big, self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    @staticmethod
    def parse(text: str) -> Quantity:
        """Parse ``text`` as ``resource.ParseQuantity`` does. Raises :class:`QuantityError`."""
        return _parse(text)

    def cmp(self, other: Quantity) -> int:
        """-1, 0 or 1: the exact order of the two amounts."""
        mine, theirs = _align(self, other)
        return (mine > theirs) - (mine < theirs)

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.unscaled > 0) - (self.unscaled < 0)

    def at_scale(self, scale: int) -> tuple[int, bool]:
        """The amount in units of ``10**scale``, rounded away from zero, and whether that was exact."""
        if self.scale >= scale:
            return int(self.unscaled * 10 ** (self.scale - scale)), True
        quotient, rest = divmod(abs(self.unscaled), 10 ** (scale - self.scale))
        value = quotient + (rest > 0)
        return (value if self.unscaled >= 0 else -value), rest == 0

    def ceil(self) -> int:
        """The amount as an integer, rounded away from zero (``Quantity.Value`` without its int64 bound)."""
        return self.at_scale(0)[0]

    def as_int64(self) -> int | None:
        """The amount if upstream's fast conversion has it: a pair with a power >= 0 that fits int64."""
        if self.big or self.scale < 0:
            return None
        value = int(self.unscaled * 10**self.scale)
        return value if -MAX_INT64 - 1 <= value <= MAX_INT64 else None

    def add(self, other: Quantity) -> Quantity:
        """The sum; a zero receiver takes the other's format, int64 overflow or a big operand makes it big."""
        return self._combine(other, 1, other.format if self.unscaled == 0 else self.format)

    def sub(self, other: Quantity) -> Quantity:
        """The difference, with the same rules as :meth:`add`."""
        return self._combine(other, -1, other.format if self.unscaled == 0 else self.format)

    def _combine(self, other: Quantity, sign: int, result_format: Format) -> Quantity:
        if not self.big and not other.big:
            if other.unscaled == 0:
                return Quantity(self.unscaled, self.scale, result_format)
            if self.unscaled == 0:
                return Quantity(sign * other.unscaled, other.scale, result_format)
        scale = min(self.scale, other.scale)
        mine, theirs = _align(self, other)
        total = mine + sign * theirs
        fits = max(abs(mine), abs(theirs), abs(total)) <= MAX_INT64
        return Quantity(total, scale, result_format, big=self.big or other.big or not fits)

    def __str__(self) -> str:
        """The text as the API server would print it."""
        return self.text if self.text is not None else _canonical(self)


def _align(a: Quantity, b: Quantity) -> tuple[int, int]:
    if a.scale == b.scale:
        return a.unscaled, b.unscaled
    scale = min(a.scale, b.scale)
    return a.unscaled * 10 ** (a.scale - scale), b.unscaled * 10 ** (b.scale - scale)


@lru_cache(maxsize=65536)
def _parse(text: str) -> Quantity:
    if not text:
        raise QuantityError(FORMAT_ERROR)
    if text == "0":
        return Quantity(0, text="0")
    negative, number, fraction, suffix = _scan(text)
    exponent, result_format = _interpret(suffix)
    fast = _parse_pair(text, negative, number, fraction, exponent, result_format)
    if fast is None and not any(character in _DIGITS for character in text.removesuffix(suffix)):
        raise QuantityError(NUMERIC_ERROR)
    return fast if fast is not None else _parse_big(negative, number, fraction, exponent, result_format)


def _scan(text: str) -> tuple[bool, str, str, str]:
    """Sign, digits before the point without leading zeros, digits after it, suffix."""
    position = 1 if text[0] in "+-" else 0
    position = _skip(text, position, frozenset("0"))
    start, position = position, _skip(text, position, _DIGITS)
    number, fraction = text[start:position] or "0", ""
    if position < len(text) and text[position] == ".":
        start = position + 1
        position = _skip(text, start, _DIGITS)
        fraction = text[start:position]
    end = _skip(text, position, _SUFFIX_LETTERS)
    if end < len(text) and text[end] in "+-":
        end += 1
    if _skip(text, end, _DIGITS) != len(text):
        raise QuantityError(FORMAT_ERROR)
    return text[0] == "-", number, fraction, text[position:]


def _skip(text: str, position: int, characters: frozenset[str]) -> int:
    while position < len(text) and text[position] in characters:
        position += 1
    return position


def _interpret(suffix: str) -> tuple[int, Format]:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], "DecimalSI"
    if suffix in _BINARY:
        return _BINARY[suffix], "BinarySI"
    if len(suffix) > 1 and suffix[0] in "eE":
        try:
            exponent = int(suffix[1:])
        except ValueError:
            raise QuantityError(SUFFIX_ERROR) from None
        if abs(exponent) <= _MAX_EXPONENT:
            return exponent, "DecimalExponent"
    raise QuantityError(SUFFIX_ERROR)


def _parse_pair(
    text: str, negative: bool, number: str, fraction: str, exponent: int, result_format: Format
) -> Quantity | None:
    """The int64 pair, or None where upstream falls back to a big decimal."""
    digits = number + fraction
    if result_format == "BinarySI":
        if fraction or 15 - len(number) - exponent * 3 // 10 - 1 < 0:
            return None
        scale, value = 0, int(number) << exponent
        kept = exponent % 10 == 0 and int(number) & 7 != 0
    else:
        scale, value = exponent - len(fraction), 0
        if len(digits) > _PAIR_DIGITS or scale < _NANO:
            return None
        value = int(digits)
        kept = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    if value > MAX_INT64:
        return None
    return Quantity(-value if negative else value, scale, result_format, text=text if kept else None)


def _parse_big(negative: bool, number: str, fraction: str, exponent: int, result_format: Format) -> Quantity:
    value, scale = _integer(number + fraction), -len(fraction)
    if result_format == "BinarySI":
        value <<= exponent
    else:
        scale += exponent
    value, scale = Quantity(value, scale).at_scale(_NANO)[0], _NANO
    if result_format == "BinarySI":
        value = min(value, MAX_INT64 * 10**9)
        if 0 < value < 10**9:
            result_format = "DecimalSI"
    return Quantity(-value if negative else value, scale, result_format, big=True)


def _integer(digits: str) -> int:
    """The number that digits mean, however many: Python refuses to convert more than 4300 at once."""
    value = 0
    for start in range(0, len(digits), 4000):
        part = digits[start : start + 4000]
        value = value * 10 ** len(part) + int(part)
    return value


def _canonical(quantity: Quantity) -> str:
    if quantity.unscaled == 0:
        return "0"
    if quantity.format == "BinarySI":
        value, exact = quantity.at_scale(0)
        if exact and abs(value) >= 1024:
            exponent = 0
            while abs(value) >= 1024 and value % 1024 == 0:
                value, exponent = value // 1024, exponent + 10
            return f"{value}{_BINARY_BY_EXPONENT.get(exponent, _NO_SUFFIX)}"
    return _canonical_decimal(quantity)


def _canonical_decimal(quantity: Quantity) -> str:
    value, exponent = quantity.unscaled, quantity.scale
    while value % 10 == 0:
        value, exponent = value // 10, exponent + 1
    value, exponent = value * 10 ** (exponent % 3), exponent - exponent % 3
    if quantity.format == "DecimalExponent":
        return f"{value}e{exponent}" if exponent else str(value)
    return f"{value}{_DECIMAL_BY_EXPONENT.get(exponent, _NO_SUFFIX)}"
