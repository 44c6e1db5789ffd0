"""Functions of lists, sets and maps: Kubernetes' lists library, CEL's lists and sets extensions, map insertion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cmp_to_key
from itertools import pairwise
from typing import Final

from kubectl_dra.cel.functions import operators
from kubectl_dra.cel.functions.go_sort import go_sort
from kubectl_dra.cel.functions.printing import plain
from kubectl_dra.cel.run import relations
from kubectl_dra.cel.run.keys import decode_key, encode_key, find
from kubectl_dra.cel.run.labor import charge_work
from kubectl_dra.cel.run.relations import COMPARABLE, contains, surely_equal
from kubectl_dra.cel.run.values import (
    LISTS,
    CelError,
    Duration,
    JoinedList,
    MutableMap,
    Uint,
    Value,
    list_size,
    no_such_overload,
    type_name,
)

_MAX_RANGE: Final = 1_000_000
# A longer list is sorted by faster means, unless the order of equal keys shows.
_SHORT: Final = 12
_EXACT: Final = frozenset({bool, int, Uint, str, bytes, Duration})


# --- kubernetes lists -------------------------------------------------------------------------------------------------


def _each(elements: Value) -> Iterator[Value]:
    charge_work(list_size(elements))
    return iter(elements)


def _order(a: Value, b: Value) -> int | None:
    """The order, or None where it fails: these functions go on regardless."""
    try:
        return relations.compare(a, b)
    except CelError:
        return None


def _is_sorted(elements: Value) -> bool:
    previous: list[Value] = []
    for element in _each(elements):
        if element.__class__ not in COMPARABLE:
            raise no_such_overload()
        if previous and _order(previous[0], element) == 1:
            return False
        previous = [element]
    return True


def _extreme(name: str, replaced_when: int) -> Callable[[Value], Value]:
    def run(elements: Value) -> Value:
        best: list[Value] = []
        for element in _each(elements):
            if element.__class__ not in COMPARABLE:
                raise no_such_overload()
            if not best or _order(best[0], element) == replaced_when:
                best = [element]
        if not best:
            raise CelError(f"{name} called on empty list")
        return best[0]

    return run


def _sum(start: Value) -> Callable[[Value], Value]:
    def run(elements: Value) -> Value:
        total = start
        for element in _each(elements):
            total = operators.add(total, element)
        return total

    return run


def _index_of(elements: Value, item: Value) -> int:
    return next((index for index, element in enumerate(_each(elements)) if surely_equal(element, item)), -1)


def _last_index_of(elements: Value, item: Value) -> int:
    last = -1
    for index, element in enumerate(_each(elements)):
        if surely_equal(element, item):
            last = index
    return last


def _includes(target: Value, item: Value) -> bool:
    if target.__class__ in LISTS:
        return any(surely_equal(element, item) for element in _each(target))
    return surely_equal(target, item)


# --- CEL's lists extension --------------------------------------------------------------------------------------------


def _slice(elements: Value, start: int, end: int) -> list[Value]:
    problem = ""
    if start < 0 or end < 0:
        problem = "negative indexes not supported"
    elif start > end:
        problem = "start index must be less than or equal to end index"
    elif end > list_size(elements):
        problem = f"list is length {list_size(elements)}"
    if problem:
        raise CelError(f"cannot slice({start}, {end}), {problem}")
    if elements.__class__ is JoinedList:
        return [elements[index] for index in range(start, end)]
    return list(elements[start:end])


def type_text(value: Value) -> str:
    """The type with its parameters, as only these errors print it."""
    name = type_name(value)
    return {"list": "list(dyn)", "map": "map(dyn, dyn)", "optional_type": "optional_type(dyn)"}.get(name, name)


def _flatten_one(elements: Value) -> list[Value]:
    if elements.__class__ not in LISTS:
        raise CelError(f"no such overload: {type_text(elements)}.flatten()")
    return _flattened(elements, 1)


def _flatten(elements: Value, depth: Value) -> list[Value]:
    if elements.__class__ not in LISTS or depth.__class__ is not int:
        raise CelError(f"no such overload: {type_text(elements)}.flatten({type_text(depth)})")
    if depth < 0:
        raise CelError("level must be non-negative")
    return _flattened(elements, depth)


def _flattened(elements: Value, depth: int) -> list[Value]:
    flat: list[Value] = []
    _flatten_into(flat, elements, depth)
    return flat


def _flatten_into(flat: list[Value], elements: Value, depth: int) -> None:
    charge_work(list_size(elements))
    for element in elements:
        if depth > 0 and element.__class__ in LISTS:
            _flatten_into(flat, element, depth - 1)
        else:
            flat.append(element)


def _range(count: int) -> list[Value]:
    if count < 0:
        raise CelError(f"lists.range: size must be non-negative, got {count}")
    if count > _MAX_RANGE:
        raise CelError(f"lists.range: size {count} exceeds maximum allowed ({_MAX_RANGE})")
    return list(range(count))


def _distinct(elements: Value) -> list[Value]:
    unique: list[Value] = []
    for element in elements:
        if not any(surely_equal(element, earlier) for earlier in unique):
            unique.append(element)
    return unique


def sort_by_keys(elements: Value, keys: Value) -> Value:
    """``elements`` in the order of ``keys``, which must be of one ordered type."""
    if keys.__class__ not in LISTS:
        raise no_such_overload()
    if list_size(elements) != list_size(keys):
        raise CelError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {list_size(elements)} and {list_size(keys)} elements respectively"
        )
    if not list_size(keys):
        return elements
    pairs: list[tuple[Value, Value]] = list(zip(keys, elements, strict=True))
    first: type = pairs[0][0].__class__
    if first not in COMPARABLE:
        raise CelError("list elements must be comparable")
    if any(key.__class__ is not first for key, _ in pairs):
        raise CelError("list elements must have the same type")
    return [element for _, element in _in_order(pairs)]


def _in_order(pairs: list[tuple[Value, Value]]) -> list[tuple[Value, Value]]:
    if len(pairs) > _SHORT:
        found = sorted(pairs, key=cmp_to_key(_order_pairs))
        if all(_order(a[0], b[0]) == -1 or _look_the_same(a[1], b[1]) for a, b in pairwise(found)):
            return found
        charge_work(len(pairs) * len(pairs).bit_length())
    go_sort(pairs, lambda a, b: _order(a[0], b[0]) == -1)
    return pairs


def _order_pairs(a: tuple[Value, Value], b: tuple[Value, Value]) -> int:
    return _order(a[0], b[0]) or 0


def _look_the_same(a: Value, b: Value) -> bool:
    # Of others equal is not enough: 0.0 and -0.0 are, and one moment in two time zones.
    kind = a.__class__
    return a is b or (kind is b.__class__ and (a == b if kind in _EXACT else kind is float and repr(a) == repr(b)))


def sort(elements: Value) -> Value:
    return sort_by_keys(elements, elements)


# --- sets and maps ----------------------------------------------------------------------------------------------------


def _sets_contains(a: Value, b: Value) -> bool:
    return all(contains(a, element) for element in b)


def insert_entry(mapping: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    """``mapping`` with one more entry; a loop's own accumulator is changed in place."""
    if find(mapping, key, relations.MISSING) is not relations.MISSING:
        raise CelError(f"insert failed: key {plain(key)} already exists")
    target = mapping if mapping.__class__ is MutableMap else MutableMap(mapping)
    target[encode_key(key)] = value
    return target


def _insert_entries(mapping: dict[Value, Value], entries: dict[Value, Value]) -> dict[Value, Value]:
    for encoded, value in entries.items():
        mapping = insert_entry(mapping, decode_key(encoded), value)
    return mapping


_COMPARABLE_NAMES: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_ZEROS: Final = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}

OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    **{f"list_{name}_is_sorted_bool": _is_sorted for name in _COMPARABLE_NAMES},
    **{f"list_{name}_min_{name}": _extreme("min", 1) for name in _COMPARABLE_NAMES},
    **{f"list_{name}_max_{name}": _extreme("max", -1) for name in _COMPARABLE_NAMES},
    **{f"list_{name}_sum_{name}": _sum(zero) for name, zero in _ZEROS.items()},
    "list_a_index_of_int": _index_of,
    "list_a_last_index_of_int": _last_index_of,
    "list_includes_dyn_dyn": _includes,
    "list_slice": _slice,
    "list_flatten": _flatten_one,
    "list_flatten_int": _flatten,
    "lists_range": _range,
    "list_reverse": lambda elements: list(elements)[::-1],
    "list_distinct": _distinct,
    "list_sets_contains_list": _sets_contains,
    "list_sets_intersects_list": lambda a, b: any(contains(a, element) for element in b),
    "list_sets_equivalent_list": lambda a, b: _sets_contains(a, b) and _sets_contains(b, a),
    "@mapInsert_map_key_value": insert_entry,
    "@mapInsert_map_map": _insert_entries,
}
OPERATORS: Final[dict[str, operators.Operator]] = {
    "sort": operators.Operator(sort, LISTS),
    "@sortByAssociatedKeys": operators.Operator(sort_by_keys, LISTS),
}
