"""Where an expression names domains, attributes and capacities literally: the places that a correction would edit.

What an evaluation may read besides (computed names, whole maps) is the business of ``reads``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_dra.cel.functions.time import LOCAL_ZONE
from kubectl_dra.cel.syntax.ast import Call, Ident, Literal, Node, Parsed, Select
from kubectl_dra.cel.syntax.lexer import Token, tokenize
from kubectl_dra.cel.syntax.traverse import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

FIELDS: Final = ("attributes", "capacity")
_OPTIONAL: Final = frozenset({"_?._", "_[?_]"})


class Word(msgspec.Struct, frozen=True):
    """A name as written, at ``source[start:end]``: an identifier, or a text with its quotes."""

    text: str
    start: int
    end: int


class Mention(msgspec.Struct, frozen=True):
    """``device.FIELD[DOMAIN].NAME``, or the domain alone (``name`` None), at ``source[start:end]``.

    ``at`` is the offset of the dot or bracket behind the domain. ``bracket``: the name is an index. ``guarded``: a
    device without it makes no error here (``has``, ``.?``, ``[?``).
    """

    field: str
    domain: Word
    name: Word | None
    start: int
    end: int
    at: int
    bracket: bool
    guarded: bool


def mentions(parsed: Parsed) -> tuple[Mention, ...]:
    """All of them in the order of the source."""
    return tuple(sorted(located(parsed).values(), key=lambda mention: (mention.start, mention.end)))


def located(parsed: Parsed) -> dict[int, Mention]:
    """The mentions by ``id()`` of the node that each is."""
    return dict(_Finder(parsed).find())


def names_local_zone(source: str) -> bool:
    """Whether a string literal is ``"Local"``, the time zone of whichever machine evaluates."""
    return any(token.kind == "STRING" and token.text.strip("rR\"'") == LOCAL_ZONE for token in tokenize(source)[0])


class _Finder:
    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.tokens = tokenize(parsed.source)[0]
        self.index = {token.pos: number for number, token in enumerate(self.tokens)}
        self.tested: set[int] = set()

    def find(self) -> Iterator[tuple[int, Mention]]:
        used: set[int] = set()
        for node, _ in walk(self.parsed.root, self.parsed.macros):
            if isinstance(node, Select) and node.test_only:
                # What has() tests is its argument, which comes next.
                self.tested.update(map(id, self.parsed.macros[id(node)].args))
                continue
            mention = None if id(node) in used else self.mention(node)
            if mention is not None:
                used.update(map(id, (node, _operand(node))))
                yield id(node), mention

    def mention(self, node: Node) -> Mention | None:
        """The mention that the node is as a whole."""
        domain = self.domain(node)
        if domain is not None:
            return self._mention(node, *domain, name=None)
        outer = _operand(node)
        domain = self.domain(outer) if outer is not None else None
        name = self.key(node) if domain is not None else None
        return self._mention(node, *domain, name=name) if domain is not None and name is not None else None

    def _mention(self, node: Node, field: str, domain: Word, root: int, name: Word | None) -> Mention:
        last = name or domain
        bracket = isinstance(node, Call) and node.function != "_?._"
        end = self._after(last.end) if bracket else last.end
        guarded = id(node) in self.tested or (isinstance(node, Call) and node.function in _OPTIONAL)
        return Mention(field, domain, name, root, end, node.pos, bracket, guarded)

    def _after(self, end: int) -> int:
        """Behind the bracket that closes an index."""
        following = next((token for token in self.tokens if token.pos >= end), self.tokens[-1])
        return following.pos + 1

    def domain(self, node: Node | None) -> tuple[str, Word, int] | None:
        """Field, domain and where the chain begins, if the node is ``device.FIELD[DOMAIN]``."""
        field = _operand(node)
        if not isinstance(field, Select) or field.name not in FIELDS or node is None:
            return None
        root = field.operand
        if not isinstance(root, Ident) or root.name != "device":
            return None
        domain = self.key(node)
        return (field.name, domain, root.pos) if domain is not None else None

    def key(self, node: Node) -> Word | None:
        """The literal name that a selection or index asks for."""
        if isinstance(node, Select):
            return self._word(node.name, self._token(node.pos, 1))
        if isinstance(node, Call) and len(node.args) == 2:
            key = node.args[1]
            if isinstance(key, Literal) and isinstance(key.value, str):
                return self._word(key.value, self._token(key.pos, 0))
        return None

    def _token(self, pos: int, further: int) -> Token | None:
        number = self.index.get(pos)
        return self.tokens[number + further] if number is not None and number + further < len(self.tokens) else None

    @staticmethod
    def _word(text: str, token: Token | None) -> Word | None:
        return Word(text, token.pos, token.pos + len(token.text)) if token is not None else None


def _operand(node: Node | None) -> Node | None:
    if isinstance(node, Select):
        return node.operand
    if isinstance(node, Call) and node.function in ("_[_]", *_OPTIONAL):
        return node.args[0]
    return None
