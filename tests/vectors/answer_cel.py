"""Answers rows of the CEL vectors' shape through the public functions, without looking at what is recorded."""

from __future__ import annotations

from typing import Any

import msgspec

from kubectl_dra.cel import COST_LIMIT, CompileError, Environment, compile_expression, device_value
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceCapacity
from tests.kit.evaluated import evaluated

Row = dict[str, Any]
KINDS = ("scheduler", "admission")


def answer(row: Row) -> Row:
    """``{id, scheduler, admission}``; a row with ``env`` names the one environment meant."""
    features = row.get("features", {})
    kinds = [row["env"]] if row.get("env") else KINDS
    return {"id": row["id"]} | {
        kind: _answer(
            row,
            Environment(
                kind,
                list_type_attributes=features.get("listTypeAttributes", False),
                consumable_capacity=features.get("consumableCapacity", True),
            ),
        )
        for kind in kinds
    }


def device_of(row: Row) -> Device:
    """The row's device as the model has it."""
    capacity = {
        name: DeviceCapacity(value=Quantity.parse(entry["value"])) for name, entry in row.get("capacity", {}).items()
    }
    return Device(
        name="device",
        attributes=msgspec.convert(row.get("attributes", {}), dict[str, DeviceAttribute]),
        capacity=capacity,
        allow_multiple_allocations=row.get("allowMultipleAllocations"),
    )


def _answer(row: Row, environment: Environment) -> Row:
    try:
        program = compile_expression(row["expression"], environment, derived=row.get("derived", False))
    except CompileError as error:
        return {"compile_error": error.text, "compile_error_type": error.type}
    outcome = evaluated(program, device_value(row["driver"], device_of(row)), row.get("costLimit", COST_LIMIT))
    if outcome.undecided:
        return {"undecided": outcome.error}
    result: Row = {"output_type": program.output_type, "max_cost": program.max_cost}
    if outcome.error is not None:
        result["runtime_error"] = outcome.error
    elif outcome.value is not None:
        # An empty list leaves no trace in Go's JSON.
        value = msgspec.to_builtins(outcome.value)
        result["value"] = {
            kind: list(held) if isinstance(held, tuple) else held for kind, held in value.items() if held != ()
        }
    else:
        result["match"] = outcome.match
    return result if outcome.cost is None else result | {"cost": outcome.cost}
