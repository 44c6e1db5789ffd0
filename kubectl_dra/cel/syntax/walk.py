"""The tokens of one expression as its parser walks them, with the problems found and the depths that are bounded.

Room for deep trees: the parser bounds how deep expressions nest, but not below Python's default recursion limit.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NoReturn

from kubectl_dra.cel.syntax.ast import Literal
from kubectl_dra.cel.syntax.issues import NOWHERE, Kind, Reporter
from kubectl_dra.cel.syntax.lexer import tokenize

if TYPE_CHECKING:
    from kubectl_dra.cel.syntax.lexer import Token

MAX_DEPTH: Final = 250
# An expression may nest 250 deep in each of several ways, a macro makes up to seven levels of one, and each step of the
# compiler needs up to three frames per level. Calls between Python functions use no C stack, but decoders of JSON in
# C do and obey the same limit: with 25,000 they run off the end of a stack of 8 MiB.
_FRAMES: Final = 12_000
# What Python's default limit of 1000 surely leaves room for.
_SHALLOW: Final = 12


class GiveUp(Exception):
    """The problem is recorded and nothing after it can be parsed."""


class Walk(Reporter):
    """``height`` is that of the tree last parsed, counted in the nodes that upstream bounds."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.tokens, self.skipped = tokenize(source)
        self.at = 0
        self.token = self.tokens[0]
        self.kind = self.token.kind
        self.height = 0
        for text in self.skipped:
            self.report(text.pos, f"Syntax error: token recognition error at: '{text.text}'", "syntax")

    def advance(self) -> Token:
        """Steps over the token at hand and returns it."""
        token = self.token
        self.at += 1
        self.token = self.tokens[self.at]
        self.kind = self.token.kind
        return token

    def peek(self) -> str:
        """The kind of the token after this one."""
        return self.tokens[self.at + 1].kind if self.kind != "<EOF>" else "<EOF>"

    def expect(self, kind: str) -> Token:
        """Steps over a token of this kind; anything else is a syntax error."""
        if self.kind != kind:
            self.unexpected(f"'{kind}'", frozenset({kind}))
        return self.advance()

    def invalid(self, pos: int, message: str, kind: Kind, name: str = "") -> Literal:
        """Reports and stands in for the node that could not be made."""
        self.report(pos, message, kind, name)
        self.height = 0
        return Literal(pos, "null", None)

    def unexpected(self, expected: str, viable: frozenset[str]) -> NoReturn:
        """The token at hand is none of ``viable``; if the next one is, the one at hand is only in the way."""
        surplus = self.kind != "<EOF>" and self.peek() in viable
        verb = "extraneous" if surplus else "mismatched"
        message = f"Syntax error: {verb} input '{self.token.text}' expecting {expected}"
        self.report(self.token.pos, message, "syntax", self.token.text)
        raise GiveUp

    def not_viable(self, start: Token) -> NoReturn:
        """No rule continues what began at ``start`` with the token at hand."""
        if self.kind in ("true", "false", "null") and start.pos + 1 == self.token.pos:
            message = f"mismatched input '{self.token.text}' expecting IDENTIFIER"
        else:
            text = self.text_between(start.pos, self.token.pos) + self.token.text
            message = f"no viable alternative at input '{text}'"
        self.report(self.token.pos, f"Syntax error: {message}", "syntax", self.token.text)
        raise GiveUp

    def text_between(self, start: int, end: int) -> str:
        """The source without what was skipped because it is no token."""
        parts = []
        for skipped in self.skipped:
            if start <= skipped.pos < end:
                parts.append(self.source[start : skipped.pos])
                start = skipped.pos + len(skipped.text)
        return "".join([*parts, self.source[start:end]])

    def limit(self, message: str) -> NoReturn:
        """The expression is too large or too deep; no place is given for that."""
        self.report(NOWHERE, message, "limit")
        raise GiveUp

    def deeper(self, depth: int) -> None:
        """A rule of the grammar is so many levels within itself."""
        if depth > _SHALLOW:
            if depth > MAX_DEPTH:
                self.limit(f"expression recursion limit exceeded: {MAX_DEPTH}")
            allow_deep_trees()

    def higher(self, below: int) -> None:
        """The tree last parsed is one counted node above one of height ``below``."""
        self.height = below + 1
        if below >= _SHALLOW:
            if below >= MAX_DEPTH:
                self.limit("max recursion depth exceeded")
            allow_deep_trees()


def allow_deep_trees() -> None:
    """Raises the recursion limit, once and for good: lowering it again would pull the rug from under other threads."""
    if sys.getrecursionlimit() < _FRAMES:
        sys.setrecursionlimit(_FRAMES)
