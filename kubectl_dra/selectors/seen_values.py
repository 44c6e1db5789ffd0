"""A selector with a value that devices have in the place of one that none has, the nearest values first.

That asks for another device than was meant, so each stands beside the selector without the condition. Whether one
helps is for the caller to try.

A selector that compares an attribute with part of a value that devices have, perhaps under another name. ``model ==
"H100"`` where devices publish ``productName`` "NVIDIA H100 80GB HBM3": the comparison with that name and that value.
Whether it helps is for the caller to try.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from itertools import islice
from typing import Final

import msgspec

from kubectl_dra.cel.read.mentions import Mention, located
from kubectl_dra.cel.run.device import split_name
from kubectl_dra.cel.syntax.ast import Call, ListLit, Literal, Node, Parsed
from kubectl_dra.cel.syntax.lexer import tokenize
from kubectl_dra.cel.syntax.printer import node_source, string_source, to_source
from kubectl_dra.cel.syntax.traverse import walk
from kubectl_dra.model.semver import Semver, SemverError
from kubectl_dra.selectors.catalog import PublishedDevice
from kubectl_dra.selectors.edits import parsed, replaced

_MOST: Final = 3
#: So many values, each of one device only, name devices (a uuid, an address): nobody means any of them.
_NAMES: Final = 4
_NUMBER: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_ORDERS: Final = frozenset({"compareTo", "isGreaterThan", "isLessThan"})
_STRICT: Final = {"_>_": "_>=_", "_<_": "_<=_"}
_STRICT_TESTS: Final = {"isGreaterThan": "_>=_", "isLessThan": "_<=_"}
_MOST_PARTS: Final = 5
# Shorter texts are part of nearly everything, of uuids for example.
_SHORTEST: Final = 3
_MAX_TEXT: Final = 10 * 1024


#: States in which a device is of no use: of interfaces (RFC 2863, ifOperStatus), and what drivers say of health.
_BROKEN: Final = frozenset(
    [
        "degraded",
        "down",
        "error",
        "failed",
        "faulty",
        "inactive",
        "lowerlayerdown",
        "notpresent",
        "offline",
        "unavailable",
        "unhealthy",
    ]
)


def tells_of_failure(value: str) -> bool:
    """Whether a value says that the device does not work, so that nobody means it, nor does without the condition."""
    return value.strip('"').lower().replace("-", "").replace("_", "") in _BROKEN


def seen_values(expression: str, seen: Mapping[str, int], start: int, end: int) -> Iterator[str]:
    """The expression with another value in one comparison between ``start`` and ``end``, a few, the nearest first.

    ``seen``: the values that the comparison refuses, with the number of devices that have each.
    """
    tree = parsed(expression)
    if tree is None or (len(seen) >= _NAMES and max(seen.values()) == 1):
        return
    calls = [node for node, _ in walk(tree.root, tree.macros) if isinstance(node, Call) and start <= node.pos < end]
    one = next((_one_of(tree, node) for node in calls if node.function == "_||_"), None)
    if one is not None:
        read, literal = one
        for text in _nearest(literal, seen, version=False):
            yield f"{expression[:start]}{node_source(read, tree.macros)} == {text}{expression[end:]}"
        return
    for node in calls:
        yield from _instead(tree, node, seen)


def _one_of(tree: Parsed, node: Node) -> tuple[Node, Literal] | None:
    """What ``a == "x" || a == "y"`` reads, and the first value; None where it says anything else."""
    found = [_equality(tree, each) for each in _operands(node)]
    known = [each for each in found if each is not None]
    if len(known) < len(found) or len({node_source(read, tree.macros) for read, _ in known}) > 1:
        return None
    return known[0]


def _operands(node: Node) -> Iterator[Node]:
    if isinstance(node, Call) and node.function == "_||_":
        for each in node.args:
            yield from _operands(each)
    else:
        yield node


def _equality(tree: Parsed, node: Node) -> tuple[Node, Literal] | None:
    if isinstance(node, Call) and node.function == "_==_":
        for read, value in (node.args, node.args[::-1]):
            if _reads(read, tree) and isinstance(value, Literal):
                return read, value
    return None


def or_equal(texts: Iterable[str], start: int, end: int) -> Iterator[str]:
    """Each text, and after it the same with its bound itself, where a comparison in ``[start:end]`` is strict.

    More than 64Gi is not met by the largest amount that was seen, of which at least so much is.
    """
    for text in texts:
        yield text
        tree = parsed(text)
        calls = [node for node, _ in walk(tree.root, tree.macros) if isinstance(node, Call)] if tree else []
        changed = [_include(node) for node in calls if start <= node.pos < end]
        if tree and any(changed):
            yield to_source(tree)


def _include(node: Call) -> bool:
    """Whether a strict comparison was changed so that it includes what it compares with."""
    if node.function in _STRICT_TESTS and node.target is not None:
        compare = Call(node.pos, "compareTo", node.target, node.args)
        node.function, node.target = _STRICT_TESTS[node.function], None
        node.args = [compare, Literal(node.pos, "int", 0)]
        return True
    strict = node.function in _STRICT
    node.function = _STRICT.get(node.function, node.function)
    return strict


def compared(expression: str) -> Mention | None:
    """The attribute that a condition reads; None where it reads several, or none."""
    tree = parsed(expression)
    found = {path_of(each): each for each in located(tree).values()} if tree is not None else {}
    only = next(iter(found.values())) if len(found) == 1 else None
    return only if only is not None and only.name is not None and only.field == "attributes" else None


def path_of(mention: Mention) -> tuple[str, str, str]:
    """Attributes or capacity, the domain and the name that are read; empty where they are not written out."""
    return mention.field, mention.domain.text, mention.name.text if mention.name is not None else ""


def _instead(tree: Parsed, node: Call, seen: Mapping[str, int]) -> Iterator[str]:
    if node.function == "_==_":
        for one, other in (node.args, node.args[::-1]):
            if _reads(one, tree):
                yield from _replaced(tree, other, seen)
    elif node.function == "@in" and _reads(node.args[0], tree) and isinstance(node.args[1], ListLit):
        yield from _of_list(tree, node.args[1], seen)
    elif node.function in _ORDERS and node.target is not None and _reads(node.target, tree):
        yield from _replaced(tree, node.args[0], seen)


def _reads(node: Node, tree: Parsed) -> bool:
    places = located(tree)
    return any(id(each) in places for each, _ in walk(node, tree.macros))


def _replaced(tree: Parsed, node: Node, seen: Mapping[str, int]) -> Iterator[str]:
    """The expression with other values in place of a literal, or of the text of ``semver("…")``."""
    version = isinstance(node, Call) and node.function == "semver" and len(node.args) == 1
    literal = node.args[0] if version and isinstance(node, Call) else node
    if not isinstance(literal, Literal):
        return
    token = next((each for each in tokenize(tree.source)[0] if each.pos == literal.pos), None)
    if token is None:
        return
    for text in _nearest(literal, seen, version=version):
        yield tree.source[: token.pos] + text + tree.source[token.pos + len(token.text) :]


def _of_list(tree: Parsed, node: ListLit, seen: Mapping[str, int]) -> Iterator[str]:
    """``in ["a", "b"]`` with a list of one value."""
    first = next((each for each in node.elements if isinstance(each, Literal)), None)
    closing = next((each for each in tokenize(tree.source)[0] if each.pos > node.pos and each.text == "]"), None)
    if first is None or closing is None:
        return
    for text in _nearest(first, seen, version=False):
        yield f"{tree.source[: node.pos]}[{text}]{tree.source[closing.pos + 1 :]}"


def _nearest(literal: Literal, seen: Mapping[str, int], *, version: bool) -> Iterable[str]:
    """What could stand there, as CEL writes it."""
    wanted = literal.value
    if isinstance(wanted, bool):
        return [each for each in ("true", "false") if each in seen and each != str(wanted).lower()]
    if not isinstance(wanted, str):
        return []  # numbers have an order of their own, see ``near_amounts``
    known = [each for each in seen if each and each != wanted and (not version or _version(each) is not None)]
    return [string_source(each) for each in sorted(known, key=lambda each: (_distance(wanted, each), each))[:_MOST]]


def _distance(wanted: str, other: str) -> tuple[float, bool, float]:
    """Orders values: by likeness, then what has at least as much of all before what has less, by how much."""
    mine, theirs = _version(wanted), _version(other)
    if mine is not None and theirs is not None:
        return _between(mine, theirs), mine.cmp(theirs) > 0, 0
    alike = SequenceMatcher(None, _NUMBER.sub("0", wanted), _NUMBER.sub("0", other)).ratio()
    one, two = ([float(each) for each in _NUMBER.findall(text)] for text in (wanted, other))
    if len(one) != len(two):
        return 1 - alike, True, 0
    less = any(a > b for a, b in zip(one, two, strict=True))
    return 1 - alike, less, sum(abs(a - b) for a, b in zip(one, two, strict=True))


def _between(one: Semver, other: Semver) -> float:
    parts = zip((one.major, one.minor, one.patch), (other.major, other.minor, other.patch), (1e8, 1e4, 1), strict=True)
    return sum(abs(a - b) * weight for a, b, weight in parts)


def _version(text: str) -> Semver | None:
    try:
        return Semver.parse(text)
    except SemverError:
        return None


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
        for value in islice(sorted(found, key=lambda each: _rank(each, wanted, mention)), _MOST_PARTS):
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
