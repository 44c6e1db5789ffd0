"""What selectors want of devices, where that is one comparison: ``model`` equal to ``"H100"``, memory of 80Gi or more.

Read from the tree, so that brackets, spaces, swapped sides, ``!`` and tests of whether the attribute is there make no
difference.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final

import msgspec

from kubectl_dra.cel.read.mentions import FIELDS, located
from kubectl_dra.cel.syntax.ast import Call, Ident, ListLit, Literal, Node, Parsed, Select, operands
from kubectl_dra.cel.syntax.traverse import walk
from kubectl_dra.selectors.edits import parsed, replaced
from kubectl_dra.selectors.seen_values import path_of

#: What ``compareTo`` may return.
_ALL_SIGNS: Final = frozenset({-1, 0, 1})
_EQUAL: Final = frozenset({0})
_OPERATORS: Final[Mapping[frozenset[int], str]] = {
    _EQUAL: "==",
    frozenset({1}): ">",
    frozenset({0, 1}): ">=",
    frozenset({-1}): "<",
    frozenset({-1, 0}): "<=",
}
_TESTS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "_==_": operator.eq,
    "_!=_": operator.ne,
    "_>_": operator.gt,
    "_>=_": operator.ge,
    "_<_": operator.lt,
    "_<=_": operator.le,
}
_STRICT: Final = {"isGreaterThan": frozenset({1}), "isLessThan": frozenset({-1})}
_AMOUNTS: Final = ("quantity", "semver")


class Comparison(msgspec.Struct, frozen=True):
    """``device.FIELD[DOMAIN].NAME`` compared with ``value``; ``kind`` of the value: string, quantity or semver.

    ``signs``: those of a three-way comparison of the two that are accepted.
    """

    field: str
    domain: str
    name: str
    kind: str
    value: str
    signs: frozenset[int]

    @property
    def operator(self) -> str:
        """``==``, ``>``, ``>=``, ``<``, ``<=``."""
        return _OPERATORS[self.signs]


@lru_cache(maxsize=1024)
def only_comparison(selectors: tuple[str, ...]) -> Comparison | None:
    """The only thing that the selectors want together; None where they want several, or something else."""
    found: set[Comparison | None] = set()
    guards: set[tuple[str, ...]] = set()
    for selector in selectors:
        tree = parsed(selector)
        if tree is None:
            return None
        reader = _Reader(tree)
        for condition in _conditions(tree.root):
            guard = reader.guard(condition)
            if guard is None:
                found.add(reader.comparison(condition))
            else:
                guards.add(guard)
    only = next(iter(found)) if len(found) == 1 else None
    if only is None or only.signs not in _OPERATORS:
        return None
    path = (only.field, only.domain, only.name)
    return only if all(path[: len(guard)] == guard for guard in guards) else None


@lru_cache(maxsize=4096)
def compared_name(expression: str) -> str:
    """The name of the only attribute that an expression reads, where an operator compares its value as it is.

    Empty for functions of the value (``model.startsWith("H")``): the value alone then says nothing.
    """
    tree = parsed(expression)
    places = located(tree) if tree is not None else {}
    if tree is None or len({path_of(each) for each in places.values()}) != 1:
        return ""
    calls = (node for node, _ in walk(tree.root, tree.macros) if isinstance(node, Call))
    sides = (side for call in calls if call.function in _TESTS or call.function == "@in" for side in call.args)
    found = (places.get(id(_without_default(side))) for side in sides)
    return next((each.name.text for each in found if each is not None and each.name is not None), "")


@lru_cache(maxsize=4096)
def short_clause(expression: str) -> str:
    """An expression without the device's domains, in one line: ``model == "H100"``."""
    tree = parsed(expression)
    named = [each for each in located(tree).values() if each.name is not None] if tree is not None else []
    edits = [(each.start, each.end, each.name.text) for each in named if each.name is not None]
    return " ".join((replaced(expression, edits) or expression).split())


class _Reader:
    """What the conditions of one tree compare."""

    def __init__(self, tree: Parsed) -> None:
        self._tree = tree
        self._places = located(tree)

    def guard(self, node: Node) -> tuple[str, ...] | None:
        """The field, domain and perhaps name of which a condition only demands that the device has them."""
        if isinstance(node, Select) and node.test_only:
            mention = self._places.get(id(self._tree.macros[id(node)].args[0]))
            return path_of(mention) if mention is not None and mention.name is not None else None
        if not isinstance(node, Call) or node.function != "@in" or (key := _text(node.args[0])) is None:
            return None
        whole = node.args[1]
        mention = self._places.get(id(whole))
        if mention is not None and mention.name is None:
            return mention.field, mention.domain.text, key
        of_device = isinstance(whole, Select) and isinstance(whole.operand, Ident) and whole.operand.name == "device"
        return (whole.name, key) if isinstance(whole, Select) and of_device and whole.name in FIELDS else None

    def comparison(self, node: Node) -> Comparison | None:
        """What a condition wants of one attribute or capacity."""
        if not isinstance(node, Call):
            return None
        if node.function == "!_":
            inner = self.comparison(node.args[0])
            return msgspec.structs.replace(inner, signs=_ALL_SIGNS - inner.signs) if inner is not None else None
        if node.function in _STRICT:
            return self._ordered(node, _STRICT[node.function])
        if node.function == "@in" and isinstance(node.args[1], ListLit) and len(node.args[1].elements) == 1:
            return self._equal(node.args[0], node.args[1].elements[0], _EQUAL)
        test = _TESTS.get(node.function)
        return self._tested(node, test) if test is not None else None

    def _tested(self, node: Call, test: Callable[[int, int], bool]) -> Comparison | None:
        """``a.compareTo(b) >= 0`` or ``a == b``, from both sides."""
        for swapped, (one, other) in enumerate((node.args, node.args[::-1])):
            number = other.value if isinstance(other, Literal) and other.kind == "int" else None
            if isinstance(number, int) and isinstance(one, Call) and one.function == "compareTo":
                signs = {sign for sign in _ALL_SIGNS if (test(number, sign) if swapped else test(sign, number))}
                return self._ordered(one, frozenset(signs))
            equal = _ALL_SIGNS - _EQUAL if test is operator.ne else _EQUAL if test is operator.eq else None
            found = self._equal(one, other, equal) if equal is not None else None
            if found is not None:
                return found
        return None

    def _ordered(self, call: Call, signs: frozenset[int]) -> Comparison | None:
        """``target.compareTo(argument)``, of which ``signs`` are accepted."""
        target, argument = call.target, call.args[0] if len(call.args) == 1 else None
        if target is None or argument is None:
            return None
        return self._amount(target, argument, signs) or self._amount(
            argument, target, frozenset(-each for each in signs)
        )

    def _amount(self, read: Node, value: Node, signs: frozenset[int]) -> Comparison | None:
        """``quantity("80Gi")`` or ``semver("1.2.0")`` beside what is read."""
        if not isinstance(value, Call) or value.function not in _AMOUNTS or len(value.args) != 1:
            return None
        text, place = _text(value.args[0]), self._places.get(id(read))
        if text is None or place is None or place.name is None:
            return None
        return Comparison(place.field, place.domain.text, place.name.text, value.function, text, signs)

    def _equal(self, read: Node, value: Node, signs: frozenset[int]) -> Comparison | None:
        """A text or an amount that is equal; ``.orValue("")`` makes a device without the attribute another one."""
        text = _text(value)
        if text is None:
            return self._amount(read, value, signs)
        if isinstance(read, Call) and read.function == "orValue" and _text(read.args[0]) in (None, text):
            return None
        place = self._places.get(id(_without_default(read)))
        if place is None or place.name is None:
            return None
        return Comparison(place.field, place.domain.text, place.name.text, "string", text, signs)


def _conditions(root: Node) -> Iterator[Node]:
    """All that must hold, without what is negated twice."""
    for node in operands(root, "_&&_"):
        inner = node.args[0] if isinstance(node, Call) and node.function == "!_" else None
        if isinstance(inner, Call) and inner.function == "!_":
            yield from _conditions(inner.args[0])
        else:
            yield node


def _without_default(node: Node) -> Node:
    """What ``.orValue("")`` and ``.value()`` are called on."""
    optional = isinstance(node, Call) and node.function in ("orValue", "value")
    return node.target if isinstance(node, Call) and optional and node.target is not None else node


def _text(node: Node) -> str | None:
    return node.value if isinstance(node, Literal) and isinstance(node.value, str) else None
