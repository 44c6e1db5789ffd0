"""The conditions that an expression demands all of: its ``&&`` operands, each with the text it was written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_dra.cel.syntax.ast import Call, Checked, Node
from kubectl_dra.cel.syntax.lexer import Token, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Clause(msgspec.Struct, frozen=True):
    """One condition; ``text`` is ``source[start:end]``, without parentheses around the whole of it."""

    node: Node
    start: int
    end: int
    text: str


def clauses(checked: Checked) -> tuple[Clause, ...]:
    """The conditions in the order of evaluation; an expression without ``&&`` at the top is its own only clause."""
    source = checked.parsed.source
    tokens = tokenize(source)[0][:-1]
    return tuple(_clauses(source, tokens, checked.parsed.root))


def _clauses(source: str, tokens: list[Token], node: Node) -> Iterator[Clause]:
    tokens = _unwrapped(tokens)
    parts = _split(tokens) if isinstance(node, Call) and node.function == "_&&_" else [tokens]
    if len(parts) == 1:
        start, end = tokens[0].pos, tokens[-1].pos + len(tokens[-1].text)
        yield Clause(node, start, end, source[start:end])
        return
    for term, part in zip(_terms(node, len(parts)), parts, strict=True):
        yield from _clauses(source, part, term)


def _terms(node: Node, count: int) -> Iterator[Node]:
    """The operands of a chain of ``count``, which is a balanced tree."""
    if count == 1:
        yield node
        return
    assert isinstance(node, Call)  # noqa: S101  a chain of two or more is a call
    left = (count - 1) // 2 + 1
    yield from _terms(node.args[0], left)
    yield from _terms(node.args[1], count - left)


def _unwrapped(tokens: list[Token]) -> list[Token]:
    """Without the parentheses that enclose all tokens."""
    outer = 0
    while _encloses(tokens[outer : len(tokens) - outer]):
        outer += 1
    return tokens[outer : len(tokens) - outer]


def _encloses(tokens: list[Token]) -> bool:
    if len(tokens) < 2 or tokens[0].kind != "(":
        return False
    return all(depth > 0 for depth in _depths(tokens)[:-1])


def _depths(tokens: list[Token]) -> list[int]:
    """How many brackets are open after each token."""
    depths = []
    depth = 0
    for token in tokens:
        if token.kind in _CLOSING:
            depth += 1
        elif token.kind in _CLOSING.values():
            depth -= 1
        depths.append(depth)
    return depths


def _split(tokens: list[Token]) -> list[list[Token]]:
    """At the ``&&`` outside of all brackets."""
    parts: list[list[Token]] = [[]]
    for token, depth in zip(tokens, _depths(tokens), strict=True):
        if token.kind == "&&" and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
