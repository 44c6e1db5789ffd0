"""The outcome of one evaluation of CEL as a record."""

from __future__ import annotations

from typing import NamedTuple

from kubectl_dra.cel import COST_LIMIT, EvaluationError, Program
from kubectl_dra.cel.run.device import DeviceValue
from kubectl_dra.model.resource import DeviceAttribute


class Evaluated(NamedTuple):
    """``match`` of a selector or ``value`` of a derived attribute, or ``error``."""

    match: bool | None
    value: DeviceAttribute | None
    error: str | None
    cost: int | None
    undecided: bool = False


def evaluated(program: Program, device: DeviceValue, cost_limit: int = COST_LIMIT) -> Evaluated:
    """What a program gives for a device; never raises."""
    try:
        if program.derived:
            attribute, cost = program.derive(device, cost_limit)
            return Evaluated(None, attribute, None, cost)
        match, cost = program.test(device, cost_limit)
        return Evaluated(match, None, None, cost)
    except EvaluationError as error:
        return Evaluated(None, None, error.text, error.cost, error.undecided)
