"""Costs of the libraries of lists and sets, by overload. Upstream: cel-go's ext/lists.go and ext/sets.go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.cel.cost.rule import (
    LIST_COST,
    STRING_FACTOR,
    ChargeRule,
    CostRule,
    Estimate,
    EstimateRule,
    Operand,
    size,
)
from kubectl_dra.cel.cost.sizes import MAX, Size, add, fixed, scaled
from kubectl_dra.cel.run.values import LISTS, Cancelled, CelError, Duration, Timestamp, Uint, Value, go_name, list_size

_ALLOCATION: Final = LIST_COST + 1
# Types that at least can be added, which shows in what Go finds missing.
_ADDABLE: Final = frozenset({int, Uint, float, str, bytes, Duration, Timestamp})


def _allocating(factor: float, size: Size) -> Estimate:
    return Estimate(add(scaled(size.max, factor), _ALLOCATION), size)


def _slice_estimate(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    start = args[0].literal(0)
    end = args[1].literal(target.known.max)
    return _allocating(1, fixed((end - start) & MAX))


def _slice_charge(elements: Value, start: Value, end: Value) -> int:
    valid = elements.__class__ in LISTS and start.__class__ is end.__class__ is int
    if not valid or not 0 <= start <= end <= list_size(elements):
        return 1 + _ALLOCATION
    return int(end - start) + _ALLOCATION


def _range_estimate(_: Operand | None, args: list[Operand]) -> Estimate:
    return _allocating(1, fixed(args[0].literal(MAX)))


def _range_charge(count: Value) -> int:
    return (count if count.__class__ is int and 0 <= count <= 1_000_000 else 1) + _ALLOCATION


def _reverse_estimate(target: Operand | None, _: list[Operand]) -> Estimate | None:
    return _allocating(1, target.known) if target else None


def _reverse_charge(elements: Value) -> int:
    return (list_size(elements) if elements.__class__ in LISTS else 1) + _ALLOCATION


def _flatten_estimate(target: Operand | None, args: list[Operand]) -> Estimate | None:
    depth = args[0].literal(MAX) if args else 1
    return _allocating(float(depth), target.known) if target else None


def _flatten_charge(elements: Value, depth: Value = 1) -> int:
    if depth.__class__ is not int:
        raise Cancelled(f"internal error: interface conversion: ref.Val is {_dynamic_name(depth)}, not types.Int")
    product = float(size(elements)) * (depth if depth >= 0 else 1.0)
    # Go's conversion of a double that is too large for uint64, on the machines that schedulers run on.
    return (int(product) if product < 2.0**64 else 2**63) + _ALLOCATION


def _dynamic_name(value: Value) -> str:
    return "*types.Err" if value.__class__ is CelError else go_name(value)


def _pairwise_estimate(factor: float) -> EstimateRule:
    def rule(target: Operand | None, args: list[Operand]) -> Estimate | None:
        ordering = args[0] if args else target
        return _allocating(factor, ordering.known.times(ordering.known)) if ordering else None

    return rule


def _pairwise_charge(elements: Value) -> int:
    if elements.__class__ not in LISTS:
        missing = "Contains" if elements.__class__ in _ADDABLE else "Add"
        raise Cancelled(
            f"internal error: interface conversion: {_dynamic_name(elements)} is not traits.Lister: "
            f"missing method {missing}"
        )
    count = list_size(elements)
    textual = count > 0 and next(iter(elements)).__class__ in (str, bytes)
    return int(float(count * count) * (2.1 if textual else 2.0)) + _ALLOCATION


def _keys_charge(_: Value, keys: Value) -> int:
    return _pairwise_charge(keys)


def _sets_estimate(factor: float) -> EstimateRule:
    def rule(_: Operand | None, args: list[Operand]) -> Estimate:
        return Estimate(add(scaled(args[0].known.times(args[1].known).max, factor), 1))

    return rule


def _sets_charge(factor: int) -> ChargeRule:
    return lambda a, b: factor * size(a) * size(b) + 1


_SORTED: Final = {
    **dict.fromkeys(("int", "uint", "double", "bool"), 2.0),
    **dict.fromkeys(("google.protobuf.Duration", "google.protobuf.Timestamp"), 2.0),
    **dict.fromkeys(("string", "bytes"), 2 + STRING_FACTOR),
}
LISTS_AND_SETS: Final[Mapping[str, CostRule]] = {
    "list_slice": CostRule(_slice_estimate, _slice_charge),
    "lists_range": CostRule(_range_estimate, _range_charge),
    "list_reverse": CostRule(_reverse_estimate, _reverse_charge),
    **dict.fromkeys(("list_flatten", "list_flatten_int"), CostRule(_flatten_estimate, _flatten_charge)),
    "list_distinct": CostRule(_pairwise_estimate(2.0), _pairwise_charge),
    **{f"list_{name}_sort": CostRule(_pairwise_estimate(factor), _pairwise_charge) for name, factor in _SORTED.items()},
    **{
        f"list_{name}_sortByAssociatedKeys": CostRule(_pairwise_estimate(factor), _keys_charge)
        for name, factor in _SORTED.items()
    },
    "list_sets_contains_list": CostRule(_sets_estimate(1.0), _sets_charge(1)),
    "list_sets_intersects_list": CostRule(_sets_estimate(1.0), _sets_charge(1)),
    "list_sets_equivalent_list": CostRule(_sets_estimate(2.0), _sets_charge(2)),
}
