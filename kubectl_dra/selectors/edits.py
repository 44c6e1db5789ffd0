"""Corrections of typical mistakes as edits of an expression; whether one helps is tried by ``rewrite``.

An edit gives the new text, or None if there is nothing for it to do. Small ones change the text in place, those that
change how operands are compared print the tree anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.read.mentions import Mention, located, mentions
from kubectl_dra.cel.syntax.ast import Call, Ident, Literal, Node, Parsed
from kubectl_dra.cel.syntax.lexer import tokenize
from kubectl_dra.cel.syntax.parser import parse
from kubectl_dra.cel.syntax.printer import string_source, to_source
from kubectl_dra.cel.syntax.traverse import walk
from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.model.semver import Semver, SemverError
from kubectl_dra.selectors.catalog import Catalog
from kubectl_dra.selectors.compiling import Problem, near_names
from kubectl_dra.selectors.units import likely_unit, near_quantity, unreadable_amounts
from kubectl_dra.selectors.values import type_of, type_text, value_source

Edit = Callable[[str, Catalog], str | None]
_WORDS: Final = {"and": "&&", "or": "||", "not": "!"}
_ORDER: Final = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_EQUAL: Final = frozenset({"_==_", "_!=_"})
_TESTS: Final = frozenset({"compareTo", "isGreaterThan", "isLessThan"})
#: Types of which values are made by functions of the same name, and what reads their texts.
_MADE: Final[Mapping[str, Callable[[str], object]]] = {"quantity": Quantity.parse, "semver": Semver.parse}
# The shape of attributes and capacities in manifests is not that of their values here.
_TYPES: Final = ("string", "int", "bool", "version", "value", "stringValue", "intValue", "boolValue")
_INNER: Final = re.compile(rf"\s*\.\s*(?:{'|'.join(_TYPES)})\b(?!\s*\()")
#: A name right behind ``device``, but for what a device has.
_OF_DEVICE: Final = re.compile(r"device\s*\.\s*(?!(?:driver|attributes|capacity)\b)([A-Za-z_][A-Za-z0-9_]*)\b(?!\s*\()")
#: An amount without a unit.
BARE: Final = re.compile(r"[0-9]{1,9}")
_NUMBERS: Final = frozenset({"NUM_INT", "NUM_FLOAT"})
_VERSION: Final = re.compile(r"\s*[vV]?([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:\.([0-9]{1,9}))?\s*")
IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parsed(expression: str) -> Parsed | None:
    """The tree, None if there is none."""
    try:
        return parse(expression)
    except CompileError:
        return None


# --- text -----------------------------------------------------------------------------------------------------------


def unparsed_operators(expression: str, _catalog: Catalog) -> str | None:
    """``and``, ``or``, ``not``, ``=``, ``&``, ``|`` as CEL writes them, where the text can't be parsed otherwise."""
    if parsed(expression) is not None:
        return None
    tokens, skipped = tokenize(expression)
    edits = [(t.pos, t.pos + len(t.text), _WORDS[t.text.lower()]) for t in tokens if t.text.lower() in _WORDS]
    edits += [(s.pos, s.pos + 1, s.text[0] * 2) for s in skipped if s.text[0] in "=&|"]
    return replaced(expression, edits)


def replaced(text: str, edits: list[tuple[int, int, str]]) -> str | None:
    """``text`` with ``[start:end]`` replaced each; None without any edit."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text if edits else None


def near_name(expression: str, problem: Problem) -> str | None:
    """The offending name replaced by the nearest that exists."""
    place = problem.offset
    if not problem.near or place is None:
        return None
    tokens = [token for token in tokenize(expression)[0] if token.text == problem.name.rpartition(".")[2]]
    if not tokens:
        return None
    token = min(tokens, key=lambda token: abs(token.pos - place))
    return replaced(expression, [(token.pos, token.pos + len(token.text), problem.near[0])])


def inner_fields(expression: str, _catalog: Catalog) -> str | None:
    """``.model.string`` is ``.model``."""
    tree = parsed(expression)
    found = ((m, _INNER.match(expression, m.end)) for m in (mentions(tree) if tree else ()) if m.name is not None)
    return replaced(expression, [(mention.end, match.end(), "") for mention, match in found if match is not None])


def loose_amounts(expression: str, _catalog: Catalog) -> str | None:
    """``40Gi``, a number and a unit, as ``quantity("40Gi")``."""
    tokens, edits = tokenize(expression)[0], []
    for number, unit in pairwise(tokens):
        text = number.text + unit.text
        meant = near_quantity(text) or text
        if number.kind in _NUMBERS and unit.kind == "IDENTIFIER" and _is_made("quantity", meant):
            edits.append((number.pos, unit.pos + len(unit.text), f"quantity({string_source(meant)})"))
    return replaced(expression, edits)


def joined_names(expression: str, catalog: Catalog) -> str | None:
    """``gpu.example.com/model``, as constraints and manifests name an attribute, with its whole path."""
    texts = [(token.pos, token.pos + len(token.text)) for token in tokenize(expression)[0] if token.kind == "STRING"]
    found = []
    for field, domain, name in catalog.counts:
        places = re.finditer(rf"(?<![\w./]){re.escape(f'{domain}/{name}')}(?![\w./])", expression)
        outside = (place for place in places if not any(start <= place.start() < end for start, end in texts))
        found += [(*place.span(), path(field, domain, name)) for place in outside]
    return replaced(expression, found)


def bare_values(expression: str, catalog: Catalog) -> str | None:
    """``model == H100`` with the value in quotes, beside an attribute that is a text."""
    tree = parsed(expression)
    found = []
    places = located(tree) if tree else {}
    for node, _ in walk(tree.root, tree.macros) if tree else ():
        if not (isinstance(node, Call) and node.function in _EQUAL):
            continue
        for one, other in (node.args, node.args[::-1]):
            mention = places.get(id(one))
            if mention is None or mention.name is None or not isinstance(other, Ident):
                continue
            sample = catalog.samples.get((mention.field, mention.domain.text, mention.name.text))
            if type_text(type_of(sample)) == "string" and expression.startswith(other.name, other.pos):
                found.append((other.pos, other.pos + len(other.name), string_source(other.name)))
    return replaced(expression, found)


def versions(expression: str, _catalog: Catalog) -> str | None:
    """``semver("550")`` with all three numbers."""
    found = []
    for maker, bracket, token in zip(tokens := tokenize(expression)[0], tokens[1:], tokens[2:], strict=False):
        if (maker.text, bracket.text, token.kind) == ("semver", "(", "STRING"):
            meant = near_version(token.text[1:-1])
            found += [(token.pos, token.pos + len(token.text), string_source(meant))] if meant else []
    return replaced(expression, found)


def bare_names(expression: str, catalog: Catalog) -> str | None:
    """``model == "H100"`` with the whole path of ``model``, where devices publish such a name; ``device.model`` too."""
    tree = parsed(expression)
    found = []
    for node, _ in walk(tree.root, tree.macros) if tree else ():
        if isinstance(node, Ident) and not node.absolute and expression.startswith(node.name, node.pos):
            match = _OF_DEVICE.match(expression, node.pos)
            name, end = (match[1], match.end()) if match else (node.name, node.pos + len(node.name))
            place = next(_most_published(name, catalog), None)
            found += [] if place is None else [(node.pos, end, path(*place))]
    return replaced(expression, found)


def _most_published(name: str, catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    """Where a name exists, in the domain that most devices have first."""
    places = (
        (field, domain, name) for field in ("attributes", "capacity") for domain in catalog.domains_with(field, name)
    )
    return iter(sorted(places, key=lambda place: (-catalog.counts[place], place)))


def booleans(expression: str, catalog: Catalog) -> str | None:
    """A value alone compared with one that devices have: a selector must be true or false."""
    tree = parsed(expression)
    mention = located(tree).get(id(tree.root)) if tree else None
    if mention is None or mention.name is None:
        return None
    attribute = catalog.samples.get((mention.field, mention.domain.text, mention.name.text))
    if attribute is None or attribute.bool_value is not None:
        return None
    literal = value_source(attribute)
    return f"{expression.strip()} == {literal}" if literal else None


def domains(expression: str, catalog: Catalog) -> str | None:
    """A domain that is missing, misspelled, or written together with the name."""
    tree = parsed(expression)
    edits = []
    for mention in mentions(tree) if tree else ():
        if mention.domain.text not in catalog.domains:
            new = _with_domain(expression, mention, catalog)
            edits += [new] if new is not None else []
    return replaced(expression, edits)


def _with_domain(expression: str, mention: Mention, catalog: Catalog) -> tuple[int, int, str] | None:
    domain, _, rest = mention.domain.text.partition("/")
    base = expression[mention.start : expression.rindex(mention.field, mention.start, mention.domain.start)]
    if mention.name is None or mention.name.text in _TYPES:
        field, of, name = mention.field, domain, rest
        if not rest:
            field, of, name = next(_placed(mention.domain.text, mention.field, catalog), ("", "", ""))
        if catalog.counts[field, of, name]:
            return mention.start, mention.end, f"{base}{field}[{string_source(of)}]{selection(name)}"
    if mention.name is None:
        return None
    near = near_names(mention.domain.text, catalog.domains)
    published = next(_most_published(mention.name.text, catalog), None)
    of = near[0] if near else published[1] if published is not None and published[0] == mention.field else ""
    return (mention.domain.start, mention.domain.end, string_source(of)) if of else None


def _placed(name: str, field: str, catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    """Where a name exists: in the field that was meant first."""
    for kind in (field, "capacity" if field == "attributes" else "attributes"):
        for domain in catalog.domains_with(kind, name):
            yield kind, domain, name


def path(field: str, domain: str, name: str) -> str:
    """``device.FIELD["DOMAIN"].NAME``."""
    return f"device.{field}[{string_source(domain)}]{selection(name)}"


def selection(name: str) -> str:
    """``.name``, or an index where it is no identifier."""
    return f".{name}" if IDENTIFIER.fullmatch(name) else f"[{string_source(name)}]"


def names(expression: str, catalog: Catalog) -> str | None:
    """A name that nothing in its domain has: the nearest one, or the same as a capacity or attribute."""
    tree = parsed(expression)
    edits = []
    for mention in mentions(tree) if tree else ():
        if mention.name is None or catalog.counts[mention.field, mention.domain.text, mention.name.text]:
            continue
        other = "capacity" if mention.field == "attributes" else "attributes"
        domain, slash, name = mention.name.text.partition("/")
        if slash and catalog.counts[mention.field, domain, name]:
            edits.append((mention.domain.start, mention.domain.end, string_source(domain)))
            edits.append((mention.at, mention.end, selection(name)))
            continue
        near = near_names(mention.name.text, catalog.names(mention.field, mention.domain.text))
        if catalog.counts[other, mention.domain.text, mention.name.text]:
            at = expression.rindex(mention.field, mention.start, mention.domain.start)
            edits.append((at, at + len(mention.field), other))
        elif near:
            new = string_source(near[0]) if expression[mention.name.start] in "\"'" else near[0]
            edits.append((mention.name.start, mention.name.end, new))
    return replaced(expression, edits)


def units(expression: str, _catalog: Catalog) -> str | None:
    """``quantity("80GB")`` with a unit that Kubernetes has."""
    found = unreadable_amounts(expression)
    return replaced(expression, [(start, end, string_source(meant)) for start, end, _, meant in found if meant])


class Amount(NamedTuple):
    """``text`` in ``quantity(…)``, which the capacity ``name`` is compared with, and where its literal is written."""

    domain: str
    name: str
    text: str
    start: int
    end: int


def compared_amounts(expression: str) -> Iterator[Amount]:
    """Each amount beside a capacity, on either side of a comparison."""
    tree = parsed(expression)
    places = located(tree) if tree is not None else {}
    ends = {token.pos: token.pos + len(token.text) for token in tokenize(expression)[0]}
    for node, _ in walk(tree.root, tree.macros) if tree is not None else ():
        sides = [*([node.target] if node.target is not None else []), *node.args] if isinstance(node, Call) else []
        for one, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            place = places.get(id(one))
            made = other.args if isinstance(other, Call) and other.function == "quantity" else []
            text = made[0].value if len(made) == 1 and isinstance(made[0], Literal) else None
            if isinstance(text, str) and place is not None and place.field == "capacity" and place.name is not None:
                at = made[0].pos
                yield Amount(place.domain.text, place.name.text, text, at, ends[at])


def amounts(expression: str, catalog: Catalog) -> str | None:
    """``quantity("80")`` beside a capacity of about 80Gi, in the unit that devices publish."""
    found = []
    for each in compared_amounts(expression):
        size = catalog.sizes.get(("capacity", each.domain, each.name))
        unit = likely_unit(int(each.text), size) if size is not None and BARE.fullmatch(each.text) else ""
        found += [(each.start, each.end, string_source(each.text + unit))] if unit else []
    return replaced(expression, found)


# --- comparisons ----------------------------------------------------------------------------------------------------


def comparisons(expression: str, catalog: Catalog) -> str | None:
    """Quantities and versions compared as such, literals of the type that the attribute has."""
    tree = parsed(expression)
    if tree is None:
        return None
    editor = _Comparisons(tree, catalog)
    return to_source(tree) if editor.edit() else None


class _Comparisons:
    def __init__(self, tree: Parsed, catalog: Catalog) -> None:
        self.tree = tree
        self.catalog = catalog
        self.mentions = located(tree)

    def edit(self) -> bool:
        """Whether anything was changed in the tree."""
        calls = [node for node, _ in walk(self.tree.root, self.tree.macros) if isinstance(node, Call)]
        changed = [self.call(node) for node in calls]
        return any(changed)

    def call(self, node: Call) -> bool:
        if node.function in _TESTS and node.target is not None and len(node.args) == 1:
            node.args[0], changed = self.alike(node.args[0], self.kind(node.target))
            return changed
        if node.function not in _ORDER and node.function not in _EQUAL:
            return False
        left, right = node.args
        if node.function in _ORDER and "string" in (self.kind(left), self.kind(right)):
            return False  # an amount as a text has no order that anybody means
        node.args[1], changed = self.alike(right, self.kind(left))
        if not changed:
            node.args[0], changed = self.alike(left, self.kind(right))
        return self.ordered(node) or changed

    def kind(self, node: Node) -> str:
        """``quantity``, ``semver``, ``string``, ``int``, ``bool`` or another type, as far as the devices tell."""
        if isinstance(node, Call) and node.function in _MADE:
            return node.function
        mention = self.mentions.get(id(node))
        if mention is None or mention.name is None:
            return ""
        if mention.field == "capacity":
            return "quantity"
        return type_text(type_of(self.catalog.samples.get((mention.field, mention.domain.text, mention.name.text))))

    @staticmethod
    def alike(node: Node, kind: str) -> tuple[Node, bool]:
        """A literal as something of this kind, and whether it had to be changed."""
        if not isinstance(node, Literal):
            return node, False
        new = _converted(node, kind)
        return (node, False) if new is None else (new, True)

    def ordered(self, node: Call) -> bool:
        """Quantities and versions have methods instead of operators."""
        left, right = node.args
        kind = self.kind(left)
        if node.function not in _ORDER or kind not in _MADE or self.kind(right) != kind:
            return False
        sign = _ORDER[node.function]
        if sign in "<>":
            node.function, node.target, node.args = ("isLessThan" if sign == "<" else "isGreaterThan"), left, [right]
        else:
            node.args = [Call(node.pos, "compareTo", left, [right]), Literal(node.pos, "int", 0)]
        return True


def near_version(text: str) -> str:
    """The semantic version that ``550.54`` or ``v550`` was meant to be; empty where it is one, or nothing is near."""
    found = None if _is_made("semver", text) else _VERSION.fullmatch(text)
    return ".".join(str(int(part or 0)) for part in found.groups()) if found else ""


_NEAR: Final[Mapping[str, Callable[[str], str]]] = {"quantity": near_quantity, "semver": near_version}


def _is_made(kind: str, text: str) -> bool:
    try:
        _MADE[kind](text)
    except (QuantityError, SemverError):
        return False
    return True


def _converted(node: Literal, kind: str) -> Node | None:
    value = node.value
    text = value if isinstance(value, str) else None
    if text is not None and kind in _NEAR:
        value = _NEAR[kind](text) or text
    if kind in _MADE and (text is not None or (kind == "quantity" and node.kind == "int")):
        if not _is_made(kind, str(value)):
            return None
        return Call(node.pos, kind, None, [Literal(node.pos, "string", str(value))])
    if kind == "int" and text is not None and re.fullmatch(r"-?[0-9]{1,18}", text):
        return Literal(node.pos, "int", int(text))
    if kind == "bool" and text in ("true", "false"):
        return Literal(node.pos, "bool", text == "true")
    if kind == "string" and node.kind in ("int", "bool"):
        return Literal(node.pos, "string", str(value).lower())
    return None
