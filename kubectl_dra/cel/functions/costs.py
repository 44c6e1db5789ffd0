"""What a call costs when it is evaluated: rules by overload and by function name; sum and limit live in ``state``.

A rule gets the arguments as they were evaluated; an argument that failed is its :class:`CelError` and counts as size 1.
Rules look at arguments only (where upstream looks at the result, its size follows from them), so that a call can be
charged, and stopped, before it is carried out. Upstream: cel-go's cost tracker and its list and set libraries,
apiserver's ``library.CostEstimator``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Final, TypeAlias

from kubectl_dra.cel.run.keys import decode_key, encode_key, find
from kubectl_dra.cel.run.labor import charge_work
from kubectl_dra.cel.run.values import (
    CIDR,
    IP,
    LISTS,
    MAPS,
    NONE,
    URL,
    Cancelled,
    CelError,
    Duration,
    JoinedList,
    NamedFormat,
    Optional,
    QuantityValue,
    Timestamp,
    Uint,
    Value,
    go_name,
    list_size,
)
from kubectl_dra.model.semver import Semver

CostRule: TypeAlias = Callable[..., int]

_LIST_BASE: Final = 11
# Types that at least can be added, which shows in what Go finds missing.
_ADDABLE: Final = frozenset({int, Uint, float, str, bytes, Duration, Timestamp})
_OWN_TYPES: Final = frozenset({QuantityValue, Semver, IP, CIDR, URL, NamedFormat})


def size(value: Value) -> int:
    """The size that costs are computed from: code points, bytes, elements; 1 for anything without a size."""
    kind = value.__class__
    if kind is str or kind is bytes or kind in MAPS:
        return len(value)
    if kind in LISTS:
        return list_size(value)
    if kind is IP:
        return int(value.bits // 8)
    if kind is CIDR:
        return int((value.length + 7) // 8)
    return 1


def content_size(value: Value) -> int:
    """As :func:`size`, but an optional counts as its content."""
    while value.__class__ is Optional and value is not NONE:
        value = value.value
    return size(value)


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


def tenth(number: int) -> int:
    """A tenth, rounded up, in floating point as upstream."""
    return ceil(number * 0.1)


def _one(*_: Value) -> int:
    return 1


def _first_tenth(first: Value, *_: Value) -> int:
    return ceil(size(first) * 0.1)


def _first_fifth(first: Value, *_: Value) -> int:
    return ceil(float(size(first)) * 2 * 0.1)


def _search(text: Value, pattern: Value, *_: Value) -> int:
    return ceil((1.0 + size(text)) * 0.1) * ceil(size(pattern) * 0.25)


def _visit_first(first: Value, *_: Value) -> int:
    return traversal(first)


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


def _join(elements: Value, separator: Value = "") -> int:
    length = join_size(elements, separator)
    return ceil(float(1 if length is None else length) * 2 * 0.1)


def _validate(checked: Value, text: Value) -> int:
    if checked.__class__ is not NamedFormat:
        return 1
    return ceil((1.0 + size(text)) * 0.1) * ceil(checked.regex_size * 0.25)


def _contains_ip(cidr: Value, *_: Value) -> int:
    return ceil(2 * size(cidr) * 0.1)


def _contains_ip_text(cidr: Value, text: Value) -> int:
    return _contains_ip(cidr) + ceil(size(text) * 0.1)


def _contains_cidr(cidr: Value, *_: Value) -> int:
    return _contains_ip(cidr) + ceil(size(cidr) * 0.1) + 1


def _contains_cidr_text(cidr: Value, text: Value) -> int:
    return _contains_cidr(cidr) + ceil(size(text) * 0.1)


def equals(a: Value, b: Value) -> int:
    """``==``."""
    return 1 if a.__class__ in _OWN_TYPES else smaller(a, b)


def smaller(a: Value, b: Value) -> int:
    """``!=`` and the order of texts: a tenth of the smaller operand."""
    return ceil(min(content_size(a), content_size(b)) * 0.1)


def _argument(_: Value, argument: Value) -> int:
    return ceil(content_size(argument) * 0.1)


def _content_tenth(first: Value, *_: Value) -> int:
    return ceil(content_size(first) * 0.1)


def _contains_text(text: Value, part: Value) -> int:
    return ceil(content_size(text) * 0.1) * ceil(content_size(part) * 0.1)


def _matches(text: Value, pattern: Value) -> int:
    return ceil((1.0 + content_size(text)) * 0.1) * ceil(content_size(pattern) * 0.25)


def _sum_tenth(a: Value, b: Value) -> int:
    return ceil((content_size(a) + content_size(b)) * 0.1)


def _in_list(_: Value, elements: Value) -> int:
    return content_size(elements)


def _in_any(item: Value, container: Value) -> int:
    """Upstream does not get as far as charging the lookup of a key that it cannot hash."""
    if container.__class__ in MAPS:
        find(container, item)
    return 1


def _insert(mapping: Value, key: Value, *_: Value) -> int:
    if mapping.__class__ in MAPS and key.__class__ is not CelError:
        find(mapping, key)
        encode_key(key)
    return 1


def _slice(elements: Value, start: Value, end: Value) -> int:
    valid = elements.__class__ in LISTS and start.__class__ is end.__class__ is int
    if not valid or not 0 <= start <= end <= list_size(elements):
        return 1 + _LIST_BASE
    return int(end - start) + _LIST_BASE


def _range(count: Value) -> int:
    return (count if count.__class__ is int and 0 <= count <= 1_000_000 else 1) + _LIST_BASE


def _reverse(elements: Value) -> int:
    return (list_size(elements) if elements.__class__ in LISTS else 1) + _LIST_BASE


def _flatten(elements: Value, depth: Value = 1) -> int:
    if depth.__class__ is not int:
        raise Cancelled(f"internal error: interface conversion: ref.Val is {_dynamic_name(depth)}, not types.Int")
    product = float(size(elements)) * (depth if depth >= 0 else 1.0)
    # Go's conversion of a double that is too large for uint64, on the machines that schedulers run on.
    return (int(product) if product < 2.0**64 else 2**63) + _LIST_BASE


def _dynamic_name(value: Value) -> str:
    return "*types.Err" if value.__class__ is CelError else go_name(value)


def _self_compare(elements: Value) -> int:
    if elements.__class__ not in LISTS:
        missing = "Contains" if elements.__class__ in _ADDABLE else "Add"
        raise Cancelled(
            f"internal error: interface conversion: {_dynamic_name(elements)} is not traits.Lister: "
            f"missing method {missing}"
        )
    count = list_size(elements)
    textual = count > 0 and next(iter(elements)).__class__ in (str, bytes)
    return int(float(count * count) * (2.1 if textual else 2.0)) + _LIST_BASE


def _sort_by_keys(_: Value, keys: Value) -> int:
    return _self_compare(keys)


def _sets(factor: int) -> CostRule:
    return lambda a, b: factor * size(a) * size(b) + 1


_BY_OVERLOAD: Final[dict[str, CostRule]] = {
    "list_slice": _slice,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": _self_compare,
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    "cidr_ip": _one,
    "cidr_contains_ip_string": _contains_ip_text,
    "cidr_contains_cidr_string": _contains_cidr_text,
}
_SORTABLE: Final = (
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "bytes",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
)
_BY_OVERLOAD.update({f"list_{name}_sort": _self_compare for name in _SORTABLE})
_BY_OVERLOAD.update({f"list_{name}_sortByAssociatedKeys": _sort_by_keys for name in _SORTABLE})

_BY_FUNCTION: Final[dict[str, CostRule]] = {
    **dict.fromkeys(("isSorted", "sum", "min", "max", "indexOf", "lastIndexOf", "includes"), _visit_first),
    **dict.fromkeys(
        ("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR", "ip"), _first_tenth
    ),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _first_tenth),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _first_fifth),
    "join": _join,
    "find": _search,
    "findAll": _search,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    # Asking the authorizer: no expression about devices can, but one may call it on what is none.
    "check": lambda *_: 350_000,
    "_==_": equals,
}

_TEXTS: Final = ("string", "bytes")
_STANDARD: Final[dict[str, CostRule]] = {
    **{f"{order}_{kind}": smaller for kind in _TEXTS for order in ("less", "less_equals", "greater", "greater_equals")},
    "starts_with_string": _argument,
    "ends_with_string": _argument,
    "contains_string": _contains_text,
    "matches": _matches,
    "matches_string": _matches,
    "add_string": _sum_tenth,
    "add_bytes": _sum_tenth,
    "string_to_bytes": _content_tenth,
    "bytes_to_string": _content_tenth,
    "strings_quote": _content_tenth,
    "string_format": _content_tenth,
    "in_list": _in_list,
}


_HASHING: Final[dict[str, CostRule]] = {"@in": _in_any, "cel.@mapInsert": _insert}


def cost_rule(function: str, overload: str | None) -> CostRule | None:
    """The rule for a call, or None if it always costs 1. ``overload`` is the id if exactly one was resolved."""
    if overload in _BY_OVERLOAD:
        return _BY_OVERLOAD[overload]
    if function in _BY_FUNCTION:
        return _BY_FUNCTION[function]
    return _STANDARD.get(overload or "") or _HASHING.get(function)
