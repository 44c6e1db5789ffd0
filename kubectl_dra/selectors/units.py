"""Amounts with a unit that Kubernetes does not have: ``80GB``, ``40 GiB``, ``16g``, and the quantity that is meant."""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.cel.syntax.lexer import tokenize
from kubectl_dra.cel.syntax.literals import LiteralError, string_value
from kubectl_dra.model.quantity import Quantity, QuantityError

_AMOUNT: Final = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([kmgtpe]?)(i?)(?:b|bytes?)?\s*", re.IGNORECASE)
#: Of the decimal units only the one for 1000 is a small letter.
_THOUSANDS: Final = {"K": "k"}
_MAKER: Final = "quantity"
_BINARY: Final = (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))
_DECIMAL: Final = (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3))
#: An amount without a unit is of the size that devices have as it stands where they have less than so many times it.
_MUCH: Final = 1000
#: An amount that is so many times what devices have is in another unit.
_MORE: Final = 16


def near_quantity(text: str) -> str:
    """The quantity that a text which is none was meant to be; empty where nothing is near, or where it is one."""
    try:
        Quantity.parse(text)
    except QuantityError:
        found = _AMOUNT.fullmatch(text)
    else:
        return ""
    if found is None:
        return ""
    number, unit, binary = found[1], found[2].upper(), found[3]
    if binary:
        return f"{number}{unit}i" if unit else ""
    return f"{number}{_THOUSANDS.get(unit, unit)}"


def likely_unit(amount: int, size: Quantity) -> str:
    """The unit with which ``amount`` is of the size that devices have; empty where it is as it stands."""
    whole = size.at_scale(0)[0]
    if not amount or whole < amount * _MUCH:
        return ""
    units = _DECIMAL if str(size)[-1:] in ("k", "M", "G", "T", "P", "E") else _BINARY
    return next((unit for unit, factor in units if amount * factor <= whole * _MORE and whole >= factor), "")


def unreadable_amounts(expression: str) -> list[tuple[int, int, str, str]]:
    """Start, end, text and what was meant (or empty) of each literal in ``quantity(…)`` that is not a quantity."""
    tokens = tokenize(expression)[0]
    found = []
    for maker, bracket, token in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (maker.text, bracket.text, token.kind) != (_MAKER, "(", "STRING"):
            continue
        try:
            text = string_value(token.text)
            Quantity.parse(text)
        except LiteralError:
            continue
        except QuantityError:
            found.append((token.pos, token.pos + len(token.text), text, near_quantity(text)))
    return found
