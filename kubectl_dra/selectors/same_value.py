"""A selector that compares an attribute with part of a value that devices have, perhaps under another name.

``model == "H100"`` where devices publish ``productName`` "NVIDIA H100 80GB HBM3": the comparison with that name and
that value. Whether it helps is for the caller to try.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice
from typing import Final

import msgspec

from kubectl_dra.cel.read.mentions import Mention, located
from kubectl_dra.cel.run.device import split_name
from kubectl_dra.cel.syntax.ast import Call, Literal, Node, Parsed
from kubectl_dra.cel.syntax.lexer import tokenize
from kubectl_dra.cel.syntax.printer import string_source
from kubectl_dra.cel.syntax.traverse import walk
from kubectl_dra.selectors.catalog import PublishedDevice
from kubectl_dra.selectors.edits import parsed, replaced
from kubectl_dra.selectors.seen_values import path_of

_MOST: Final = 5
# Shorter texts are part of nearly everything, of uuids for example.
_SHORTEST: Final = 3
_MAX_TEXT: Final = 10 * 1024


class _Value(msgspec.Struct, frozen=True, order=True):
    domain: str
    name: str
    text: str


def same_values(
    expression: str, devices: Iterable[PublishedDevice], start: int = 0, end: int = _MAX_TEXT
) -> Iterator[str]:
    """The expression with one comparison between ``start`` and ``end`` changed, a few for each, the likeliest first.

    Equal values come before those that contain the text, those of the same name and domain before others.
    """
    tree = parsed(expression)
    compared = list(_compared(tree, start, end)) if tree is not None else []
    values = _values(devices) if compared else ()
    for mention, literal, every in compared:
        wanted = str(literal.value).casefold()
        if len(wanted) < _SHORTEST:
            continue
        found = [each for each in values if wanted in each.text.casefold() and each.text != literal.value]
        found += [each for each in values if each.text == literal.value and not _is_of(each, mention)]
        for value in islice(sorted(found, key=lambda each: _rank(each, wanted, mention)), _MOST):
            # What nothing has is renamed everywhere, also where has() asks for it.
            renamed = [mention] if any(_is_of(each, mention) for each in values) else every
            yield _with(expression, renamed, literal, value)


def _values(devices: Iterable[PublishedDevice]) -> frozenset[_Value]:
    """All texts that devices publish, with their names."""
    return frozenset(
        _Value(*split_name(name, each.driver), value.string)
        for each in devices
        for name, value in each.device.attributes.items()
        if value.string is not None
    )


def _compared(tree: Parsed, start: int, end: int) -> Iterator[tuple[Mention, Literal, list[Mention]]]:
    """Attributes that must equal a text: the mention, the text, and all mentions of the same attribute."""
    places = located(tree)
    for node, _ in walk(tree.root, tree.macros):
        if not isinstance(node, Call) or node.function != "_==_" or not start <= node.pos < end:
            continue
        for one, other in (node.args, node.args[::-1]):
            mention = _only_mention(one, tree, places)
            if mention is not None and isinstance(other, Literal) and isinstance(other.value, str):
                yield mention, other, [each for each in places.values() if _same(each, mention)]


def _only_mention(node: Node, tree: Parsed, places: dict[int, Mention]) -> Mention | None:
    """The attribute that one side of a comparison reads, if it reads one."""
    found = [places[id(each)] for each, _ in walk(node, tree.macros) if id(each) in places]
    if len(found) != 1 or found[0].field != "attributes" or found[0].name is None:
        return None
    return found[0]


def _same(one: Mention, other: Mention) -> bool:
    return path_of(one) == path_of(other)


def _is_of(value: _Value, mention: Mention) -> bool:
    return ("attributes", value.domain, value.name) == path_of(mention)


def _rank(value: _Value, wanted: str, mention: Mention) -> tuple[bool, bool, bool, float, _Value]:
    _, domain, name = path_of(mention)
    alike = SequenceMatcher(None, name.casefold(), value.name.casefold()).ratio()
    return not _is_of(value, mention), value.text.casefold() != wanted, value.domain != domain, -alike, value


def _with(expression: str, renamed: Iterable[Mention], literal: Literal, value: _Value) -> str:
    token = next(each for each in tokenize(expression)[0] if each.pos == literal.pos)
    edits = [(token.pos, token.pos + len(token.text), string_source(value.text))]
    for mention in renamed:
        word = mention.name
        if word is None or _is_of(value, mention):
            continue
        quoted = expression[word.start] in "\"'"
        edits.append((word.start, word.end, string_source(value.name) if quoted else value.name))
        if mention.domain.text != value.domain:
            edits.append((mention.domain.start, mention.domain.end, string_source(value.domain)))
    return replaced(expression, edits) or expression
