"""What one call costs: the estimate that admission makes of it, and what an evaluation is charged.

An estimate works on types and sizes that are declared; a charge on the arguments as they were evaluated, of which one
that failed is its :class:`CelError` and counts as size 1. Charges look at arguments only (where upstream looks at the
result, its size follows from them), so that a call can be charged, and stopped, before it is carried out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Final, NamedTuple, TypeAlias

import msgspec

from kubectl_dra.cel.check.types import Type
from kubectl_dra.cel.cost.sizes import ONE, UNKNOWN, Size, ValuePath, multiply, scaled
from kubectl_dra.cel.run.values import CIDR, IP, LISTS, MAPS, NONE, Optional, Value, list_size
from kubectl_dra.cel.syntax.ast import Literal, Node

STRING_FACTOR: Final = 0.1
REGEX_FACTOR: Final = 0.25
LIST_COST: Final = 10


class Operand(msgspec.Struct, frozen=True):
    """An argument or target: ``size`` is None if nothing is known of it."""

    node: Node
    type: Type
    size: Size | None
    path: ValuePath | None

    @property
    def known(self) -> Size:
        """The size, or the widest range."""
        return self.size or UNKNOWN

    def literal(self, default: int) -> int:
        """The number that stands there, or ``default`` if none does."""
        node = self.node
        return max(0, int(node.value or 0)) if isinstance(node, Literal) and node.kind == "int" else default


class Estimate(NamedTuple):
    """The cost of a call without that of its operands, and the size of its result if the function determines it."""

    cost: int
    size: Size | None = None


# Target (None for global calls) and arguments -> estimate, None if the rule does not apply.
EstimateRule: TypeAlias = Callable[[Operand | None, list[Operand]], Estimate | None]
# Target, if there is one, and arguments -> cost.
ChargeRule: TypeAlias = Callable[..., int]


class CostRule(NamedTuple):
    """Both costs of a function or an overload; without one of them, that is 1 unless another table says otherwise."""

    estimate: EstimateRule | None
    charge: ChargeRule | None


# --- estimates that several functions share ---------------------------------------------------------------------------


def constant(cost: int) -> EstimateRule:
    return lambda _target, _args: Estimate(cost)


def parse_argument(factor: float) -> EstimateRule:
    """Proportional to the first argument, which is parsed."""
    return lambda _target, args: Estimate(scaled(args[0].known.max, factor)) if args else None


def over_operand(factor: float, sized: bool = False) -> EstimateRule:
    """Proportional to the target or first argument, whose size the result may have."""

    def rule(target: Operand | None, args: list[Operand]) -> Estimate | None:
        operand = target or (args[0] if args else None)
        if operand is None:
            return None
        return Estimate(scaled(operand.known.max, factor), operand.known if sized else None)

    return rule


def search_estimate(text: Size, pattern: Size) -> int:
    """A search for a regular expression."""
    visits = scaled(text.plus(ONE).max, STRING_FACTOR)
    return multiply(visits, scaled(pattern.max, REGEX_FACTOR))


# --- what charges are made of -----------------------------------------------------------------------------------------


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


def tenth(number: int) -> int:
    """A tenth, rounded up, in floating point as upstream."""
    return ceil(number * 0.1)


def search_charge(text: int, pattern: int) -> int:
    return ceil((1.0 + text) * 0.1) * ceil(pattern * 0.25)
