"""Text as Go prints and reads it, for answers and messages that must be those of the components."""

from __future__ import annotations

import re
from typing import Final

#: The characters that string literals of Go and of CEL write as a backslash and a letter.
ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


def parse_int(text: str | None) -> int | None:
    """An int64 in decimal, as strconv.ParseInt reads it; None for anything else."""
    if text is None or len(text) > 64 or not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


def quote(text: str) -> str:
    """A text as ``%q`` prints it (upstream: ``strconv.Quote``)."""
    return '"' + "".join(map(_quoted, text)) + '"'


def quote_rune(code: int) -> str:
    """A number as ``%q`` prints it (upstream: ``strconv.QuoteRune``): the character of that code."""
    character = chr(code)
    return "'" + ("\\'" if character == "'" else character if character == '"' else _quoted(character)) + "'"


def pattern_message(rule: str, expression: str, *examples: str) -> str:
    """What validation says of a text that breaks ``rule`` (upstream: RegexError in apimachinery's util/validation)."""
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{expression}')"


def _quoted(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        # A byte that is no UTF-8, as Python's surrogateescape holds it.
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
