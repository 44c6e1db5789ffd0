"""A comparison with something that devices really have, where what it asks for exists nowhere.

The attribute and the form stay, the value changes: ``model == "H200"`` becomes ``model == "A100"``. That asks for
another device than was meant, so it belongs beside the selector without the condition. Whether it helps is for the
caller to try.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec

from kubectl_dra.cel.read.mentions import Mention, located
from kubectl_dra.cel.syntax.ast import Call, Literal, Node, Parsed
from kubectl_dra.cel.syntax.lexer import Token, tokenize
from kubectl_dra.cel.syntax.printer import string_source
from kubectl_dra.cel.syntax.traverse import walk
from kubectl_dra.model.resource import DeviceAttribute
from kubectl_dra.selectors.catalog import PublishedDevice, published_value
from kubectl_dra.selectors.edits import IDENTIFIER, parsed, replaced
from kubectl_dra.selectors.values import type_of, type_text, value_source

_MOST: Final = 3
_COMPARED: Final = frozenset({"_==_", "_<_", "_<=_", "_>_", "_>=_"})
#: What a literal of two tokens begins with.
_SIGNS: Final = ("-", "+")


class _Comparison(msgspec.Struct, frozen=True):
    """An attribute against a literal of ``kind``; ``operator`` is where the sign stands, ``ordered``: not equality.

    ``others`` are the names that the expression reads besides.
    """

    operator: tuple[int, int]
    ordered: bool
    mention: Mention
    literal: Token
    kind: str
    others: frozenset[str]


def existing_values(expression: str, devices: Iterable[PublishedDevice]) -> Iterator[str]:
    """The expression with every comparison of an attribute that no device fulfils changed, most frequent values first.

    Empty where there is nothing to change, or no saying to what: names with several like them, values of which each
    device has its own.
    """
    tree = parsed(expression)
    known = tuple(devices)
    changes = [list(_changes(expression, each, known)) for each in _comparisons(tree)] if tree is not None else []
    changes = [each for each in changes if each]
    for number in range(max(map(len, changes), default=0)):
        edits = [edit for each in changes for edit in each[min(number, len(each) - 1)]]
        changed = replaced(expression, edits)
        if changed is not None:
            yield changed


def _comparisons(tree: Parsed) -> Iterator[_Comparison]:
    places = located(tree)
    tokens = {token.pos: token for token in tokenize(tree.source)[0]}
    for node, _ in walk(tree.root, tree.macros):
        if not isinstance(node, Call) or node.function not in _COMPARED:
            continue
        sign = tokens.get(node.pos)
        for one, other in (node.args, node.args[::-1]):
            mention, literal = _mention(one, places), tokens.get(other.pos)
            if sign is None or mention is None or literal is None or not isinstance(other, Literal):
                continue
            if literal.text not in _SIGNS:
                place = (sign.pos, sign.pos + len(sign.text))
                others = frozenset(each.name.text for each in places.values() if each.name and each is not mention)
                yield _Comparison(place, node.function != "_==_", mention, literal, other.kind, others)


def _mention(node: Node, places: dict[int, Mention]) -> Mention | None:
    """The attribute that one side is, as it is or with a default."""
    if isinstance(node, Call) and node.function == "orValue" and node.target is not None:
        node = node.target
    found = places.get(id(node))
    return found if found is not None and found.field == "attributes" and found.name is not None else None


def _changes(text: str, found: _Comparison, devices: Sequence[PublishedDevice]) -> Iterator[list[tuple[int, int, str]]]:
    """The edits of one comparison, for each value that could stand there."""
    mention, token = found.mention, found.literal
    assert mention.name is not None  # noqa: S101 - those without are no comparisons of an attribute
    name = _published_name(found, devices)
    there = list(_values(devices, mention.domain.text, name))
    values, kinds = Counter(map(value_source, there)), {type_text(type_of(each)) for each in there}
    if len(kinds) != 1 or _differs_on_each(values) or (found.ordered and kinds != {"string"}):
        return
    written = string_source(token.text[1:-1]) if token.kind == "STRING" else token.text
    if not found.ordered and name == mention.name.text and written in values:
        return
    for value, _ in islice(sorted(values.items(), key=lambda item: (-item[1], item[0])), _MOST):
        edits = [(token.pos, token.pos + len(token.text), value), (*found.operator, "==")]
        if name != mention.name.text:
            quoted = text[mention.name.start] in "\"'"
            edits.append((mention.name.start, mention.name.end, string_source(name) if quoted else name))
        if value:
            yield edits


def _published_name(found: _Comparison, devices: Sequence[PublishedDevice]) -> str:
    """The name itself if a device has it, else the only one of the domain whose values are of the literal's type."""
    mention = found.mention
    assert mention.name is not None  # noqa: S101 - see the caller
    domain, own = mention.domain.text, mention.name.text
    if any(True for _ in _values(devices, domain, own)):
        return own
    names = {
        short
        for each in devices
        for name, value in each.device.attributes.items()
        if (short := name.removeprefix(f"{domain}/")) and "/" not in short
        if (each.driver == domain or short != name) and type_text(type_of(value)) == found.kind
    }
    only = names.pop() if len(names) == 1 else ""
    return only if IDENTIFIER.fullmatch(only) and only not in found.others else ""


def _values(devices: Iterable[PublishedDevice], domain: str, name: str) -> Iterator[DeviceAttribute]:
    for each in devices:
        value = published_value(each.device.attributes, each.driver, domain, name)
        if value is not None:
            yield value


def _differs_on_each(values: Counter[str]) -> bool:
    """Whether a value tells one device from the others, as an index or a UUID does: nobody can mean any of them."""
    return len(values) > 1 and values.most_common(1)[0][1] == 1
