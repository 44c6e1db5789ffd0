"""The one table of costs: what admission estimates of a call and what its evaluation is charged, side by side.

Overloads of libraries come before functions by name, as upstream asks its own estimator and tracker first, and cel-go's
own overloads after them. Whatever has no rule costs 1. Sum and limit of an evaluation live in ``run.state``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kubectl_dra.cel.cost.kubernetes import CIDR_OVERLOADS, FUNCTIONS
from kubectl_dra.cel.cost.lists import LISTS_AND_SETS
from kubectl_dra.cel.cost.rule import ChargeRule, CostRule, Estimate, Operand
from kubectl_dra.cel.cost.standard import HASHING, STANDARD

_FIRST: Final[Mapping[str, CostRule]] = {**LISTS_AND_SETS, **CIDR_OVERLOADS}


def _rules(function: str, overload: str | None) -> Iterator[CostRule]:
    for table, key in ((_FIRST, overload), (FUNCTIONS, function), (STANDARD, overload), (HASHING, function)):
        rule = table.get(key or "")
        if rule is not None:
            yield rule


def call_estimate(function: str, overload: str, target: Operand | None, args: list[Operand]) -> Estimate:
    for rule in _rules(function, overload):
        estimate = rule.estimate(target, args) if rule.estimate else None
        if estimate is not None:
            return estimate
    return Estimate(1)


def charge_rule(function: str, overload: str | None) -> ChargeRule | None:
    """The rule for a call, or None if it always costs 1. ``overload`` is the id if exactly one was resolved."""
    return next((rule.charge for rule in _rules(function, overload) if rule.charge), None)
