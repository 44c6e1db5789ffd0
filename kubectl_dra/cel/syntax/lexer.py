"""Source text to tokens, as cel-go's grammar defines them: longest match, ASCII identifiers, no block comments.

Unrecognizable text is skipped and reported; whatever its cause, the expression is refused. Values of literals are not
computed here (see ``literals``).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import msgspec

KEYWORDS: Final = frozenset({"in", "true", "false", "null"})

_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_QUOTED = (
    rf'"""(?:{_ESCAPE}|[^\\])*?"""',
    rf"'''(?:{_ESCAPE}|[^\\])*?'''",
    rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
    rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
)
_RAW = (r'[rR]"""[\s\S]*?"""', r"[rR]'''[\s\S]*?'''", r'[rR]"[^"\n\r]*"', r"[rR]'[^'\n\r]*'")
_STRING = "|".join((*_QUOTED, *_RAW))

_TOKEN: Final = re.compile(
    rf"""
      (?P<SPACE>[\t\ \r\n\f]+|//[^\n]*)
    | (?P<STRING>{_STRING})
    | (?P<BYTES>[bB](?:{_STRING}))
    | (?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    | (?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
    | (?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
    | (?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/\ ]+`)
    | (?P<OPERATOR>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])
    """,
    re.VERBOSE,
)
_UNTERMINATED: Final = {
    '"': re.compile(rf'"(?:{_ESCAPE}|[^\\"\n\r])*'),
    "'": re.compile(rf"'(?:{_ESCAPE}|[^\\'\n\r])*"),
    "`": re.compile(r"`[A-Za-z0-9_.\-/ ]*"),
}
_BROKEN_ESCAPE: Final = re.compile(
    r"\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?",
)


class Token(NamedTuple):
    """One token. ``kind`` is the operator or keyword itself, or the grammar's name of the class (``NUM_INT``, ...)."""

    kind: str
    text: str
    pos: int


class Unrecognized(msgspec.Struct, frozen=True):
    """Text that begins no token."""

    pos: int
    text: str


def tokenize(source: str) -> tuple[list[Token], list[Unrecognized]]:
    """All tokens, the last one of kind ``<EOF>``, and what was skipped because it is no token."""
    tokens: list[Token] = []
    skipped: list[Unrecognized] = []
    match = _TOKEN.match
    pos, end = 0, len(source)
    while pos < end:
        found = match(source, pos)
        if found is None:
            skipped.append(_unrecognized(source, pos))
            pos += len(skipped[-1].text)
            continue
        kind = found.lastgroup or ""
        if kind != "SPACE":
            text = found.group()
            tokens.append(Token(text if kind == "OPERATOR" or text in KEYWORDS else kind, text, pos))
        pos = found.end()
    tokens.append(Token("<EOF>", "<EOF>", end))
    return tokens, skipped


def _unrecognized(source: str, pos: int) -> Unrecognized:
    """The text up to and including the character at which no token was possible any more."""
    first = source[pos]
    end = pos
    if first in _UNTERMINATED:
        end = _end(_UNTERMINATED[first], source, pos)
        if first != "`" and source[end : end + 1] == "\\":
            end = _end(_BROKEN_ESCAPE, source, end)
    elif first in "&|=":
        end = pos + 1
    return Unrecognized(pos, source[pos : end + 1])


def _end(pattern: re.Pattern[str], source: str, pos: int) -> int:
    found = pattern.match(source, pos)
    return found.end() if found else pos
