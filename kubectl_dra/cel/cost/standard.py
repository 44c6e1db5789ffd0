"""Costs of CEL's own functions, by overload. Upstream: ``checker/cost.go``, ``interpreter/runtimecost.go``."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Final

from kubectl_dra.cel.cost.kubernetes import smaller
from kubectl_dra.cel.cost.rule import (
    STRING_FACTOR,
    CostRule,
    Estimate,
    Operand,
    content_size,
    over_operand,
    parse_argument,
    search_charge,
    search_estimate,
)
from kubectl_dra.cel.cost.sizes import MAX, Size, multiply, scaled
from kubectl_dra.cel.run.keys import encode_key, find
from kubectl_dra.cel.run.values import MAPS, CelError, Value


def _argument_tenth(_: Value, argument: Value) -> int:
    return ceil(content_size(argument) * 0.1)


def _content_tenth(first: Value, *_: Value) -> int:
    return ceil(content_size(first) * 0.1)


def _in_list_estimate(_: Operand | None, args: list[Operand]) -> Estimate:
    return Estimate(args[1].known.max)


def _in_list_charge(_: Value, elements: Value) -> int:
    return content_size(elements)


def _matches_estimate(target: Operand | None, args: list[Operand]) -> Estimate:
    text, pattern = (target, args[0]) if target else (args[0], args[1])
    return Estimate(search_estimate(text.known, pattern.known))


def _matches_charge(text: Value, pattern: Value) -> int:
    return search_charge(content_size(text), content_size(pattern))


def _contains_estimate(target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    part = scaled(args[0].known.max, STRING_FACTOR)
    return Estimate(multiply(scaled(target.known.max, STRING_FACTOR), part))


def _contains_charge(text: Value, part: Value) -> int:
    return ceil(content_size(text) * 0.1) * ceil(content_size(part) * 0.1)


def _concatenate_estimate(_: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].known.plus(args[1].known)
    return Estimate(scaled(size.max, STRING_FACTOR), size)


def _concatenate_charge(a: Value, b: Value) -> int:
    return ceil((content_size(a) + content_size(b)) * 0.1)


def _append(_: Operand | None, args: list[Operand]) -> Estimate:
    return Estimate(1, args[0].known.plus(args[1].known))


def _shorter(_: Operand | None, args: list[Operand]) -> Estimate:
    return Estimate(scaled(min(args[0].known.max, args[1].known.max), STRING_FACTOR))


def _string_to_bytes(_: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].known
    return Estimate(scaled(size.max, STRING_FACTOR), Size(size.min, size.max * 4 & MAX))


def _bytes_to_string(_: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].known
    return Estimate(scaled(size.max, STRING_FACTOR), Size(size.min // 4, size.max))


def _quote(_: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].known
    return Estimate(scaled(size.max, STRING_FACTOR), Size(size.min + 2 & MAX, size.max * 2 + 2 & MAX))


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


_COMPARED: Final = tuple(
    f"{order}_{kind}" for order in ("less", "less_equals", "greater", "greater_equals") for kind in ("string", "bytes")
)
STANDARD: Final[Mapping[str, CostRule]] = {
    **dict.fromkeys(
        ("starts_with_string", "ends_with_string"), CostRule(parse_argument(STRING_FACTOR), _argument_tenth)
    ),
    "in_list": CostRule(_in_list_estimate, _in_list_charge),
    **dict.fromkeys(("matches", "matches_string"), CostRule(_matches_estimate, _matches_charge)),
    "contains_string": CostRule(_contains_estimate, _contains_charge),
    **dict.fromkeys(("add_string", "add_bytes"), CostRule(_concatenate_estimate, _concatenate_charge)),
    "add_list": CostRule(_append, None),
    **dict.fromkeys(_COMPARED, CostRule(_shorter, smaller)),
    # Operators, whose closures charge for themselves.
    **dict.fromkeys(("equals", "not_equals"), CostRule(_shorter, None)),
    "string_format": CostRule(over_operand(STRING_FACTOR), _content_tenth),
    "string_to_bytes": CostRule(_string_to_bytes, _content_tenth),
    "bytes_to_string": CostRule(_bytes_to_string, _content_tenth),
    "strings_quote": CostRule(_quote, _content_tenth),
}
#: By function, for what no overload decides.
HASHING: Final[Mapping[str, CostRule]] = {"@in": CostRule(None, _in_any), "cel.@mapInsert": CostRule(None, _insert)}
