"""Estimated cost and result size of single calls: Kubernetes' table by function name, cel-go's by overload."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from kubectl_dra.cel.check.types import Type
from kubectl_dra.cel.cost.sizes import MAX, ONE, UNKNOWN, Path, Size, add, fixed, multiply, scaled, size_at
from kubectl_dra.cel.syntax.ast import Literal, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STRING_FACTOR: Final = 0.1
REGEX_FACTOR: Final = 0.25
LIST_COST: Final = 10
_ALLOCATION: Final = LIST_COST + 1
# An address has 4 or 16 bytes: comparing two, then masking one as well.
_CONTAINS_IP: Final = scaled(32, STRING_FACTOR)
_CONTAINS_CIDR: Final = _CONTAINS_IP + scaled(16, STRING_FACTOR) + 1


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument or target: ``size`` is None if nothing is known of it."""

    node: Node
    type: Type
    size: Size | None
    path: Path | None

    @property
    def known(self) -> Size:
        """The size, or the widest range."""
        return self.size or UNKNOWN


class Estimate(NamedTuple):
    """The cost of a call without that of its operands, and the size of its result if the function determines it."""

    cost: int
    size: Size | None = None


# Target (None for global calls) and arguments -> estimate, None if the rule does not apply.
_Rule: TypeAlias = "Callable[[Operand | None, list[Operand]], Estimate | None]"


def call_estimate(function: str, overload: str, target: Operand | None, args: list[Operand]) -> Estimate:
    """The estimate of one overload of a call."""
    for table, key in ((_FIRST_BY_OVERLOAD, overload), (_BY_FUNCTION, function), (_BY_OVERLOAD, overload)):
        rule = table.get(key)
        estimate = rule(target, args) if rule else None
        if estimate is not None:
            return estimate
    return Estimate(1)


def _first(target: Operand | None, args: list[Operand]) -> Operand | None:
    return target or (args[0] if args else None)


def _constant(cost: int) -> _Rule:
    return lambda _target, _args: Estimate(cost)


def _plus_argument(cost: int) -> _Rule:
    """A base cost and that of parsing the argument."""
    return lambda _target, args: Estimate(add(cost, scaled(args[0].known.max, STRING_FACTOR)))


# What depends on the overload (before everything else)


def _allocating(factor: float, size: Size) -> Estimate:
    return Estimate(add(scaled(size.max, factor), _ALLOCATION), size)


def _literal_or(operand: Operand, default: int) -> int:
    node = operand.node
    if isinstance(node, Literal) and node.kind == "int":
        return max(0, int(node.value or 0))
    return default


def _slice(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    start = _literal_or(args[0], 0)
    end = _literal_or(args[1], target.known.max)
    return _allocating(1, fixed((end - start) & MAX))


def _range(_: Operand | None, args: list[Operand]) -> Estimate:
    return _allocating(1, fixed(_literal_or(args[0], MAX)))


def _reverse(target: Operand | None, _: list[Operand]) -> Estimate | None:
    return _allocating(1, target.known) if target else None


def _flatten(target: Operand | None, args: list[Operand]) -> Estimate | None:
    depth = _literal_or(args[0], MAX) if args else 1
    return _allocating(float(depth), target.known) if target else None


def _pairwise(factor: float) -> _Rule:
    def rule(target: Operand | None, args: list[Operand]) -> Estimate | None:
        ordering = args[0] if args else target
        return _allocating(factor, ordering.known.times(ordering.known)) if ordering else None

    return rule


def _sets(factor: float) -> _Rule:
    def rule(_: Operand | None, args: list[Operand]) -> Estimate:
        return Estimate(add(scaled(args[0].known.times(args[1].known).max, factor), 1))

    return rule


_SORTED: Final = {
    **dict.fromkeys(("int", "uint", "double", "bool"), 2.0),
    **dict.fromkeys(("google.protobuf.Duration", "google.protobuf.Timestamp"), 2.0),
    **dict.fromkeys(("string", "bytes"), 2 + STRING_FACTOR),
}
_FIRST_BY_OVERLOAD: Final[Mapping[str, _Rule]] = {
    "list_slice": _slice,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": _pairwise(2.0),
    **{f"list_{name}_sort": _pairwise(factor) for name, factor in _SORTED.items()},
    **{f"list_{name}_sortByAssociatedKeys": _pairwise(factor) for name, factor in _SORTED.items()},
    "list_sets_contains_list": _sets(1.0),
    "list_sets_intersects_list": _sets(1.0),
    "list_sets_equivalent_list": _sets(2.0),
    "cidr_ip": _constant(1),
    "cidr_contains_ip_string": _plus_argument(_CONTAINS_IP),
    "cidr_contains_cidr_string": _plus_argument(_CONTAINS_CIDR),
}

# Kubernetes' functions (by name)


def _traversal(factor: float, sized: bool = False) -> _Rule:
    """Proportional to the target or first argument, whose size the result may have."""

    def rule(target: Operand | None, args: list[Operand]) -> Estimate | None:
        operand = _first(target, args)
        if operand is None:
            return None
        return Estimate(scaled(operand.known.max, factor), operand.known if sized else None)

    return rule


def _parse_argument(factor: float) -> _Rule:
    """Proportional to the first argument, which is parsed."""
    return lambda _target, args: Estimate(scaled(args[0].known.max, factor)) if args else None


def _elements(target: Operand) -> tuple[Type, Size] | None:
    """Type and size of what a list holds; of other types with parameters, the first of these."""
    if not target.type.params:
        return None
    size = size_at(target.path.items()) if target.path else None
    return target.type.params[0], size or UNKNOWN


def _search_list(dynamic_factor: float) -> _Rule:
    def rule(target: Operand | None, _: list[Operand]) -> Estimate | None:
        if target is None:
            return None
        elements = _elements(target)
        if elements is None:
            return Estimate(scaled(target.known.max, dynamic_factor))
        declared, size = elements
        text = declared.kind in ("string", "bytes")
        each = add(1, scaled(size.max, STRING_FACTOR)) if text else 1
        return Estimate(multiply(target.known.max, each))

    return rule


def _replace(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = target.known, args[0].known, args[1].known
    most, kept_most = _replacements(size.max, old.min, new.max <= old.min)
    fewest, kept_fewest = _replacements(size.min, old.max, old.max <= new.min)
    result = Size(fewest, most).times(new).plus(Size(kept_fewest, kept_most))
    return Estimate(scaled(size.max, 2 * STRING_FACTOR), result)


def _replacements(size: int, old: int, pointless: bool) -> tuple[int, int]:
    """How often a text of ``size`` is replaced for the extreme result, and how much of it remains besides."""
    if old == 0:
        return add(size, 1), size
    return (0, size) if pointless else (math.ceil(float(size) / float(old)), 0)


def _split(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    parts = target.known.max
    if len(args) > 1 and isinstance(args[1].node, Literal) and args[1].node.kind == "int":
        parts = int(args[1].node.value or 0) & MAX
    return Estimate(scaled(target.known.max, 2 * STRING_FACTOR), Size(0, parts))


def _join(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    count = target.known
    elements = _elements(target)
    size = count.times(elements[1]) if elements else fixed(0)
    if args:
        separators = Size(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(args[0].known.times(separators))
    return Estimate(scaled(size.max, STRING_FACTOR), size)


def _search(text: Size, pattern: Size) -> int:
    visits = scaled(text.plus(ONE).max, STRING_FACTOR)
    return multiply(visits, scaled(pattern.max, REGEX_FACTOR))


def _find(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or not args:
        return None
    return Estimate(_search(target.known, args[0].known), Size(0, target.known.max))


def _validate(_: Operand | None, args: list[Operand]) -> Estimate | None:
    # Kubernetes assumes regular expressions of 128 characters for named formats.
    return Estimate(scaled(scaled(args[0].known.max, STRING_FACTOR), 128 * REGEX_FACTOR)) if args else None


def _selector(_: Operand | None, args: list[Operand]) -> Estimate | None:
    """Parsing a field or label selector: a list, and for every second character a requirement."""
    if len(args) != 1:
        return None
    length = args[0].known.max
    requirements = scaled(scaled(length, 0.5), 50)
    return Estimate(add(add(LIST_COST, scaled(length, STRING_FACTOR)), requirements))


_SAME_COST: Final = frozenset(
    [
        *("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"),
        *(f"kubernetes.authorization.{name}" for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck")),
        "kubernetes.authorization.Decision",
    ]
)


def _equality(_: Operand | None, args: list[Operand]) -> Estimate | None:
    name = args[0].type.name
    if not name or name != args[1].type.name:
        return None
    if name in _SAME_COST:
        return Estimate(1)
    if name == "kubernetes.NamedFormat":
        return Estimate(scaled(64, STRING_FACTOR))
    if name == "kubernetes.URL":
        return Estimate(scaled((args[1].size or ONE).max, STRING_FACTOR))
    return None


_PARSERS: Final = ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver", "ip")

_BY_FUNCTION: Final[Mapping[str, _Rule]] = {
    **dict.fromkeys(_PARSERS, _parse_argument(STRING_FACTOR)),
    "check": _constant(350_000),
    "fieldSelector": _selector,
    "labelSelector": _selector,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _search_list(STRING_FACTOR)),
    "includes": _search_list(1),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _traversal(STRING_FACTOR, sized=True)),
    "replace": _replace,
    "split": _split,
    "join": _join,
    "find": _find,
    "findAll": _find,
    "ip.isCanonical": _parse_argument(2 * STRING_FACTOR),
    "containsIP": _constant(_CONTAINS_IP),
    "containsCIDR": _constant(_CONTAINS_CIDR),
    "validate": _validate,
    "_==_": _equality,
}

# cel-go's own (by overload)


def _in_list(_: Operand | None, args: list[Operand]) -> Estimate:
    return Estimate(args[1].known.max)


def _matches(target: Operand | None, args: list[Operand]) -> Estimate:
    text, pattern = (target, args[0]) if target else (args[0], args[1])
    return Estimate(_search(text.known, pattern.known))


def _contains(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    part = scaled(args[0].known.max, STRING_FACTOR)
    return Estimate(multiply(scaled(target.known.max, STRING_FACTOR), part))


def _string_to_bytes(_: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].known
    return Estimate(scaled(size.max, STRING_FACTOR), Size(size.min, size.max * 4 & MAX))


def _bytes_to_string(_: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].known
    return Estimate(scaled(size.max, STRING_FACTOR), Size(size.min // 4, size.max))


def _quote(_: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].known
    return Estimate(scaled(size.max, STRING_FACTOR), Size(size.min + 2 & MAX, size.max * 2 + 2 & MAX))


def _concatenate(_: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].known.plus(args[1].known)
    return Estimate(scaled(size.max, STRING_FACTOR), size)


def _append(_: Operand | None, args: list[Operand]) -> Estimate:
    return Estimate(1, args[0].known.plus(args[1].known))


def _shorter(_: Operand | None, args: list[Operand]) -> Estimate:
    return Estimate(scaled(min(args[0].known.max, args[1].known.max), STRING_FACTOR))


_COMPARED: Final = tuple(
    f"{order}_{kind}" for order in ("less", "less_equals", "greater", "greater_equals") for kind in ("string", "bytes")
)
_BY_OVERLOAD: Final[Mapping[str, _Rule]] = {
    **dict.fromkeys(("starts_with_string", "ends_with_string"), _parse_argument(STRING_FACTOR)),
    "in_list": _in_list,
    **dict.fromkeys(("matches", "matches_string"), _matches),
    "contains_string": _contains,
    **dict.fromkeys(("add_string", "add_bytes"), _concatenate),
    "add_list": _append,
    **dict.fromkeys((*_COMPARED, "equals", "not_equals"), _shorter),
    "string_format": _traversal(STRING_FACTOR),
    "string_to_bytes": _string_to_bytes,
    "bytes_to_string": _bytes_to_string,
    "strings_quote": _quote,
}
