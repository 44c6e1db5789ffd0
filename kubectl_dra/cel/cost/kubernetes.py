"""Costs of functions that Kubernetes declares or counts itself, by name; two overloads of CIDRs by their ids.

Upstream: apiserver's ``library.CostEstimator``, which has no run-time cost for the selectors of its authorizer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import ceil
from typing import Final

from kubectl_dra.cel.check.types import Type
from kubectl_dra.cel.cost.rule import (
    LIST_COST,
    REGEX_FACTOR,
    STRING_FACTOR,
    CostRule,
    Estimate,
    EstimateRule,
    Operand,
    constant,
    content_size,
    over_operand,
    parse_argument,
    search_charge,
    search_estimate,
    size,
)
from kubectl_dra.cel.cost.sizes import MAX, ONE, UNKNOWN, Size, add, fixed, multiply, scaled, size_at
from kubectl_dra.cel.run.keys import decode_key
from kubectl_dra.cel.run.labor import charge_work
from kubectl_dra.cel.run.values import (
    CIDR,
    IP,
    LISTS,
    MAPS,
    URL,
    JoinedList,
    NamedFormat,
    QuantityValue,
    Value,
    list_size,
)
from kubectl_dra.cel.syntax.ast import Literal
from kubectl_dra.model.semver import Semver

_OWN_TYPES: Final = frozenset({QuantityValue, Semver, IP, CIDR, URL, NamedFormat})
# An address has 4 or 16 bytes: comparing two, then masking one as well.
_CONTAINS_IP: Final = scaled(32, STRING_FACTOR)
_CONTAINS_CIDR: Final = _CONTAINS_IP + scaled(16, STRING_FACTOR) + 1
# Asking the authorizer: no expression about devices can, but one may call it on what is none.
_CHECK: Final = 350_000


def _first_tenth(first: Value, *_: Value) -> int:
    return ceil(size(first) * 0.1)


def _first_fifth(first: Value, *_: Value) -> int:
    return ceil(float(size(first)) * 2 * 0.1)


# --- lists ------------------------------------------------------------------------------------------------------------


def _elements(target: Operand) -> tuple[Type, Size] | None:
    """Type and size of what a list holds; of other types with parameters, the first of these."""
    if not target.type.params:
        return None
    size = size_at(target.path.items()) if target.path else None
    return target.type.params[0], size or UNKNOWN


def _search_list(dynamic_factor: float) -> EstimateRule:
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


def _visit_first(first: Value, *_: Value) -> int:
    return traversal(first)


def traversal(value: Value) -> int:
    """The cost of visiting a value once: a tenth of the bytes of each text, 1 for each other scalar."""
    return _traversal(value, {})


def _traversal(value: Value, known: dict[int, int]) -> int:
    kind = value.__class__
    if kind is str:
        return int((len(value) if value.isascii() else len(value.encode())) * 0.1)
    if kind is bytes:
        return int(len(value) * 0.1)
    if kind not in LISTS and kind not in MAPS:
        return 1
    # Parts shared within a nested value are visited once.
    if id(value) not in known:
        total = 0
        if kind is JoinedList:
            total = _traversal(value.left, known) + _traversal(value.right, known)
        elif kind in LISTS:
            charge_work(len(value))
            for element in value:
                total += _traversal(element, known)
        else:
            charge_work(len(value))
            for key, element in value.items():
                total += _traversal(decode_key(key), known) + _traversal(element, known)
        known[id(value)] = total
    return known[id(value)]


# --- texts ------------------------------------------------------------------------------------------------------------


def _replace_estimate(target: Operand | None, args: list[Operand]) -> Estimate | None:
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


def _split_estimate(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    parts = target.known.max
    if len(args) > 1 and isinstance(args[1].node, Literal) and args[1].node.kind == "int":
        parts = int(args[1].node.value or 0) & MAX
    return Estimate(scaled(target.known.max, 2 * STRING_FACTOR), Size(0, parts))


def _join_estimate(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    count = target.known
    elements = _elements(target)
    size = count.times(elements[1]) if elements else fixed(0)
    if args:
        separators = Size(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(args[0].known.times(separators))
    return Estimate(scaled(size.max, STRING_FACTOR), size)


def join_size(elements: Value, separator: Value = "") -> int | None:
    """The length of joined texts, or None if they cannot be joined."""
    if elements.__class__ not in LISTS or separator.__class__ is not str:
        return None
    total, count = 0, list_size(elements)
    charge_work(count)
    for element in elements:
        if element.__class__ is not str:
            return None
        total += len(element)
    return total + max(count - 1, 0) * len(separator)


def _join_charge(elements: Value, separator: Value = "") -> int:
    length = join_size(elements, separator)
    return ceil(float(1 if length is None else length) * 2 * 0.1)


def _find_estimate(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or not args:
        return None
    return Estimate(search_estimate(target.known, args[0].known), Size(0, target.known.max))


def _find_charge(text: Value, pattern: Value, *_: Value) -> int:
    return search_charge(size(text), size(pattern))


def _validate_estimate(_: Operand | None, args: list[Operand]) -> Estimate | None:
    # Kubernetes assumes regular expressions of 128 characters for named formats.
    return Estimate(scaled(scaled(args[0].known.max, STRING_FACTOR), 128 * REGEX_FACTOR)) if args else None


def _validate_charge(checked: Value, text: Value) -> int:
    return search_charge(size(text), checked.regex_size) if checked.__class__ is NamedFormat else 1


def _selector_estimate(_: Operand | None, args: list[Operand]) -> Estimate | None:
    """Parsing a field or label selector: a list, and for every second character a requirement."""
    if len(args) != 1:
        return None
    length = args[0].known.max
    requirements = scaled(scaled(length, 0.5), 50)
    return Estimate(add(add(LIST_COST, scaled(length, STRING_FACTOR)), requirements))


# --- addresses --------------------------------------------------------------------------------------------------------


def _plus_argument(cost: int) -> EstimateRule:
    """A base cost and that of parsing the argument."""
    return lambda _target, args: Estimate(add(cost, scaled(args[0].known.max, STRING_FACTOR)))


def _contains_ip(cidr: Value, *_: Value) -> int:
    return ceil(2 * size(cidr) * 0.1)


def _contains_ip_text(cidr: Value, text: Value) -> int:
    return _contains_ip(cidr) + ceil(size(text) * 0.1)


def _contains_cidr(cidr: Value, *_: Value) -> int:
    return _contains_ip(cidr) + ceil(size(cidr) * 0.1) + 1


def _contains_cidr_text(cidr: Value, text: Value) -> int:
    return _contains_cidr(cidr) + ceil(size(text) * 0.1)


# --- equality ---------------------------------------------------------------------------------------------------------


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


def equals(a: Value, b: Value) -> int:
    return 1 if a.__class__ in _OWN_TYPES else smaller(a, b)


def smaller(a: Value, b: Value) -> int:
    """``!=`` and the order of texts: a tenth of the smaller operand."""
    return ceil(min(content_size(a), content_size(b)) * 0.1)


_PARSED: Final = ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver", "ip")
_COPIED: Final = ("url", "lowerAscii", "upperAscii", "substring", "trim")
_SEARCHED: Final = ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf")

CIDR_OVERLOADS: Final[Mapping[str, CostRule]] = {
    "cidr_ip": CostRule(constant(1), lambda *_: 1),
    "cidr_contains_ip_string": CostRule(_plus_argument(_CONTAINS_IP), _contains_ip_text),
    "cidr_contains_cidr_string": CostRule(_plus_argument(_CONTAINS_CIDR), _contains_cidr_text),
}
FUNCTIONS: Final[Mapping[str, CostRule]] = {
    **dict.fromkeys(_PARSED, CostRule(parse_argument(STRING_FACTOR), _first_tenth)),
    **dict.fromkeys(_COPIED, CostRule(over_operand(STRING_FACTOR, sized=True), _first_tenth)),
    **dict.fromkeys(_SEARCHED, CostRule(_search_list(STRING_FACTOR), _visit_first)),
    "includes": CostRule(_search_list(1), _visit_first),
    "replace": CostRule(_replace_estimate, _first_fifth),
    "split": CostRule(_split_estimate, _first_fifth),
    "join": CostRule(_join_estimate, _join_charge),
    **dict.fromkeys(("find", "findAll"), CostRule(_find_estimate, _find_charge)),
    "ip.isCanonical": CostRule(parse_argument(2 * STRING_FACTOR), _first_fifth),
    "containsIP": CostRule(constant(_CONTAINS_IP), _contains_ip),
    "containsCIDR": CostRule(constant(_CONTAINS_CIDR), _contains_cidr),
    "validate": CostRule(_validate_estimate, _validate_charge),
    "check": CostRule(constant(_CHECK), lambda *_: _CHECK),
    **dict.fromkeys(("fieldSelector", "labelSelector"), CostRule(_selector_estimate, None)),
    "_==_": CostRule(_equality, equals),
}
